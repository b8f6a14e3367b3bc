"""Control of a host as it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tests.deploy.control.asking import Client

import worldline as wl
from worldline.deploy.control.server import ControlServer

A, B = wl.ids("a", "b")


@wl.message
class Add:
    amount: int


@wl.node
class Counter:
    total: int = 0
    seen: list[int] = wl.ignored(default_factory=list)

    @wl.call
    def add(self, ctx: wl.Context, amount: int) -> int:
        ctx.send(B, Add(amount))
        self.total += amount
        return self.total

    @wl.call
    def fail(self, ctx: wl.Context) -> None:
        raise ValueError("as it was asked to")

    @wl.call(when=lambda self: self.total > 10)
    def late(self, ctx: wl.Context) -> int:
        return self.total

    @wl.on(Add)
    def added(self, ctx: wl.Context, src: wl.NodeId, msg: Add) -> None:
        self.total += msg.amount
        self.seen.append(msg.amount)


SYSTEM = wl.System({A: Counter(), B: Counter()}, network=wl.datagrams())

Asking = Callable[[Client, wl.Host], Awaitable[None]]


def run(asking: Asking) -> list[str]:
    said: list[str] = []

    async def main() -> None:
        async with wl.Host(SYSTEM, say=said.append, on_failure="restart") as host:
            server = await ControlServer.open(host, SYSTEM, 0, named=said.append)
            try:
                async with asyncio.timeout(10):
                    await asking(Client(server, host), host)  # type: ignore[arg-type]
            finally:
                await server.close()

    asyncio.run(main())
    return said


def test_a_call_from_outside_is_an_event_like_others():
    async def asking(client: Client, host: wl.Host) -> None:
        status, said = await client.ask("/nodes/a/call/add", [5])
        assert (status, said["answer"]) == (200, 5)
        await host.until(B, lambda b: b.total == 5)
        _, said = await client.ask("/nodes/b/state")
        assert said["fields"] == {"total": 5, "seen": [5]}
        _, said = await client.ask("/nodes")
        assert [(each["node"], each["events"]) for each in said["nodes"]] == [
            ("a", 2),
            ("b", 2),
        ]
        _, text = await client.ask("/metrics")
        assert 'worldline_received_total{node="b"} 1\n' in text

    assert run(asking) == []


def test_arguments_that_a_handler_does_not_take_are_refused():
    async def asking(client: Client, host: wl.Host) -> None:
        for arguments in ([], ["5"], [1, 2], [None], [{"$set": [1]}]):
            status, said = await client.ask("/nodes/a/call/add", arguments)
            assert status == 400
            assert "does not take" in said["error"]
        assert host.state(A).total == 0

    assert run(asking) == []


def test_a_call_whose_guard_is_false_waits_and_is_given_up():
    async def asking(client: Client, host: wl.Host) -> None:
        waiting = asyncio.ensure_future(client.ask("/nodes/a/call/late", []))
        status, _ = await client.ask("/nodes/a/call/late?timeout=0.01", [])
        assert status == 504
        await client.ask("/nodes/a/call/add", [11])
        _, said = await waiting
        assert said["answer"] == 11

    assert run(asking) == []


def test_a_node_is_crashed_and_stopped_and_is_no_more():
    async def asking(client: Client, host: wl.Host) -> None:
        for node, verb in (("a", "crash"), ("b", "stop")):
            status, said = await client.ask(f"/nodes/{node}/{verb}", method="POST")
            assert (status, said) == (200, {"node": node, "up": False})
            assert (await client.ask(f"/nodes/{node}/state"))[0] == 409
        assert not host.is_up(A)
        assert not host.is_up(B)
        status, said = await client.ask("/nodes")
        assert [each["up"] for each in said["nodes"]] == [False, False]

    assert run(asking) == []


def test_a_handler_that_fails_is_told_to_who_called_it():
    async def asking(client: Client, host: wl.Host) -> None:
        status, said = await client.ask("/nodes/a/call/fail", [])
        assert status == 400
        assert "a has stopped" in said["error"]

    [line] = run(asking)
    assert "ValueError" in line


def test_a_waiting_call_is_answered_when_its_node_ends():
    async def asking(client: Client, host: wl.Host) -> None:
        waiting: asyncio.Future[tuple[int, Any]] = asyncio.ensure_future(
            client.ask("/nodes/a/call/late", [])
        )
        while host._runners[A].life.kept.is_idle:  # type: ignore[union-attr]
            await asyncio.sleep(0.001)
        host.crash(A)
        status, said = await waiting
        assert (status, "a has stopped" in said["error"]) == (400, True)

    assert run(asking) == []
