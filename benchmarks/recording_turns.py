"""What the recorder adds to an event, by how many messages come in one turn.

A backup of the replicated log takes entries of 100 bytes, once with a journal and once
without, in turns; without sockets, so that nothing else varies. The share of a turn
that the load of `deploy` has is not chosen, and that of a node with little to do is one.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

import zstandard
from benchmarks.deploy_turns import Driven, Messages
from benchmarks.spread import Row, load

import worldline as wl
from benchmarks import replicated_log

PRIMARY, BACKUP, _ = wl.ids("r1", "r2", "r3")
CHUNK = 1_024


def measure(turn: int, pairs: int) -> Row:
    """Take stretches of entries in turns of so many, with and without a journal."""
    with tempfile.TemporaryDirectory(prefix="worldline-turns-") as folder:
        return asyncio.run(_measure(turn, pairs, Path(folder)))


async def _measure(turn: int, pairs: int, folder: Path) -> Row:
    system = replicated_log.system(network="datagrams")
    recorded, plain = Driven(system, BACKUP, folder), Driven(system, BACKUP)
    assert recorded.journal is not None
    extra, whole, values = [], [], replicated_log.VALUES
    for number in range(-1, pairs):
        first = CHUNK * (number + 1) + 1
        messages = plain.messages(
            PRIMARY,
            [
                replicated_log.Append(index, values[index % len(values)], index - 1)
                for index in range(first, first + CHUNK)
            ],
            first,
        )
        took = {}
        for driven in (recorded, plain) if number % 2 else (plain, recorded):
            took[driven] = _chunk(driven, messages, turn)
        if number >= 0:
            extra.append(1e6 * (took[recorded] - took[plain]) / CHUNK)
            whole.append(1e6 * took[plain] / CHUNK)
    assert recorded.node.accepted == plain.node.accepted == CHUNK * (pairs + 1)
    written = recorded.journal.bytes_written
    recorded.close()
    first_segment = min(folder.rglob("*.wlj*"))
    data = first_segment.read_bytes()
    if first_segment.suffix == ".zst":
        data = zstandard.ZstdDecompressor().decompress(data, 1 << 30)
    packed = zstandard.ZstdCompressor(level=1).compress(data)
    return {
        "extra_us": extra,
        "plain_us": whole,
        "bytes": written / (CHUNK * (pairs + 1)),
        "packed": len(data) / len(packed),
        "load": load(),
    }


def _chunk(driven: Driven, messages: Messages, turn: int) -> float:
    """Let a stretch of messages come; return the seconds of the processor."""
    receive, end = driven.receive, driven.end
    began = time.thread_time()
    for at in range(0, len(messages), turn):
        receive(messages[at : at + turn])
        end()
    return time.thread_time() - began
