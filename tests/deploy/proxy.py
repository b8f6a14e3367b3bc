"""A proxy between two nodes that does to what they send what networks do.

One `LinkProxy` stands before one address, for datagrams and for connections. All datagrams
to it pass in one direction; connections pass in both. `ProxiedCluster` puts one on each
ordered pair of nodes: node a knows node b by the proxy that is theirs alone, while b
listens at its own address.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import worldline as wl
from worldline.deploy.cluster import LOOPBACK, Address, Cluster
from worldline.deploy.ports import free_ports
from worldline.deploy.tls import TlsFiles

_LINGER_0 = struct.pack("ii", 1, 0)
_CHUNK = 1 << 16


@dataclass
class Faults:
    """What happens to what passes, each a chance unless it says otherwise.

    Attributes
    ----------
    loss, doubling
        Of a datagram.
    delay_s
        Seconds, the least and the most, of each datagram and each piece; datagrams
        overtake each other by it.
    splitting, joining
        Of what was read from a connection: to be written in pieces, or to wait for more.
    """

    loss: float = 0.0
    doubling: float = 0.0
    delay_s: tuple[float, float] = (0.0, 0.0)
    splitting: float = 0.0
    joining: float = 0.0


class LinkProxy:
    """A proxy before one address.

    Attributes
    ----------
    faults
        May be changed at any time.
    counts
        What has passed and what has not, by name.
    tap
        All bytes of connections that have passed to the target.
    """

    def __init__(self, listens: Address, target: Address, seed: int) -> None:
        self.address, self.target = listens, target
        self.faults = Faults()
        self.counts = {"passed": 0, "lost": 0, "doubled": 0, "connections": 0, "cut": 0}
        self.tap = bytearray()
        self.rng = random.Random(seed)
        self._passes = asyncio.Event()
        self._passes.set()
        self._cut_after: int | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._ends: set[asyncio.StreamWriter] = set()
        self._openers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._socket: asyncio.DatagramTransport | None = None

    async def open(self) -> None:
        host, port = self.address
        loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._accept, host, port)
        self._socket, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self), local_addr=self.address
        )

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        if self._socket is not None:
            self._socket.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for end in self._ends:
            end.transport.abort()
        await asyncio.sleep(0)  # so that the loop can close them

    # --------------------------------------------------------------- what a test says

    def silence(self) -> None:
        """Let nothing pass, and let nobody know; new connections are taken all the same."""
        self._passes.clear()

    def speak(self) -> None:
        """Let pass what comes, and what of connections has waited."""
        self._passes.set()

    def reset(self) -> int:
        """Reset all connections at both ends; return how many there were."""
        ends, self._ends = self._ends, set()
        self._openers.clear()
        for end in ends:
            reset(end)
        return len(ends) // 2

    def forsake(self) -> int:
        """Reset connections at the end that opened them; the other still gets what came."""
        for end in self._openers:
            self._ends.discard(end)
            reset(end)
        return len(self._openers)

    def cut_after(self, count: int) -> None:
        """Reset a connection when so many more bytes have passed, whole frames or not."""
        self._cut_after = count

    # ------------------------------------------------------------------- what it does

    def datagram(self, data: bytes) -> None:
        faults, rng = self.faults, self.rng
        if not self._passes.is_set() or rng.random() < faults.loss:
            self.counts["lost"] += 1
            return
        copies = 1 + (rng.random() < faults.doubling)
        self.counts["doubled"] += copies - 1
        for _ in range(copies):
            delay = rng.uniform(*faults.delay_s)
            if delay > 0:
                asyncio.get_running_loop().call_later(delay, self._pass_on, data)
            else:
                self._pass_on(data)

    def _pass_on(self, data: bytes) -> None:
        if self._socket is not None and not self._socket.is_closing():
            self.counts["passed"] += 1
            self._socket.sendto(data, self.target)

    async def _accept(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.counts["connections"] += 1
        self._ends.add(writer)
        self._openers.add(writer)
        task = asyncio.create_task(self._join(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Connect to the target, and let pass what comes from either end."""
        await self._passes.wait()
        try:
            there, beyond = await asyncio.open_connection(*self.target)
        except OSError:
            self._finish((writer,), abruptly=True)
            return
        self._ends.add(beyond)
        for end in (writer, beyond):
            with contextlib.suppress(OSError):  # reset meanwhile
                end.get_extra_info("socket").setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_NODELAY, 1
                )
        ends = writer, beyond
        await asyncio.gather(
            self._pump(reader, beyond, ends), self._pump(there, writer, ends)
        )

    async def _pump(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        ends: tuple[asyncio.StreamWriter, ...],
    ) -> None:
        """Pass on what comes in one direction of one connection, until it ends."""
        try:
            while data := await self._read(source):
                for piece in self._pieces(data):
                    await self._passes.wait()
                    delay = self.rng.uniform(*self.faults.delay_s)
                    await asyncio.sleep(delay)
                    if self._is_cut(piece, sink):
                        self._finish(ends, abruptly=True)
                        return
                    if sink is ends[1]:
                        self.tap += piece
                    if not sink.is_closing():  # else nobody is there any more
                        sink.write(piece)
                        await sink.drain()
            self._finish(ends, abruptly=False)
        except ConnectionError:  # as it was at one end, so at the other
            self._finish(ends, abruptly=True)

    async def _read(self, source: asyncio.StreamReader) -> bytes:
        data = await source.read(_CHUNK)
        if data and self.rng.random() < self.faults.joining:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.002):
                    while more := await source.read(_CHUNK):
                        data += more
        return data

    def _pieces(self, data: bytes) -> list[bytes]:
        if self.rng.random() >= self.faults.splitting:
            return [data]
        count = min(len(data), self.rng.randrange(2, 6))
        cuts = sorted(self.rng.randrange(len(data) + 1) for _ in range(count - 1))
        places = [0, *cuts, len(data)]
        return [data[a:b] for a, b in itertools.pairwise(places) if a < b]

    def _is_cut(self, piece: bytes, sink: asyncio.StreamWriter) -> bool:
        """Write the beginning of a piece, and say that no more is to come, if it is so."""
        if self._cut_after is None:
            return False
        if self._cut_after > len(piece):
            self._cut_after -= len(piece)
            return False
        sink.write(piece[: self._cut_after])
        self._cut_after = None
        self.counts["cut"] += 1
        return True

    def _finish(
        self, ends: tuple[asyncio.StreamWriter, ...], *, abruptly: bool
    ) -> None:
        for end in ends:
            self._openers.discard(end)
            if end in self._ends:
                self._ends.discard(end)
                if abruptly:
                    reset(end)
                else:
                    end.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, proxy: LinkProxy) -> None:
        self._proxy = proxy

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._proxy.datagram(data)


def reset(end: asyncio.StreamWriter) -> None:
    """End a connection by a RST: what was written to it and has not left is lost."""
    with contextlib.suppress(OSError):
        sock = end.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_0)
    end.transport.abort()


@dataclass
class ProxiedCluster:
    """A proxy on each ordered pair of the nodes of a system; an async context manager."""

    system: wl.System
    seed: int = 0
    secret: bytes | None = None
    tls: Mapping[wl.NodeId, TlsFiles] = field(default_factory=dict)
    addresses: dict[wl.NodeId, Address] = field(default_factory=dict)
    links: dict[tuple[wl.NodeId, wl.NodeId], LinkProxy] = field(default_factory=dict)

    async def __aenter__(self) -> ProxiedCluster:
        nodes = self.system.ids
        pairs = [(a, b) for a in nodes for b in nodes if a != b]
        ports = iter(free_ports(LOOPBACK, len(nodes) + len(pairs)))
        self.addresses = {node: (LOOPBACK, next(ports)) for node in nodes}
        for number, (a, b) in enumerate(pairs):
            seed, target = hash((self.seed, number)), self.addresses[b]
            proxy = LinkProxy((LOOPBACK, next(ports)), target, seed)
            self.links[a, b] = proxy
            await proxy.open()
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.gather(*(proxy.close() for proxy in self.links.values()))

    def cluster(self, node: wl.NodeId) -> Cluster:
        """The addresses as a node has to know them."""
        addresses = {
            other: self.links[node, other].address
            for other in self.system.ids
            if other != node
        }
        return Cluster(
            addresses={node: self.addresses[node], **addresses},
            secret=self.secret,
            tls=self.tls.get(node),
            run="run",
        )

    def afflict(self, faults: Faults) -> None:
        """Let these happen on all links."""
        for proxy in self.links.values():
            proxy.faults = faults

    def part(self, *nodes: wl.NodeId) -> None:
        """Silence all links between these nodes and the others."""
        for (a, b), proxy in self.links.items():
            if (a in nodes) != (b in nodes):
                proxy.silence()

    def heal(self) -> None:
        """Let pass on all links what comes."""
        for proxy in self.links.values():
            proxy.speak()
