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


@wl.message
class Hello:
    pass


@wl.node
class Friend:
    """Says hello to all; counts whose connections break."""

    lost: int = 0

    @wl.start
    def greet(self, ctx: wl.Context) -> None:
        for node in ctx.nodes:
            if node != ctx.me:
                ctx.send(node, Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        pass

    @wl.transport_error
    def lose(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost += 1


FRIENDS = wl.System({node: Friend() for node in IDS}, network=wl.streams())


def noticed_by(seed: int, share: float) -> list[str]:
    """Return who notices that one node of six is reset after ten seconds."""
    system = FRIENDS.under_injection("all", ("resets", "silent_resets"))
    reset = WeatherEvent(what="reset", time=10.0, node=IDS[0], silent=share)
    conditions = Conditions(latency=latency_of("constant 1ms"), weather=[reset])
    simulation = Simulation(system, conditions, seed)
    while simulation.next(9.5) is not None:
        pass
    while (event := simulation.next(10.0)) is not None:
        assert event.kind is Kind.RESET
    while simulation.next(20.0) is not None:
        pass
    nodes = simulation.world.nodes
    return [node.name for node, now in zip(IDS, nodes, strict=True) if now.lost]


def test_of_a_silent_reset_a_share_of_the_peers_learns_nothing():
    assert noticed_by(1, 0.0) == ["b", "c", "d", "e", "f"]
    assert noticed_by(1, 1.0) == []
    some = [len(noticed_by(seed, 0.4)) for seed in range(60)]
    assert len(set(some)) > 3
    assert abs(sum(some) / 60 - 5 * 0.6) < 0.4


def test_who_misses_a_reset_misses_it_too_if_others_learn_of_more():
    """The share only adds to those that notice nothing."""
    for seed in range(20):
        few, many = noticed_by(seed, 0.7), noticed_by(seed, 0.3)
        assert set(few) <= set(many)
