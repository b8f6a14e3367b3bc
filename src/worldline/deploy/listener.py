"""The listener of a node: takes the connections that others make to it.

Not a server of asyncio's, nor `sock_accept`: what is closed while it accepts a connection
loses the socket (Python 3.11).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from ssl import SSLContext
from typing import final

from worldline.deploy.connection import PeerConnection

_PAUSE_S = 0.1
_QUEUE = 128


@final
class ConnectionListener:
    """The listener at one socket.

    Parameters
    ----------
    sock
        It, bound.
    made
        Makes what takes a connection.
    gone
        Is told of one that came to nothing.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket.socket,
        ssl: SSLContext | None,
        made: Callable[[], PeerConnection],
        gone: Callable[[PeerConnection], None],
    ) -> None:
        self._loop, self._sock, self._ssl = loop, sock, ssl
        self._made, self._gone = made, gone
        self._coming: set[asyncio.Task[None]] = set()
        self._waiting: asyncio.Task[None] | None = None
        sock.listen(_QUEUE)
        self._listen()

    def close(self) -> None:
        """Take no more."""
        if self._waiting is not None:
            self._waiting.cancel()
        elif self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
        for task in self._coming:
            task.cancel()
        self._sock.close()

    def _listen(self) -> None:
        if self._sock.fileno() < 0:
            return  # it was closed meanwhile
        try:
            self._loop.add_reader(self._sock, self._accept)
        except NotImplementedError:  # a loop without readers, as on Windows
            self._waiting = self._loop.create_task(self._wait())

    def _accept(self) -> None:
        try:
            came, _ = self._sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError:  # no descriptors are left, for a while
            self._loop.remove_reader(self._sock)
            self._loop.call_later(_PAUSE_S, self._listen)
            return
        self._came(came)

    async def _wait(self) -> None:
        while True:
            try:
                came, _ = await self._loop.sock_accept(self._sock)
            except OSError:
                await asyncio.sleep(_PAUSE_S)
                continue
            self._came(came)

    def _came(self, came: socket.socket) -> None:
        came.setblocking(False)
        made = self._made()
        task = self._loop.create_task(self._take(made, came))
        self._coming.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._coming.discard(task)
            if task.cancelled():  # perhaps before it began
                self._drop(made, came)

        task.add_done_callback(done)

    async def _take(self, made: PeerConnection, came: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(lambda: made, came, ssl=self._ssl)
        except OSError:  # it has gone already, or TLS has failed
            self._drop(made, came)

    def _drop(self, made: PeerConnection, came: socket.socket) -> None:
        self._gone(made)
        made.abort()
        with contextlib.suppress(OSError):
            came.close()
