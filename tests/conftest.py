"""What all tests share: property tests draw the same examples on every run."""

import gc
import os
import signal
import sys
from collections.abc import Generator

import pytest
from hypothesis import settings

settings.register_profile(
    "reproducible", derandomize=True, deadline=None, database=None
)
settings.load_profile("reproducible")

# What thousands of tests are made of is long to look at, and none of it is garbage.
gc.set_threshold(10_000, 15, 10)

# A command in a process of its own would compile every module that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# So would every worker, and pytest rewrites the asserts of all tests at first.
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give all workers the tests in one order."""
    if WORKER:
        items.sort(key=lambda item: item.path.parts)
