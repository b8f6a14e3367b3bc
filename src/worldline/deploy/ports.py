"""Unused ports, for nodes that keep theirs over several lives."""

from __future__ import annotations

import errno
import secrets
import socket
from pathlib import Path

from worldline.model.errors import UsageError

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")

_FIRST, _LAST = 10_000, 61_000
"""Where to look for ports: those below have names, those above are odd machines'."""

_USUAL = (32_768, 60_999)
"""The kernel's own, where it does not say."""


def free_ports(host: str, count: int) -> list[int]:
    """Return ports of a host that can be had at once, for datagrams and for streams.

    They are none of those that the kernel gives to whoever asks for any: while a node is
    down, an outgoing connection could have taken its port.

    Raises
    ------
    UsageError
        If there are not as many.
    """
    low, high = kernels_range()
    able = [port for port in range(_FIRST, _LAST) if not low <= port <= high]
    if len(able) < count:  # the kernel has nearly all of them
        able = [*range(1_024, low), *range(high + 1, 65_536)] or [*range(_FIRST, _LAST)]
    # Whoever looks at the same time shall look elsewhere.
    start = secrets.randbelow(len(able))
    found: list[int] = []
    for port in able[start:] + able[:start]:
        if len(found) == count:
            break
        if is_free(host, port):
            found.append(port)
    if len(found) < count:
        raise UsageError(
            f"{host} has {len(found)} free ports, and {count} nodes need one each",
            remedy="end what uses them, or give addresses with --cluster",
        )
    return found


def kernels_range() -> tuple[int, int]:
    """Return the first and the last port that the kernel gives to whoever asks for any."""
    try:
        low, high = map(int, _RANGE.read_text("ascii").split())
    except (OSError, ValueError):
        return _USUAL
    return low, high


def is_free(host: str, port: int) -> bool:
    """Say whether a port can be had for datagrams and for streams."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
        with socket.socket(family, kind) as tried:
            try:
                tried.bind((host, port))
            except OSError as error:
                if error.errno in (errno.EADDRINUSE, errno.EACCES):
                    return False
                raise
    return True
