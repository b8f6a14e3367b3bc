"""CrystalBall's bugs: predicted from the states of its scenarios, and nothing without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from benchmarks.live_starts import STARTS
from benchmarks.predictions import MOST_STATES, OWN, USUAL, Scene, scenes

import worldline as wl
from worldline import zoo
from worldline.search.engines import choose

ALL = list(scenes([]))
VIOLATED = {
    **{f"bulletprime-cb{n}": "views_are_complete" for n in (1, 2, 3)},
    "chord-cb1": "alone_on_both_sides",
    "chord-cb2": "predecessor_is_nearest",
    "chord-cb3": "find_queue_is_bounded",
    "paxos-cb1": "agreement",
    "paxos-cb2": "agreement",
    **{f"randtree-cb{n}": "children_are_not_siblings" for n in (1, 2, 3, 4)},
    "randtree-cb5": "root_is_above",
    "randtree-cb6": "root_has_no_siblings",
    "randtree-cb7": "timers",
}
LARGE = ("chord-cb1", "randtree-cb3", "randtree-cb5", "randtree-cb6")
SLOW_IN_PYTHON = choose("auto", by_cost=True).engine == "python"


def each(*, fixed: bool = False) -> Iterator[Any]:
    """The scenes; without their bug all of the states are visited, which takes longer."""
    for scene in ALL:
        marks = [pytest.mark.slow] if scene.bug in LARGE else []
        if fixed or SLOW_IN_PYTHON or scene.faults == OWN:
            marks = [pytest.mark.nightly]
        yield pytest.param(scene, id=f"{scene.bug}-{scene.faults}", marks=marks)


def predict(scene: Scene, *, fixed: bool = False, **options: Any) -> wl.PredictReport:
    told = {"max_states": MOST_STATES, "traces": False, "threads": 1, **options}
    return wl.predict(scene.system(fixed=fixed), faults="declared", **told)


def test_every_bug_of_the_paper_is_predicted_by_its_command():
    papers = {name for name, case in zoo.bugs().items() if case.paper == "crystalball"}
    assert len(papers) == 15
    assert papers == zoo.cross_checks().keys() == {scene.bug for scene in ALL}
    assert papers == VIOLATED.keys()
    for name in papers:
        words = zoo.bugs()[name].command.split()
        assert words[0] == "predict"
        assert words[-2:] == ["--max-states", str(MOST_STATES)]
        given = dict(word.split("=") for word in words if "=" in word)
        # From where the scenario leaves the most to predict.
        assert given.items() <= STARTS[name].parameters.items()


@pytest.mark.parametrize("scene", list(each()))
def test_each_bug_is_predicted_within_few_states(scene: Scene):
    name = VIOLATED[scene.bug]
    report = predict(scene, properties=[name])
    (found,) = report.predictions
    assert found.property == name
    assert found.states <= MOST_STATES
    assert report.bound == "all violated"


@pytest.mark.parametrize("scene", list(each(fixed=True)))
def test_nothing_is_predicted_with_the_bug_fixed(scene: Scene):
    assert predict(scene, fixed=True).predictions == ()


def scene_of(bug: str, faults: str) -> Scene:
    return next(one for one in ALL if (one.bug, one.faults) == (bug, faults))


@pytest.mark.slow
def test_what_forgets_put_off_steps_misses_a_bug_that_is_six_steps_away():
    scene = scene_of("randtree-cb6", USUAL)
    asked: dict[str, Any] = {
        "properties": ["root_has_no_siblings"],
        "max_states": 1_000_000,
    }
    never = predict(scene, repeat_cost="never", **asked)
    assert (never.predictions, never.bound) == ((), "pruned own steps")
    assert never.verdict is wl.Verdict.UNKNOWN
    (found,) = predict(scene, **asked).predictions
    assert (found.steps, found.cost) == (6, 6 + 6)


def test_its_own_fault_alone_leads_there_at_once():
    scene = scene_of("randtree-cb6", OWN)
    (found,) = predict(scene, repeat_cost="never").predictions
    assert (found.steps, found.cost, found.states) == (6, 6, 349)
