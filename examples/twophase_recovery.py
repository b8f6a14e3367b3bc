"""Two-phase commit whose nodes may start again at any time, and then recover.

What a node has to remember it writes down before it tells: a participant its vote, the
coordinator its decision. A coordinator that starts again without a decision aborts; a
participant that has voted yes asks for the decision.
"""

from enum import Enum
from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "decision-in-memory",  # the coordinator tells its decision, and writes nothing down
    "vote-in-memory",  # a participant votes yes, and writes nothing down
    "presumes-commit",  # a coordinator that starts again commits what is undecided
    "counts-votes",  # a vote that arrives twice is counted twice
    "impatient",  # a participant that has voted yes gives up when it starts again
]


class Outcome(Enum):
    COMMIT = "commit"
    ABORT = "abort"


COORDINATOR, P1, P2 = wl.ids("coordinator", "p1", "p2")
PARTICIPANTS = (P1, P2)


@wl.message
class Prepare:
    pass


@wl.message
class Vote:
    yes: bool


@wl.message
class Decision:
    outcome: Outcome


@wl.message
class Ask:
    pass


@wl.node
class Coordinator:
    bug: Bug
    began: bool = wl.durable(default=False)
    logged: Outcome | None = wl.durable(default=None)
    decided: Outcome | None = None
    ayes: set[wl.NodeId] = wl.field(default_factory=set)
    count: int = 0

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        self.decided = self.logged
        if self.began and self.decided is None:
            is_rash = self.bug == "presumes-commit"
            self.decide(ctx, Outcome.COMMIT if is_rash else Outcome.ABORT)
        elif self.decided is not None:
            self.tell(ctx)

    @wl.call
    def commit(self, ctx: wl.Context) -> None:
        self.began = True
        for participant in PARTICIPANTS:
            ctx.send(participant, Prepare())

    @wl.on(Vote, when=lambda self, src, msg: self.decided is None)
    def vote(self, ctx: wl.Context, src: wl.NodeId, msg: Vote) -> None:
        if not msg.yes:
            self.decide(ctx, Outcome.ABORT)
            return
        self.ayes.add(src)
        self.count += self.bug == "counts-votes"
        if max(len(self.ayes), self.count) == len(PARTICIPANTS):
            self.decide(ctx, Outcome.COMMIT)

    @wl.on(Ask, when=lambda self, src, msg: self.decided is not None)
    def asked(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        assert self.decided is not None
        ctx.send(src, Decision(self.decided))

    def decide(self, ctx: wl.Context, outcome: Outcome) -> None:
        self.decided = outcome
        if self.bug != "decision-in-memory":
            self.logged = outcome
        self.tell(ctx)

    def tell(self, ctx: wl.Context) -> None:
        assert self.decided is not None
        for participant in PARTICIPANTS:
            ctx.send(participant, Decision(self.decided))


@wl.node
class Participant:
    bug: Bug
    voted: bool | None = None
    logged_vote: bool | None = wl.durable(default=None)
    outcome: Outcome | None = wl.durable(default=None)

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        self.voted = self.logged_vote
        if self.outcome is not None or not self.voted:
            return
        if self.bug == "impatient":
            self.outcome = Outcome.ABORT
        else:
            ctx.send(COORDINATOR, Ask())

    @wl.on(Prepare)
    def prepare(self, ctx: wl.Context, src: wl.NodeId, msg: Prepare) -> None:
        if self.voted is None:
            self.voted = ctx.choose([True, False])
            if self.bug != "vote-in-memory":
                self.logged_vote = self.voted
            if not self.voted:
                self.outcome = Outcome.ABORT
        ctx.send(src, Vote(self.voted))

    @wl.on(Decision, when=lambda self, src, msg: self.outcome is None)
    def decision(self, ctx: wl.Context, src: wl.NodeId, msg: Decision) -> None:
        self.outcome = msg.outcome


@wl.safety
def nobody_commits_what_another_aborts(view: wl.View) -> bool:
    return len({view[p].outcome for p in PARTICIPANTS} - {None}) <= 1


@wl.safety
def all_decide_in_the_end(view: wl.View) -> bool:
    """When nothing is under way any more, no participant is left without an outcome."""
    if view.messages() or not view.is_finished(COORDINATOR):
        return True
    return all(view[p].outcome is not None for p in PARTICIPANTS)


@wl.sometimes
def a_transaction_commits(view: wl.View) -> bool:
    return all(view[p].outcome is Outcome.COMMIT for p in PARTICIPANTS)


def system(bug: Bug = "none", resets: int = 2, duplicates: int = 1) -> wl.System:
    """Return a coordinator and two participants, with one transaction."""
    return wl.System(
        {COORDINATOR: Coordinator(bug), **{p: Participant(bug) for p in PARTICIPANTS}},
        name="twophase-recovery",
        workload=[wl.script(COORDINATOR, [wl.invoke(Coordinator.commit)])],
        faults=wl.Faults(resets=resets, duplicates=duplicates),
        properties=[
            nobody_commits_what_another_aborts,
            all_decide_in_the_end,
            a_transaction_commits,
        ],
    )
