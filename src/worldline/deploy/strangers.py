"""Connections that were accepted, and of which the other end is not known for sure."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import final

from worldline.deploy.connection import PeerConnection

_MOST = 64


@final
class Strangers:
    """The strangers of a node: so many at most, and none for long.

    Parameters
    ----------
    limit_s
        Seconds in which one has to prove who it is.
    expelled
        Is told of one that has not, and is closed.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        limit_s: float,
        expelled: Callable[[PeerConnection], None],
    ) -> None:
        self._loop, self._limit_s, self._expelled = loop, limit_s, expelled
        self._all: dict[PeerConnection, None] = {}  # the oldest first

    def __iter__(self) -> Iterator[PeerConnection]:
        return iter(tuple(self._all))

    def add(self, connection: PeerConnection) -> None:
        """Take another one."""
        if len(self._all) >= _MOST:
            self._expel(next(iter(self._all)))
        self._all[connection] = None
        self._loop.call_later(self._limit_s, self._expel, connection)

    def discard(self, connection: PeerConnection) -> None:
        """Forget one that is known by now, or no more."""
        self._all.pop(connection, None)

    def _expel(self, connection: PeerConnection) -> None:
        if connection in self._all:
            del self._all[connection]
            connection.abort()
            self._expelled(connection)
