"""Bytes from anybody, at the sockets of a node: nothing is run, nothing raised, nothing kept."""

from __future__ import annotations

import asyncio
import gc
import random
import socket
import time
from collections.abc import Sequence
from typing import Any

import pytest

import worldline as wl
from worldline.deploy.connection import PeerConnection
from worldline.deploy.seal import Seal
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.frames import ControlFrame, MessageFrame

A, B = wl.ids("a", "b")
RUN: list[str] = []
"""What of the users' code was run."""


@wl.message
class Trap:
    """Tells of each of its methods that is called."""

    number: int
    peers: tuple[wl.NodeId, ...]
    words: frozenset[str]
    inner: Trap | None = None
    any: Any = None

    def __post_init__(self) -> None:
        RUN.append("__post_init__")

    def __reduce__(self) -> Any:
        RUN.append("__reduce__")
        return object, ()

    def __setstate__(self, state: Any) -> None:
        RUN.append("__setstate__")


@wl.node
class Node:
    heard: int = 0
    failed: bool = False

    @wl.on(Trap)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Trap) -> None:
        self.heard += 1

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None: ...


def system(network: Any) -> wl.System:
    return wl.System({A: Node(), B: Node()}, network=network, name="hostile")


CODEC = Codec(system(wl.streams()))
MESSAGES = [
    Trap(1, (A, B), frozenset({"x", "y"})),
    Trap(2**70, (), frozenset(), Trap(3, (A,), frozenset())),
    Trap(
        -1,
        (B,),
        frozenset({"z"}),
        None,
        (1, "two", b"three", wl.FrozenMap({"k": (A, 4.5)})),
    ),
]
PACKETS = [
    *(CODEC.packet(1, 1, 7, place, "", each) for place, each in enumerate(MESSAGES)),
    CODEC.hello(1, 1, 0, bytes(24)),
    CODEC.control(1, 1, "nobody", b"body"),
    CODEC.bye(1, 1),
]


def mutated(rng: random.Random, packet: bytes) -> bytes:
    """Return a packet with something wrong in it, mostly."""
    data = bytearray(packet)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = rng.randrange(len(data)) if data else 0
        what = rng.randrange(6)
        if what == 0 and data:
            data[place] ^= 1 << rng.randrange(8)
        elif what == 1 and data:
            data[place] = rng.choice((0, 0x7F, 0x80, 0x90, 0xC0, 0xDC, 0xDD, 0xFF))
        elif what == 2:
            del data[place : place + rng.randrange(1, 8)]
        elif what == 3:
            data[place:place] = rng.randbytes(rng.randrange(1, 8))
        elif what == 4:
            data = data[:place]
        else:
            data += bytes(rng.choice(PACKETS))
    if rng.random() < 0.7 and len(data) > 4:  # else most would be of a wrong length
        data[:4] = (len(data) - 4).to_bytes(4, "big")
    return bytes(data)


class Wire(asyncio.Transport):
    """Takes what is written, and goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = True

    def write(self, data: Any) -> None: ...
    def set_write_buffer_limits(self, high: Any = None, low: Any = None) -> None: ...
    def close(self) -> None:
        self.is_open = False

    abort = close


class Owner:
    """Takes everything."""

    def __init__(self) -> None:
        self.messages = self.refusals = 0

    def opened(self, connection: PeerConnection) -> None: ...
    def welcomes(self, connection: PeerConnection) -> bool:
        return True

    def greeted(self, connection: PeerConnection) -> None: ...
    def took(
        self, connection: PeerConnection, messages: Sequence[tuple[bytes, MessageFrame]]
    ) -> None:
        self.messages += len(messages)

    def told(
        self, connection: PeerConnection, frame: ControlFrame, size: int
    ) -> None: ...
    def yielded(self, connection: PeerConnection) -> None: ...
    def refused(self, connection: PeerConnection, why: str, *, malformed: bool) -> None:
        self.refusals += 1

    def drained(self, connection: PeerConnection) -> None: ...
    def closed(self, connection: PeerConnection, why: str) -> None: ...
    def ended(self, connection: PeerConnection) -> None: ...


async def feed(frames: int, seed: int, seal: Seal | None) -> Owner:
    """Feed connections with so many frames, most of them wrong."""
    rng, owner, fed = random.Random(seed), Owner(), 0
    while fed < frames:
        wire = Wire()
        connection = PeerConnection(owner, CODEC, seal, 0, 1)
        connection.connection_made(wire)
        if rng.random() < 0.8:
            connection.take(PACKETS[3] + bytes(0 if seal is None else 16))
        while wire.is_open and fed < frames and rng.random() < 0.98:
            packet = rng.choice(PACKETS)
            data = packet if rng.random() < 0.3 else mutated(rng, packet)
            fed += 1
            cut = rng.randrange(len(data) + 1)
            for piece in (data[:cut], data[cut:]):
                if piece and wire.is_open:
                    connection.take(piece)
        connection.connection_lost(None)
    return owner


def check_connections(frames: int, seed: int) -> None:
    names = tuple(node.name for node in (A, B))
    seal = Seal(b"s" * 32, names, CODEC.digest.raw)
    RUN.clear()
    owner = asyncio.run(feed(frames, seed, None))
    assert owner.messages > frames // 100  # some were right, or nothing was tried
    assert owner.refusals > frames // 100
    sealed = asyncio.run(feed(frames // 10, seed, seal))
    assert sealed.messages == 0
    assert RUN == []


async def drench(datagrams: int, seed: int) -> wl.NodeCounts:
    """Send a node so many datagrams, most of them wrong; return its counts."""
    rng = random.Random(seed)
    host = wl.Host(system(wl.datagrams()), say=lambda line: None)
    async with asyncio.timeout(30 + datagrams / 5_000), host:
        right = bytearray()

        def note(data: bytes, address: Any) -> int:
            right[:] = data
            return len(data)

        # One as it should be, to mutate: its mark is that of the receiver.
        runner = host._runners[B]
        assert runner.life is not None
        wire = runner.life._wire
        assert wire.socket is not None
        real, wire.socket._sock = (
            wire.socket._sock,
            type("", (), {"sendto": staticmethod(note)})(),
        )
        wire.socket.send([(0, PACKETS[0])])
        wire.socket._sock = real
        mark = bytes(right[len(PACKETS[0]) :])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.connect(host.address(A))
            for number in range(datagrams):
                data = mutated(rng, rng.choice(PACKETS)) + mark
                if rng.random() < 0.2:
                    data = mutated(rng, data)
                sender.send(data)
                if not number % 50:
                    await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        assert host.is_up(A)
        assert host.state(A).heard > datagrams // 100
        return host.counts(A)


def check_datagrams(datagrams: int, seed: int) -> None:
    RUN.clear()
    counts = asyncio.run(drench(datagrams, seed))
    assert counts.malformed > datagrams // 10
    assert counts.refused > 0
    assert counts.failure is None
    assert RUN == []


def test_mutated_frames_on_connections_run_nothing_and_raise_nothing():
    check_connections(6_000, 1)


def test_mutated_datagrams_run_nothing_and_raise_nothing():
    check_datagrams(4_000, 1)


def test_the_trap_would_tell():
    RUN.clear()
    Trap(1, (), frozenset())
    assert RUN == ["__post_init__"]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(4))
def test_a_million_mutated_frames(seed: int):
    check_connections(250_000, seed)


@pytest.mark.nightly
def test_a_million_mutated_datagrams_leave_nothing_behind():
    check_datagrams(10_000, 2)
    gc.collect()
    before, began = len(gc.get_objects()), time.monotonic()
    check_datagrams(1_000_000, 3)
    gc.collect()
    assert len(gc.get_objects()) < before + 2_000
    assert time.monotonic() - began < 300
