"""Names of hosts are looked up once, when a host begins."""

from __future__ import annotations

import asyncio

import pytest

import worldline as wl
from worldline.deploy.names import numbered
from worldline.model.errors import UsageError


def test_names_become_numbers_and_numbers_stay():
    given = [("localhost", 1), ("127.0.0.1", 2), ("::1", 3), ("localhost", 4)]
    found = asyncio.run(numbered(given))
    assert [port for _, port in found] == [1, 2, 3, 4]
    assert found[0][0] in ("127.0.0.1", "::1")
    assert found[0][0] == found[3][0]
    assert found[1:3] == given[1:3]


def test_a_host_that_nobody_knows_is_named():
    with pytest.raises(
        UsageError, match=r"nobody knows the host of nowhere\.invalid:1"
    ):
        asyncio.run(numbered([("nowhere.invalid", 1)]))


def test_a_cluster_may_name_hosts():
    a, b = wl.ids("a", "b")

    @wl.message
    class Word:
        text: str

    @wl.node
    class Talker:
        heard: str = ""

        @wl.call
        def say(self, ctx: wl.Context) -> None:
            ctx.send(b, Word("hello"))

        @wl.on(Word)
        def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
            self.heard = msg.text

    async def main() -> None:
        cluster = wl.Cluster(addresses={a: ("localhost", 0), b: ("localhost", 0)})
        system = wl.System({a: Talker(), b: Talker()}, network=wl.datagrams())
        async with wl.Host(system, cluster=cluster) as host:
            await host.call(a, "say")
            await host.until(b, lambda b: b.heard == "hello", timeout=5)

    asyncio.run(main())
