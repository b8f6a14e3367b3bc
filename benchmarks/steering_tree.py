"""What stands beside RandTree nodes that probe as fast as they can, on the processor of their host.

Two hosts of one process take turns: while nodes of one probe, those of the other wait. So
each pair of stretches is of one moment, as of the players of `steering_load`, but handlers,
guards and properties are those of RandTree at rest: all have joined, and ask strangers whether
they are in the same tree, as they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, by_turns, load
from benchmarks.steering_service import hosting

import worldline as wl
from worldline.loading.loader import load as load_system
from worldline.zoo.randtree.eager import EagerRandTree
from worldline.zoo.randtree.properties import PROPERTIES
from worldline.zoo.randtree.protocol import RandTree

NODES, CHILDREN = 10, 3
STRETCH_S = 0.4
"""Seconds of a stretch: to ask for counts again and again would take part of them."""

FAST_S, SLOW_S = 0.0002, 600.0
"""Seconds between two probes of a node, in a stretch and outside of it."""

JOINS_S = 3.0
"""Seconds until it is taken that all have joined, and have gathered what they know."""

CASES = ("nothing", "predict", "check", "steer")


@wl.node
class PacedRandTree(EagerRandTree):
    """A node that probes as often as it is told."""

    @wl.call
    def pace(self, ctx: wl.Context, period: float) -> None:
        """Probe at once, and then with so many seconds in between."""
        self.period = period
        ctx.set_timer(RandTree.recovery, after=FAST_S)


def system() -> wl.System:
    """Return nodes that are to join one tree."""
    ids = wl.ids(*[f"n{number:02}" for number in range(NODES)])
    nodes = {one: PacedRandTree(one, one, CHILDREN, period=SLOW_S) for one in ids}
    network = wl.streams(buffer=20)
    return wl.System(nodes, network=network, properties=PROPERTIES, name="paced tree")


class Tree:
    """A tree on a host of its own."""

    def __init__(self, host: wl.Host, made: wl.System) -> None:
        self._host, self._ids = host, made.ids

    async def join(self) -> None:
        """Let all nodes join."""
        for node in self._ids:
            await self._host.call(node, "join_overlay", self._ids)
        await asyncio.sleep(JOINS_S)
        for node in self._ids:
            assert self._host.state(node).state.name == "JOINED"

    async def stretch(self) -> float:
        """Let nodes probe for a stretch; return CPU seconds for each message."""
        await self._pace(FAST_S)
        began, cpu = self._received(), time.process_time()
        await asyncio.sleep(STRETCH_S)
        took, came = time.process_time() - cpu, self._received() - began
        await self._pace(SLOW_S)
        await asyncio.sleep(0.01)
        return took / came

    async def _pace(self, period: float) -> None:
        for node in self._ids:
            await self._host.call(node, PacedRandTree.pace, period)

    def _received(self) -> int:
        return sum(self._host.counts(node).received for node in self._ids)


@contextlib.asynccontextmanager
async def beside(made: wl.System, case: str) -> AsyncIterator[Tree]:
    """Have a tree with what a case says beside it."""
    async with hosting(made, case) as host:
        tree = Tree(host, made)
        await tree.join()
        yield tree


def measure(case: str, pairs: int) -> Row:
    """Let a bare tree and one of a case take turns; return what each pair took."""
    return asyncio.run(_measure(case, pairs))


async def _measure(case: str, pairs: int) -> Row:
    made = load_system(f"{Path(__file__).resolve()}:system", {})
    async with beside(made, "nothing") as bare, beside(made, case) as other:
        took = await by_turns(pairs, bare.stretch, other.stretch)
    return {
        "bare_us": [1e6 * bare for bare, _ in took],
        "us": [1e6 * other for _, other in took],
        "cpu": [other / bare for bare, other in took],
        "load": load(),
    }
