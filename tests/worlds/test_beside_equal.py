"""What stands beside a message is its own, though messages before it were lost that say the same."""

from __future__ import annotations

import pytest

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

A, B = wl.ids("a", "b")


@wl.message
class Same:
    pass


@wl.node
class Saying:
    peer: wl.NodeId
    heard: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Saying.say, after=0.1)

    @wl.timer
    def say(self, ctx: wl.Context) -> None:
        ctx.send(self.peer, Same())
        ctx.set_timer(Saying.say, after=0.1)

    @wl.on(Same)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Same) -> None:
        self.heard += 1

    @wl.transport_error
    def lose(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.heard = 0


class Counting(wl.Companion):
    """Counts what is sent, and looks at what comes after a connection broke."""

    def __init__(self) -> None:
        self.sent = self.came = 0
        self.dead: dict[tuple[wl.NodeId, wl.NodeId], int] = {}
        self.wrong: list[int] = []

    def seen(self, beside: wl.Beside, event: wl.Event) -> None:
        if event.kind is wl.Kind.TRANSPORT_ERROR and event.peer is not None:
            self.dead[beside.me, event.peer] = self.sent

    def extensions(
        self, beside: wl.Beside, peer: wl.NodeId, part: str, message: Same
    ) -> dict[int, int]:
        self.sent += 1
        return {1: self.sent}

    def noticed(
        self, beside: wl.Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.came += 1
        if numbers[1] <= self.dead.get((peer, beside.me), 0):
            self.wrong.append(numbers[1])


NETWORKS: dict[str, Network] = {
    "streams": wl.streams(),
    "both": wl.networks({Same: wl.streams()}, otherwise=wl.datagrams()),
}


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_what_stands_beside_a_message_is_its_own(network: str, seed: int):
    system = wl.System(
        {A: Saying(B), B: Saying(A)},
        network=NETWORKS[network],
        faults=wl.Faults(resets=None),
        name="saying",
    )
    companion = Counting()
    conditions = Conditions(
        latency=latency_of("uniform 10ms 900ms"),
        weather=[WeatherEvent(time=1.05, what="reset", every=1.7)],
    )
    run = Simulation(system, conditions, seed, companions=[companion])
    while run.next(30.0) is not None:
        pass
    assert companion.came > 100
    assert companion.wrong == []
