"""Rooms to read into: one for each loop, and nothing of it is kept."""

from __future__ import annotations

import asyncio
import gc
import os
from typing import Any
from weakref import ref

import pytest

import worldline as wl
from worldline.deploy import rooms
from worldline.deploy.connection import PeerConnection
from worldline.deploy.rooms import room_of
from worldline.trace.journal.codec import Codec

A, B = wl.ids("a", "b")


@wl.node
class Idle:
    pass


CODEC = Codec(wl.System({A: Idle(), B: Idle()}, network=wl.streams()))


class Wire(asyncio.Transport):
    """Takes what is written, and goes nowhere."""

    def write(self, data: Any) -> None: ...
    def set_write_buffer_limits(self, high: Any = None, low: Any = None) -> None: ...


class Owner:
    """Takes note of the connections whose peers have said hello."""

    def __init__(self) -> None:
        self.greeted_: list[PeerConnection] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **more: True

    def greeted(self, connection: PeerConnection) -> None:
        self.greeted_.append(connection)


@pytest.mark.skipif(os.name != "posix", reason="each connection has its own there")
def test_the_connections_of_a_loop_share_a_room_that_goes_with_it():
    async def main() -> tuple[memoryview, Any]:
        loop = asyncio.get_running_loop()
        assert room_of(loop) is room_of(loop)
        return room_of(loop), ref(loop)

    (one, first), (other, _) = asyncio.run(main()), asyncio.run(main())
    assert one is not other
    gc.collect()
    assert first() is None


def test_where_loops_read_at_once_each_connection_has_its_own_room(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(rooms, "_IS_SHARED", False)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert room_of(loop) is not room_of(loop)

    asyncio.run(main())


def test_what_came_in_pieces_on_one_is_not_overwritten_by_another():
    hello = CODEC.hello(1, 1, 0, bytes(24))

    def read(connection: PeerConnection, piece: bytes) -> None:
        connection.get_buffer(-1)[: len(piece)] = piece
        connection.buffer_updated(len(piece))

    async def main() -> None:
        owner = Owner()
        many = [PeerConnection(owner, CODEC, None, 0, 1) for _ in range(3)]
        for connection in many:
            connection.connection_made(Wire())
        for piece in (hello[:3], hello[3:9], hello[9:]):
            for connection in many:
                read(connection, piece)
        assert owner.greeted_ == many

    asyncio.run(main())
