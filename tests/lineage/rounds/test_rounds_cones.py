"""The supports of Python nodes in rounds: the causal past, and the light cone."""

from __future__ import annotations

import pytest
from tests.lineage.rounds.round_systems import Case
from tests.shares import share

import worldline as wl
from worldline.injection.formula import Formula, Injected, Some, Spared
from worldline.injection.scope import Crash, CrashSemantics, FaultSet, Loss, Scope
from worldline.lineage.engines.space import fault_sets
from worldline.lineage.rounds.subject import Mode, RoundsSubject

HALT = CrashSemantics.HALT


@wl.message
class Token:
    """Is handed on from node to node."""


@wl.node
class Link:
    """Hands a token on; `noise` is what it tells a bystander in every round."""

    after: wl.NodeId | None = None
    bystander: wl.NodeId | None = None
    has: bool = False
    heard: int = 0

    @wl.start
    def boot(self, ctx: wl.Context) -> None:
        if self.bystander is not None:
            ctx.set_timer(Link.gossip, after=1.0)

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        self.take(ctx)

    @wl.on(Token)
    def receive(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        self.heard += 1
        self.take(ctx)

    @wl.timer
    def gossip(self, ctx: wl.Context) -> None:
        ctx.set_timer(Link.gossip, after=1.0)
        if self.bystander is not None:
            ctx.send(self.bystander, Token())

    def take(self, ctx: wl.Context) -> None:
        self.has = True
        if self.after is not None:
            ctx.send(self.after, Token())


@wl.liveness
def arrived(view: wl.View) -> bool:
    """The token has come to c."""
    return bool(view[view.nodes[2]].has)


def chain() -> wl.System:
    """From a to b to c; and c tells d something from round 2 on."""
    a, b, c, d = wl.ids("a", "b", "c", "d")
    return wl.System(
        nodes={a: Link(after=b), b: Link(after=c), c: Link(bystander=d), d: Link()},
        workload=[wl.script(a, [Link.begin])],
        properties=[arrived],
    )


def leaves(
    mode: Mode, faults: FaultSet = frozenset(), *, eot: int = 4, crashes: int = 1
) -> tuple[set[str], set[str]]:
    """What the support of `arrived` says must be injected, or be spared."""
    scope = Scope(("a", "b", "c", "d"), eot, eot, crashes, HALT)
    run = RoundsSubject(chain(), scope, mode=mode).run(faults)
    goal = next(g for g in run.kept if str(g).startswith("arrived"))
    formula: Formula = run.support(goal)
    assert isinstance(formula, Some)
    injected = {str(p.fault) for p in formula.parts if isinstance(p, Injected)}
    spared = {str(p.fault) for p in formula.parts if isinstance(p, Spared)}
    assert len(injected) + len(spared) == len(formula.parts)
    return injected, spared


def test_the_past_of_a_verdict_is_what_led_to_what_it_read():
    injected, spared = leaves(Mode.FAST)
    assert injected == {
        "loss a->b@1",
        "loss b->c@2",
        "crash a@1",
        *(f"crash b@{t}" for t in (1, 2)),
        *(f"crash c@{t}" for t in (1, 2, 3)),
    }
    assert spared == set()


def test_the_light_cone_has_all_that_could_tell_a_node_that_was_read():
    """What c tells d in round 2 could come back to c in round 4; in 3 it is too late."""
    injected, spared = leaves(Mode.COMPLETE)
    assert injected == {
        "loss a->b@1",
        "loss b->c@2",
        "loss c->d@2",
        "crash a@1",
        *(f"crash b@{t}" for t in (1, 2)),
        *(f"crash c@{t}" for t in (1, 2, 3, 4)),
    }
    assert spared == set()


def test_the_cone_of_a_run_with_faults_says_that_they_could_be_spared():
    faults: FaultSet = frozenset({Loss(2, "c", "d"), Crash(4, "d")})
    injected, spared = leaves(Mode.COMPLETE, faults, crashes=2)
    assert spared == {"loss c->d@2", "crash d@4"}
    assert not injected & spared
    assert leaves(Mode.FAST, faults, crashes=2)[1] == set()


def test_without_crashes_none_is_in_a_support():
    for mode in Mode:
        injected, _ = leaves(mode, crashes=0)
        assert not [name for name in injected if name.startswith("crash")]


def holds(formula: Formula, faults: FaultSet) -> bool:
    """Evaluate a support: one level of alternatives."""
    assert isinstance(formula, Some)
    for part in formula.parts:
        if isinstance(part, Injected) and part.fault in faults:
            return True
        if isinstance(part, Spared) and part.fault not in faults:
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, 24, 6), only=[6]))
def test_whatever_breaks_a_goal_is_in_its_light_cone(first: int):
    """For two fault sets of a scope: if one keeps what the other breaks, it says so."""
    for seed in range(first, first + 6):
        case = Case(seed)
        subject = RoundsSubject(case.system, case.scope, mode=Mode.COMPLETE)
        every = list(fault_sets(case.scope))
        runs = [subject.run(faults) for faults in every]
        for good in runs[:: max(1, len(runs) // 6)]:
            for goal in good.kept:
                support = good.support(goal)
                assert not holds(support, good.faults), seed
                for bad in runs:
                    if goal not in bad.kept:
                        assert holds(support, bad.faults), (seed, goal, bad.faults)
