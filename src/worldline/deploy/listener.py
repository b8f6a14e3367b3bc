"""The listener of a node: takes the connections that others make to it.

Not a server of asyncio's: one that is closed while it accepts a connection loses the
socket (Python 3.11).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from ssl import SSLContext
from typing import final

from worldline.deploy.connection import Connection

_PAUSE_S = 0.1
_QUEUE = 128


@final
class Listener:
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
        made: Callable[[], Connection],
        gone: Callable[[Connection], None],
    ) -> None:
        self._loop, self._sock, self._ssl = loop, sock, ssl
        self._made, self._gone = made, gone
        self._coming: set[asyncio.Task[None]] = set()
        sock.listen(_QUEUE)
        self._listening = loop.create_task(self._listen())

    def close(self) -> None:
        """Take no more."""
        self._listening.cancel()
        for task in self._coming:
            task.cancel()
        self._sock.close()

    async def _listen(self) -> None:
        while True:
            try:
                came, _ = await self._loop.sock_accept(self._sock)
            except OSError:  # no descriptors are left, for a while
                await asyncio.sleep(_PAUSE_S)
                continue
            came.setblocking(False)
            task = self._loop.create_task(self._take(came))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _take(self, came: socket.socket) -> None:
        made = self._made()
        try:
            await self._loop.connect_accepted_socket(lambda: made, came, ssl=self._ssl)
        except asyncio.CancelledError:
            self._drop(made, came)
            raise
        except OSError:  # it has gone already, or TLS has failed
            self._drop(made, came)

    def _drop(self, made: Connection, came: socket.socket) -> None:
        self._gone(made)
        made.abort()
        with contextlib.suppress(OSError):
            came.close()
