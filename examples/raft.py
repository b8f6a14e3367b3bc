"""Raft: a log that a majority keeps, with elections, and servers that start again.

D. Ongaro and J. Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX
ATC 2014, figure 2. An entry is a pair of its term and its value; positions count from 1.
"""

from string import ascii_lowercase
from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "vote-in-memory",  # a server that starts again may vote twice in a term
    "votes-for-anybody",  # votes also for candidates whose log is older
    "old-leader",  # a follower obeys a leader of an older term
    "no-check",  # a follower appends without looking at the entry before
    "half",  # half of the servers are taken for a majority
    "commits-old-term",  # a leader counts copies of entries of earlier terms (figure 8)
]
Entry: TypeAlias = tuple[int, str]
Role: TypeAlias = Literal["follower", "candidate", "leader"]


@wl.message
class RequestVote:
    term: int
    last: tuple[int, int]


@wl.message
class Voted:
    term: int
    granted: bool


@wl.message
class Append:
    term: int
    previous: int
    previous_term: int
    entries: tuple[Entry, ...]
    committed: int


@wl.message
class Appended:
    term: int
    success: bool
    length: int
    """Up to where the log is that of the leader, or where it may be."""


@wl.node
class Server:
    bug: Bug
    term: int = wl.durable(default=0)
    voted_for: wl.NodeId | None = wl.durable(default=None)
    log: list[Entry] = wl.durable(default_factory=list)
    role: Role = "follower"
    committed: int = 0
    votes: set[wl.NodeId] = wl.field(default_factory=set)
    matches: dict[wl.NodeId, int] = wl.field(default_factory=dict)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.bug == "vote-in-memory":
            self.voted_for = None
        ctx.set_timer(Server.election, after=1.0)

    @wl.timer(when=lambda self: self.role != "leader")
    def election(self, ctx: wl.Context) -> None:
        self.term += 1
        self.role, self.voted_for, self.votes = "candidate", ctx.me, {ctx.me}
        ctx.set_timer(Server.election, after=1.0 + ctx.random(2))
        self.tell_others(ctx, RequestVote(self.term, last(self.log)))

    @wl.on(RequestVote)
    def request_vote(self, ctx: wl.Context, src: wl.NodeId, msg: RequestVote) -> None:
        self.see_term(ctx, msg.term)
        is_free = self.voted_for in (None, src)
        is_new = msg.last >= last(self.log) or self.bug == "votes-for-anybody"
        granted = msg.term == self.term and is_free and is_new
        if granted:
            self.voted_for = src
        ctx.send(src, Voted(self.term, granted))

    @wl.on(Voted)
    def voted(self, ctx: wl.Context, src: wl.NodeId, msg: Voted) -> None:
        self.see_term(ctx, msg.term)
        if self.role == "candidate" and msg.term == self.term and msg.granted:
            self.votes.add(src)
            if self.is_majority(ctx, len(self.votes)):
                self.role, self.matches = "leader", {}
                ctx.cancel_timer(Server.election)
                self.replicate(ctx)

    @wl.call(when=lambda self, value: self.role == "leader")
    def propose(self, ctx: wl.Context, value: str) -> None:
        self.log.append((self.term, value))
        self.replicate(ctx)

    @wl.on(Append)
    def append(self, ctx: wl.Context, src: wl.NodeId, msg: Append) -> None:
        self.see_term(ctx, msg.term)
        if msg.term < self.term and self.bug != "old-leader":
            ctx.send(src, Appended(self.term, False, 0))
            return
        self.role = "follower"
        ctx.set_timer(Server.election, after=1.0)
        if self.bug != "no-check" and not self.has(msg.previous, msg.previous_term):
            ctx.send(src, Appended(self.term, False, msg.previous - 1))
            return
        for position, entry in enumerate(msg.entries, msg.previous + 1):
            if not self.has(position, entry[0]):
                self.log[position - 1 :] = [entry]
        length = msg.previous + len(msg.entries)
        self.committed = max(self.committed, min(msg.committed, length))
        ctx.send(src, Appended(self.term, True, length))

    @wl.on(Appended)
    def appended(self, ctx: wl.Context, src: wl.NodeId, msg: Appended) -> None:
        self.see_term(ctx, msg.term)
        if self.role != "leader" or msg.term != self.term:
            return
        if not msg.success:
            self.send_entries(ctx, src, msg.length)
            return
        self.matches[src] = max(self.matches.get(src, 0), msg.length)
        for position in range(len(self.log), self.committed, -1):
            is_own = self.log[position - 1][0] == self.term
            copies = 1 + sum(at >= position for at in self.matches.values())
            may_commit = is_own or self.bug == "commits-old-term"
            if may_commit and self.is_majority(ctx, copies):
                self.committed = position
                break

    def see_term(self, ctx: wl.Context, term: int) -> None:
        """Follow whoever has a newer term."""
        if term > self.term:
            if self.role == "leader":
                ctx.set_timer(Server.election, after=1.0)
            self.term, self.voted_for, self.role = term, None, "follower"

    def replicate(self, ctx: wl.Context) -> None:
        for peer in ctx.nodes:
            if peer != ctx.me:
                self.send_entries(ctx, peer, self.matches.get(peer, len(self.log) - 1))

    def send_entries(self, ctx: wl.Context, peer: wl.NodeId, previous: int) -> None:
        """Send a follower what comes after a position."""
        previous = max(previous, 0)
        term = self.log[previous - 1][0] if previous else 0
        entries = tuple(self.log[previous:])
        ctx.send(peer, Append(self.term, previous, term, entries, self.committed))

    def tell_others(self, ctx: wl.Context, message: RequestVote) -> None:
        for peer in ctx.nodes:
            if peer != ctx.me:
                ctx.send(peer, message)

    def has(self, position: int, term: int) -> bool:
        if position == 0:
            return True
        return len(self.log) >= position and self.log[position - 1][0] == term

    def is_majority(self, ctx: wl.Context, count: int) -> bool:
        whole = len(ctx.nodes)
        return 2 * count >= whole - 1 if self.bug == "half" else 2 * count > whole


def last(log: list[Entry]) -> tuple[int, int]:
    """Return the term and the position of the last entry: the larger log is newer."""
    return (log[-1][0] if log else 0, len(log))


@wl.safety
def one_leader_in_a_term(view: wl.View) -> None:
    leaders = [view[node].term for node in view.nodes if view[node].role == "leader"]
    assert len(leaders) == len(set(leaders)), f"two leaders in one of {leaders}"


@wl.safety
def logs_match(view: wl.View) -> bool:
    """Logs that have one term at a position are the same up to there."""
    return view.for_each_pair(lambda view, a, b: alike(view[a].log, view[b].log))


def alike(one: list[Entry], other: list[Entry]) -> bool:
    for length in range(min(len(one), len(other)), 0, -1):
        if one[length - 1][0] == other[length - 1][0]:
            return one[:length] == other[:length]
    return True


@wl.safety
def whoever_can_win_has_what_is_committed(view: wl.View) -> None:
    """No server that a majority would vote for lacks an entry that is committed."""
    logs = {node: list(view[node].log) for node in view.nodes}
    for winner in view.nodes:
        votes = sum(last(log) <= last(logs[winner]) for log in logs.values())
        if 2 * votes > len(logs):
            for node in view.nodes:
                kept = logs[node][: view[node].committed]
                same = logs[winner][: len(kept)] == kept
                assert same, f"{node} has committed {kept}, which {winner} has not"


@wl.sometimes
def an_entry_is_committed_everywhere(view: wl.View) -> bool:
    return all(view[node].committed for node in view.nodes)


def system(
    bug: Bug = "none", servers: int = 3, proposals: int = 2, resets: int = 1
) -> wl.System:
    """Return servers of which the first leads; each may be given proposals, and reset."""
    if servers < 2:
        raise ValueError(f"servers={servers}: say at least 2")
    if proposals < 0:
        raise ValueError(f"proposals={proposals}: say at least 0")
    nodes = wl.ids(*[f"s{number}" for number in range(1, servers + 1)])
    first, *voters = nodes[: servers // 2 + 1]
    texts = [f"{ascii_lowercase[n % 26]}{n // 26 or ''}" for n in range(proposals)]
    proposed = [wl.invoke(Server.propose, text) for text in texts]
    return wl.System(
        {node: Server(bug) for node in nodes},
        name="raft",
        workload=[wl.script(node, proposed) for node in nodes],
        faults=wl.Faults(resets=resets),
        prologue=[
            wl.events.timer(first, Server.election),
            *[wl.events.deliver(voter, RequestVote, first) for voter in voters],
            *[wl.events.deliver(first, Voted, voter) for voter in voters],
        ],
        properties=[
            one_leader_in_a_term,
            logs_match,
            whoever_can_win_has_what_is_committed,
            an_entry_is_committed_everywhere,
        ],
    )
