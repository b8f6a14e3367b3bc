"""The same system with other arguments, and what its traces say of where it is from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run
from tests.search.test_cuts import A, Counter, at_most_two, below_four

import worldline as wl
from worldline.model.system import SystemOrigin

ORIGIN = SystemOrigin("counting.py", (), "0" * 16)
B = wl.ids("b")[0]


@wl.safety
def below_three(view: wl.View) -> bool:
    return bool(view[A].value < 3)


@wl.safety
def not_nine(view: wl.View) -> bool:
    return bool(view[A].value != 9)


def counting() -> wl.System:
    calls = [wl.invoke(Counter.add) for _ in range(5)]
    system = wl.System(
        {A: Counter()},
        workload=(call for call in [wl.script(A, calls)]),
        properties=[below_four, not_nine],
        unhandled="error",
        name="counting",
    )
    system.origin = ORIGIN
    return system


def test_nothing_changed_is_the_same_system():
    one, other = counting(), counting().replace()
    assert other is not one
    assert wl.check(other, traces=False).states == wl.check(one, traces=False).states
    assert (other.origin, other.unhandled) == (ORIGIN, "error")
    assert other.workload == one.workload


def test_an_argument_is_changed_and_the_others_stay():
    system = counting()
    changed = system.replace(properties=[below_three])
    assert wl.check(changed, traces=False).expect_violated("below_three").steps == 3
    assert wl.check(system, traces=False).expect_violated("below_four").steps == 4


def test_what_follows_from_an_argument_is_worked_out_anew():
    plain = wl.System({A: Counter()}, network=wl.message_set())
    assert plain.unhandled == "wait"
    assert plain.replace(network=wl.datagrams()).unhandled == "drop"
    assert counting().replace(network=wl.streams()).unhandled == "error"
    assert counting().replace(nodes={A: Counter(), B: Counter()}).ids == (A, B)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"assume": at_most_two},
        {"prune": at_most_two},
        {"done": at_most_two},
        {"symmetry": []},
        {"properties": [below_four]},
        {"properties": [], "name": "other"},
    ],
)
def test_the_origin_stays_where_it_replays_the_same_runs(changes: dict[str, Any]):
    assert counting().replace(**changes).origin == ORIGIN


@pytest.mark.parametrize(
    "changes",
    [
        {"properties": [below_three]},
        {"nodes": {A: Counter(1)}},
        {"workload": []},
        {"network": wl.streams()},
        {"faults": wl.Faults(drops=1)},
        {"timed": True},
        {"boot": "events"},
        {"observers": []},
        {"name": "other", "unhandled": "drop"},
    ],
)
def test_a_system_with_other_runs_or_properties_has_no_origin(changes: dict[str, Any]):
    assert counting().replace(**changes).origin is None


def test_a_trace_of_a_replaced_system_says_that_its_target_is_to_be_given(
    tmp_path: Path,
):
    path = tmp_path / "run.wl"
    changed = counting().replace(properties=[below_three])
    failed = wl.check(changed, out=path).expect_violated("below_three")
    assert failed.replay == f"wl.replay({str(path)!r}, system=...)"
    assert wl.replay(path, changed).reproduced
    with pytest.raises(wl.UsageError, match="does not say from where its system is lo"):
        wl.replay(path)
    assert "does not say from where its system" in refusal(run("replay", str(path)))
    unchanged = wl.replay(path, counting())
    assert not unchanged.reproduced
    assert "counting has no property 'below_three': what" in unchanged.explanation


def changed_counting() -> wl.System:
    return counting().replace(properties=[below_three])


def test_a_function_that_replaces_is_an_origin_of_its_own(tmp_path: Path):
    path = tmp_path / "run.wl"
    failed = wl.check(changed_counting, out=path).expect_violated("below_three")
    assert failed.replay is not None
    assert failed.replay.endswith("test_replace:changed_counting")
    target = failed.replay.rpartition(" ")[2]
    assert run("replay", str(path), target).status == 1
    assert wl.replay(path, target).reproduced


def test_all_is_checked_anew():
    with pytest.raises(wl.ModelError, match="which is no node of the system"):
        counting().replace(nodes={B: Counter()})
    with pytest.raises(wl.ModelError) as caught:
        counting().replace(node={A: Counter()})
    assert str(caught.value).startswith(
        "System.replace(node=...): a system has no argument 'node'; its arguments are "
        "nodes, network, workload, faults, predict, properties,"
    )


def test_a_system_under_injection_stays_so():
    injected = counting().under_injection("losses")
    changed = injected.replace(name="other")
    assert (changed.injected, changed.faults) == ("losses", injected.faults)
