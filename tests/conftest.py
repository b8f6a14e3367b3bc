"""What all tests share: property tests draw the same examples on every run."""

from hypothesis import settings

settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None
)
settings.load_profile("reproducible")
