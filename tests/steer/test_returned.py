"""A node whose process died judges by nothing that others told it of while it lived before."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.steer.steering.companion import Steering

A, B = wl.ids("a", "b")
NETWORKS: dict[str, Network] = {"streams": wl.streams(), "datagrams": wl.datagrams()}


@wl.message
class Put:
    number: int


@wl.message
class Hello:
    pass


@wl.node
class Holder:
    """Has what it was told on its disk."""

    peer: wl.NodeId
    told: int = 0
    has: int = wl.durable(default=0)

    @wl.neighbours
    def near(self) -> list[wl.NodeId]:
        return [self.peer]

    @wl.call
    def tell(self, ctx: wl.Context, number: int) -> None:
        self.told = number
        ctx.send(self.peer, Put(number))

    @wl.call
    def greet(self, ctx: wl.Context) -> None:
        ctx.send(self.peer, Hello())

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.has = msg.number

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        pass


@wl.safety
def what_it_has_was_told(view: wl.View) -> bool:
    return view.for_each_pair(lambda view, a, b: view[b].has <= view[a].told)


def system(network: str) -> wl.System:
    return wl.System(
        {A: Holder(B), B: Holder(A)},
        network=NETWORKS[network],
        properties=[what_it_has_was_told],
        name="holders",
    )


@contextlib.asynccontextmanager
async def running(
    network: str, node: wl.NodeId, cluster: wl.Cluster, folder: Path
) -> AsyncIterator[tuple[wl.Host, Steering]]:
    """Run one node as a process of its own does."""
    async with (
        wl.steered(
            system,
            parameters={"network": network},
            mode="check",
            gather_every=0.6,
            gather_bandwidth=1e9,
        ) as companions,
        wl.Host(
            system(network),
            nodes=[node],
            cluster=cluster,
            companions=companions,
            record=folder / node.name,
            run="returned",
            say=lambda line: None,
        ) as host,
    ):
        steering = companions[0]
        assert isinstance(steering, Steering)
        yield host, steering


def cluster_of(network: str) -> wl.Cluster:
    kind = socket.SOCK_STREAM if network == "streams" else socket.SOCK_DGRAM
    addresses = {}
    with contextlib.ExitStack() as stack:
        for node in (A, B):
            one = stack.enter_context(socket.socket(socket.AF_INET, kind))
            one.bind(("127.0.0.1", 0))
            addresses[node] = one.getsockname()
    return wl.Cluster(addresses=addresses)


@pytest.mark.parametrize("network", NETWORKS)
def test_who_comes_back_is_told_what_is_so_now(network: str, tmp_path: Path):
    cluster = cluster_of(network)

    async def main() -> None:
        async with (
            asyncio.timeout(60),
            running(network, A, cluster, tmp_path) as (teller, _),
        ):
            async with running(network, B, cluster, tmp_path) as (host, _):
                for number in (1, 2, 3):
                    await teller.call(A, "tell", number)
                    await asyncio.sleep(0.6)
                assert host.state(B).has == 3
            async with running(network, B, cluster, tmp_path) as (host, steering):
                await host.call(B, "greet")
                while 0 not in (known := steering.snapshots.records(B)):
                    await asyncio.sleep(0.02)
                kind = steering.snapshots._setting.system.types[0]
                there = dict(zip(kind.identity, known[0].local[1:], strict=True))
                assert there["told"] == host.state(B).has == 3

    asyncio.run(main())
