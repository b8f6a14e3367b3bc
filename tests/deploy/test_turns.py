"""Turns: when they end where the disk is waited for, and what waits for it."""

from __future__ import annotations

import asyncio
import enum
from pathlib import Path
from typing import Self, final

import pytest

import worldline as wl
from worldline.deploy import disk_sync
from worldline.deploy.disk_sync import DiskSync
from worldline.deploy.turn import LONG
from worldline.model.errors import ModelError
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH
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
    # Nothing waits for the disk when the first is made, which begins at once.
    assert turns_of(tmp_path, A) == [1, LONG, LONG, LONG, 4]
    assert max(turns_of(tmp_path, B)) <= LONG
    assert sum(turns_of(tmp_path, B)) == MANY


def test_a_turn_that_waits_for_no_disk_has_its_whole_round(tmp_path: Path):
    asyncio.run(add_many(tmp_path, "never"))
    assert turns_of(tmp_path, A) == [MANY]


@wl.message
class Note:
    """Keep this, and say nothing."""

    number: int


@wl.message
class Ask:
    """Say what was kept."""


@wl.message
class Put:
    """Keep this, and say so."""

    number: int


@wl.message
class Kept:
    number: int


@wl.node
class Keeper:
    peer: wl.NodeId
    kept: int = wl.durable(default=0)
    heard: int = 0

    @wl.call
    def tell(self, ctx: wl.Context, number: int) -> None:
        ctx.send(self.peer, Note(number))

    @wl.call
    def ask(self, ctx: wl.Context) -> None:
        ctx.send(self.peer, Ask())

    @wl.on(Note)
    def keep(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.kept = msg.number

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.kept = msg.number
        ctx.send(src, Kept(self.kept))

    @wl.on(Ask)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        ctx.send(src, Kept(self.kept))

    @wl.on(Kept)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Kept) -> None:
        self.heard = msg.number


KEEPERS = wl.System({A: Keeper(B), B: Keeper(A)}, network=wl.streams())


@final
class StuckDisk:
    """A disk whose syncs end when that is said; those that are left, when it is over."""

    def __init__(self) -> None:
        self.asked: list[DiskSync] = []

    def __enter__(self) -> Self:
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(DiskSync, "_is_asked", lambda one, _: self._ask(one))
        return self

    def __exit__(self, *error: object) -> None:
        self._patch.undo()
        while self.asked:
            self.end()

    def _ask(self, syncs: DiskSync) -> bool:
        self.asked.append(syncs)
        return True

    def end(self, error: int = 0) -> None:
        """End the first sync that was asked for."""
        first = self.asked.pop(0)
        first._end(first._present, error)


async def keep(host: wl.Host, number: int) -> None:
    """Have B keep a number."""
    await host.call(A, Keeper.tell, number)
    await host.until(B, lambda state: state.kept == number)


def test_nothing_leaves_before_what_it_depends_on_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(disk_sync, "LAZY_S", 5.0)

    async def heard(host: wl.Host) -> int:
        await asyncio.sleep(0.02)
        number: int = host.state(A).heard
        return number

    async def main() -> None:
        async with asyncio.timeout(10), wl.Host(KEEPERS, record=tmp_path) as host:
            with StuckDisk() as disk:
                await keep(host, 7)
                assert (await heard(host), len(disk.asked)) == (0, 0)
                await host.call(A, Keeper.ask)  # something leaves that depends on it
                assert (await heard(host), len(disk.asked)) == (0, 1)
                await keep(host, 8)
                await host.call(A, Keeper.ask)
                assert (await heard(host), len(disk.asked)) == (0, 1)
                disk.end()
                assert (await heard(host), len(disk.asked)) == (7, 1)
                disk.end()
                assert (await heard(host), len(disk.asked)) == (8, 0)

    asyncio.run(main())


def test_a_sync_that_fails_stops_the_node_though_nothing_waits_for_it(tmp_path: Path):
    async def main() -> None:
        host = wl.Host(KEEPERS, record=tmp_path, say=lambda line: None)
        async with asyncio.timeout(10):
            await host.start()
            with StuckDisk() as disk:
                await keep(host, 7)
                await asyncio.sleep(2 * disk_sync.LAZY_S)
                disk.end(error=5)
            assert not host.is_up(B)
            assert "synced: Input/output error" in str(host.counts(B).journal_failure)
            await host.stop()

    asyncio.run(main())


def test_an_idle_disk_begins_before_the_round_is_over(tmp_path: Path):
    codec = Codec(KEEPERS.under_recording())

    async def main() -> None:
        async with asyncio.timeout(10), wl.Host(KEEPERS, record=tmp_path) as host:
            life = host._life(B)
            seen = []  # syncs that were asked for, events of the present turn
            with StuckDisk() as disk:
                for number, made in enumerate([Note(1), Put(2), Put(3), Put(4)]):
                    packet = codec.packet(0, 1, number, 0, "", made)
                    life.receive([(packet, codec.frame(packet[LENGTH:]))])
                    seen.append((len(disk.asked), life._turn.events))
                assert seen == [(0, 1), (1, 0), (1, 1), (1, 2)]
                await asyncio.sleep(0.02)
                assert len(disk.asked) == 1
                disk.end()
                await asyncio.sleep(0.02)
                assert len(disk.asked) == 1  # all that came meanwhile

    asyncio.run(main())


def test_who_stops_a_node_waits_for_the_disk_and_so_does_who_stops_it_twice(
    tmp_path: Path,
):
    async def main() -> None:
        host = wl.Host(KEEPERS, record=tmp_path)
        async with asyncio.timeout(10):
            await host.start()
            with StuckDisk() as disk:
                await keep(host, 7)
                await host.call(A, Keeper.ask)
                await asyncio.sleep(0.02)
                stops = [asyncio.ensure_future(host.stop_node(B)) for _ in range(3)]
                await asyncio.sleep(0.02)
                assert not any(stop.done() for stop in stops)
                stops.pop().cancel()
                await asyncio.sleep(0.02)
                disk.end()
                await asyncio.gather(*stops)
            await host.stop()

    asyncio.run(main())


class Colour(enum.Enum):
    RED = 1


@wl.node
class Painter:
    """Keeps what no journal can spell, since nothing says of which class it is."""

    painted: object = wl.durable(default=None)
    seen: object = None
    count: int = wl.durable(default=0)

    @wl.call
    def paint(self, ctx: wl.Context, number: int) -> int:
        self.count += 1
        self.painted = Colour.RED if number == 2 else number
        return number

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        self.count += 1
        self.seen = Colour.RED


PAINTERS = wl.System({A: Painter()}, name="painters")


def test_a_node_stops_at_what_its_journal_cannot_spell(tmp_path: Path):
    stopped: list[int] = []

    async def paint() -> None:
        async with asyncio.timeout(10), wl.Host(PAINTERS, record=tmp_path) as host:
            for number in range(1, 4):
                try:
                    assert await host.call(A, Painter.paint, number) == number
                except wl.UsageError:
                    stopped.append(number)
            assert not host.is_up(A)

    with pytest.raises(ModelError, match="a value holds Colour, which the system"):
        asyncio.run(paint())
    assert stopped == [2, 3]

    async def look() -> None:
        async with wl.Host(PAINTERS, record=tmp_path) as host:
            assert (host.state(A).count, host.state(A).painted) == (1, 1)

    asyncio.run(look())
    assert wl.replay(tmp_path, PAINTERS).divergence is None


def test_a_node_without_checkpoints_goes_on_and_it_is_said_once(tmp_path: Path):
    said: list[str] = []

    async def main() -> None:
        host = wl.Host(PAINTERS, record=tmp_path, every=0.0, say=said.append)
        async with asyncio.timeout(10), host:
            for _ in range(3):
                await host.call(A, Painter.look)
                await asyncio.sleep(0.02)
            assert host.state(A).count == 3

    asyncio.run(main())
    assert [line.partition(": a value")[0] for line in said] == [
        "a: no checkpoint can be written"
    ]
