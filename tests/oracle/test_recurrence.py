"""The oracle's check of components: known by hand, and against the fixpoint."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.oracle import Oracle, fair
from tests.oracle.recurrence import Arc, components, is_violated, objection
from tests.search.wheels import plan_of

import worldline as wl
from worldline.runs.schedule import schedule_of
from worldline.trace.format import read


def arc(start: int, event: int | None, end: int | None, *anew: int) -> Arc:
    return Arc(start, event, frozenset(anew), end)


def test_two_rings_and_a_bridge_are_two_components() -> None:
    arcs = [arc(0, 0, 1), arc(1, 0, 0), arc(1, 0, 2), arc(2, 0, 3), arc(3, 0, 2)]
    home = components(range(4), arcs)
    assert home[0] == home[1] != home[2] == home[3]


@pytest.mark.parametrize(
    ("arcs", "violated"),
    [
        ([arc(0, 0, 0), arc(0, 1, 1), arc(1, 0, 1)], False),
        ([arc(0, 0, 0, 1), arc(0, 1, 1), arc(1, 0, 1)], True),
        ([arc(0, None, 0, 1), arc(0, 1, 1), arc(1, 0, 1)], True),
        ([arc(0, None, 1), arc(1, 0, 1)], True),
        ([arc(0, 0, None), arc(0, None, 0), arc(1, 0, 1)], False),
    ],
    ids=["starved", "renewed", "renewed by a fault", "stops", "fails"],
)
def test_what_may_go_on_in_state_0_for_ever(arcs: list[Arc], violated: bool) -> None:
    assert is_violated({0, 1}, arcs, {0}) is violated


def test_it_agrees_with_the_fixpoint_on_random_graphs() -> None:
    rng, found = random.Random(1), [0, 0]
    for _ in range(400):
        arcs = [
            arc(
                rng.randrange(5),
                rng.choice([None, 0, 1, 2]),
                rng.choice([None, *range(5)]),
                *rng.sample(range(3), rng.choice([0, 0, 1])),
            )
            for _ in range(rng.randrange(12))
        ]
        bad = set(rng.sample(range(5), rng.randrange(4)))
        edges = [(one.start, one.event, one.anew, one.end) for one in arcs]
        expected = fair.is_violated(edges, set(range(5)), bad)
        assert is_violated(set(range(5)), arcs, bad) == expected
        found[expected] += 1
    assert min(found) > 50


def test_it_objects_to_runs_that_are_no_violations(tmp_path: Path) -> None:
    """Plan 146 has a cycle that violates; cut, or begun elsewhere, it does not."""
    system = plan_of(146).build()
    report = wl.check(system, keep_going=True, out=tmp_path / "run.wl")
    (found, *_) = [p for p in report.properties if p.cycle is not None]
    assert found.trace is not None
    assert found.cycle is not None
    boot, _, run = schedule_of(read(found.trace), system)
    known = next(known for known in system.properties if known.name == found.name)
    oracle = Oracle(system)
    assert objection(oracle, boot, run, found.cycle, known) == ""
    assert "need not stop" in objection(oracle, boot, run, len(run) + 1, known)
    twice = [*run, *run]
    assert "cannot happen" in objection(oracle, boot, twice[::-1], found.cycle, known)
    assert objection(oracle, boot, run, found.cycle - 1, known) != ""
