"""Clients that are slow, many, or speak something else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.deploy.control.asking import A, Client, FakeHost, parsed, serving

from worldline.deploy.control.connections import ClientLimits

Asking = Callable[[Client], Awaitable[object]]


def run(asking: Asking, host: FakeHost | None = None, **limits: float) -> None:
    async def main() -> None:
        shortened = ClientLimits(**limits)  # type: ignore[arg-type]
        async with serving(host, limits=shortened) as client:
            async with asyncio.timeout(5):
                await asking(client)
            assert client.said == []
            assert (await client.ask("/nodes"))[0] == 200

    asyncio.run(main())


@pytest.mark.parametrize("said", [b"", b"GET", b"GET / HTTP/1.1\r\nhost: x\r\n"])
def test_a_client_that_does_not_finish_its_request_is_cut_off(said: bytes):
    async def asking(client: Client) -> None:
        assert await client.send(said) == b""

    run(asking, request_s=0.02)


def test_a_client_that_does_not_finish_its_body_is_cut_off():
    async def asking(client: Client) -> None:
        head = request(client, "content-length: 10")
        assert await client.send(head + b"[1") == b""
        head = request(client, "transfer-encoding: chunked")
        assert await client.send(head + b"2\r\n[1\r\n") == b""
        assert client.host.calls == []

    run(asking, request_s=0.02)


def test_a_client_that_does_not_read_its_answer_is_cut_off():
    host = FakeHost()
    host.object.kept["k"] = os.urandom(8 << 20)

    async def asking(client: Client) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        lines = f"GET /{client.token}/nodes/a/state HTTP/1.1\r\nhost: localhost:"
        writer.write(f"{lines}{client.port}\r\n\r\n".encode())
        clients = client.server._clients._state.connections
        while not clients:
            await asyncio.sleep(0.001)
        while clients:
            await asyncio.sleep(0.001)
        writer.close()

    run(asking, host, request_s=0.05, answer_s=0.05)


def test_a_call_may_take_longer_than_a_request():
    async def asking(client: Client) -> None:
        path = "/nodes/a/call/put?timeout=0.1"
        assert (await client.ask(path, []))[0] == 504

    run(asking, FakeHost(answer=asyncio.Event), request_s=0.02)


def test_clients_that_ask_nothing_keep_nobody_out():
    async def asking(client: Client) -> None:
        kept = [await asyncio.open_connection("127.0.0.1", client.port) for _ in "abc"]
        assert (await client.send(request(client)))[9:12] == b"200"
        assert await kept[0][0].read() == b""
        assert (await client.send(request(client)))[9:12] == b"200"
        assert not kept[1][0].at_eof()
        for _, writer in kept:
            writer.close()

    run(asking, connections=3)


class Waiting(FakeHost):
    """A host that answers calls when it is told to."""

    async def call(self, *asked: Any, timeout: float | None = None) -> Any:
        self.calls.append(asked)
        if len(self.calls) == 1:
            self.go = asyncio.Event()
        await self.go.wait()
        return None


def test_clients_above_the_limit_are_cut_off_where_all_others_have_asked():
    host = Waiting()

    async def asking(client: Client) -> None:
        path = "/nodes/a/call/put"
        asked = [asyncio.ensure_future(client.ask(path, [])) for _ in "ab"]
        while len(host.calls) < len(asked):
            await asyncio.sleep(0.001)
        assert await client.send(b"") == b""
        host.go.set()
        assert [(await one)[0] for one in asked] == [200, 200]

    run(asking, host, connections=2)


def test_a_second_request_on_a_connection_is_not_read():
    async def asking(client: Client) -> None:
        answer = await client.send(request(client) * 3)
        assert answer.count(b"HTTP/1.1 ") == 1
        assert len(client.host.calls) == 1

    run(asking)


@pytest.mark.parametrize(
    "said",
    [
        b"\r\n\r\n\r\n",
        b"x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/9.9\r\nhost: x\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: x\r\nx: " + b"y" * 20_000,
        b"GET /" + b"y" * 20_000,
        b"GET / HTTP/1.1\r\nhost: x\r\n" + b"x: y\r\n" * 4_000 + b"\r\n",
    ],
)
def test_what_is_no_http_is_answered_in_json(said: bytes):
    async def asking(client: Client) -> None:
        answer = await client.send(said, end=True)
        if answer:
            assert parsed(answer)[0] in (400, 403)

    run(asking)


def test_an_upgrade_is_not_made():
    async def asking(client: Client) -> None:
        more = (
            "connection: upgrade",
            "upgrade: websocket",
            "sec-websocket-version: 13",
        )
        assert parsed(await client.send(request(client, *more)))[0] == 200
        assert client.host.calls == [(A, "put")]

    run(asking)


def test_a_body_that_goes_wrong_is_refused_before_the_call():
    async def asking(client: Client) -> None:
        head = request(client, "transfer-encoding: chunked")
        assert parsed(await client.send(head + b"2\r\n[1\r\nxyz\r\n"))[0] == 400
        assert client.host.calls == []

    run(asking)


def request(client: Client, *headers: str) -> bytes:
    lines = (
        f"POST /{client.token}/nodes/a/call/put HTTP/1.1",
        f"host: localhost:{client.port}",
        "content-type: application/json",
        *headers,
    )
    return "\r\n".join((*lines, "", "")).encode()
