"""Atomic commit in synchronous rounds: two phases, two with termination, and three.

A coordinator C and agents, all of which can commit; one transaction begins in round 1.
The two-phase protocols owe termination and block when C crashes at the wrong time. The
three-phase protocol owes agreement, and takes a lost message for a crash. As everywhere
in rounds, what a node finds out in a round it does in the next, unless said otherwise.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 5.1.1,
figures 8 and 9. J. Gray, "Notes on Data Base Operating Systems", 1978; D. Skeen,
"Nonblocking Commit Protocols", SIGMOD 1981.
"""

from __future__ import annotations

import enum

import worldline as wl

PROTOCOLS = ("2pc", "2pc-ctp", "3pc")
CRASHED = ("gone", "silent")
PATIENCE = 3
"""Rounds after which an agent no longer waits."""
ACK_PATIENCE = 4
"""Rounds after which C no longer waits for acknowledgements, from the beginning."""


class Decision(enum.Enum):
    """How a transaction ends."""

    COMMIT = "commit"
    ABORT = "abort"


@wl.message
class Prepare:
    """The receiver is asked whether it can commit."""


@wl.message
class Vote:
    """The sender can commit, and waits for the decision."""


@wl.message
class PreCommit:
    """All can commit, and will be told to."""


@wl.message
class Ready:
    """The sender knows that all can commit."""


@wl.message
class Ask:
    """The sender does not know what was decided."""


@wl.message
class Decided:
    """The transaction ends like this."""

    decision: Decision


@wl.node
class Coordinator:
    """Asks all agents, and decides when all have answered.

    Attributes
    ----------
    running
        Whether the transaction has begun and is not decided.
    decisions
        What it has decided, or was told; both, if agreement fails.
    following
        What will be decided in the next round.
    announced
        Whether it has said that all can commit (``3pc``).
    round
        The number of the present round.
    """

    agents: tuple[wl.NodeId, ...]
    protocol: str
    running: bool = False
    announced: bool = False
    round: int = 1
    votes: set[wl.NodeId] = wl.field(default_factory=set)
    ready: set[wl.NodeId] = wl.field(default_factory=set)
    asking: set[wl.NodeId] = wl.field(default_factory=set)
    decisions: set[Decision] = wl.field(default_factory=set)
    following: set[Decision] = wl.field(default_factory=set)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.set_timer(Coordinator.act, after=1.0)

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        self.running = True
        for agent in self.agents:
            ctx.send(agent, Prepare())

    @wl.on(Vote)
    def vote(self, ctx: wl.Context, src: wl.NodeId, msg: Vote) -> None:
        self.votes.add(src)

    @wl.on(Ready)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Ready) -> None:
        self.ready.add(src)

    @wl.on(Ask)
    def asked(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        self.asking.add(src)

    @wl.timer
    def act(self, ctx: wl.Context) -> None:
        """Act once in every round, after its messages."""
        ctx.set_timer(Coordinator.act, after=1.0)
        self.round += 1
        self.decisions |= self.following
        self.following.clear()
        self.running = self.running and not self.decisions
        if self.running:
            self.proceed(ctx)
        for decision in sorted(self.decisions, key=lambda d: d.value):
            for agent in self.agents:
                ctx.send(agent, Decided(decision))
        self.asking.clear()

    def proceed(self, ctx: wl.Context) -> None:
        unanimous = len(self.votes) == len(self.agents)
        if self.protocol != "3pc":
            for agent in self.agents:
                ctx.send(agent, Prepare())
            if unanimous:
                self.following.add(Decision.COMMIT)
            return
        if unanimous and not self.announced:
            # Said once; who misses it has its timeout.
            self.announced = True
            for agent in self.agents:
                ctx.send(agent, PreCommit())
        if len(self.ready) == len(self.agents):
            self.following.add(Decision.COMMIT)
        elif self.round == 1 + ACK_PATIENCE:
            self.following.add(Decision.ABORT)


@wl.node
class Agent:
    """Votes yes, and then does as it is told, or what a timeout tells it.

    Attributes
    ----------
    prepared
        Whether it has voted.
    asked_since, ready_since
        How many rounds ago it was first asked to prepare, and to pre-commit.
    """

    coordinator: wl.NodeId
    peers: tuple[wl.NodeId, ...]
    protocol: str
    prepared: bool = False
    precommitting: bool = False
    asked_since: int | None = None
    ready_since: int | None = None
    asking: set[wl.NodeId] = wl.field(default_factory=set)
    decisions: set[Decision] = wl.field(default_factory=set)
    following: set[Decision] = wl.field(default_factory=set)

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        ctx.set_timer(Agent.act, after=1.0)

    @wl.on(Prepare)
    def prepare(self, ctx: wl.Context, src: wl.NodeId, msg: Prepare) -> None:
        self.prepared = True
        ctx.send(src, Vote())
        if self.asked_since is None:
            self.asked_since = 0

    @wl.on(PreCommit)
    def precommit(self, ctx: wl.Context, src: wl.NodeId, msg: PreCommit) -> None:
        ctx.send(src, Ready())
        self.precommitting = True
        if self.ready_since is None:
            self.ready_since = 0

    @wl.on(Ask)
    def asked(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        self.asking.add(src)

    @wl.on(Decided)
    def told(self, ctx: wl.Context, src: wl.NodeId, msg: Decided) -> None:
        self.decisions.add(msg.decision)

    @wl.timer
    def act(self, ctx: wl.Context) -> None:
        """Act once in every round, after its messages."""
        ctx.set_timer(Agent.act, after=1.0)
        self.decisions |= self.following
        self.following.clear()
        if self.protocol == "3pc":
            self.time_out_alone()
        elif self.protocol == "2pc-ctp":
            self.time_out_together(ctx)
        for decision in sorted(self.decisions, key=lambda d: d.value):
            for peer in self.peers:
                ctx.send(peer, Decided(decision))
        if self.asked_since is not None and self.asked_since <= PATIENCE:
            self.asked_since += 1
        if self.ready_since is not None and self.ready_since <= PATIENCE:
            self.ready_since += 1
        self.asking.clear()

    def time_out_alone(self) -> None:
        """Decide by itself: before its pre-commit to abort, after it to commit."""
        waited = self.asked_since == PATIENCE and self.ready_since is None
        if waited and Decision.COMMIT not in self.decisions:
            self.following.add(Decision.ABORT)
        if self.ready_since == PATIENCE and Decision.ABORT not in self.decisions:
            self.decisions.add(Decision.COMMIT)

    def time_out_together(self, ctx: wl.Context) -> None:
        """Ask all others, and tell those who ask."""
        if self.asked_since == PATIENCE and not self.decisions:
            for peer in (*self.peers, self.coordinator):
                ctx.send(peer, Ask())
        for asker in sorted(self.asking, key=str):
            for decision in sorted(self.decisions, key=lambda d: d.value):
                ctx.send(asker, Decided(decision))
        # Who has promised nothing may abort, and says so from the next round on.
        if self.asking and not self.prepared and not self.decisions:
            self.following.add(Decision.ABORT)


def termination(*, gone: bool) -> wl.Property:
    """Return the promise: if an agent has prepared, two nodes decide."""

    @wl.liveness
    def termination(view: wl.View) -> bool:
        """Nobody has prepared, or two nodes have decided."""
        counted = [node for node in view if view.is_up(node) or not gone]
        prepared = any(
            view[node].prepared for node in view.of(Agent) if node in counted
        )
        return not prepared or sum(bool(view[n].decisions) for n in counted) >= 2

    return termination


def agreement(*, gone: bool) -> wl.Property:
    """Return the promise: where a correct node commits, nobody aborts."""

    @wl.liveness
    def agreement(view: wl.View) -> bool:
        """No correct node has committed, or nobody has aborted."""
        counted = [node for node in view if view.is_up(node) or not gone]
        committed = any(
            view.is_up(node) and Decision.COMMIT in view[node].decisions
            for node in view
        )
        return not (
            committed and any(Decision.ABORT in view[n].decisions for n in counted)
        )

    return agreement


def system(
    *, protocol: str = "3pc", agents: int = 3, crashed: str = "gone"
) -> wl.System:
    """Return a coordinator and agents that all vote to commit.

    Parameters
    ----------
    protocol
        ``2pc``; ``2pc-ctp``, in which an agent that has waited too long asks the others;
        or ``3pc``.
    agents
        How many there are.
    crashed
        What a crashed node has decided: it is ``gone`` with it; or, where a crash only
        makes it ``silent``, it counts.

    Raises
    ------
    ValueError
        If there is no such protocol, or way to be judged.
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol={protocol!r}: say one of {', '.join(PROTOCOLS)}")
    if crashed not in CRASHED:
        raise ValueError(f"crashed={crashed!r}: say one of {', '.join(CRASHED)}")
    # As the paper names them: C is not an agent.
    names = [chr(ord("a") + i) for i in range(agents + 1) if i != 2]
    coordinator, *others = wl.ids("C", *names)
    promise = agreement if protocol == "3pc" else termination
    return wl.System(
        nodes={
            coordinator: Coordinator(tuple(others), protocol),
            **{
                agent: Agent(
                    coordinator,
                    tuple(peer for peer in others if peer != agent),
                    protocol,
                )
                for agent in others
            },
        },
        network=wl.datagrams(duplication=False),
        workload=[wl.script(coordinator, [Coordinator.begin], on_reset="continue")],
        properties=[promise(gone=crashed == "gone")],
        name=f"atomic-commit-{protocol}",
    )
