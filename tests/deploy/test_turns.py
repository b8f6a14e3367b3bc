"""Turns of many events: where the disk is waited for, they end before their round does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import worldline as wl
from worldline.deploy.turn import LONG
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.reading import read_node
from worldline.trace.journal.records import DeltaRecord

A, B = wl.ids("a", "b")
MANY = 3 * LONG + 5


@wl.message
class Add:
    number: int


@wl.node
class Counter:
    peers: tuple[wl.NodeId, ...] = ()
    added: int = wl.durable(default=0)
    heard: list[int] = wl.field(default_factory=list)

    @wl.call
    def add(self, ctx: wl.Context, number: int) -> int:
        self.added += 1
        for peer in self.peers:
            ctx.send(peer, Add(number))
        return number

    @wl.on(Add)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Add) -> None:
        self.added += 1
        self.heard.append(msg.number)


SYSTEM = wl.System(
    {A: Counter((B,)), B: Counter()}, network=wl.streams(buffer=2 * MANY)
)
CODEC = Codec(SYSTEM.under_recording())


def turns_of(folder: Path, node: wl.NodeId) -> list[int]:
    """Return how often each turn of a node changed a durable field, if it did."""
    (life,) = read_node(folder / node.name).incarnations
    changes = (
        sum(type(record) is DeltaRecord for record in turn.records)
        for turn in life.turns(CODEC, partial=False)
    )
    return [count for count in changes if count]


async def add_many(folder: Path, sync: str) -> None:
    async with wl.Host(SYSTEM, record=folder, sync=sync) as host:
        async with asyncio.timeout(10):
            calls = (host.call(A, Counter.add, number) for number in range(MANY))
            assert await asyncio.gather(*calls) == [*range(MANY)]
            await host.until(B, lambda state: len(state.heard) == MANY)
            assert host.state(B).heard == [*range(MANY)]


def test_a_long_turn_ends_so_that_the_disk_can_begin_with_it(tmp_path: Path):
    asyncio.run(add_many(tmp_path, "durable"))
    assert turns_of(tmp_path, A) == [LONG, LONG, LONG, 5]
    assert max(turns_of(tmp_path, B)) <= LONG
    assert sum(turns_of(tmp_path, B)) == MANY


def test_a_turn_that_waits_for_no_disk_has_its_whole_round(tmp_path: Path):
    asyncio.run(add_many(tmp_path, "never"))
    assert turns_of(tmp_path, A) == [MANY]
