"""What all tests share: property tests draw the same examples on every run."""

import signal

from hypothesis import settings

settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None
)
settings.load_profile("reproducible")

# Ctrl-C is ignored in jobs that a shell has put into the background; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
