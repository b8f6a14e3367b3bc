"""The listener of a node: no socket is lost, whenever it is closed."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.proxied import until

from worldline.deploy.listener import ConnectionListener

FDS = Path("/proc/self/fd")


class Taken(asyncio.Protocol):
    def __init__(self) -> None:
        self.transport: asyncio.BaseTransport | None = None
        self.is_aborted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def abort(self) -> None:
        self.is_aborted = True


class Listening:
    """A listener, and what it has made, and what came to nothing."""

    def __init__(self) -> None:
        sock = socket.create_server(("127.0.0.1", 0))
        sock.setblocking(False)
        self.address = sock.getsockname()
        self.made: list[Taken] = []
        self.gone: list[object] = []
        loop = asyncio.get_running_loop()
        make: Any = self.make
        self.listener = ConnectionListener(loop, sock, None, make, self.gone.append)

    def make(self) -> Taken:
        self.made.append(Taken())
        return self.made[-1]

    def taken(self) -> list[Taken]:
        return [one for one in self.made if one.transport is not None]


@pytest.mark.skipif(not FDS.is_dir(), reason="it counts descriptors")
@pytest.mark.parametrize("rounds", range(6))
def test_what_is_accepted_while_it_is_closed_is_closed_too(rounds: int):
    async def main() -> None:
        await asyncio.sleep(0)
        before = sum(1 for _ in FDS.iterdir())
        listening = Listening()
        clients = [socket.create_connection(listening.address) for _ in range(3)]
        for _ in range(rounds):
            await asyncio.sleep(0)
        listening.listener.close()
        for client in clients:
            client.close()
        for _ in range(4):
            await asyncio.sleep(0)
            for one in listening.taken():
                assert one.transport is not None
                one.transport.close()
        lost = [one for one in listening.made if one.transport is None]
        assert [one.is_aborted for one in lost] == [True] * len(lost)
        assert all(one in listening.gone for one in lost)
        assert sum(1 for _ in FDS.iterdir()) == before

    asyncio.run(main())


def test_connections_are_taken_until_it_is_closed():
    async def main() -> None:
        listening = Listening()
        clients = [socket.create_connection(listening.address) for _ in range(20)]
        await until(lambda: len(listening.taken()) == 20)
        for _ in range(4):  # until the task that takes the last is told of it
            await asyncio.sleep(0)
        listening.listener.close()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(listening.address)
        for client in clients:
            client.close()
        await asyncio.sleep(0.01)
        assert listening.gone == []

    asyncio.run(main())
