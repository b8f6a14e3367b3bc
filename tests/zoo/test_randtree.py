"""RandTree: the published bugs are found, and the fixed protocol is never accused."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline import zoo
from worldline.loading.loader import load
from worldline.model.usercode import divergence
from worldline.worlds.direct import DirectWorld
from worldline.zoo import randtree
from worldline.zoo.randtree.properties import one_spanning_tree
from worldline.zoo.randtree.starts import STARTS

FOUND: dict[str, tuple[str, int]] = {
    "rt11": ("timers", 6),
    "rt14": ("timers", 4),
    "rt15": ("joins_as_its_own_root", 2),
    "rt16": ("joins_as_its_own_root", 2),
    "rt17": ("joins_as_its_own_root", 2),
    "cb1": ("children_are_not_siblings", 5),
    "cb2": ("children_are_not_siblings", 4),
    "cb3": ("children_are_not_siblings", 5),
    "cb4": ("children_are_not_siblings", 4),
    "cb5": ("root_is_above", 8),
    "cb6": ("root_has_no_siblings", 6),
    "cb7": ("recovery_runs", 1),
}
"""By bug: the property that fails, and the events of the shortest run."""

DIVERGENT = {"rt1": 8, "rt5": 11, "rt6": 4, "rt7": 3, "rt8": 3, "rt9": 3}
"""By bug: the events until the join timer's handler does not return."""

EVERY_FAULT: dict[str, Any] = {"resets": 1, "silent_resets": 1, "connection_errors": 1}

SETTLED = ["rt7", "rt8", "cb1", "cb2", "cb4", "cb5", "cb6"]
"""Starts at which all nodes that have not crashed are in one tree."""

slow = pytest.mark.slow


def command(bug: str) -> tuple[str, dict[str, str], int]:
    """Return the target, the parameters and the depth of a bug's command."""
    cases = {**zoo.bugs(), **zoo.cross_checks()}
    _, target, *options = shlex.split(cases[f"randtree-{bug}"].command)
    pairs = list(zip(options[::2], options[1::2], strict=True))
    given = dict(value.split("=", 1) for option, value in pairs if option == "-p")
    return target, given, int(dict(pairs)["--max-depth"])


def search(bug: str, *, present: bool = True) -> wl.Report:
    target, given, depth = command(bug)
    assert given["bugs"] == bug
    system = load(target, given if present else {**given, "bugs": ""})
    return wl.check(system, max_depth=depth, traces=False)


def in_first_state(system: wl.System) -> wl.View:
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    world.prepare(system.prologue)
    return world.view


def violated(report: wl.Report) -> list[str]:
    return [p.name for p in report.properties if p.verdict is wl.Verdict.VIOLATED]


def every(bug: str) -> Any:
    return pytest.param(bug, marks=slow if bug in ("rt5", "cb5", "cb6") else ())


@pytest.mark.parametrize("bug", [every(b) for b in FOUND])
def test_each_violation_is_found_by_its_shortest_run(bug: str):
    name, steps = FOUND[bug]
    assert search(bug).expect_violated(name).steps == steps


def test_the_property_that_rt3_led_to_is_violated_by_rt3():
    report = wl.check(randtree.system(bugs=("rt3",), size=2), max_depth=8, traces=False)
    assert report.expect_violated("timers").steps == 2


@pytest.mark.slow
@pytest.mark.parametrize("bug", share(list(DIVERGENT), every=2))
def test_each_endless_search_for_a_peer_is_found(
    bug: str, monkeypatch: pytest.MonkeyPatch
):
    # What never ends is found with less patience, too.
    monkeypatch.setattr(divergence, "PATIENCE_S", 0.05)
    monkeypatch.setattr(divergence, "LINE_BUDGET", 20_000)
    report = search(bug)
    assert violated(report) == ["divergence"]
    assert report.expect_violated("divergence").steps == DIVERGENT[bug]


@pytest.mark.parametrize("bug", [every(b) for b in FOUND | DIVERGENT])
def test_the_control_of_each_bug_is_not_accused(bug: str):
    assert search(bug, present=False).verdict is wl.Verdict.UNKNOWN


def test_every_bug_with_a_command_is_tested():
    tested = {f"randtree-{bug}" for bug in FOUND | DIVERGENT}
    searched = {
        bug
        for bug, case in {**zoo.bugs(), **zoo.cross_checks()}.items()
        if case.command.startswith("check zoo:randtree ")
    }
    assert tested == searched


@pytest.mark.slow
@pytest.mark.parametrize("start", share(["", *STARTS], every=3))
def test_the_fixed_protocol_survives_every_fault(start: str):
    system = randtree.system(start=start, **EVERY_FAULT)
    report = wl.check(system, max_states=10_000, traces=False)
    assert report.verdict is wl.Verdict.UNKNOWN


@pytest.mark.slow
@pytest.mark.parametrize("contacts", ["first", "ring", "all"])
def test_the_fixed_protocol_survives_every_fault_in_a_chain(contacts: Any):
    system = randtree.system(max_children=1, contacts=contacts, **EVERY_FAULT)
    report = wl.check(system, max_states=10_000, traces=False)
    assert report.verdict is wl.Verdict.UNKNOWN


@pytest.mark.parametrize("start", SETTLED)
def test_settled_nodes_form_one_spanning_tree(start: str):
    view = in_first_state(randtree.system(start=start))
    assert one_spanning_tree.judge(view).holds


def test_two_trees_are_not_one_spanning_tree():
    view = in_first_state(randtree.system(start="rt14"))
    assert not one_spanning_tree.judge(view).holds


def test_rt2_hides_the_root_from_the_application():
    view = in_first_state(randtree.system(start="cb1", bugs=("rt2",)))
    assert not one_spanning_tree.judge(view).holds


@pytest.mark.parametrize(
    "parameters", [{"bugs": ("rt18",)}, {"start": "cb8"}, {"bugs": ("cb1", "")}]
)
def test_an_unknown_name_is_refused_with_those_that_exist(parameters: dict[str, Any]):
    with pytest.raises(ValueError, match=r"no (bug|start) '.*'; there are rt"):
        randtree.system(**parameters)
