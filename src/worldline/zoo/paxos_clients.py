"""Single-decree Paxos that serves a register to clients.

Every client writes a value of its own at one server, then reads at the next; what
they see is linearizable. The first value decided stays: later writes get no answer.

References
----------
L. Lamport, "Paxos Made Simple", ACM SIGACT News 32(4), 2001, section 2.
The example ``paxos`` of the model checker Stateright, whose clients, request numbers
and state counts this model has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import worldline as wl

Ballot: TypeAlias = tuple[int, int]
"""A round and the position of the server that leads it; ordered."""


@dataclass(frozen=True)
class Proposal:
    """A client's write."""

    request: int
    requester: wl.NodeId
    value: str


@dataclass(frozen=True)
class Vote:
    """A proposal and the ballot in which it was accepted."""

    ballot: Ballot
    proposal: Proposal


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
class Prepare:
    """Phase 1a: promise to accept nothing of a lower ballot."""

    ballot: Ballot


@wl.message
class Prepared:
    """Phase 1b: the promise, with what the acceptor accepted last."""

    ballot: Ballot
    last: Vote | None


@wl.message
class Accept:
    """Phase 2a: accept a proposal."""

    vote: Vote


@wl.message
class Accepted:
    """Phase 2b: the proposal of this ballot is accepted."""

    ballot: Ballot


@wl.message
class Decided:
    """The proposal was accepted by a majority."""

    vote: Vote


@wl.node
class Server:
    """Proposer, acceptor and learner in one; its messages to itself are implied."""

    rank: int
    peers: tuple[wl.NodeId, ...]
    ballot: Ballot = (0, 0)
    proposal: Proposal | None = None
    prepares: dict[wl.NodeId, Vote | None] = wl.field(default_factory=dict)
    accepts: set[wl.NodeId] = wl.field(default_factory=set)
    accepted: Vote | None = None
    is_decided: bool = False

    @wl.on(Put, when=lambda self, src, msg: self.is_idle())
    def propose(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.proposal = Proposal(msg.request, src, msg.value)
        self.ballot = (self.ballot[0] + 1, self.rank)
        self.prepares = {ctx.me: self.accepted}
        self.accepts = set()
        self.broadcast(ctx, Prepare(self.ballot))

    @wl.on(Get, when=lambda self, src, msg: self.is_decided)
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Get) -> None:
        assert self.accepted is not None
        ctx.send(src, GetOk(msg.request, self.accepted.proposal.value))

    @wl.on(
        Prepare, when=lambda self, src, msg: self.is_open() and self.ballot < msg.ballot
    )
    def promise(self, ctx: wl.Context, src: wl.NodeId, msg: Prepare) -> None:
        self.ballot = msg.ballot
        ctx.send(src, Prepared(msg.ballot, self.accepted))

    @wl.on(Prepared, when=lambda self, src, msg: self.leads(msg.ballot))
    def prepared(self, ctx: wl.Context, src: wl.NodeId, msg: Prepared) -> None:
        self.prepares[src] = msg.last
        if len(self.prepares) != self.majority():
            return
        votes = [vote for vote in self.prepares.values() if vote is not None]
        if votes:
            self.proposal = max(votes, key=lambda vote: vote.ballot).proposal
        assert self.proposal is not None
        self.accepted = Vote(msg.ballot, self.proposal)
        self.accepts.add(ctx.me)
        self.broadcast(ctx, Accept(self.accepted))

    @wl.on(
        Accept,
        when=lambda self, src, msg: self.is_open() and self.ballot <= msg.vote.ballot,
    )
    def accept(self, ctx: wl.Context, src: wl.NodeId, msg: Accept) -> None:
        self.ballot = msg.vote.ballot
        self.accepted = msg.vote
        ctx.send(src, Accepted(msg.vote.ballot))

    @wl.on(Accepted, when=lambda self, src, msg: self.leads(msg.ballot))
    def count(self, ctx: wl.Context, src: wl.NodeId, msg: Accepted) -> None:
        self.accepts.add(src)
        if len(self.accepts) != self.majority():
            return
        assert self.proposal is not None
        self.is_decided = True
        self.broadcast(ctx, Decided(Vote(msg.ballot, self.proposal)))
        ctx.send(self.proposal.requester, PutOk(self.proposal.request))

    @wl.on(Decided, when=lambda self, src, msg: self.is_open())
    def learn(self, ctx: wl.Context, src: wl.NodeId, msg: Decided) -> None:
        self.ballot = msg.vote.ballot
        self.accepted = msg.vote
        self.is_decided = True

    def is_open(self) -> bool:
        return not self.is_decided

    def is_idle(self) -> bool:
        return not self.is_decided and self.proposal is None

    def leads(self, ballot: Ballot) -> bool:
        return not self.is_decided and self.ballot == ballot

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
    *, clients: int = 2, servers: int = 3, network: str = "unordered"
) -> wl.System:
    """Return `clients` clients of a Paxos cluster.

    Parameters
    ----------
    clients
        How many write and read, at most 26.
    servers
        How many decide on a value.
    network
        ``unordered``: messages overtake each other, and one that changes nothing is
        no transition; with 1 to 3 clients there are 265, 16,668 and 1,194,428 states.
        ``ordered``: between two nodes they stay in order, and one that nobody wants
        is consumed; 237 and 33,328 states.

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
        # A client whose value was not decided waits for ever.
        done=lambda view: True,
        name="paxos-clients",
    )
