"""The toy's published numbers: 16 states, 24 transitions, 20 maximal paths."""

from __future__ import annotations

import worldline as wl
from worldline.model.events import Choices
from worldline.worlds.direct import DirectWorld
from worldline.zoo import toy


def maximal_paths(schedule: list[tuple[wl.Event, Choices]]) -> int:
    world = DirectWorld(toy.system())
    for event in world.boot_events():
        world.step(event)
    world.run(schedule)
    following = [[*schedule, (event, ())] for event in world.enabled()]
    return sum(map(maximal_paths, following)) if following else 1


def test_it_has_the_published_states_and_transitions():
    report = wl.check(toy.system(), traces=False)
    initial = 1
    assert (report.states, report.generated - initial, report.depth) == (16, 24, 7)
    report.expect_holds()


def test_it_has_the_published_number_of_maximal_paths():
    assert maximal_paths([]) == 20


def test_no_end_is_a_deadlock():
    wl.check(toy.system(), traces=False, deadlock=True).expect_holds()
