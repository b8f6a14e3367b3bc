"""Liveness properties of zoo systems whose whole space is small."""

from __future__ import annotations

from pathlib import Path

import pytest

import worldline as wl
from worldline.model.verdicts import Verdict
from worldline.trace.format import read
from worldline.zoo import overcast, randtree


def liveness(report: wl.Report) -> dict[str, Verdict]:
    return {p.name: p.verdict for p in report.properties if p.kind == "liveness"}


def test_two_nodes_of_randtree_form_a_tree_unless_the_root_names_no_parent(
    tmp_path: Path,
) -> None:
    fixed = wl.check(randtree.system(size=2, resets=1))
    assert liveness(fixed) == {"one_spanning_tree": Verdict.HOLDS}
    system = randtree.system(size=2, bugs=("rt2",))
    report = wl.check(system, out=tmp_path / "rt2.wl")
    found = report.expect_violated("one_spanning_tree")
    # Both join; from then on only the recovery timers go off, for ever.
    assert (found.steps, found.cycle) == (6, 5)
    assert found.trace is not None
    assert wl.replay(found.trace, system=system).reproduced


def test_a_silent_reset_is_noticed_by_nobody_who_says_nothing(tmp_path: Path) -> None:
    """The fixed RandTree has no keep-alive; see docs/zoo.md."""
    file = tmp_path / "silent.wl"
    report = wl.check(randtree.system(size=2, silent_resets=1), out=file)
    found = report.expect_violated("one_spanning_tree")
    assert found.steps is not None
    assert found.cycle is not None
    trace = read(file)
    assert "reset" in [step.kind for step in trace.run]
    cycle = [step for step in trace.run if step.step >= found.cycle]
    assert {step.name for step in cycle} == {"recovery"}
    assert all(not step.sends for step in cycle)
    noticed = wl.check(randtree.system(size=2, connection_errors=1))
    assert liveness(noticed) == {"one_spanning_tree": Verdict.HOLDS}


@pytest.mark.slow
def test_two_nodes_of_overcast_form_a_tree() -> None:
    report = wl.check(overcast.system(size=2))
    assert liveness(report) == {
        "one_spanning_tree": Verdict.HOLDS,
        "kids_match": Verdict.HOLDS,
        "locks_are_needed": Verdict.HOLDS,
    }
    assert "locks_are_needed holds vacuously" in str(report)
