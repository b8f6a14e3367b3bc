"""Single-decree Paxos, every process in every role, with the bugs it was built with.

Acceptors answer a leader's `Prepare` with what they accepted last; the leader then
proposes the value of the highest round among the answers of a majority. Messages can
overtake each other and get lost: one that is never delivered is lost, and a process
that nothing reaches is cut off, so the published scenarios need no budget of faults
but for resets. Leaders begin a round when they are called upon to, or, as in the tests of
WiDS Checker, after a sleep each, for as long as they know of no decision.

Start with `Process`; `SWITCHES` are the bugs.

References
----------
L. Lamport, "Paxos Made Simple", ACM SIGACT News 32(4), 2001, section 2.
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, section 5.4.2
and figures 14 and 15: ``cb1`` and ``cb2``.
X. Liu, W. Lin, A. Pan and Z. Zhang, "WiDS Checker: Combating Bugs in Distributed
Systems", NSDI 2007, section 4.1: ``wids1``, the same defect as ``cb1``, and ``wids2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import worldline as wl
from worldline.zoo._parameters import check_names

SWITCHES = ("cb1", "cb2", "wids1", "wids2")
"""``cb1``, ``wids1``: the last promise decides, not that of the highest round.
``cb2``: promises and accepted values are not written to disk, so a reset loses them.
``wids2``: to accept in a round is not to promise it, so a lower round can follow."""

SLEEPS = tuple(step / 100 for step in range(60))
"""Seconds that a leader may sleep before a round: 0.3 on average, which is three times
as long as a round without losses and with messages of 10 to 50 ms."""

BUGS = {
    "crystalball": {
        f"paxos-{bug}": f"predict zoo:paxos -p bugs={bug} -p start=chosen "
        "--max-states 20000"
        for bug in ("cb1", "cb2")
    },
    "wids": {
        f"paxos-{bug}": f"simulate zoo:paxos -p bugs={bug} -p size=7 -p leaders=7 "
        "-p driver=sleeps --loss 0.3 --seeds 400"
        for bug in ("wids1", "wids2")
    },
}
"""By paper and by the name of each bug, the command that finds it."""

CROSS_CHECKS = {
    "crystalball": {
        "paxos-cb1": "check zoo:paxos -p bugs=cb1",
        "paxos-cb2": "check zoo:paxos -p bugs=cb2 -p resets=1",
    },
}


def named(size: int) -> tuple[wl.NodeId, ...]:
    """Return the names of so many processes."""
    return wl.ids(*[f"p{i}" for i in range(1, size + 1)])


@dataclass(frozen=True)
class Vote:
    """A value and the round in which it was accepted."""

    round: int
    value: str


@wl.message
class Prepare:
    """Promise to take part in no lower round (WiDS: Collect)."""

    round: int


@wl.message
class Promise:
    """The promise, with the sender's last vote."""

    round: int
    last: Vote | None


@wl.message
class Accept:
    """Accept this value (WiDS: Begin)."""

    vote: Vote


@wl.message
class Learn:
    """The sender has accepted this value; told to the leaders."""

    vote: Vote


@wl.node
class Process:
    """Leader, acceptor and learner in one; what it tells itself takes no message.

    Attributes
    ----------
    rank, size
        Its position among the processes, and how many they are; its rounds are
        ``rank + 1``, ``rank + 1 + size`` and so on.
    leaders
        Those who want to learn the decision.
    rounds
        How many rounds it may lead itself.
    led, current, promises
        As a leader: how many rounds it has led, the present one, who answered what.
    promised, accepted, previous, cast
        As an acceptor: the highest round it answered, its last vote, the round of the
        vote before that one, and all votes ever: what it forgets later stays chosen.
    votes, decided
        As a learner: who accepted what until a majority agrees, then the value.
    """

    rank: int
    size: int
    leaders: tuple[wl.NodeId, ...]
    rounds: int
    bugs: frozenset[str] = frozenset()

    led: int = wl.durable(default=0)
    current: int = 0
    promises: dict[wl.NodeId, Vote | None] = wl.field(default_factory=dict)

    promised: int = wl.durable(default=0)
    accepted: Vote | None = wl.durable(default=None)
    previous: int = wl.ghost(default=0)
    cast: set[Vote] = wl.ghost(default_factory=set)

    votes: set[tuple[wl.NodeId, Vote]] = wl.field(default_factory=set)
    decided: str | None = None

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if "cb2" in self.bugs:
            self.promised, self.accepted = 0, None

    @wl.neighbours
    def processes(self) -> tuple[wl.NodeId, ...]:
        """Return all of them: what is chosen depends on any majority."""
        return named(self.size)

    @wl.call(when=lambda self: self.led < self.rounds and self.decided is None)
    def propose(self, ctx: wl.Context) -> None:
        self.current = self.rank + 1 + self.led * self.size
        self.led += 1
        self.promises = {}
        if self.current > self.promised:
            self.promised = self.current
            self.promises[ctx.me] = self.accepted
        self.broadcast(ctx, Prepare(self.current))

    @wl.on(Prepare, when=lambda self, src, msg: msg.round > self.promised)
    def promise(self, ctx: wl.Context, src: wl.NodeId, msg: Prepare) -> None:
        self.promised = msg.round
        ctx.send(src, Promise(msg.round, self.accepted))

    @wl.on(Promise, when=lambda self, src, msg: self.collects(src, msg.round))
    def collect(self, ctx: wl.Context, src: wl.NodeId, msg: Promise) -> None:
        self.promises[src] = msg.last
        if len(self.promises) == self.majority():
            vote = Vote(self.current, self.choice(ctx, msg.last))
            self.broadcast(ctx, Accept(vote))
            if self.may_accept(vote):
                self.vote(ctx, vote)

    @wl.on(Accept, when=lambda self, src, msg: self.may_accept(msg.vote))
    def accept(self, ctx: wl.Context, src: wl.NodeId, msg: Accept) -> None:
        self.vote(ctx, msg.vote)

    @wl.on(Learn, when=lambda self, src, msg: self.decided is None)
    def learn(self, ctx: wl.Context, src: wl.NodeId, msg: Learn) -> None:
        self.note(src, msg.vote)

    def choice(self, ctx: wl.Context, latest: Vote | None) -> str:
        """Return the value to propose; `latest` came with the latest promise."""
        votes = [vote for vote in self.promises.values() if vote is not None]
        if self.bugs & {"cb1", "wids1"}:
            votes = [] if latest is None else [latest]
        best = max(votes, key=lambda vote: vote.round, default=None)
        return ctx.me.name if best is None else best.value

    def vote(self, ctx: wl.Context, vote: Vote) -> None:
        self.previous = 0 if self.accepted is None else self.accepted.round
        self.accepted = vote
        self.cast.add(vote)
        if "wids2" not in self.bugs:
            self.promised = vote.round
        for leader in self.leaders:
            if leader != ctx.me:
                ctx.send(leader, Learn(vote))
        if ctx.me in self.leaders and self.decided is None:
            self.note(ctx.me, vote)

    def note(self, voter: wl.NodeId, vote: Vote) -> None:
        self.votes.add((voter, vote))
        if sum(known == vote for _, known in self.votes) == self.majority():
            self.decided = vote.value
            self.votes = set()

    def collects(self, src: wl.NodeId, number: int) -> bool:
        return (
            number == self.current
            and src not in self.promises
            and len(self.promises) < self.majority()
        )

    def may_accept(self, vote: Vote) -> bool:
        return vote.round >= self.promised and vote != self.accepted

    def majority(self) -> int:
        return self.size // 2 + 1

    def broadcast(self, ctx: wl.Context, message: object) -> None:
        for node in ctx.nodes:
            if node != ctx.me:
                ctx.send(node, message)


@wl.node
class Sleeper(Process):
    """A process that sleeps, then leads a round, until it learns of a decision.

    `rounds` is no bound for it (WiDS Checker, section 4.1).
    """

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        if ctx.me in self.leaders:
            ctx.set_timer(Sleeper.wake, after=ctx.choose(SLEEPS))

    @wl.timer(when=lambda self: self.decided is None)
    def wake(self, ctx: wl.Context) -> None:
        self.propose(ctx)
        ctx.set_timer(Sleeper.wake, after=ctx.choose(SLEEPS))


@wl.safety
def agreement(view: wl.View) -> bool:
    """At most one value is ever accepted by a majority in one round."""
    votes = [vote for node in view for vote in view[node].cast]
    majority = len(view.nodes) // 2 + 1
    return len({vote.value for vote in votes if votes.count(vote) >= majority}) < 2


@wl.safety
def decisions_agree(view: wl.View) -> bool:
    """No two processes decide on different values."""
    return view.for_each_pair(
        lambda view, one, other: (
            view[one].decided is None
            or view[other].decided is None
            or view[one].decided == view[other].decided
        )
    )


@wl.safety
def accepted_round_never_decreases(view: wl.View) -> bool:
    """An acceptor goes from one accepted round to a higher one only."""
    return view.for_each_node(
        lambda view, node: (
            view[node].accepted is None
            or view[node].accepted.round >= view[node].previous
        )
    )


@wl.sometimes
def a_value_is_decided(view: wl.View) -> bool:
    """A process can learn that a value was chosen."""
    return not view.for_each_node(lambda view, node: view[node].decided is None)


PROPERTIES = (
    agreement,
    decisions_agree,
    accepted_round_never_decreases,
    a_value_is_decided,
)


def chosen(names: tuple[wl.NodeId, ...], leaders: int) -> list[wl.events.Pattern]:
    """Return round 1 of figure 14: the first process and just enough others accept.

    Only the first learns of it: the rest are cut off, and its messages are lost.
    """
    leader, majority = names[0], len(names) // 2 + 1
    voters, others = names[1:majority], names[majority:]
    steps = [wl.events.call(leader, Process.propose)]
    for node in voters:
        steps.append(wl.events.deliver(node, Prepare, leader))
        steps.append(wl.events.deliver(leader, Promise, node))
    for node in voters:
        steps.append(wl.events.deliver(node, Accept, leader))
        steps.append(wl.events.deliver(leader, Learn, node))
    for node in others:
        steps.append(wl.events.drop(node, Prepare, leader))
        steps.append(wl.events.drop(node, Accept, leader))
    for src in (leader, *voters):
        steps += [
            wl.events.drop(dst, Learn, src) for dst in names[1:leaders] if dst != src
        ]
    return steps


def refuse_nonsense(
    size: int, leaders: int, start: str, driver: str, bugs: tuple[str, ...]
) -> None:
    """Raise ValueError for parameters of `system` that fit no system."""
    check_names("bug", bugs, SWITCHES)
    if start not in ("", "chosen"):
        raise ValueError(f"start={start!r}: say 'chosen' or nothing")
    if driver not in ("calls", "sleeps"):
        raise ValueError(f"driver={driver!r}: say 'calls' or 'sleeps'")
    if start and driver == "sleeps":
        raise ValueError("start='chosen' is made of calls: say driver='calls'")
    if not 2 <= leaders <= size:
        raise ValueError(f"leaders={leaders}: say 2 to {size}, the size")


def system(
    *,
    size: int = 3,
    leaders: int = 2,
    rounds: int = 1,
    drops: int = 0,
    resets: int = 0,
    start: str = "",
    driver: str = "calls",
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return `size` processes, the first `leaders` of which lead up to `rounds` rounds.

    Parameters
    ----------
    size, leaders, rounds
        How many processes there are, how many of them lead (two at least), and how
        often each does.
    drops, resets
        How many messages may be lost on purpose, and processes reset, in one run.
    start
        ``chosen``: from the state in which the first leader's value was chosen and it
        alone has learned of it; else from the beginning.
    driver
        ``calls``: a round begins when the workload says so. ``sleeps``: each leader
        sleeps, for up to 0.6 seconds, and leads a round, until it learns of a decision,
        whatever `rounds` says.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug, the start or the driver is unknown, or there are too few or too many
        leaders.
    """
    refuse_nonsense(size, leaders, start, driver, bugs)
    sleeps = driver == "sleeps"
    kind = Sleeper if sleeps else Process
    names = named(size)
    return wl.System(
        nodes={
            name: kind(
                i, size, names[:leaders], rounds if i < leaders else 0, frozenset(bugs)
            )
            for i, name in enumerate(names)
        },
        network=wl.datagrams(),
        workload=[] if sleeps else [wl.whenever(Process.propose)],
        faults=wl.Faults(drops=drops, resets=resets),
        properties=PROPERTIES,
        ignore_noops=True,
        prologue=chosen(names, leaders) if start else (),
        # Leaders that block each other may get no further.
        done=lambda view: True,
        name="paxos",
    )
