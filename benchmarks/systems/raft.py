"""Raft with logs: elections, replication, commits; and a bug that takes a long run.

Servers elect a leader for a term, which takes entries from a client and replicates them.
The rules are those of figure 2 of the paper, but for what would make the space infinite:

- At `max_term` a server starts no election; a full log takes no entry.
- A leader's timer for a follower is set while there is something to tell: that it leads,
  an entry, a commit, another try after a refusal. Idle heartbeats would repeat what was
  said. They keep elections from beginning, and here each may begin at any time.

A message may take for ever, so nothing has to be lost on purpose. An entry is the term in
which it was taken: two at one index that were taken in one term are the same one.

The run of ``figure8`` takes 27 steps (`tests/benchmarks/test_raft.py` has it); with the
default parameters 20 million states are no more than all runs of 10 steps. That of
``stale-append`` takes 9.

References
----------
D. Ongaro and J. Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX
ATC 2014: figure 2; section 5.3 for ``stale-append`` (step 3 of AppendEntries deletes
entries only if they conflict), section 5.4.2 and figure 8 for ``figure8``.
"""

from __future__ import annotations

import enum

import worldline as wl

SWITCHES = {
    "figure8": "a leader commits entries of earlier terms once a majority has them",
    "stale-append": "a follower cuts its log off behind every entry that it is sent",
}
"""By the name of each bug, what is done wrong."""

ELECTION_S = 0.3
"""Without news from a leader a server waits so long; it counts in deployments."""


class Role(enum.Enum):
    """What a server does in its term."""

    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


@wl.message
class RequestVote:
    """Elect the sender, whose log ends with this entry."""

    term: int
    last_index: int
    last_term: int


@wl.message
class Vote:
    """The answer."""

    term: int
    granted: bool


@wl.message
class AppendEntries:
    """Have these entries behind the previous one, and apply what is committed."""

    term: int
    previous_index: int
    previous_term: int
    entries: tuple[int, ...]
    commit: int


@wl.message
class Outdated:
    """The answer to a leader whose term is over."""

    term: int


@wl.message
class Appended:
    """The answer: up to where both logs are alike; or the entry that differs."""

    term: int
    success: bool
    index: int


@wl.node
class Server:
    """Follower, candidate and leader in turn. Indices begin with 1, as in the paper.

    Attributes
    ----------
    max_term, max_log
        No election is started in this term; a log of this length takes no entry.
    term, voted_for, log
        The latest term that it knows of, whom it voted for in that, and its entries.
    led
        The terms in which it was elected, for a property.
    applied
        What its state machine was given: its length is the commit index.
    votes
        As a candidate: who votes for it.
    next, match
        As a leader: for each follower the entry to send next, and up to which one it
        is known to have them.
    """

    max_term: int
    max_log: int
    bugs: frozenset[str] = frozenset()

    term: int = wl.durable(default=0)
    voted_for: wl.NodeId | None = wl.durable(default=None)
    log: tuple[int, ...] = wl.durable(default=())
    led: set[int] = wl.durable(default_factory=set)

    role: Role = Role.FOLLOWER
    applied: tuple[int, ...] = ()
    votes: set[wl.NodeId] = wl.field(default_factory=set)
    next: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    match: dict[wl.NodeId, int] = wl.field(default_factory=dict)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        self.await_election(ctx)

    @wl.timer
    def election(self, ctx: wl.Context) -> None:
        self.term += 1
        self.role, self.voted_for, self.votes = Role.CANDIDATE, ctx.me, {ctx.me}
        self.await_election(ctx)
        request = RequestVote(self.term, len(self.log), self.term_at(len(self.log)))
        for peer in self.peers(ctx):
            ctx.send(peer, request)

    @wl.on(RequestVote)
    def vote(self, ctx: wl.Context, src: wl.NodeId, msg: RequestVote) -> None:
        self.observe(ctx, msg.term)
        mine = (self.term_at(len(self.log)), len(self.log))
        granted = (
            msg.term == self.term
            and self.voted_for in (None, src)
            and (msg.last_term, msg.last_index) >= mine
        )
        if granted:
            self.voted_for = src
        ctx.send(src, Vote(self.term, granted))

    @wl.on(Vote)
    def count(self, ctx: wl.Context, src: wl.NodeId, msg: Vote) -> None:
        self.observe(ctx, msg.term)
        if self.role is Role.CANDIDATE and msg.term == self.term and msg.granted:
            self.votes.add(src)
            if self.is_majority(ctx, len(self.votes)):
                self.lead(ctx)

    @wl.call(
        when=lambda self: self.role is Role.LEADER and len(self.log) < self.max_log
    )
    def append(self, ctx: wl.Context) -> None:
        """Take an entry from a client."""
        self.log += (self.term,)
        self.replicate_to_all(ctx)

    @wl.timer
    def replicate(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        previous = self.next[peer] - 1
        message = AppendEntries(
            self.term,
            previous,
            self.term_at(previous),
            self.log[previous:],
            len(self.applied),
        )
        ctx.send(peer, message)

    @wl.on(AppendEntries)
    def store(self, ctx: wl.Context, src: wl.NodeId, msg: AppendEntries) -> None:
        self.observe(ctx, msg.term)
        if msg.term < self.term:
            ctx.send(src, Outdated(self.term))
            return
        if self.role is Role.CANDIDATE:
            self.follow(ctx)
        if self.term_at(msg.previous_index) != msg.previous_term:
            ctx.send(src, Appended(self.term, False, msg.previous_index))
            return
        last = msg.previous_index + len(msg.entries)
        conflict = self.log[msg.previous_index : last] != msg.entries
        if conflict or "stale-append" in self.bugs:
            self.log = self.log[: msg.previous_index] + msg.entries
        self.apply(min(msg.commit, last))
        ctx.send(src, Appended(self.term, True, last))

    @wl.on(Appended)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Appended) -> None:
        self.observe(ctx, msg.term)
        if self.role is not Role.LEADER or msg.term < self.term:
            return
        if msg.success:
            self.match[src] = max(self.match[src], msg.index)
            self.next[src] = self.match[src] + 1
            self.commit(ctx)
        elif msg.index == self.next[src] - 1:
            self.next[src] -= 1
            ctx.set_timer(self.replicate, src)

    @wl.on(Outdated)
    def resign(self, ctx: wl.Context, src: wl.NodeId, msg: Outdated) -> None:
        self.observe(ctx, msg.term)

    def commit(self, ctx: wl.Context) -> None:
        """Commit what a majority has: up to the last entry of this term that it has."""
        for index in range(len(self.log), len(self.applied), -1):
            holders = 1 + sum(match >= index for match in self.match.values())
            is_own = self.term_at(index) == self.term or "figure8" in self.bugs
            if is_own and self.is_majority(ctx, holders):
                self.apply(index)
                self.replicate_to_all(ctx)
                return

    def apply(self, commit: int) -> None:
        self.applied += self.log[len(self.applied) : commit]

    def observe(self, ctx: wl.Context, term: int) -> None:
        """Follow whoever is in a later term."""
        if term > self.term:
            self.term, self.voted_for = term, None
            self.follow(ctx)

    def follow(self, ctx: wl.Context) -> None:
        for peer in self.next:
            ctx.cancel_timer(self.replicate, peer)
        self.role = Role.FOLLOWER
        self.votes, self.next, self.match = set(), {}, {}
        self.await_election(ctx)

    def lead(self, ctx: wl.Context) -> None:
        self.role = Role.LEADER
        self.led.add(self.term)
        self.votes = set()
        self.next = dict.fromkeys(self.peers(ctx), len(self.log) + 1)
        self.match = dict.fromkeys(self.peers(ctx), 0)
        ctx.cancel_timer(self.election)
        self.replicate_to_all(ctx)

    def await_election(self, ctx: wl.Context) -> None:
        if self.term < self.max_term:
            ctx.set_timer(self.election, after=ELECTION_S)
        else:
            ctx.cancel_timer(self.election)

    def replicate_to_all(self, ctx: wl.Context) -> None:
        for peer in self.peers(ctx):
            ctx.set_timer(self.replicate, peer)

    def term_at(self, index: int) -> int:
        """Return the term of an entry: 0 before the first, -1 behind the last."""
        if index == 0:
            return 0
        return self.log[index - 1] if index <= len(self.log) else -1

    def is_majority(self, ctx: wl.Context, count: int) -> bool:
        return 2 * count > len(ctx.nodes)

    def peers(self, ctx: wl.Context) -> list[wl.NodeId]:
        return [node for node in ctx.nodes if node != ctx.me]


@wl.safety
def election_safety(view: wl.View) -> bool:
    """At most one leader is elected in a term."""
    return view.for_each_pair(
        lambda view, one, other: not view[one].led & view[other].led
    )


@wl.safety
def log_matching(view: wl.View) -> bool:
    """Logs that have an entry in common are alike up to it."""
    return view.for_each_pair(
        lambda view, one, other: all(
            view[one].log[:index] == view[other].log[:index]
            for index, (mine, its) in enumerate(
                zip(view[one].log, view[other].log, strict=False)
            )
            if mine == its
        )
    )


@wl.safety
def state_machine_safety(view: wl.View) -> bool:
    """No two servers apply different entries at one index."""
    return view.for_each_pair(
        lambda view, one, other: all(
            mine == its
            for mine, its in zip(view[one].applied, view[other].applied, strict=False)
        )
    )


@wl.safety
def committed_entries_are_durable(view: wl.View) -> bool:
    """What a server has applied is in the logs of a majority."""
    return view.for_each_node(_is_durable)


def _is_durable(view: wl.View, node: wl.NodeId) -> bool:
    applied = view[node].applied
    holders: int = sum(view[one].log[: len(applied)] == applied for one in view.nodes)
    return 2 * holders > len(view.nodes)


@wl.sometimes
def an_entry_is_applied_everywhere(view: wl.View) -> bool:
    """An entry can be committed, and every server can learn that."""
    return view.for_each_node(lambda view, node: view[node].applied != ())


PROPERTIES = (
    election_safety,
    log_matching,
    state_machine_safety,
    committed_entries_are_durable,
    an_entry_is_applied_everywhere,
)


def system(
    *,
    size: int = 3,
    max_term: int = 4,
    max_log: int = 2,
    resets: int = 0,
    symmetry: bool = False,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return `size` servers with empty logs, and a client that may call any leader.

    Parameters
    ----------
    size
        How many servers there are, two at least.
    max_term, max_log
        Up to which term elections are started, and how long a log can become.
    resets
        How many servers lose, in one run, what they did not write to their disk.
    symmetry
        Whether states that differ only in which server is which count as one.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug is unknown, or there is one server.
    """
    if size < 2:
        raise ValueError(f"size={size}: say 2 or more")
    unknown = sorted(set(bugs) - set(SWITCHES))
    if unknown:
        raise ValueError(f"unknown bugs {unknown}; there are {', '.join(SWITCHES)}")
    servers = wl.ids(*[f"s{i}" for i in range(1, size + 1)])
    return wl.System(
        nodes={s: Server(max_term, max_log, frozenset(bugs)) for s in servers},
        network=wl.datagrams(),
        workload=[wl.whenever(Server.append)],
        faults=wl.Faults(resets=resets),
        properties=PROPERTIES,
        symmetry=[wl.symmetric(servers)] if symmetry else [],
        # Where all have reached the last term without a leader, nothing goes on.
        done=lambda view: True,
        name="raft",
    )
