"""One member of a Raft cluster, an actor that sends messages to itself, too.

A bug is a condition such as ``"raft-46" in self.bugs``: the published defect. Indices
count from 1, as in the Raft paper. A time-out may come at any time.
"""

from __future__ import annotations

import enum

import worldline as wl
from worldline.zoo.raft.log import Log, Reign
from worldline.zoo.raft.messages import (
    AppendEntries,
    AppendRejected,
    AppendSuccessful,
    BeginElection,
    DeclineCandidate,
    ElectedAsLeader,
    RequestVote,
    VoteCandidate,
)

FIRES_ONCE = frozenset({"raft-45", "raft-46", "raft-56", "raft-58b"})
"""Bugs of versions in which the election timer of a candidate is not set again."""

ELECTION_TIMEOUT, HEARTBEAT = 1.0, 0.2
"""Seconds; they count where time does."""


class Role(enum.Enum):
    """What a member is; at first it waits to be told who the others are."""

    INIT = "init"
    FOLLOWER = "follower"
    CANDIDATE = "candidate"
    LEADER = "leader"


@wl.node
class Raft:
    """A member of the cluster.

    Attributes
    ----------
    terms
        No election begins a term after this one; None if there is no end.
    heartbeats
        How often a leader may send heartbeats by its timer; None if there is no end.
    peers
        The other members.
    voted_for
        Who has this member's vote in its term.
    tally
        As a candidate: how many votes count, by voter.
    next, match
        As a leader: the index of the entry to send next to each peer, and up to where
        each log, its own among them, is known to be like its own.
    led
        The terms that this member has led, each with its log as it was elected.
    decided
        Entries that this member, as a leader, found committed, by its term then.
    """

    bugs: frozenset[str] = frozenset()
    terms: int | None = None
    heartbeats: int | None = None

    role: Role = Role.INIT
    peers: frozenset[wl.NodeId] = frozenset()
    term: int = wl.durable(default=0)
    voted_for: wl.NodeId | None = wl.durable(default=None)
    log: Log = wl.durable(default=Log())
    committed: int = 0
    tally: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    next: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    match: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    beats: int = 0

    led: tuple[Reign, ...] = wl.ghost(default=())
    decided: tuple[Reign, ...] = wl.ghost(default=())

    @wl.start
    def restart(self, ctx: wl.Context) -> None:
        if "raft-62" in self.bugs:
            self.term, self.voted_for, self.log = 0, None, Log()

    # ----------------------------------------------------------------- from outside

    @wl.call
    def bootstrap(self, ctx: wl.Context, members: frozenset[wl.NodeId]) -> None:
        """Learn who the members are, oneself included."""
        self.role = Role.FOLLOWER
        self.peers = members - {ctx.me}
        self.next = dict.fromkeys(self.peers, 1)
        self.match = dict.fromkeys(members, 0)
        self._await_leader(ctx)

    @wl.call(when=lambda self, word: self.role is Role.LEADER)
    def append(self, ctx: wl.Context, word: str) -> None:
        """Take a client's word; clients know who leads."""
        index = len(self.log)
        self.log = self.log.extended(index, self.term, (word,))
        self.match[ctx.me] = index + 1
        self._replicate(ctx)

    # --------------------------------------------------------------------- elections

    @wl.timer
    def election(self, ctx: wl.Context) -> None:
        if self.role is Role.LEADER or self.term == self.terms:
            return
        self.term += 1
        self.voted_for = None
        self.tally = {}
        ctx.send(ctx.me, BeginElection())
        if self.role is Role.FOLLOWER or not self.bugs & FIRES_ONCE:
            self._await_leader(ctx)
        self.role = Role.CANDIDATE

    @wl.on(BeginElection)
    def campaign(self, ctx: wl.Context, src: wl.NodeId, msg: BeginElection) -> None:
        # Its vote may be gone: it could give it away since the time-out.
        if self.role is Role.CANDIDATE and self.voted_for in (None, ctx.me):
            self.voted_for = ctx.me
            self.tally[ctx.me] = 1
            request = RequestVote(self.term, ctx.me, *self.log.last())
            for peer in self.peers:
                ctx.send(peer, request)

    @wl.on(RequestVote)
    def consider(self, ctx: wl.Context, src: wl.NodeId, msg: RequestVote) -> None:
        if self.role is Role.INIT:
            return
        if msg.term > self.term:
            self._step_down(ctx, msg.term)
            ctx.send(ctx.me, msg)
        elif self._may_vote_for(msg):
            self.voted_for = msg.candidate
            ctx.send(msg.candidate, VoteCandidate(self.term))
            self._await_leader(ctx)
        else:
            ctx.send(msg.candidate, DeclineCandidate(self.term))

    def _may_vote_for(self, msg: RequestVote) -> bool:
        return (
            msg.term == self.term
            and self.role is not Role.LEADER
            and self.voted_for in (None, msg.candidate)
            and (msg.last_term, msg.last_index) >= self.log.last()
        )

    @wl.on(VoteCandidate)
    def count(self, ctx: wl.Context, src: wl.NodeId, msg: VoteCandidate) -> None:
        stale = msg.term != self.term and "raft-46" not in self.bugs
        if self.role is not Role.CANDIDATE or stale:
            return
        again = self.tally.get(src, 0) if "raft-45" in self.bugs else 0
        self.tally[src] = again + 1
        if sum(self.tally.values()) >= self._majority():
            self._lead(ctx)

    @wl.on(DeclineCandidate)
    def lose(self, ctx: wl.Context, src: wl.NodeId, msg: DeclineCandidate) -> None:
        if msg.term > self.term:
            self._step_down(ctx, msg.term)

    def _lead(self, ctx: wl.Context) -> None:
        self.role = Role.LEADER
        self.led = (*self.led, Reign(self.term, self.log))
        self.beats = 0
        ctx.cancel_timer(Raft.election)
        ctx.send(ctx.me, ElectedAsLeader())
        if "raft-58a" not in self.bugs:
            self._expect_nothing(ctx)

    @wl.on(ElectedAsLeader)
    def begin(self, ctx: wl.Context, src: wl.NodeId, msg: ElectedAsLeader) -> None:
        if self.role is Role.LEADER:
            if "raft-58a" in self.bugs:
                self._expect_nothing(ctx)
            self._beat(ctx)

    def _expect_nothing(self, ctx: wl.Context) -> None:
        """Begin to find out how much of the log the others have."""
        after_last = len(self.log) + 1
        if "raft-58b" in self.bugs:
            after_last = max(after_last - 1, 1)
        self.next = dict.fromkeys(self.peers, after_last)
        self.match = dict.fromkeys(self.peers, 0)
        self.match[ctx.me] = len(self.log)

    def _step_down(self, ctx: wl.Context, term: int) -> None:
        """Follow, in a term that is higher than one's own."""
        if self.role is Role.LEADER:
            ctx.cancel_timer(Raft.heartbeat)
        self.role = Role.FOLLOWER
        self.term = term
        self.voted_for = None
        self._await_leader(ctx)

    def _await_leader(self, ctx: wl.Context) -> None:
        if self.term != self.terms:
            ctx.set_timer(Raft.election, after=ELECTION_TIMEOUT)

    def _majority(self) -> int:
        return (len(self.peers) + 1) // 2 + 1

    # ------------------------------------------------------------------- replication

    @wl.timer
    def heartbeat(self, ctx: wl.Context) -> None:
        if self.role is Role.LEADER:
            self.beats += self.heartbeats is not None
            self._beat(ctx)

    def _beat(self, ctx: wl.Context) -> None:
        self._replicate(ctx)
        if self.beats != self.heartbeats:
            ctx.set_timer(Raft.heartbeat, after=HEARTBEAT)

    def _replicate(self, ctx: wl.Context) -> None:
        for peer in self.peers:
            self._send_entries(ctx, peer)

    def _send_entries(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Send what a peer lacks, as far as it is of one term and fits."""
        prev = self.next[peer] - 1
        term, words = self.log.after(prev)
        before = self.log.term_at(prev)
        message = AppendEntries(self.term, before, prev, term, words, self.committed)
        ctx.send(peer, message)

    @wl.on(AppendEntries)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: AppendEntries) -> None:
        if self.role is Role.INIT:
            return
        if msg.term > self.term:
            self._step_down(ctx, msg.term)
        elif msg.term == self.term and self.role is Role.CANDIDATE:
            self.role = Role.FOLLOWER
            if "raft-56" in self.bugs:
                self.voted_for = None
        if self.role is Role.LEADER:
            # Whoever led before is to see that it does no longer.
            self._send_entries(ctx, src)
        elif msg.term < self.term or not self._fits(msg):
            ctx.send(src, AppendRejected(self.term, len(self.log)))
        else:
            alike = self._store(msg)
            ctx.send(src, AppendSuccessful(self.term, alike))
            self._await_leader(ctx)

    def _fits(self, msg: AppendEntries) -> bool:
        """Say whether the entry before the new ones is the leader's."""
        prev = msg.prev_index
        # As if counted from 0, where "the first" and "none" would be one index.
        if prev == 0 or (prev == 1 and "raft-58b" in self.bugs):
            return True
        return prev <= len(self.log) and self.log.term_at(prev) == msg.prev_term

    def _store(self, msg: AppendEntries) -> int:
        """Make one's log like the leader's; return up to which index it is."""
        added = msg.prev_index, msg.words_term, msg.words
        if not self.log.has(*added) or (msg.words and "raft-66" in self.bugs):
            self.log = self.log.extended(*added)
        end = msg.prev_index + len(msg.words)
        self.committed = max(self.committed, min(msg.commit, end))
        return end

    @wl.on(AppendSuccessful)
    def agree(self, ctx: wl.Context, src: wl.NodeId, msg: AppendSuccessful) -> None:
        if self.role is Role.LEADER and msg.term == self.term:
            self.match[src] = max(self.match[src], msg.last_index)
            self.next[src] = self.match[src] + 1
            self._commit()

    def _commit(self) -> None:
        """Commit what a majority has, if it was taken in this term."""
        indices = sorted(self.match.values(), reverse=True)
        index = indices[self._majority() - 1]
        if "raft-42" in self.bugs:
            index = max(indices, key=lambda index: (indices.count(index), index))
        if index > self.committed and self.log.term_at(index) == self.term:
            self.committed = index
            self.decided = (*self.decided, Reign(self.term, self.log.up_to(index)))

    @wl.on(AppendRejected)
    def retreat(self, ctx: wl.Context, src: wl.NodeId, msg: AppendRejected) -> None:
        if msg.term > self.term:
            self._step_down(ctx, msg.term)
        elif self.role is Role.LEADER and msg.term == self.term:
            self.next[src] = max(1, min(self.next[src] - 1, msg.last_index + 1))
            self._send_entries(ctx, src)
