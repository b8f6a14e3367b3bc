"""Nodes that talk a lot, for tests that do harm to what they say; and a process of one.

Each node counts what it hears of each peer, and answers. Whatever the network does, what
is heard of a peer on `wl.streams` comes in its order.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import worldline as wl
from worldline.deploy.cluster import Cluster

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Say:
    number: int
    text: bytes = b""


@wl.message
class Heard:
    number: int


@wl.node
class Talker:
    said: int = 0
    refused: int = 0
    answered: int = 0
    heard: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    errors: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    kept: int = wl.durable(default=0)
    overtaken: int = wl.ghost(default=0)
    last: dict[wl.NodeId, int] = wl.field(default_factory=dict)

    @wl.call
    def say(self, ctx: wl.Context, to: wl.NodeId, count: int, size: int) -> int:
        for _ in range(count):
            self.said += 1
            if not ctx.send(to, Say(ctx.sequence(), b"x" * size)):
                self.refused += 1
        if ctx.random(8) == 0:
            ctx.set_timer(Talker.keep, after=0.002)
        return self.said - self.refused

    @wl.timer
    def keep(self, ctx: wl.Context) -> None:
        self.kept += 1

    @wl.on(Say)
    def listen(self, ctx: wl.Context, src: wl.NodeId, msg: Say) -> None:
        self.heard[src] = self.heard.get(src, 0) + 1
        self.overtaken += msg.number <= self.last.get(src, -1)
        self.last[src] = msg.number
        if msg.number % 3 == 0:
            ctx.send(src, Heard(msg.number))

    @wl.on(Heard)
    def listened(self, ctx: wl.Context, src: wl.NodeId, msg: Heard) -> None:
        self.answered += 1

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors[peer] = self.errors.get(peer, 0) + 1


@wl.safety
def nothing_is_overtaken(view: wl.View) -> bool:
    return all(view[node].overtaken == 0 for node in view.nodes)


def streamed(buffer: int = 50) -> wl.System:
    return wl.System(
        dict.fromkeys((A, B, C), Talker()),
        network=wl.streams(buffer=buffer),
        properties=[nothing_is_overtaken],
        name="talkers",
    )


def datagrams() -> wl.System:
    return wl.System(
        dict.fromkeys((A, B, C), Talker()), network=wl.datagrams(), name="talkers"
    )


async def live(node: str, cluster: str, folder: str) -> None:
    """Run one node until the input ends; say when it is up."""
    system = streamed()
    addresses = {wl.NodeId(name): tuple(at) for name, at in json.loads(cluster).items()}
    where = Cluster(addresses=addresses, run="run")
    async with wl.Host(
        system,
        nodes=[wl.NodeId(node)],
        cluster=where,
        record=Path(folder),
        sync="never",
    ):
        sys.stdout.write("up\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(live(*sys.argv[1:]))
