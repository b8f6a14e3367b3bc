"""Connections of clients, each good for one request, and for so long."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

_QUIET = logging.Logger("control")
_QUIET.disabled = True  # what a client does wrong is told to the client


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLimits:
    """What a client may take.

    Attributes
    ----------
    request_s
        Seconds until its request is there, whole.
    answer_s
        Seconds from then until the answer is made, and read.
    connections
        Of all clients at a time. One more takes the place of whoever has not asked
        yet for the longest time; if all have, it is cut off itself.
    head
        Bytes of a request before its body.
    """

    request_s: float = 10.0
    answer_s: float = 90.0
    connections: int = 64
    head: int = 16 << 10


class ControlConnection(H11Protocol):
    """One connection.

    Parameters
    ----------
    asking
        Those whose requests are not there yet, the oldest first.
    """

    def __init__(
        self,
        *args: Any,
        limits: ClientLimits,
        asking: dict[ControlConnection, None],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        # A token stands in each path, and loggers of uvicorn may be the user's own.
        self.logger, self.access_log, self.app = _QUIET, False, self.config.app
        self._limits, self._asking = limits, asking
        self._due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a client; if there are too many, one of them has to go."""
        super().connection_made(transport)
        self._asking[self] = None
        if len(self.connections) > self._limits.connections:
            # Who connects and says nothing is not to keep others out.
            oldest = next(iter(self._asking))
            del self._asking[oldest]
            oldest.transport.abort()
            if oldest is self:
                return
        self._due = self.loop.call_later(self._limits.request_s, self._ask_for_request)

    def data_received(self, data: bytes) -> None:
        """Read on; what makes no sense ends the connection."""
        try:
            super().data_received(data)
        except h11.LocalProtocolError:  # an answer was under way already
            self.transport.abort()
        if self._has_asked():
            self._asking.pop(self, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        if self._due is not None:
            self._due.cancel()
        self._asking.pop(self, None)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, or is none any more."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None:  # who answers the beginning of it has nobody to answer
            cycle.disconnected = True
        content = json.dumps({"error": "this is no HTTP request"}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(content)),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def _has_asked(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None until a head is there
        return cycle is not None and not cycle.more_body

    def _ask_for_request(self) -> None:
        if not self._has_asked():
            self.transport.abort()
        else:
            self._due = self.loop.call_later(
                self._limits.answer_s, self.transport.abort
            )


@final
class Clients:
    """All clients of a server.

    Parameters
    ----------
    application
        What answers them.
    """

    def __init__(
        self, application: Callable[..., Any], limits: ClientLimits | None
    ) -> None:
        self._limits = limits or ClientLimits()
        self._state = ServerState()
        self._asking: dict[ControlConnection, None] = {}
        # It is told to touch no loggers: a server of the user's may run beside it.
        self._config = Config(
            application,
            log_config=None,
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=self._limits.head,
        )
        self._config.load()

    def connection(self) -> ControlConnection:
        """Return the protocol of the next client."""
        return ControlConnection(
            self._config, self._state, {}, limits=self._limits, asking=self._asking
        )

    async def dismiss(self, grace_s: float) -> None:
        """End all connections, those with an answer under way after some seconds."""
        tasks = set(self._state.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for connection in list(self._state.connections):
            connection.transport.abort()
