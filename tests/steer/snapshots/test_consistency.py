"""Snapshots of random runs with all faults are consistent, with their channels (D76)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from tests.shares import share
from tests.steer.snapshots import chatter
from tests.steer.snapshots.judging import Judge

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.steer.snapshots.channels import NUMBER
from worldline.steer.snapshots.node_keeper import NodeKeeper
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.tails import Tail
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.weather import WeatherEvent

NETWORKS: dict[str, Network] = {
    "streams": wl.streams(buffer=None),
    "datagrams": wl.datagrams(loss=True, duplication=True),
    "in order": wl.datagrams(loss=True, duplication=True, reordering=False),
    "both": wl.networks(
        {chatter.Call: wl.datagrams(loss=True, duplication=True)},
        otherwise=wl.streams(buffer=None),
    ),
}


WEATHER = [
    WeatherEvent(time=3.0, what="reset", every=5.0),
    WeatherEvent(time=7.5, what="crash", every=11.0),
    WeatherEvent(time=9.0, what="restart", every=11.0),
    WeatherEvent(time=6.0, what="cut", every=13.0, side=frozenset(wl.ids("a"))),
    WeatherEvent(time=7.0, what="heal", every=13.0),
]


def conditions(network: Network) -> Conditions:
    loses = wl.Capability.DROP in network.capabilities
    return Conditions(
        latency=latency_of("uniform 10ms 800ms"),
        loss=0.1 if loses else 0.0,
        duplicate=0.1 if loses else 0.0,
        weather=WEATHER,
    )


def walked(
    network: Network,
    seed: int,
    steps: int = 150,
    kind: type[chatter.Talker] = chatter.Talker,
) -> int:
    system = chatter.system(network, kind=kind)
    judge = Judge.walked(system, seed, GatherOptions(interval=4.0))
    return judge.run(steps)


def simulated(
    network: Network,
    seed: int,
    seconds: float = 12.0,
    kind: type[chatter.Talker] = chatter.Talker,
) -> int:
    system = chatter.system(network, kind=kind)
    options = GatherOptions(interval=4.0)
    judge = Judge.simulated(system, seed, conditions(network), options)
    return judge.run(10_000, until=seconds)


@pytest.mark.slow
@pytest.mark.parametrize("network", share(NETWORKS, only=["streams"]))
def test_snapshots_of_random_walks_are_consistent(network: Network):
    assert walked(network, 1) > 30


@pytest.mark.slow
@pytest.mark.parametrize("network", share(NETWORKS, only=["in order"]))
def test_snapshots_of_runs_by_the_clock_are_consistent(network: Network):
    assert simulated(network, 1) > 20


@pytest.mark.slow
@pytest.mark.parametrize("network", share(NETWORKS, only=["datagrams"]))
def test_snapshots_with_those_beside_neighbours_are_consistent(network: Network):
    assert simulated(network, 1, 6.0, chatter.Gossip) > 20
    assert walked(network, 1, 100, chatter.Gossip) > 20


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "count"), [(chatter.Talker, 25_000), (chatter.Gossip, 5_000)]
)
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_very_many_snapshots_are_consistent(
    network: Network, kind: type[chatter.Talker], count: int
):
    judged, seed = 0, 1000
    while judged < count:
        seed += 1
        judged += walked(network, seed, 200, kind)
        judged += simulated(network, seed, 20.0, kind)


def test_messages_that_force_no_checkpoint_make_orphans(
    monkeypatch: pytest.MonkeyPatch,
):
    came = NodeKeeper.came

    def careless(
        self: NodeKeeper, peer: int, life: int, numbers: Mapping[int, int]
    ) -> None:
        came(self, peer, life, {**numbers, NUMBER: 0})

    monkeypatch.setattr(NodeKeeper, "came", careless)
    system = chatter.system(NETWORKS["streams"])
    judge = Judge.walked(system, 1, GatherOptions(interval=4.0))
    judge.run(200)
    assert sum(one.orphans for one in judge.snapshots.counts.values()) > 0


def test_a_message_that_is_forgotten_is_noticed(monkeypatch: pytest.MonkeyPatch):
    acknowledge = Tail.acknowledge
    monkeypatch.setattr(
        Tail, "acknowledge", lambda self, number: acknowledge(self, number + 1)
    )
    with pytest.raises(AssertionError, match="is not under way"):
        walked(NETWORKS["datagrams"], 1, 400)
