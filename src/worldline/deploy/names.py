"""The names of hosts, looked up once: a datagram that names one would wait for each look-up."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable

from worldline.deploy.cluster import Address, address_text
from worldline.model.errors import UsageError


async def numbered(addresses: Iterable[Address]) -> list[Address]:
    """Return addresses with the numbers of hosts in the place of their names.

    Raises
    ------
    UsageError
        If nobody knows a host.
    """
    known: dict[str, str] = {}
    found = []
    for host, port in addresses:
        if host not in known:
            known[host] = await _number_of(host, port)
        found.append((known[host], port))
    return found


async def _number_of(host: str, port: int) -> str:
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass  # a name
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )
    except OSError as error:
        raise UsageError(
            f"nobody knows the host of {address_text((host, port))}: "
            f"{error.strerror or error}",
            remedy="write its number in the cluster, or have its name known",
        ) from None
    return str(answers[0][4][0])
