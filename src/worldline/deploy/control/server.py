"""The server of control: on loopback, in the loop of its host, and gone with it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, final

from worldline.deploy.control.access import Access, new_token
from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.runs import extras

if TYPE_CHECKING:
    from worldline.deploy.control.application import Controlled
    from worldline.deploy.control.connections import ClientLimits, Clients

_ADDRESS = "127.0.0.1"
_BACKLOG = 64
_GRACE_S = 1.0


@final
class ControlServer:
    """A server that is open, and answers until it is closed.

    Made by `open`. It takes no signals, and no loop of its own.

    Attributes
    ----------
    url
        What all paths begin with, the token among it; whoever has it controls the nodes.
    """

    def __init__(self, url: str, clients: Clients, server: asyncio.Server) -> None:
        self.url = url
        self._file: Path | None = None
        self._clients = clients
        self._server: asyncio.Server | None = server

    @classmethod
    async def open(
        cls,
        host: Controlled,
        system: System,
        port: int,
        *,
        file: Path | None = None,
        named: Callable[[str], None] = lambda line: None,
        limits: ClientLimits | None = None,
    ) -> ControlServer:
        """Listen on a port of loopback.

        Parameters
        ----------
        port
            0 for any.
        file
            Where the `url` is written, for nobody but this user, as long as it holds.
        named
            Takes a line for whoever watches.

        Raises
        ------
        UsageError
            If the port is taken, the file cannot be written, or what HTTP needs is not
            installed.
        """
        extras.http_server("control")
        from worldline.deploy.control.application import Application
        from worldline.deploy.control.connections import Clients

        listening = _listen(port)
        try:
            port, token = listening.getsockname()[1], new_token()
            application = Application(host, system, Access(token, port), named)
            clients = Clients(application, limits)
            server = await asyncio.get_running_loop().create_server(
                clients.connection, sock=listening, backlog=_BACKLOG
            )
        except BaseException:
            listening.close()
            raise
        opened = cls(f"http://{_ADDRESS}:{port}/{token}", clients, server)
        try:
            if file is not None:
                opened.write(file)
        except BaseException:
            await opened.close()
            raise
        return opened

    async def close(self) -> None:
        """Answer what was asked, for a moment, and stop listening."""
        if self._server is None:
            return
        server, self._server = self._server, None
        server.close()
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        await self._clients.dismiss(_GRACE_S)
        await server.wait_closed()

    def write(self, file: Path) -> None:
        """Write its address into a file, for nobody but this user, as long as it holds.

        Raises
        ------
        UsageError
            If that cannot be written.
        """
        self._file = file
        flags = os.O_CREAT | os.O_WRONLY | os.O_EXCL
        try:
            file.unlink(missing_ok=True)  # of a host that was killed
            with open(os.open(file, flags, 0o600), "w") as opened:  # noqa: PTH123
                opened.write(f"{self.url}\n")
        except OSError as error:
            raise UsageError(
                f"cannot write {file}: {error.strerror}",
                remedy="record into a folder that can be written",
            ) from None


def _listen(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_ADDRESS, port))
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        said = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"control cannot listen on {_ADDRESS}:{port}: {said}",
            remedy="choose another port, or 0 for any",
        ) from None
    return listening
