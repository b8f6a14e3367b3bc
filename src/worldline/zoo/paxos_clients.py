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

from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl
from worldline.zoo._register import Get, GetOk, Put, PutOk, deployment

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
    """
    return deployment(
        "paxos-clients",
        Server,
        clients=clients,
        servers=servers,
        network=network,
        # A client whose value was not decided waits for ever.
        done=lambda view: True,
    )
