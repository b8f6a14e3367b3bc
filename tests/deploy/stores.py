"""A node that keeps what it is told, its journal as it is written and read, and a full disk."""

from __future__ import annotations

import asyncio
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import worldline as wl
from worldline.deploy.journal import JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.recovery import Restored
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.reading import Turn, read_node
from worldline.trace.journal.records import (
    AnswersRecord,
    CalledRecord,
    DeltaRecord,
    ErredRecord,
    FailedRecord,
    FateRecord,
    FiredRecord,
    GapRecord,
    JournalRecord,
    ReceivedRecord,
    RetriedRecord,
    StartedRecord,
    StoppedRecord,
)

A, B = wl.ids("a", "b/..")


@wl.message
class Put:
    key: str
    value: bytes


@wl.node
class Store:
    kept: dict[str, bytes] = wl.durable(default_factory=dict)
    seen: int = wl.ghost(default=0)
    cached: int = 0

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None: ...


SYSTEM = wl.System({A: Store(), B: Store()})
CODEC = Codec(SYSTEM)
OPTIONS = JournalOptions(run="r", sync="never")
PACKET = CODEC.packet(1, 1, 7, 0, "", Put("k", b"v" * 100))

EVERY: list[JournalRecord] = [
    StartedRecord(1, 0, 0, None, 1.5),
    ReceivedRecord(PACKET * 3),
    FiredRecord("", "tick", (1, A)),
    CalledRecord("put", ("k", b"v")),
    ErredRecord(1, "lost", "reset by peer"),
    RetriedRecord(0),
    AnswersRecord(2, (0, 1), 2.5, (1,)),
    FateRecord(3, "waits", ""),
    DeltaRecord(4, {"kept": {"k": b"v"}, "seen": 3}, 9),
    FailedRecord(5, "exception", "ValueError", "x.py:1", "text"),
    GapRecord(3, "full"),
    StoppedRecord("done"),
]


def opened(
    place: Path, options: JournalOptions = OPTIONS, node: wl.NodeId = A
) -> tuple[JournalWriter, Restored]:
    return JournalWriter.open(place, SYSTEM, CODEC, node, options)


def written(place: Path, *turns: list[JournalRecord]) -> Path:
    """Write turns as the first life of a node; return the file."""
    writer, _ = opened(place)
    for turn in turns:
        writer.commit(turn)
    writer.close(None)
    return place / "a" / "1-0.wlj"


def read(place: Path, *, partial: bool = False) -> list[Turn]:
    """Return all turns of the journal of a node."""
    lives = read_node(place / "a").incarnations
    return [turn for life in lives for turn in life.turns(CODEC, partial=partial)]


def records(turns: list[Turn]) -> list[JournalRecord]:
    return [record for turn in turns for record in turn.records]


@contextmanager
def small_disk() -> Iterator[Callable[[int], None]]:
    """Give a function that limits the size of files, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


async def synced(writer: JournalWriter) -> None:
    """Wait until what is written is on the disk."""
    wait = writer.disk.awaited(leaves=True)
    assert wait > 0
    async with asyncio.timeout(5):
        while writer.disk.ended < wait:
            await asyncio.sleep(0.001)


def receive(writer: JournalWriter, packets: list[bytes]) -> None:
    """Write a turn in which messages came in."""
    if told := writer.write_received(packets):
        writer.heed(told, packets)
