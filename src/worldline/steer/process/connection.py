"""The host's end of the connection with its predictor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast, final

from worldline.model.printable import one_line
from worldline.steer.process.frames import FrameReader, framed
from worldline.trace.json_checks import Malformed


@final
class ChildConnection(asyncio.Protocol):
    """A connection with one process.

    Parameters
    ----------
    ready
        Is called when the process has loaded its system.
    take, over
        Take a part of an answer, by its number; and that there is no more, with what went
        wrong, or None. They say whether it was asked for.

    Attributes
    ----------
    is_ready
        Whether it has loaded its system.
    ended
        Is done when the connection has ended: with why, or empty if the process closed it.
    """

    def __init__(
        self,
        *,
        ready: Callable[[], None],
        take: Callable[[int, bytes], bool],
        over: Callable[[int, str | None], bool],
    ) -> None:
        self._ready, self._take, self._over = ready, take, over
        self._reader = FrameReader()
        self._transport: asyncio.Transport | None = None
        self.is_ready = False
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def send(self, kind: str, *content: Any) -> None:
        """Send a frame; it leaves when it can."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(framed(kind, *content))

    def end(self, why: str) -> None:
        """End the connection, and say why."""
        if not self.ended.done():
            self.ended.set_result(why)
        self.close()

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()

    # -------------------------------------------------------------------- of asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self.end("")

    def data_received(self, data: bytes) -> None:
        try:
            for frame in self._reader.feed(data):
                if self.ended.done():
                    return
                self._hear(*frame)
        except Malformed:
            self.end("predictor says what nobody understands")

    def _hear(self, kind: str, *content: Any) -> None:
        is_asked = True
        match kind:
            case "ready" if not self.is_ready:
                self.is_ready = True
                self._ready()
            case "refused":
                self.end(one_line(content[0]))
            case "answer":
                is_asked = self._take(*content)
            case "done":
                is_asked = self._over(content[0], None)
            case "failed":
                is_asked = self._over(*content)
            case _:
                is_asked = False
        if not is_asked:
            raise Malformed("", f"{kind}, which nobody has asked for")
