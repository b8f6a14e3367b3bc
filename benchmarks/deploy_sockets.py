"""Datagrams there and back: the socket of a host beside asyncio's `DatagramProtocol`.

Two processes of one kind each: one sends so many datagrams and another for each that comes
back, the other sends back what it gets. asyncio's carries bytes of which nobody asks
anything. Ours looks at the mark of each; ``coded`` besides makes a packet of a message and a
message of a packet each time, as hosts do, and ``drained`` does not.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import worldline as wl
from worldline.deploy.counts import NodeCounts
from worldline.deploy.datagrams import DatagramSocket
from worldline.deploy.outlets import Messages, Outlets
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import LENGTH

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.spread import Row, load

PAYLOAD = bytes(range(60))
WARM_S = 0.3
LOOPBACK = "127.0.0.1"
CLIENT, SERVER = range(2)


@wl.message
class Echo:
    """Send this back."""

    payload: bytes


@wl.node
class Echoer:
    """Names the message; nothing of it runs."""

    @wl.on(Echo)
    def echo(self, ctx: wl.Context, src: wl.NodeId, msg: Echo) -> None:
        ctx.send(src, msg)


class Uncoded:
    """A codec that takes all frames for one."""

    def __init__(self, codec: Codec) -> None:
        self.vocabulary, self.digest = codec.vocabulary, codec.digest
        packet = codec.packet(CLIENT, 1, 1, 0, "", Echo(PAYLOAD))
        frame = codec.frame(packet[LENGTH:])
        self.frame = lambda data: frame


class Drained:
    """An end with the socket of a host.

    Parameters
    ----------
    coded
        Whether the codec has its share.
    """

    def __init__(
        self,
        me: int,
        sock: socket.socket,
        peer: tuple[str, int],
        window: int,
        *,
        coded: bool,
    ) -> None:
        nodes = wl.ids("client", "server")
        system = wl.System(
            dict.fromkeys(nodes, Echoer()), network=wl.datagrams(), name="echo"
        )
        self._me, self._codec = me, Codec(system)
        self._coded = coded
        self._packet = self._codec.packet(me, 1, 1, 0, "", Echo(PAYLOAD))
        codec: Any = self._codec if coded else Uncoded(self._codec)
        outlets = Outlets(
            addresses=[peer, peer],
            take=self._take,
            hear=lambda *told: None,
            heard=lambda *told: None,
            say=lambda line: None,
            is_clogged=lambda: False,
        )
        loop = asyncio.get_running_loop()
        counts = NodeCounts(node="echo")
        self._socket = DatagramSocket(sock, loop, codec, me, 1, counts, outlets)
        self.came = 0
        self._socket.begin()
        if me == CLIENT:
            self._send([Echo(PAYLOAD)] * window)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _take(self, messages: Messages) -> None:
        self.came += len(messages)
        self._send([frame.message for _, frame in messages])

    def _send(self, messages: list[Any]) -> None:
        packet, me, to = self._codec.packet, self._me, 1 - self._me
        if not self._coded:
            self._socket.send([(to, self._packet)] * len(messages))
            return
        self._socket.send([(to, packet(me, 1, 1, 0, "", one)) for one in messages])


class Plain(asyncio.DatagramProtocol):
    """An end with the protocol of asyncio."""

    came = 0

    def __init__(self, peer: tuple[str, int] | None, window: int) -> None:
        self._peer, self._window = peer, window

    def connection_made(self, transport: Any) -> None:
        self.close = transport.close
        self._send = transport.sendto
        for _ in range(self._window if self._peer else 0):
            self._send(PAYLOAD, self._peer)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.came += 1
        self._send(data, addr)


def measure(kind: str, loop: str, window: int, seconds: float = 1.0) -> Row:
    """Send datagrams there and back for a while; the cost is that of this end."""
    sock = _bound()
    port = sock.getsockname()[1]
    command = [sys.executable, __file__, kind, loop, str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        peer = (LOOPBACK, int(server.stdout.readline()))
        row: Row = _run(loop, lambda: _client(kind, sock, peer, window, seconds))
        server.communicate("")
    return row | {"load": load()}


async def _client(
    kind: str, sock: socket.socket, peer: tuple[str, int], window: int, seconds: float
) -> Row:
    end = await _end(kind, CLIENT, sock, peer, window)
    await asyncio.sleep(WARM_S)
    before = end.came, time.process_time(), time.perf_counter()
    await asyncio.sleep(seconds)
    after = end.came, time.process_time(), time.perf_counter()
    end.close()
    came, cpu, wall = (b - a for a, b in zip(before, after, strict=True))
    return {"each_us": 1e6 * cpu / came, "rate": came / wall}


async def _end(
    kind: str, me: int, sock: socket.socket, peer: tuple[str, int], window: int
) -> Drained | Plain:
    if kind != "plain":
        return Drained(me, sock, peer, window, coded=kind == "coded")
    given = peer if me == CLIENT else None
    _, end = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: Plain(given, window), sock=sock
    )
    return end


async def _server(kind: str, sock: socket.socket, peer: tuple[str, int]) -> None:
    """Send back what comes until the other end has had enough."""
    await _end(kind, SERVER, sock, peer, 0)
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(0, over.set)  # its end
    print(sock.getsockname()[1], flush=True)
    await over.wait()


def _bound() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    sock.bind((LOOPBACK, 0))
    return sock


def _run(loop: str, work: Callable[[], Any]) -> Any:
    if loop == "asyncio":
        return asyncio.run(work())
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(work())


if __name__ == "__main__":
    its, on, port = sys.argv[1:]
    _run(on, lambda: _server(its, _bound(), (LOOPBACK, int(port))))
