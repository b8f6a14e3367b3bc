"""BrokenTree: both bugs are found, and the fixed protocol has no loops."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline import zoo
from worldline.zoo import brokentree

FOUND: list[tuple[str, int, int, str]] = [
    ("bt1", 3, 2, "n1 -> n1"),
    ("bt2", 3, 14, "n1 -> n2 -> n1"),
]
"""The bug, how many nodes, the events of the shortest run, and the loop."""

FIXED: list[tuple[dict[str, Any], int]] = [
    ({}, 171),
    ({"reorganisations": 2}, 548),
    ({"size": 4}, 5_727),
]
"""Parameters and the number of states, as a search in the direct world counts them."""

slow = pytest.mark.slow


@pytest.mark.parametrize(("bug", "size", "steps", "loop"), FOUND)
def test_each_bug_is_found_by_its_shortest_run(
    bug: str, size: int, steps: int, loop: str
):
    report = wl.check(brokentree.system(size=size, bugs=(bug,)), traces=False)
    found = report.expect_violated("no_loops")
    assert found.steps == steps
    assert loop in str(found.explanation)


@pytest.mark.slow
def test_two_brothers_loop_in_a_larger_tree_too():
    system = brokentree.system(size=4, max_kids=3, bugs=("bt2",))
    assert wl.check(system, traces=False).expect_violated("no_loops").steps == 14


@pytest.mark.parametrize(("bug", "steps"), [("bt1", 6), ("bt2", 16)])
def test_no_tree_forms_after_a_loop(bug: str, steps: int):
    system = brokentree.system(bugs=(bug,))
    report = wl.check(system, properties=["one_spanning_tree"], traces=False)
    found = report.expect_violated("one_spanning_tree")
    # The cycle begins after the last step: nothing is left to happen.
    assert (found.steps, found.cycle) == (steps, steps + 1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("unbiased", [False, True])
def test_walks_find_the_loop_and_the_missing_tree(seed: int, *, unbiased: bool):
    """At MaceMC's depth of search, ten steps, where the loop takes four more."""
    system = brokentree.system(bugs=("bt2",))
    options: dict[str, Any] = {
        "depth": 11,
        "seed": seed,
        "unbiased": unbiased,
        "traces": False,
    }
    loop = wl.walk(system, **options)
    assert (loop.expect_violated("no_loops").steps or 0) >= 14
    assert loop.critical is None
    dead = wl.walk(system, properties=["one_spanning_tree"], **options)
    dead.expect_violated("one_spanning_tree")
    assert dead.critical is not None
    assert dead.critical.certified


def test_bt1_is_dead_from_the_beginning():
    report = wl.walk(
        brokentree.system(bugs=("bt1",)),
        properties=["one_spanning_tree"],
        traces=False,
    )
    assert report.critical is not None
    assert (report.critical.step, report.critical.certified) == (0, True)


@pytest.mark.parametrize("bug", ["bt1", "bt2"])
def test_the_command_of_each_bug_needs_no_parameters(bug: str):
    command = zoo.bugs()[f"brokentree-{bug}"].command
    assert command == f"check zoo:brokentree -p bugs={bug}"


@pytest.mark.parametrize(
    ("parameters", "states"),
    [pytest.param(p, n, marks=slow if n > 5_000 else ()) for p, n in FIXED],
)
def test_the_fixed_protocol_has_exactly_these_states(
    parameters: dict[str, Any], states: int
):
    report = wl.check(brokentree.system(**parameters), traces=False)
    report.expect_holds()
    assert report.states == states


def test_an_unknown_bug_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="no bug 'bt3'; there are bt1, bt2"):
        brokentree.system(bugs=("bt1", "bt3"))
