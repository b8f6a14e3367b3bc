"""Liveness on random systems that never stop by themselves: search against oracle.

The oracle unfolds the space by copying states and judges its strongly connected
components in its own words (`tests/oracle/recurrence.py`). Verdicts must agree on every
property with either engine; and where one is violated, the oracle walks along the trace
and must find nothing to object to.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import pytest
from tests.oracle import Oracle
from tests.oracle.recurrence import (
    bad_states,
    boot_fails,
    is_violated,
    objection,
    unfold,
)
from tests.search.wheels import Plan, Word, plan_of, plans

import worldline as wl
from worldline.engine.graph import Space
from worldline.model.errors import Nondeterminism
from worldline.runs.schedule import schedule_of
from worldline.search import liveness
from worldline.trace.format import read

ENGINES: tuple[Literal["native", "python"], ...] = ("native", "python")


@dataclass(frozen=True)
class Expected:
    """What the oracle says: the number of states, and what is violated."""

    plan: Plan
    states: int
    violated: dict[str, bool]


def judged(plan: Plan, largest: int) -> Expected | None:
    """Ask the oracle; None if the space is too large for it, or a start fails."""
    oracle = Oracle(plan.build())
    space = unfold(oracle, largest)
    if space is None or boot_fails(oracle):
        return None
    violated = {
        known.name: is_violated(
            space.states.keys(), space.arcs, bad_states(oracle, space, known)
        )
        for known in plan.properties
    }
    return Expected(plan, len(space.states), violated)


def small(count: int, largest: int, first: int = 0) -> Iterator[Expected]:
    """Yield what is expected of so many systems, none of them too large."""
    found = (judged(plan, largest) for plan in plans(first))
    yield from islice((one for one in found if one is not None), count)


def differences(expected: Expected, folder: Path) -> list[str]:
    """Return in what the search differs from the oracle, for each engine."""
    found: list[str] = []
    for engine in ENGINES:
        system = expected.plan.build()
        report = wl.check(
            system, engine=engine, keep_going=True, out=folder / "first.wl"
        )
        rows = {p.name: p for p in report.properties if p.kind == "liveness"}
        got = {name: row.verdict is wl.Verdict.VIOLATED for name, row in rows.items()}
        if (report.states, got) != (expected.states, expected.violated):
            found.append(f"{engine}: {report.states} states, {got}, not {expected}")
        for name, row in rows.items():
            if row.trace is not None and (why := unproved(system, name, row.trace)):
                found.append(f"{engine}: {name} of {expected.plan.number}: {why}")
    return found


def unproved(system: wl.System, name: str, path: Path) -> str:
    """Why the oracle does not take a trace for a violation, or a replay does not."""
    trace = read(path)
    assert trace.end is not None
    assert trace.end.cycle is not None
    boot, _, run = schedule_of(trace, system)
    known = next(known for known in system.properties if known.name == name)
    again = wl.replay(path, system=system)
    if not again.reproduced:
        return f"not reproduced: {again}"
    return objection(Oracle(system), boot, run, trace.end.cycle, known)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_verdicts_agree_with_the_oracle(tmp_path: Path) -> None:
    for expected in small(8, largest=25):
        assert not differences(expected, tmp_path)


def test_verdicts_are_the_same_where_another_network_has_nothing_to_carry(
    tmp_path: Path,
) -> None:
    for expected in small(5, largest=25):
        plan = expected.plan
        beside = wl.networks({Word: plan.network}, otherwise=wl.datagrams())
        mixed = replace(expected, plan=replace(plan, network=beside))
        assert not differences(mixed, tmp_path)


@pytest.mark.parametrize(
    ("forgotten", "number"), [("renewals", 146), ("payloads", 127)]
)
def test_the_comparison_notices_another_fairness(
    forgotten: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without renewals, or with one event for all payloads, a plan is judged wrong."""
    expected = judged(plan_of(number), largest=25)
    assert expected is not None
    assert not differences(expected, tmp_path)
    if forgotten == "renewals":
        monkeypatch.setattr(liveness, "_renewed", lambda leaf: ())
    else:
        monkeypatch.setattr(Space, "_event", by_class)
    found: list[str] = []
    with contextlib.suppress(Nondeterminism):
        # A run that is no violation on the real nodes is refused.
        found = differences(expected, tmp_path) or ["nothing"]
    assert found != ["nothing"]


def by_class(space: Space, event: wl.Event) -> int:
    """Number an event as if it was the same with any payload."""
    kind = (event.node, event.kind, event.name, event.peer)
    return space._events.setdefault(kind, len(space._events))


@pytest.mark.nightly
def test_verdicts_agree_with_the_oracle_on_many_systems(tmp_path: Path) -> None:
    kinds = Counter[bool]()
    for expected in small(1_000, largest=150):
        assert not differences(expected, tmp_path)
        kinds.update(expected.violated.values())
    # Neither answer is seldom, or the agreement would say little.
    assert min(kinds[True], kinds[False]) > 400
