"""A host that only looks like one, and clients that say what they like."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import worldline as wl
from worldline.deploy.control.connections import ClientLimits
from worldline.deploy.control.server import ControlServer
from worldline.deploy.counts import NodeCounts
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.trace.records import Trace
from worldline.worlds.checkpoint import take
from worldline.worlds.direct import DirectWorld

A, ODD, DOWN = wl.ids("a", "b/../call/x", "down")


@wl.message
class Entry:
    key: str
    holders: frozenset[wl.NodeId] = frozenset()

    def __post_init__(self) -> None:
        raise AssertionError("nothing that was read is executed")


@wl.node
class Cache:
    size: int = 0


@wl.node
class Store:
    cache: Cache = wl.part()
    kept: dict[str, bytes] = wl.durable(default_factory=dict)
    peer: wl.NodeId | None = None
    handle: object = wl.ignored(default=None)
    hits: int = wl.ignored(default=0)

    @wl.on(Entry)
    def entry(self, ctx: wl.Context, src: wl.NodeId, msg: Entry) -> None: ...

    @wl.call
    def put(self, ctx: wl.Context, key: str, value: bytes = b"") -> int:
        return 0

    @wl.call
    def keep(self, ctx: wl.Context, entry: Entry) -> None: ...


SYSTEM = wl.System({A: Store(Cache()), ODD: Store(Cache()), DOWN: Store(Cache())})


def counted(node: str, **counts: Any) -> NodeCounts:
    return NodeCounts(node=node, events=7, incarnations=1, cpu_seconds=0.25, **counts)


def refused(what: str) -> UsageError:
    return UsageError(what, remedy="do otherwise")


def state_trace() -> Trace:
    """A trace without steps, which begins in the first state of the system."""
    system = SYSTEM.under_recording()
    end = Ending(None, None, Verdict.UNKNOWN, "no property was judged")
    return record(
        DirectWorld(system),
        [],
        [],
        [],
        ending=end,
        engine="steer",
        seed=None,
        begins=take(DirectWorld(system)),
    )


class FakeHost:
    """Keeps the calls it is given, and answers with `answer`, which it may raise."""

    nodes = (A, ODD, DOWN)

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.calls: list[tuple[Any, ...]] = []
        self.down = {DOWN}
        self.object = Store(Cache())
        self.trace: Trace | Exception = refused("nothing gathers snapshots")

    async def snapshot(self, node: NodeId) -> Trace:
        if isinstance(self.trace, Exception):
            raise self.trace
        return self.trace

    async def call(
        self, node: NodeId, handler: str, *args: Any, timeout: float | None = None
    ) -> Any:
        self.calls.append((node, handler, *args))
        if self.answer is asyncio.Event:
            async with asyncio.timeout(timeout):
                await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def state(self, node: NodeId) -> Any:
        return self.object

    def is_up(self, node: NodeId) -> bool:
        return node not in self.down

    def crash(self, node: NodeId) -> None:
        self.calls.append(("crash", node))
        self.down.add(node)

    async def stop_node(self, node: NodeId) -> None:
        self.calls.append(("stop", node))
        self.down.add(node)

    def counts(self, node: NodeId) -> NodeCounts:
        return counted(node.name)


@dataclass
class Client:
    """A client of one server."""

    server: ControlServer
    host: FakeHost
    said: list[str] = field(default_factory=list)
    """Lines for whoever watches, and what the loop had to complain of."""

    @property
    def port(self) -> int:
        return int(self.server.url.split(":")[2].partition("/")[0])

    @property
    def token(self) -> str:
        return self.server.url.rpartition("/")[2]

    async def ask(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: tuple[str, ...] = (),
        token: str | None = None,
    ) -> tuple[int, Any]:
        """The status and the JSON of an answer."""
        return parsed(
            await self.raw(path, body, method=method, headers=headers, token=token)
        )

    async def raw(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        headers: tuple[str, ...] = (),
        token: str | None = None,
    ) -> bytes:
        """All of an answer."""
        data = body if isinstance(body, bytes) else b""
        if body is not None and not isinstance(body, bytes):
            data = json.dumps(body).encode()
        if data:
            headers = (f"content-length: {len(data)}", *headers)
            if not any(each.startswith("content-type") for each in headers):
                headers = ("content-type: application/json", *headers)
        if not any(each.startswith("host:") for each in headers):
            headers = (f"host: 127.0.0.1:{self.port}", *headers)
        method = method or ("GET" if body is None else "POST")
        target = f"/{self.token if token is None else token}{path}"
        lines = (f"{method} {target} HTTP/1.1", *headers, "", "")
        return await self.send("\r\n".join(lines).encode() + data)

    async def send(self, request: bytes, *, end: bool = False) -> bytes:
        """All that is answered to bytes, until the server ends the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            with contextlib.suppress(ConnectionError):
                writer.write(request)
                if end:
                    writer.write_eof()
                return await asyncio.wait_for(reader.read(), 10)
            return b""
        finally:
            writer.close()


def parsed(answer: bytes) -> tuple[int, Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), answer
    assert b"connection: close" in head.lower()
    content = json.loads(body) if b"application/json" in head else body.decode()
    return int(head.split()[1]), content


@contextlib.asynccontextmanager
async def serving(
    host: FakeHost | None = None,
    *,
    file: Path | None = None,
    limits: ClientLimits | None = None,
) -> AsyncIterator[Client]:
    """A server on some port, and a client; nothing is complained of meanwhile."""
    host, said = host or FakeHost(), list[str]()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: said.append(str(context)))
    server = await ControlServer.open(
        host, SYSTEM, 0, file=file, named=said.append, limits=limits
    )
    try:
        yield Client(server, host, said)
    finally:
        await server.close()
