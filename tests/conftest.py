"""What all tests share: property tests draw the same examples on every run."""

import gc
import os
import signal

from hypothesis import settings

settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None
)
settings.load_profile("reproducible")

# What thousands of tests are made of is long to look at, and none of it is garbage.
gc.set_threshold(10_000, 15, 10)

# A command in a process of its own would compile every module that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Ctrl-C is ignored in jobs that a shell has put into the background; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# So is the end of a terminal, under nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
