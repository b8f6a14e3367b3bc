"""Nodes that keep much on the disk and never rest, and processes of them that are killed.

Each tells peers what it does, drawn anew each time; what it is told changes its durable
dict, list and set, now in part and now as a whole. All of that happens in one event or not
at all, which its fields show: `kept` and the last entry say the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import worldline as wl
from worldline.deploy.cluster import LOOPBACK, Cluster
from worldline.deploy.host import Host
from worldline.deploy.ports import free_ports

A, B, C = wl.ids("a", "b", "c")

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])
"""A process that has imported all of this already makes the others: each in no time."""


@wl.message
class Keep:
    number: int
    text: bytes


@wl.message
class Kept:
    number: int


@wl.node
class Keeper:
    pairs: dict[int, bytes] = wl.durable(default_factory=dict)
    entries: list[int] = wl.durable(default_factory=list)
    names: set[str] = wl.durable(default_factory=set)
    kept: int = wl.durable(default=0)
    answered: int = wl.ghost(default=0)
    heard: dict[wl.NodeId, int] = wl.field(default_factory=dict)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Keeper.tick, after=0.002)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        ctx.set_timer(Keeper.tick, after=0.002)
        for peer in ctx.nodes:
            for _ in range(ctx.random(8) if peer != ctx.me else 0):
                ctx.send(peer, Keep(ctx.random(1_000), b"x" * ctx.random(60)))

    @wl.on(Keep)
    def keep(self, ctx: wl.Context, src: wl.NodeId, msg: Keep) -> None:
        self.kept += 1
        self.entries.append(self.kept)
        self.pairs[msg.number % 150] = msg.text
        self.names ^= {f"n{msg.number % 100}"}
        if msg.number % 10 == 0:
            self.pairs.pop(msg.number % 150 + 1, None)
        if msg.number % 300 == 0:
            del self.entries[:-20]
            self.names = {name for name in self.names if name.endswith("1")}
        self.heard[src] = self.heard.get(src, 0) + 1
        ctx.send(src, Kept(ctx.sequence()))

    @wl.on(Kept)
    def told(self, ctx: wl.Context, src: wl.NodeId, msg: Kept) -> None:
        self.answered += 1


@wl.safety
def events_are_whole(view: wl.View) -> bool:
    return all(
        (view[node].entries[-1] if view[node].entries else 0) == view[node].kept
        for node in view.nodes
    )


def system(network: str) -> wl.System:
    return wl.System(
        dict.fromkeys((A, B, C), Keeper()),
        network=getattr(wl, network)(),
        properties=[events_are_whole],
        name="keepers",
    )


def live(name: str, network: str, ports: list[int], folder: str, sync: str) -> None:
    """Run one node until this process is ended."""
    made = system(network)
    at = {node: (LOOPBACK, port) for node, port in zip(made.ids, ports, strict=True)}

    async def run() -> None:
        host = Host(
            made,
            nodes=[wl.NodeId(name)],
            cluster=Cluster(addresses=at, run="run"),
            record=folder,
            sync=sync,
        )
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        async with host:
            await ended.wait()

    asyncio.run(run())


@dataclass
class Killing:
    """The processes, and what has become of them.

    Attributes
    ----------
    before
        The last life of each node that the present one comes after.
    """

    network: str
    folder: Path
    sync: str
    ports: list[int]
    before: dict[wl.NodeId, int] = field(default_factory=dict)
    processes: dict[wl.NodeId, ForkServerProcess] = field(default_factory=dict)

    def begin(self, node: wl.NodeId) -> None:
        self.before[node] = last_life(self.folder / node.name)
        given = node.name, self.network, self.ports, str(self.folder), self.sync
        process = _FORKS.Process(target=live, args=given)
        process.start()
        self.processes[node] = process

    def kill(self, node: wl.NodeId) -> None:
        process = self.processes[node]
        process.kill()
        process.join(10)
        assert process.exitcode == -signal.SIGKILL

    def wait_until_all_write(self) -> None:
        """Wait until the present life of each node has begun its journal."""
        for _ in range(4_000):
            if all(
                last_life(self.folder / n.name) > self.before[n] for n in self.before
            ):
                return
            time.sleep(0.005)
        raise AssertionError(f"no journals: {self.before}")

    def wait_for_bytes(self, node: wl.NodeId, count: int, seconds: float = 2.0) -> None:
        """Wait until a node has written so many bytes more, if that is not too long."""
        folder, end = self.folder / node.name, time.monotonic() + seconds
        wanted = written(folder) + count
        while written(folder) < wanted and time.monotonic() < end:
            time.sleep(0.001)

    def stop(self) -> None:
        """Ask all to end, and see that they do so in peace."""
        for process in self.processes.values():
            process.terminate()
        for node, process in self.processes.items():
            process.join(20)
            assert process.exitcode == 0, (node, process.exitcode)


@contextlib.contextmanager
def processes(network: str, folder: Path, sync: str) -> Iterator[Killing]:
    """A process for each node; none outlives the block."""
    nodes = A, B, C
    killing = Killing(network, folder, sync, free_ports(LOOPBACK, len(nodes)))
    try:
        for node in nodes:
            killing.begin(node)
        yield killing
    finally:
        for process in killing.processes.values():
            process.kill()
            process.join(10)
            process.close()


def kill_many(killing: Killing, kills: int, seed: int) -> None:
    """Kill processes at seeded moments, and begin each again, at once or after a while.

    A moment is when the node has written so many bytes more, however fast that is.
    """
    draw, down = random.Random(seed), list[wl.NodeId]()
    killing.wait_until_all_write()
    for number in range(kills):
        node = draw.choice([one for one in (A, B, C) if one not in down])
        killing.wait_for_bytes(node, number % 4 and draw.randrange(20_000))
        killing.kill(node)
        down.append(node)
        if len(down) > draw.randrange(3):
            killing.begin(down.pop(0))
    for node in down:
        killing.begin(node)
    killing.wait_until_all_write()
    for node in (A, B, C):
        killing.wait_for_bytes(node, 5_000)


def last_life(folder: Path) -> int:
    """Return the last life of a node that has begun: its journal is more than a draft."""
    return max(
        (int(one.name.partition("-")[0]) for one in folder.glob("*.wlj")), default=0
    )


def written(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("*.wlj"))
