"""Supports of goals: they miss nothing, and say no more than they must."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dedalus.formulas import Judge, is_true, size
from tests.dedalus.random_faults import fault_sets, scopes
from tests.dedalus.random_programs import checked, programs

from worldline.dedalus.lineage import Negation, RunLineage
from worldline.dedalus.parse import parse_text
from worldline.dedalus.possible import PossibleFacts
from worldline.dedalus.provenance import Fact
from worldline.injection.formula import NEVER
from worldline.injection.scope import (
    Crash,
    CrashSemantics,
    Delay,
    Fault,
    FaultSet,
    Loss,
    Scope,
)
from worldline.lineage.targets.program_subject import NOTHING_ELSE, DedalusSubject

NODES = ("a", "b", "c")
BROADCAST = """
    node("a","b")@1; node("a","c")@1; node("b","a")@1;
    node("b","c")@1; node("c","a")@1; node("c","b")@1;
    told("a","hi")@1;
    node(X,Y)@next :- node(X,Y);
    log(X,P) :- told(X,P);
    log(X,P)@next :- log(X,P);
    log(Y,P)@async :- told(X,P), node(X,Y);
    missing(Y,P) :- log(X,P), node(X,Y), notin log(Y,P);
    pre(X,P) :- log(X,P), notin crash(X,X,_);
    post(X,P) :- log(X,P), notin missing(_,P);
"""
RETRY = BROADCAST + "told(X,P)@next :- told(X,P);"


PROGRAMS = programs(NODES)


def lineage_misses_nothing(data, texts=PROGRAMS) -> None:
    """What falls or appears between two runs is foreseen by the formulas of the first."""
    text = data.draw(texts)
    scope = data.draw(scopes(delay=1))
    subject = DedalusSubject(checked(text, NODES), scope)
    faults = data.draw(fault_sets(scope))
    first = subject.execute(faults)
    possible = PossibleFacts(subject.checked, scope)
    lineage = RunLineage(first, faults, scope, Negation.CONSERVATIVE, possible)
    own = Judge(faults)
    assert not any(own(lineage.falls(Fact(*fact))) for fact in first.tuples())
    for _ in range(3):
        other = subject.execute(data.draw(fault_sets(scope)))
        judge = Judge(frozenset(other.network.faults))
        before, after = set(first.tuples()), set(other.tuples())
        for fact in before - after:
            assert judge(lineage.falls(Fact(*fact))), text
        for fact in after - before:
            assert judge(lineage.appears(*fact)), text
            assert not own(lineage.appears(*fact))


def supports_miss_nothing(data, texts=PROGRAMS) -> None:
    """What breaks a goal makes the formula of one of the kept goals true."""
    text = data.draw(texts)
    scope = data.draw(scopes(delay=1))
    subject = DedalusSubject(checked(text, NODES), scope)
    run = subject.run(data.draw(fault_sets(scope)))
    if run.broken:
        return
    formulas = {goal: run.support(goal) for goal in run.kept}
    for _ in range(8):
        other = subject.run(data.draw(fault_sets(scope)))
        for goal in other.broken:
            formula = formulas[goal if goal in formulas else NOTHING_ELSE]
            assert is_true(formula, other.faults), text


@pytest.mark.slow
@settings(max_examples=10)
@given(st.data())
def test_lineage_misses_nothing(data):
    lineage_misses_nothing(data)


@pytest.mark.nightly
@settings(max_examples=400)
@given(st.data())
def test_lineage_misses_nothing_on_many(data):
    lineage_misses_nothing(data)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.data())
def test_supports_miss_nothing(data):
    supports_miss_nothing(data)


@pytest.mark.nightly
@settings(max_examples=400)
@given(st.data())
def test_supports_miss_nothing_on_many(data):
    supports_miss_nothing(data)


def without_negation_lineage_is_exact(data) -> None:
    """The formulas of the run without faults tell of every other run what falls."""
    text = data.draw(programs(NODES, monotone=True))
    scope = data.draw(scopes())
    negation = data.draw(st.sampled_from(Negation))
    subject = DedalusSubject(checked(text, NODES), scope, negation)
    none: FaultSet = frozenset()
    first = subject.execute(none)
    lineage = RunLineage(first, none, scope, negation)
    for _ in range(4):
        faults = data.draw(fault_sets(scope))
        other, judge = subject.execute(faults), Judge(faults)
        for relation, row, time in first.tuples():
            falls = judge(lineage.falls(Fact(relation, row, time)))
            assert falls == (row not in other.rows(relation, time))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.data())
def test_without_negation_lineage_is_exact(data):
    without_negation_lineage_is_exact(data)


@pytest.mark.nightly
@settings(max_examples=300)
@given(st.data())
def test_without_negation_lineage_is_exact_on_many(data):
    without_negation_lineage_is_exact(data)


def subject(text: str, *, eot=4, eff=3, crashes=1, **options) -> DedalusSubject:
    semantics = CrashSemantics(options.pop("semantics", "mute"))
    scope = Scope(NODES, eot, eff, crashes, semantics)
    return DedalusSubject(parse_text(text), scope, **options)


def test_one_message_supports_a_delivery():
    found = subject(BROADCAST, negation="ignore").run(frozenset())
    formula = found.support(("b", "hi"))
    cuts: list[Fault] = [Loss(1, "a", "b"), Crash(1, "a")]
    assert all(is_true(formula, frozenset({cut})) for cut in cuts)
    spared: list[Fault] = [
        Loss(1, "a", "c"),
        Loss(2, "a", "b"),
        Crash(2, "a"),
        Crash(1, "b"),
    ]
    assert not is_true(formula, frozenset(spared))


def test_what_a_node_has_by_itself_cannot_be_taken_away():
    found = subject(BROADCAST, negation="ignore").run(frozenset())
    assert found.support(("a", "hi")) is NEVER


def test_retries_are_alternatives():
    found = subject(RETRY, negation="ignore").run(frozenset())
    formula = found.support(("b", "hi"))
    losses = [Loss(1, "a", "b"), Loss(2, "a", "b")]
    assert not is_true(formula, frozenset(losses))
    assert is_true(formula, frozenset([*losses, Crash(3, "a")]))


def test_messages_after_the_last_loss_cannot_be_lost():
    found = subject(RETRY, eff=2, crashes=0, negation="ignore").run(frozenset())
    assert found.support(("b", "hi")) is NEVER


def test_a_negated_premise_brings_the_lineage_of_what_it_is_not():
    kept = ("a", "hi")
    ignoring = subject(BROADCAST, negation="ignore").run(frozenset())
    conserving = subject(BROADCAST).run(frozenset())
    cut = frozenset({Loss(1, "a", "c")})
    assert not is_true(ignoring.support(kept), cut)
    assert is_true(conserving.support(kept), cut)


def test_that_a_node_never_crashes_has_lineage():
    text = """
        n("a","b")@1; n(X,Y)@next :- n(X,Y);
        pre(X,Y) :- n(X,Y); post(X,Y) :- n(X,Y), notin crash(X,Y,_);
    """
    run = DedalusSubject(parse_text(text), Scope(("a", "b"), 3, 0, 1)).run(frozenset())
    formula = run.support(("a", "b"))
    assert is_true(formula, frozenset({Crash(3, "b")}))
    assert not is_true(formula, frozenset({Crash(3, "a")}))


def test_a_halted_node_loses_what_it_has():
    mute = subject(BROADCAST, negation="ignore").run(frozenset())
    halt = subject(BROADCAST, negation="ignore", semantics="halt").run(frozenset())
    crash = frozenset({Crash(4, "b")})
    assert not is_true(mute.support(("b", "hi")), crash)
    assert is_true(halt.support(("b", "hi")), crash)


COUNTING = """
    v("b",1)@1; v("c",2)@1; v("c",1)@1; to("b","a")@1; to("c","a")@1;
    got(Y,X,I)@async :- v(X,I), to(X,Y);
    got(Y,X,I)@next :- got(Y,X,I);
    {aggregate}
    pre(X,N) :- sum(X,N);
    post(X,N) :- sum(X,N);
"""


def losing(aggregate: str, *lost: str) -> bool:
    """Whether losses in round 1 may change an aggregate of 1 from b, 2 and 1 from c."""
    text = COUNTING.replace("{aggregate}", aggregate)
    scope = Scope(NODES, 3, 3)
    run = DedalusSubject(parse_text(text), scope, "ignore").run(frozenset())
    (goal,) = run.kept
    return is_true(run.support(goal), frozenset(Loss(1, x, "a") for x in lost))


@pytest.mark.parametrize(
    ("aggregate", "one", "other"),
    [
        ("sum(X,sum<I>) :- got(X,_,I);", False, True),
        ("sum(X,count<I>) :- got(X,_,I);", False, True),
        ("sum(X,max<I>) :- got(X,_,I);", False, True),
        ("sum(X,min<I>) :- got(X,_,I);", False, False),
        ("sum(X,count<Y>) :- got(X,Y,_);", True, True),
    ],
)
def test_a_value_of_an_aggregate_falls_when_nothing_gives_it(aggregate, one, other):
    assert losing(aggregate, "b") == one
    assert losing(aggregate, "c") == other


def conservative(text: str, scope: Scope) -> RunLineage:
    none: FaultSet = frozenset()
    execution = DedalusSubject(parse_text(text), scope).execute(none)
    return RunLineage(execution, none, scope, Negation.CONSERVATIVE)


def test_a_late_message_may_appear():
    scope = Scope(NODES, 4, 3, delay=2)
    text = BROADCAST + "heard(Y,P)@async :- told(X,P), node(X,Y);"
    text += "post(X,P) :- heard(X,P);"
    formula = conservative(text, scope).appears("heard", ("b", "hi"), 3)
    assert is_true(formula, frozenset({Delay(1, "a", "b", 1)}))
    others: list[Fault] = [Delay(1, "a", "b", 2), Delay(1, "a", "c", 1)]
    assert not is_true(formula, frozenset(others))


def test_an_aggregate_appears_where_one_of_its_values_falls():
    text = COUNTING.replace("{aggregate}", "sum(X,sum<I>) :- got(X,_,I);")
    lineage = conservative(text, Scope(NODES, 3, 3))
    assert set(lineage.provenance.execution.rows("sum", 3)) == {("a", 3)}
    formula = lineage.appears("sum", ("a", 1), 3)
    assert is_true(formula, frozenset({Loss(1, "c", "a")}))
    assert not is_true(formula, frozenset({Loss(1, "a", "c")}))


def test_formulas_grow_with_the_run_and_not_with_its_proofs():
    relay = BROADCAST + "told(X,P)@next :- log(X,P);"
    sizes = []
    for eot in (10, 20, 40):
        run = subject(relay, eot=eot, eff=eot - 1).run(frozenset())
        sizes.append(size(*(run.support(goal) for goal in run.kept)))
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def test_long_runs_need_no_deep_recursion():
    run = subject(RETRY, eot=400, eff=300).run(frozenset())
    assert run.support(("b", "hi")) is not NEVER


def test_every_falsifier_is_foreseen_by_its_smaller_fault_sets():
    """All fault sets of a small scope: what breaks a goal is in its support before."""
    found = subject(RETRY, eot=4, eff=2, crashes=1)
    pairs = [(s, d) for s in NODES for d in NODES if s != d]
    losses = [Loss(1, s, d) for s, d in pairs if s == "a"]
    crashes = [Crash(time, node) for time in range(1, 5) for node in NODES]
    subsets = chain.from_iterable(combinations(losses, k) for k in range(3))
    runs = [
        found.run(frozenset([*lost, *crash]))
        for lost in subsets
        for crash in [(), *((c,) for c in crashes)]
    ]
    broken = [run for run in runs if run.broken]
    assert {run.faults for run in broken} >= {
        frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    }
    for run in broken:
        for before in runs:
            if before.faults < run.faults and not before.broken:
                kept = [
                    g for g in before.kept if is_true(before.support(g), run.faults)
                ]
                assert kept
