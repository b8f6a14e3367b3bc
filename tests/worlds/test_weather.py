"""Weather: which nodes it befalls when they are drawn."""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.model.kinds import Kind
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

IDS = wl.ids(*"abcdef")


@wl.node
class Idle:
    pass


def struck(
    seed: int, *weather: WeatherEvent, spared: int = 0
) -> list[tuple[Kind, str]]:
    """Return what befalls which node, in order, in 100 seconds."""
    system = wl.System(
        {node: Idle() for node in IDS}, faults=wl.Faults(nodes=IDS[spared:])
    ).under_injection("all", ("crashes", "restarts", "resets"))
    conditions = Conditions(latency=latency_of("constant 1ms"), weather=weather)
    simulation = Simulation(system, conditions, seed)
    events = []
    while (event := simulation.next(100.0)) is not None:
        if event.kind is not Kind.START:
            events.append((event.kind, str(event.node)))
    return events


def drawn(what: str, time: float, every: float | None = None) -> WeatherEvent:
    return WeatherEvent(what=what, time=time, every=every)


def test_only_nodes_are_drawn_that_a_fault_can_befall():
    events = struck(1, drawn("crash", 1.0, 1.0), spared=2)
    assert [kind for kind, _ in events] == [Kind.CRASH] * 4
    assert sorted(node for _, node in events) == ["c", "d", "e", "f"]


def test_what_is_down_is_drawn_to_start_again():
    crashed, restarted = struck(4, drawn("crash", 1.0), drawn("restart", 2.0))
    assert (crashed[0], restarted) == (Kind.CRASH, (Kind.RESTART, crashed[1]))


@pytest.mark.parametrize("what", ["crash", "reset"])
def test_every_node_is_drawn_by_some_seed(what: str):
    assert {struck(seed, drawn(what, 1.0))[0][1] for seed in range(60)} == set("abcdef")


def test_the_node_that_is_drawn_is_the_same_if_others_are_down():
    for seed in range(20):
        ((_, node),) = struck(seed, drawn("reset", 2.0))
        other = next(other for other in IDS if other.name != node)
        crashed = WeatherEvent(what="crash", time=1.0, node=other)
        assert struck(seed, crashed, drawn("reset", 2.0))[1][1] == node
