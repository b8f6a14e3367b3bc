"""The run of BitVault of which WiDS Checker's authors measured what logging costs.

Four nodes on real connections, all in one process; 100 objects of 100 KB are inserted in a
minute, a node crashes and comes back, and all objects are retrieved. With tempo 0.1 the
paper's minutes are six seconds; the minutes of its quarter of an hour in which nothing happens
are left out, so that the share of recording in the whole is larger than it was.

References
----------
X. Liu et al., NSDI 2007, section 4.5 and figure 8.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.spread import Row, load

import worldline as wl
from worldline.zoo.bitvault import system
from worldline.zoo.bitvault.contents import ContentVault, content_of

OBJECTS, SIZE, TEMPO = 100, 100_000, 0.1

INSERTED, CRASHED, BACK, RETRIEVED, OVER = 1.0, 9.0, 12.0, 14.0, 16.0
"""Seconds from the start at which each part begins, and the run ends."""

MINUTE = 60 * TEMPO

ARMS: dict[str, dict[str, Any] | None] = {
    "on": {"events": True},
    "off": {"events": False},
    "none": None,
}
"""What hosts are told: all is recorded; only what outlives a life is written, as contents
have to be; nothing is."""


def measure(arm: str, incompressible: bool) -> Row:
    """Run it once, and say what it took."""
    with tempfile.TemporaryDirectory(prefix="worldline-vault-") as folder:
        row = asyncio.run(_run(arm, Path(folder) / "run", incompressible))
        files = list(Path(folder).rglob("*.wlj*"))
        row["files_mb"] = sum(file.stat().st_size for file in files) / 1e6
    return row | {"load": load()}


async def _run(arm: str, folder: Path, incompressible: bool) -> Row:
    made = system(size=4, objects=0, tempo=TEMPO, content=SIZE, network="streams")
    names = [f"o{number}" for number in range(1, OBJECTS + 1)]
    contents = {
        name: content_of(name, SIZE) if incompressible else name.encode() + bytes(SIZE)
        for name in names
    }
    told = ARMS[arm]
    options = {} if told is None else {"record": folder, **told}
    last, reader = made.ids[-1], made.ids[0]
    began, before = time.perf_counter(), time.process_time()

    async def at(seconds: float) -> float:
        await asyncio.sleep(max(0.0, began + seconds - time.perf_counter()))
        return time.process_time()

    async with wl.Host(made, seed=1, **options) as host:
        minute = await at(INSERTED)
        for number, (name, content) in enumerate(contents.items()):
            await at(INSERTED + MINUTE * number / OBJECTS)
            node = made.ids[number % len(made.ids)]
            await host.call(node, ContentVault.put, name, content)
        minute = await at(INSERTED + MINUTE) - minute
        await at(CRASHED)
        host.crash(last)
        await at(BACK)
        await host.restart(last)
        for number, name in enumerate(names):
            await at(RETRIEVED + (OVER - RETRIEVED) / 2 * number / OBJECTS)
            await host.call(reader, ContentVault.get, name)
        await at(OVER)
        got = host.state(reader).retrieved
        counts = [host.counts(node) for node in host.nodes]
    for thread in threading.enumerate():  # segments that are being compressed
        if thread.daemon:
            thread.join()
    whole = time.process_time() - before
    assert got == {name: len(content) for name, content in contents.items()}, len(got)
    return {
        "cpu": whole,
        "minute": minute,
        "events": sum(one.events for one in counts),
        "journal_mb": sum(one.journal_bytes for one in counts) / 1e6,
    }
