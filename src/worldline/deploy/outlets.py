"""The environment of a node's sockets: the node itself, limits and weather."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from ssl import SSLContext
from typing import NamedTuple, final

from worldline.deploy.cluster import Cluster
from worldline.deploy.seal import Seal
from worldline.deploy.tls import client_context, server_context
from worldline.deploy.weather import LinkWeather
from worldline.model.system import System
from worldline.trace.journal.frames import MessageFrame

Messages = Sequence[tuple[bytes, MessageFrame]]
"""Messages that came in, each with its packet."""


class TlsContexts(NamedTuple):
    """How connections are protected: those that are accepted, and those that are made."""

    server: SSLContext
    client: SSLContext


def protection(
    cluster: Cluster, system: System, digest: bytes
) -> tuple[Seal | None, TlsContexts | None]:
    """Return how a cluster protects what its nodes send, as far as it does."""
    seal = tls = None
    if cluster.secret is not None:
        seal = Seal(cluster.secret, tuple(node.name for node in system.ids), digest)
    if cluster.tls is not None:
        tls = TlsContexts(server_context(cluster.tls), client_context(cluster.tls))
    return seal, tls


@final
@dataclass(frozen=True, slots=True)
class LinkLimits:
    """The limits of connections, in seconds.

    Attributes
    ----------
    connect
        Until both ends have said hello.
    silence
        Without a byte from a peer, after which the connection is lost.
    ping
        Between two signs of life.
    """

    connect: float = 5.0
    silence: float = 15.0
    ping: float = 5.0


@final
@dataclass(slots=True, kw_only=True)
class Outlets:
    """What a node's sockets are connected to.

    Attributes
    ----------
    addresses
        Where each node listens, by index: host and port.
    take
        Takes messages.
    hear
        Takes the error of a connection: the peer, ``lost`` or ``unreachable``, and why.
    heard
        Takes a control frame: the sender, the companion, and what it says.
    say
        Takes a line for whoever watches.
    is_clogged
        Says whether nothing more is to be read for now.
    weather
        What befalls what is sent; None if nothing does.
    seal
        Proves who sent a frame; None where there is no secret.
    tls
        How connections are protected; None if they are not.
    """

    addresses: list[tuple[str, int]]
    take: Callable[[Messages], None]
    hear: Callable[[int, str, str], None]
    heard: Callable[[int, str, bytes], None]
    say: Callable[[str], None]
    is_clogged: Callable[[], bool]
    weather: LinkWeather | None = None
    seal: Seal | None = None
    tls: TlsContexts | None = None
    limits: LinkLimits = LinkLimits()
    refused: dict[str, str] = field(default_factory=dict)
    """Whom a line has been said about, with the reason."""

    def refuse(self, who: str, why: str) -> None:
        """Say once that somebody is refused."""
        if self.refused.get(who) != why and len(self.refused) < _MOST_LINES:
            self.refused[who] = why
            self.say(f"refused what {who} sends: {why}")


_MOST_LINES = 100
