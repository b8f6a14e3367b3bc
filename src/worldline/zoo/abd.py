"""The register of Attiya, Bar-Noy and Dolev: linearizable as long as a majority lives.

Every server coordinates the reads and writes of its clients in two phases: ask a
majority for the newest value, then store the result at a majority. Every client
writes a value of its own at one server, then reads at the next.

References
----------
H. Attiya, A. Bar-Noy and D. Dolev, "Sharing Memory Robustly in Message-Passing
Systems", J. ACM 42(1), 1995; the multi-writer variant, with tags of a counter and a
server instead of bounded labels.
The example ``linearizable-register`` of the model checker Stateright, whose clients,
request numbers and state counts this model has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import worldline as wl
from worldline.zoo._register import Get, GetOk, Put, PutOk, deployment

Tag: TypeAlias = tuple[int, int]
"""How new a value is: a counter and the position of the server that wrote; ordered."""


@dataclass(frozen=True)
class Version:
    """A value and how new it is."""

    tag: Tag
    value: str | None


@dataclass(frozen=True)
class Asking:
    """Phase 1: what the servers have; `write` is None for a read."""

    request: int
    requester: wl.NodeId
    write: str | None
    found: wl.FrozenMap[wl.NodeId, Version]


@dataclass(frozen=True)
class Storing:
    """Phase 2: who has stored the result; `reply` is what the client will get."""

    request: int
    requester: wl.NodeId
    reply: PutOk | GetOk
    stored: frozenset[wl.NodeId]


@wl.message
class Query:
    """Phase 1: tell your version."""

    request: int


@wl.message
class AckQuery:
    """The version of one server."""

    request: int
    version: Version


@wl.message
class Record:
    """Phase 2: store a version unless yours is newer."""

    request: int
    version: Version


@wl.message
class AckRecord:
    """The sender has that version or a newer one."""

    request: int


@wl.node
class Server:
    """Keeps a version, and coordinates one request at a time."""

    rank: int
    peers: tuple[wl.NodeId, ...]
    version: Version = Version((0, 0), None)
    phase: Asking | Storing | None = None

    @wl.on(Put, when=lambda self, src, msg: self.phase is None)
    def write(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.ask(ctx, msg.request, src, msg.value)

    @wl.on(Get, when=lambda self, src, msg: self.phase is None)
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Get) -> None:
        self.ask(ctx, msg.request, src, None)

    @wl.on(Query)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Query) -> None:
        ctx.send(src, AckQuery(msg.request, self.version))

    @wl.on(AckQuery, when=lambda self, src, msg: self.is_in(Asking, msg.request))
    def gather(self, ctx: wl.Context, src: wl.NodeId, msg: AckQuery) -> None:
        assert isinstance(self.phase, Asking)
        found: wl.FrozenMap[wl.NodeId, Version] = wl.FrozenMap(
            {**self.phase.found, src: msg.version}
        )
        self.phase = replace(self.phase, found=found)
        if len(found) == self.majority():
            self.store(ctx, self.phase)

    @wl.on(Record)
    def record(self, ctx: wl.Context, src: wl.NodeId, msg: Record) -> None:
        ctx.send(src, AckRecord(msg.request))
        self.keep(msg.version)

    @wl.on(AckRecord, when=lambda self, src, msg: self.is_in(Storing, msg.request))
    def finish(self, ctx: wl.Context, src: wl.NodeId, msg: AckRecord) -> None:
        assert isinstance(self.phase, Storing)
        self.phase = replace(self.phase, stored=self.phase.stored | {src})
        if len(self.phase.stored) == self.majority():
            ctx.send(self.phase.requester, self.phase.reply)
            self.phase = None

    def ask(
        self, ctx: wl.Context, request: int, requester: wl.NodeId, write: str | None
    ) -> None:
        self.phase = Asking(
            request, requester, write, wl.FrozenMap({ctx.me: self.version})
        )
        self.broadcast(ctx, Query(request))

    def store(self, ctx: wl.Context, asked: Asking) -> None:
        newest = max(asked.found.values(), key=lambda version: version.tag)
        reply: PutOk | GetOk = GetOk(asked.request, newest.value)
        if asked.write is not None:
            newest = Version((newest.tag[0] + 1, self.rank), asked.write)
            reply = PutOk(asked.request)
        self.keep(newest)
        self.phase = Storing(asked.request, asked.requester, reply, frozenset({ctx.me}))
        self.broadcast(ctx, Record(asked.request, newest))

    def keep(self, version: Version) -> None:
        if version.tag > self.version.tag:
            self.version = version

    def is_in(self, phase: type[Asking | Storing], request: int) -> bool:
        return isinstance(self.phase, phase) and self.phase.request == request

    def majority(self) -> int:
        return (len(self.peers) + 1) // 2 + 1

    def broadcast(self, ctx: wl.Context, message: object) -> None:
        for peer in self.peers:
            ctx.send(peer, message)


def system(
    *, clients: int = 2, servers: int = 2, network: str = "unordered"
) -> wl.System:
    """Return `clients` clients of an ABD register.

    Parameters
    ----------
    clients
        How many write and read, at most 26.
    servers
        How many keep the value.
    network
        ``unordered``: messages overtake each other, and one that changes nothing is
        no transition; 544 states with 2 clients and 2 servers, 1,449 with 1 and 3.
        ``ordered``: between two nodes they stay in order, and one that nobody wants
        is consumed; 620 and 559 states.
    """
    return deployment(
        "abd",
        Server,
        clients=clients,
        servers=servers,
        network=network,
        # A client whose request met a busy server waits for ever.
        done=lambda view: True,
    )
