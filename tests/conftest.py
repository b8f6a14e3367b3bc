"""What all tests share: property tests draw the same examples on every run."""

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None, max_examples=50
)
# Of tests that say themselves how many they draw there is another that is nightly.
settings.register_profile(
    "nightly", settings.get_profile("reproducible"), max_examples=400
)
settings.load_profile("reproducible")

# What thousands of tests are made of is long to look at, and none of it is garbage.
gc.set_threshold(10_000, 15, 10)

# A command in a process of its own would compile every module that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# So would every worker, and pytest rewrites the asserts of all tests at first. What tests
# write and import is kept as before: it may be another file within a second.
WRITES_NONE = sys.dont_write_bytecode
sys.dont_write_bytecode = False

# Ctrl-C is ignored in jobs that a shell has put into the background; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
# So is the end of a terminal, under nohup.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Let every other worker begin at the other end: what one compiles, two load."""
    report = yield
    if isinstance(collector, pytest.Dir) and int(WORKER.removeprefix("gw") or 0) % 2:
        report.result.reverse()
    return report


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = WRITES_NONE


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all workers the tests in one order."""
    if WORKER:
        items.sort(key=lambda item: item.path.parts)
