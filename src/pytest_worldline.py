"""The pytest plugin: budgets for tests of systems, and short runs where they fail.

pytest imports it in every session, so it imports nothing of Worldline: that is done for
tests that have a budget, or that come when something else has imported Worldline.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from worldline.testing.budgets import WorldlineBudget
    from worldline.testing.running import RunningTest

_MARKER = "worldline"
_RUNNING: pytest.StashKey[RunningTest] = pytest.StashKey()
_MINIMISING_S = 10.0


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("worldline", "model checking, with Worldline")
    group.addoption(
        "--worldline-seed",
        type=_seed,
        metavar="N",
        help="seed of all searches and runs that are given none",
    )
    group.addoption(
        "--worldline-max-seconds",
        type=_seconds,
        metavar="SECONDS",
        help="bound of each search that is given none",
    )
    group.addoption(
        "--worldline-out",
        type=Path,
        metavar="FOLDER",
        help="where traces go, in a folder for each test (default: worldline-out)",
    )
    group.addoption(
        "--worldline-minimize",
        type=_seconds_or_none,
        metavar="SECONDS",
        default=_MINIMISING_S,
        help=f"how long to shorten the run of a failure (default: {_MINIMISING_S:g}; "
        "0: not at all)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(max_seconds=..., seed=...): budget of the searches in a test; goes "
        "over --worldline-max-seconds and --worldline-seed",
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[
    None, pytest.CollectReport, pytest.CollectReport
]:
    """Refuse wrong markers before the first test runs.

    In the report, because that is all that gets from a worker of pytest-xdist to who
    reads it.
    """
    report = yield
    try:
        for item in report.result or ():
            if isinstance(item, pytest.Item) and item.get_closest_marker(_MARKER):
                budget_of(item)
    except pytest.UsageError as error:
        report.outcome, report.longrepr, report.result = "failed", str(error), []
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let the budget of a test hold while it runs, its fixtures included."""
    if "worldline" not in sys.modules and not _has_budget(item):
        return (yield)
    from worldline.testing.running import RunningTest

    item.stash[_RUNNING] = test = RunningTest(item.nodeid, budget_of(item))
    with test.holding():
        ran = yield
    if test.is_interrupted and not item.session.shouldstop:
        item.session.shouldstop = "Ctrl-C ended a search, or the shortening of its run"
    return ran


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failure its run, as short as time allows."""
    report = yield
    test = item.stash.get(_RUNNING, None)
    if test is not None and call.excinfo is not None and report.failed:
        seconds = item.config.getoption("--worldline-minimize")
        # Part of the failure, and so of junit.xml, too; not of what was captured.
        add = getattr(report.longrepr, "addsection", None)
        if add is not None and (text := test.explained(call.excinfo.value, seconds)):
            add("worldline", text)
    return report


@pytest.fixture
def worldline_budget(request: pytest.FixtureRequest) -> WorldlineBudget:
    """What the searches of this test may take, for what does not take it by itself."""
    return budget_of(request.node)


def budget_of(item: pytest.Item) -> WorldlineBudget:
    """Return the budget of a test: its markers', the nearest first, then the options'.

    Raises
    ------
    pytest.UsageError
        If a marker says something else.
    """
    from worldline.model.errors import UsageError
    from worldline.testing.budgets import WorldlineBudget

    option = item.config.getoption
    given: dict[str, Any] = {
        "seed": option("--worldline-seed"),
        "max_seconds": option("--worldline-max-seconds"),
    }
    for mark in reversed(list(item.iter_markers(_MARKER))):
        unknown = [*map(repr, mark.args), *(mark.kwargs.keys() - given.keys())]
        if unknown:
            raise pytest.UsageError(
                f"{item.nodeid}: the marker {_MARKER} takes no {', '.join(unknown)}; "
                "write max_seconds=... or seed=..."
            )
        given.update(mark.kwargs)
    try:
        return WorldlineBudget(**given, out=option("--worldline-out"))
    except UsageError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from None


def _has_budget(item: pytest.Item) -> bool:
    names = ("--worldline-seed", "--worldline-max-seconds", "--worldline-out")
    asked = any(item.config.getoption(name) is not None for name in names)
    return asked or item.get_closest_marker(_MARKER) is not None


# Who gives one of these has to do with Worldline, so it is loaded to read them.


def _seed(text: str) -> int:
    from worldline.cli.options import seed

    return seed(text)


def _seconds(text: str) -> float:
    from worldline.cli.options import positive_seconds

    return positive_seconds(text)


def _seconds_or_none(text: str) -> float:
    return 0.0 if text in ("0", "0.0") else _seconds(text)
