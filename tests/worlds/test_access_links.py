"""AccessLinks of limited capacity: a source that serves receivers ends when a formula says."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.model.data.content import canonical_bytes
from worldline.model.data.values import freeze
from worldline.worlds.access_links import capacity_of, size_of
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation

BLOCK_BYTES = 16_384
LATENCY_S = 0.065


@wl.message(size=lambda block: BLOCK_BYTES * block.whole)
class Block:
    """A piece of a file; its content is not in the model."""

    number: int
    whole: float = 1.0


@wl.node
class Source:
    """Sends every block of a file to every receiver, block by block."""

    blocks: int
    receivers: tuple[wl.NodeId, ...]

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        for number in range(self.blocks):
            for receiver in self.receivers:
                ctx.send(receiver, Block(number))


@wl.node
class Receiver:
    got: int = 0

    @wl.on(Block)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Block) -> None:
        self.got += 1


def served(receivers: int, blocks: int, network: wl.Network | None = None) -> wl.System:
    source, *others = wl.ids("source", *(f"r{n}" for n in range(receivers)))
    nodes = {source: Source(blocks, tuple(others))}
    return wl.System(
        {**nodes, **{node: Receiver() for node in others}}, network=network
    )


def deliveries(system: wl.System, conditions: Conditions, seed: int = 0) -> list[float]:
    """Return when each block arrives, in order."""
    simulation = Simulation(system, conditions, seed)
    times = []
    while (event := simulation.next(1e9)) is not None:
        if event.name == "Block":
            times.append(simulation.now)
    return times


@pytest.mark.parametrize(
    "network", [None, wl.streams(), wl.datagrams(reordering=False)]
)
def test_a_source_ends_when_its_uplink_has_carried_all(network: wl.Network | None):
    # CrystalBall's access links (section 5.1), and its Figure 21 in small: 49 receivers.
    receivers, blocks, up, down = 49, 8, capacity_of("1Mbit"), capacity_of("5Mbit")
    times = deliveries(
        served(receivers, blocks, network),
        Conditions(latency=lambda drawn: LATENCY_S, uplink=up, downlink=down),
    )
    assert len(times) == receivers * blocks
    total = receivers * blocks * BLOCK_BYTES / up
    assert times[-1] == pytest.approx(total + LATENCY_S + BLOCK_BYTES / down, rel=1e-12)
    assert times[0] == pytest.approx(
        BLOCK_BYTES / up + LATENCY_S + BLOCK_BYTES / down, rel=1e-12
    )


def test_a_source_ends_when_the_last_downlink_has_carried_all():
    receivers, blocks, up, down = 5, 20, capacity_of("10Mbit"), capacity_of("500kbit")
    times = deliveries(
        served(receivers, blocks),
        Conditions(latency=lambda drawn: LATENCY_S, uplink=up, downlink=down),
    )
    first = receivers * BLOCK_BYTES / up + LATENCY_S
    assert times[-1] == pytest.approx(first + blocks * BLOCK_BYTES / down, rel=1e-12)


@pytest.mark.parametrize("limit", ["uplink", "downlink"])
def test_one_limit_without_the_other_is_enough(limit: str):
    capacity = capacity_of("1Mbit")
    conditions = Conditions(latency=lambda drawn: LATENCY_S)
    limited = {
        "uplink": Conditions(latency=conditions.latency, uplink=capacity),
        "downlink": Conditions(latency=conditions.latency, downlink=capacity),
    }[limit]
    assert deliveries(served(1, 3), conditions) == [LATENCY_S] * 3
    each = BLOCK_BYTES / capacity
    assert deliveries(served(1, 3), limited) == pytest.approx(
        [LATENCY_S + n * each for n in (1, 2, 3)], rel=1e-12
    )


def test_runs_with_and_without_a_limit_draw_the_same_latencies():
    latency = latency_of("uniform 10ms 50ms")
    free = Conditions(latency=latency)
    limited = Conditions(latency=latency, uplink=1.0)
    for seed in range(5):
        without = deliveries(served(3, 4), free, seed)
        # A byte a second: each block leaves when those before it have.
        drawn = [
            at - BLOCK_BYTES * (n + 1)
            for n, at in enumerate(deliveries(served(3, 4), limited, seed))
        ]
        assert sorted(drawn) == pytest.approx(sorted(without), abs=1e-9)


def test_a_message_to_itself_goes_over_no_link():
    (me,) = wl.ids("me")

    @wl.node
    class Alone:
        got: int = 0

        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Block(0))

        @wl.on(Block)
        def take(self, ctx: wl.Context, src: wl.NodeId, msg: Block) -> None:
            self.got += 1

    conditions = Conditions(latency=lambda drawn: LATENCY_S, uplink=1e-6, downlink=1e-6)
    assert deliveries(wl.System({me: Alone()}), conditions) == [LATENCY_S]


def test_what_is_lost_occupies_the_uplink_and_nothing_else():
    system = served(1, 40).under_injection("all", ("drops",))
    conditions = Conditions(
        latency=lambda drawn: 0.0, uplink=BLOCK_BYTES, downlink=BLOCK_BYTES, loss=0.5
    )
    simulation = Simulation(system, conditions, 1)
    kinds, times = [], []
    while (event := simulation.next(1e9)) is not None:
        if event.name == "Block":
            kinds.append(event.kind.value)
            times.append(simulation.now)
    assert 5 < kinds.count("drop") < 35
    # The uplink sends one a second, the downlink takes a second for each that arrives.
    sent = sorted(
        at - (1.0 if kind == "deliver" else 0.0)
        for kind, at in zip(kinds, times, strict=True)
    )
    assert sent == pytest.approx([float(n) for n in range(1, 41)])


def test_a_message_has_the_size_that_it_declares_or_that_of_its_canonical_form():
    @wl.message
    class Plain:
        text: str

    @wl.message(size=100)
    class Fixed:
        text: str

    assert size_of(Block(3, whole=0.5)) == BLOCK_BYTES / 2
    assert size_of(Fixed("long" * 1000)) == 100
    assert size_of(Plain("ab")) == len(canonical_bytes(freeze(Plain("ab"))))
    assert size_of(Plain("abc")) == size_of(Plain("ab")) + 1


@pytest.mark.parametrize("size", [-1, True, float("nan"), "1kB"])
def test_a_size_that_is_none_is_refused(size: Any):
    with pytest.raises(wl.ModelError, match="its size is"):

        @wl.message(size=size)
        class Plain:
            pass


def test_a_function_that_gives_no_size_is_refused():
    with pytest.raises(wl.ModelError, match="the size of Block"):
        size_of(Block(1, whole=-1.0))


@pytest.mark.parametrize(
    ("text", "rate"), [("8bit", 1.0), ("1.5kB/s", 1500.0), ("2Gbit", 2.5e8)]
)
def test_a_capacity_is_read_in_bytes_a_second(text: str, rate: float):
    assert capacity_of(text) == rate


@pytest.mark.parametrize("text", ["", "fast", "1", "0Mbit", "1mbit", "-1kB", "1 Mbit"])
def test_a_capacity_that_is_none_is_refused(text: str):
    with pytest.raises(wl.UsageError, match="is no capacity"):
        capacity_of(text)
