"""What stands beside a download: Bullet' on a host, with what the blocks hold.

Eight nodes in one process, on connections over loopback; one has a file of two megabytes, and
seven download it from it and from each other. The zoo's blocks are numbers; here they
bring their bytes. Processor seconds are those of the process, from the first call to the last
block. Both of a pair run at once, each in a process of its own, so that both have the
same machine around them.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, load

import worldline as wl
from worldline.deploy.weather import LinkWeather
from worldline.loading.loader import load as load_system
from worldline.worlds.latency import latency_of
from worldline.zoo.bullet import mesh
from worldline.zoo.bullet.messages import BLOCK_BYTES, Block
from worldline.zoo.bullet.properties import PROPERTIES
from worldline.zoo.bullet.protocol import Bullet

NODES, BLOCKS = 8, 128
CASES = ("predict", "check", "steer")
LATENCY = "uniform 10ms 50ms"


@wl.message
class Content:
    """A block with what is in it."""

    block: int
    data: bytes


@functools.cache
def content(block: int) -> bytes:
    """Return what a block holds, which nothing makes smaller."""
    return random.Random(block).randbytes(BLOCK_BYTES)


@wl.node
class Downloading(Bullet):
    """A node that sends blocks with what is in them, and counts what it got."""

    got: int = wl.ignored(default=0)

    def _send_block(self, ctx: wl.Context, receiver: wl.NodeId, block: int) -> None:
        if not ctx.send(receiver, Content(block, content(block))):
            self.waiting.append((receiver, block))

    @wl.on(Content)
    def receive_content(self, ctx: wl.Context, src: wl.NodeId, msg: Content) -> None:
        self.got += len(msg.data)
        self.receive_block(ctx, src, Block(msg.block))


def system(nodes: int = NODES, blocks: int = BLOCKS) -> wl.System:
    """Return the system: of each file's node, its senders are those of `zoo:bullet`."""
    near = mesh(nodes, 2, 2)
    ids = {node.name: node for node in wl.ids(*near)}
    source, *others = ids
    made = {ids[name]: Downloading(blocks, 2) for name in others}
    first = Downloading(blocks, 2, have=set(range(blocks)))
    return wl.System(
        {ids[source]: first, **made},
        network=wl.streams(buffer=20),
        properties=PROPERTIES,
        name="download",
    )


def measure(
    case: str, nodes: int = NODES, blocks: int = BLOCKS, latency: str = ""
) -> Row:
    """Let all nodes download the file with something beside them; return what it took.

    Parameters
    ----------
    latency
        Of each message, besides; as `worldline run --latency` takes it.
    """
    return asyncio.run(_measure(case, nodes, blocks, latency))


async def _measure(case: str, nodes: int, blocks: int, latency: str) -> Row:
    given = {"nodes": str(nodes), "blocks": str(blocks)}
    made = load_system(f"{Path(__file__).resolve()}:system", given)
    near = mesh(nodes, 2, 2)
    async with contextlib.AsyncExitStack() as stack:
        companions: Sequence[wl.Companion] = ()
        if case != "nothing":
            steered = wl.steered(made, mode=case, say=_say)  # type: ignore[arg-type]
            companions = await stack.enter_async_context(steered)
        weather = None
        if latency:
            weather = LinkWeather(made.ids, 0, latency=latency_of(latency))
        host = wl.Host(made, companions=companions, weather=weather)
        await stack.enter_async_context(host)
        for block in range(blocks):
            content(block)
        by_name = {node.name: node for node in made.ids}
        cpu, wall = time.process_time(), time.perf_counter()
        for name in list(near)[1:]:
            contacts = tuple(by_name[one] for one in near[name])
            await host.call(by_name[name], "download", contacts)
        for node in made.ids[1:]:
            await host.until(node, lambda node: len(node.have) == node.size, 60)
        took = time.process_time() - cpu, time.perf_counter() - wall
        events = sum(host.counts(node).events for node in made.ids)
        got = sum(host.state(node).got for node in made.ids)
        steering = host.counts(made.ids[0]).steering
    return {
        "cpu": took[0],
        "wall": took[1],
        "events": events,
        "megabytes": got / 1e6,
        "snapshots": steering.get("snapshots", 0),
        "load": load(),
    }


def _say(line: str) -> None:
    print(line, file=sys.stderr)
