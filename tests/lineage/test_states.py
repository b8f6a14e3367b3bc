"""Searches for faults among Python nodes in rounds agree, whatever way they take."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lineage.rounds.round_systems import RELIABLE, Case
from tests.shares import share

from worldline.injection.scope import Crash, CrashSemantics, FaultSet, Scope
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.states import states
from worldline.lineage.engines.trials import SearchBudget, SearchResult
from worldline.lineage.rounds.stepping import stepper_of
from worldline.lineage.rounds.subject import Mode, RoundsSubject
from worldline.lineage.rounds.system_rounds import Roundwise
from worldline.model.verdicts import Verdict
from worldline.zoo import atomic_commit, broadcast

SETTLED = (CrashSemantics.HALT, CrashSemantics.MUTE)


def subject(case: Case, mode: Mode = Mode.FAST) -> RoundsSubject:
    return RoundsSubject(case.system, case.scope, mode=mode)


def sets(outcome: SearchResult) -> set[frozenset]:
    return set(outcome.falsifiers)


def agree(case: Case) -> Verdict:
    """Search a random system in all ways; return the verdict."""
    seed = case.seed
    truth = exhaustive(subject(case), every=True)
    found = states(stepper_of(subject(case)), every=True)
    assert found.verdict is truth.verdict, seed
    if case.scope.semantics is CrashSemantics.PARTIAL:
        # To whom a node that sends nothing could still send makes no difference: of
        # all these crashes one is found.
        assert sets(found) <= sets(truth), seed
    else:
        assert sets(found) == sets(truth), seed
    one = states(stepper_of(subject(case)))
    assert one.verdict is truth.verdict, seed
    assert [len(f) for f in one.falsifiers] == [len(f) for f in truth.falsifiers[:1]], (
        seed
    )
    complete = loop(subject(case, Mode.COMPLETE), every=True)
    assert complete.verdict is truth.verdict, seed
    assert sets(complete) == sets(truth), seed
    fast = loop(subject(case), every=True)
    assert fast.verdict is not Verdict.HOLDS, seed
    for falsifier in fast.falsifiers:
        assert subject(case).run(falsifier).broken, seed
    return truth.verdict


def chosen(found: SearchResult, nodes: tuple[str, ...]) -> set[FaultSet]:
    """Return the falsifiers in which none but these nodes crash."""
    crashed = {
        one: {fault.node for fault in one if isinstance(fault, Crash)}
        for one in found.falsifiers
    }
    return {one for one, names in crashed.items() if names <= set(nodes)}


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20, 10))
def test_what_breaks_where_some_nodes_crash_is_what_breaks_with_these(first: int):
    """A part of a smallest falsifier is none, so fewer crashes make no other one."""
    for seed in range(first, first + 10):
        case = Case(seed, semantics=SETTLED)
        if not case.scope.crashes:
            continue
        truth = chosen(exhaustive(subject(case), every=True), ("b",))
        case.scope = replace(case.scope, crashes=1, crash_nodes=("b",))
        for found in (
            states(stepper_of(subject(case)), every=True),
            states(Roundwise(subject(case)), every=True),
            loop(subject(case, Mode.COMPLETE), every=True),
            exhaustive(subject(case), every=True),
        ):
            assert sets(found) == truth, seed


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, 20, 5), only=[5]))
def test_all_searches_agree_on_random_systems(first: int):
    for seed in range(first, first + 5):
        agree(Case(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, 20, 5), only=[0]))
def test_all_searches_agree_where_only_crashes_lose_messages(first: int):
    for seed in range(first, first + 5):
        agree(Case(seed, kinds=RELIABLE))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(20, 480, 20))
def test_all_searches_agree_on_many_random_systems(first: int):
    for seed in range(first, first + 20):
        agree(Case(seed))


@pytest.mark.slow
def test_random_systems_hold_and_break():
    verdicts = [states(stepper_of(subject(Case(seed)))).verdict for seed in range(20)]
    assert {Verdict.HOLDS, Verdict.VIOLATED} == set(verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("first", share(range(0, 40, 10), only=[10]))
def test_both_ways_of_stepping_agree(first: int):
    for seed in range(first, first + 10):
        case = Case(seed, kinds=("bag", "queues"))
        ours = states(stepper_of(subject(case)), every=True)
        other = states(Roundwise(subject(case)), every=True)
        assert ours.verdict is other.verdict, seed
        assert len(ours.falsifiers[:1]) == len(other.falsifiers[:1]), seed
        if case.scope.semantics in SETTLED:
            assert sets(ours) == sets(other), seed


def test_code_of_a_node_runs_once_for_each_state_and_mail():
    """Three nodes that only tick run once; without faults nothing else is asked."""
    system = broadcast.system(variant="simple")
    scope = Scope(("a", "b", "c"), 4)
    stepper = stepper_of(RoundsSubject(system, scope))
    found = states(stepper, every=True)
    # a: the call, then its ticks; b and c: a tick, the payload, then their ticks.
    assert found.executions == 2 + 3 + 3
    assert found.notes == ("4 states in 4 rounds",)


def test_one_falsifier_has_the_fewest_faults():
    system = broadcast.system(variant="classic")
    scope = Scope(("a", "b", "c"), 5, 3, 0)
    found = states(stepper_of(RoundsSubject(system, scope)))
    assert [len(faults) for faults in found.falsifiers] == [3]


def test_a_budget_gives_unknown_and_the_round_that_was_reached():
    system = broadcast.system(variant="ack")
    scope = Scope(("a", "b", "c"), 8, 7, 1)
    found = states(
        stepper_of(RoundsSubject(system, scope)), budget=SearchBudget(executions=30)
    )
    assert (found.verdict, found.bound) == (Verdict.UNKNOWN, "executions")
    assert found.notes == ("4 states; rounds 1..4 of 8 are decided for up to 0 faults",)
    found = states(
        stepper_of(RoundsSubject(system, scope)), budget=SearchBudget(executions=60)
    )
    assert found.verdict is Verdict.UNKNOWN
    assert found.notes[0].endswith("rounds 1..4 of 8 are decided for up to 1 fault")
    assert found.notes[1:] == ("with up to 0 faults nothing breaks",)


def test_a_bound_does_not_hide_what_was_found():
    system = broadcast.system(variant="simple")
    scope = Scope(("a", "b", "c"), 4, 2, 0)
    stepper = stepper_of(RoundsSubject(system, scope))
    found = states(stepper, every=True, budget=SearchBudget(seconds=-1.0))
    assert (found.verdict, found.bound) == (Verdict.UNKNOWN, "seconds")


def test_a_system_that_breaks_by_itself_needs_no_fault():
    system = broadcast.system(variant="simple")
    scope = Scope(("a", "b", "c"), 1, 0, 0)
    assert states(stepper_of(RoundsSubject(system, scope))).verdict is Verdict.HOLDS
    system = atomic_commit.system(protocol="2pc")
    scope = Scope(("C", "a", "b", "d"), 3, 0, 0)
    found = states(stepper_of(RoundsSubject(system, scope)))
    assert found.verdict is Verdict.VIOLATED
    assert found.falsifiers == (frozenset(),)
