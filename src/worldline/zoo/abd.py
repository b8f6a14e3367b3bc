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

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import worldline as wl

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
class Put:
    """Write a value."""

    request: int
    value: str


@wl.message
class Get:
    """Read the value."""

    request: int


@wl.message
class PutOk:
    """The write is done."""

    request: int


@wl.message
class GetOk:
    """The value read; None if none was written."""

    request: int
    value: str | None


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


@wl.node
class Client:
    """Writes a value at one server, then reads at the next.

    `number` is its position among all nodes, from which the request numbers follow.
    """

    number: int
    servers: tuple[wl.NodeId, ...]
    value: str
    awaiting: int | None = None

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.awaiting = self.number
        ctx.send(self.server(0), Put(self.awaiting, self.value))

    @wl.on(PutOk, when=lambda self, src, msg: self.awaiting == msg.request)
    def written(self, ctx: wl.Context, src: wl.NodeId, msg: PutOk) -> None:
        self.awaiting = 2 * self.number
        ctx.send(self.server(1), Get(self.awaiting))

    @wl.on(GetOk, when=lambda self, src, msg: self.awaiting == msg.request)
    def finish(self, ctx: wl.Context, src: wl.NodeId, msg: GetOk) -> None:
        self.awaiting = None

    def server(self, turn: int) -> wl.NodeId:
        return self.servers[(self.number + turn) % len(self.servers)]


def invoked(step: wl.Step) -> Iterable[tuple[wl.NodeId, Any]]:
    """Return the operations that clients begin in a step."""
    for sent in step.sends:
        if isinstance(sent.message, Put):
            yield sent.src, wl.histories.Write(sent.message.value)
        elif isinstance(sent.message, Get):
            yield sent.src, wl.histories.Read()


def responded(step: wl.Step) -> Iterable[tuple[wl.NodeId | None, Any]]:
    """Return the result that a client takes; one that it does not await is none."""
    answer = step.event.payload
    if step.event.kind is wl.Kind.DELIVER and step.handled:
        if isinstance(answer, PutOk):
            yield step.node, None
        elif isinstance(answer, GetOk):
            yield step.node, answer.value


HISTORY = wl.histories.linearizable(
    wl.histories.register(), invoke=invoked, respond=responded
)


@wl.safety
def linearizable(view: wl.View) -> bool:
    """All clients together see one register."""
    return bool(HISTORY.decide and HISTORY.decide(view.history(HISTORY.name)))


@wl.sometimes
def a_value_is_read(view: wl.View) -> bool:
    """A client can read what was written."""
    return view.any_message(lambda message: message.value is not None, GetOk)


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

    Raises
    ------
    ValueError
        If `network` is neither.
    """
    if network not in ("ordered", "unordered"):
        raise ValueError(f"network={network!r}: say 'unordered' or 'ordered'")
    names = wl.ids(
        *[f"s{i}" for i in range(servers)], *[f"c{i}" for i in range(clients)]
    )
    cluster = names[:servers]
    return wl.System(
        nodes={
            **{
                name: Server(i, tuple(peer for peer in cluster if peer != name))
                for i, name in enumerate(cluster)
            },
            **{
                name: Client(servers + i, cluster, chr(ord("A") + i))
                for i, name in enumerate(names[servers:])
            },
        },
        network=wl.datagrams(
            loss=False, duplication=False, reordering=network == "unordered"
        ),
        properties=[linearizable, a_value_is_read],
        observers=[HISTORY],
        ignore_noops=network == "unordered",
        # A client whose request met a busy server waits for ever.
        done=lambda view: True,
        name="abd",
    )
