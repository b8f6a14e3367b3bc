"""Runs of programs: against a naive oracle, and against tables made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dedalus.oracle import Oracle
from tests.dedalus.random_faults import fault_sets, scopes
from tests.dedalus.random_programs import checked as ready
from tests.dedalus.random_programs import programs

from worldline.dedalus.check import check
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import Execution, evaluate
from worldline.dedalus.parse import parse_text
from worldline.dedalus.text import program_text
from worldline.injection.scope import Crash, CrashSemantics, Delay, Loss
from worldline.model.errors import UsageError

THREE = ("a", "b", "c")


def executed(text: str, *faults, eot: int = 4, semantics="mute", nodes=None):
    checked = check(parse_text(text), nodes, goals=False)
    semantics = CrashSemantics(semantics)
    return evaluate(compile_program(checked), frozenset(faults), eot, semantics)


def rows(execution: Execution, relation: str) -> list[set]:
    """What a relation holds in each round."""
    return [set(execution.rows(relation, t)) for t in range(1, execution.eot + 1)]


def fired(execution: Execution) -> set[tuple[int, int, tuple]]:
    found = set()
    for time in range(1, execution.eot + 1):
        for rule in execution.compiled.rules:
            bindings = [b for _, b in execution.fired[time].get(rule.number, ())]
            for _, group in execution.grouped[time].get(rule.number, ()):
                bindings += group
            for binding in bindings:
                env = tuple(sorted(zip(rule.names, binding, strict=True)))
                assert (rule.number, time, env) not in found
                found.add((rule.number, time, env))
    return found


PROGRAMS = programs(THREE)


def test_a_name_that_is_in_one_absence_alone_reads_as_any():
    text = 'p("a", 1)@1; q("a", 1)@1; q("a", 2)@2; r(X) :- p(X, Y), notin q(X, {});'
    named, unnamed = executed(text.format("Z")), executed(text.format("_"))
    kept = text.format("Z") + "p(X, Y)@next :- p(X, Y);"
    assert rows(named, "r") == rows(unnamed, "r") == [set()] * 4
    assert rows(executed(kept), "r") == [set(), set(), {("a",)}, {("a",)}]


def same_as_the_oracle(data, texts=PROGRAMS, labels=()) -> None:
    checked = ready(data.draw(texts), THREE)
    scope = data.draw(scopes(delay=2))
    faults = data.draw(fault_sets(scope))
    run = evaluate(compile_program(checked), faults, scope.eot, scope.semantics)
    halt = scope.semantics is CrashSemantics.HALT
    oracle = Oracle(checked.program, THREE, faults, scope.eot, halt=halt, labels=labels)
    for relation in checked.columns.arity:
        for time in range(1, scope.eot + 1):
            found = set(run.rows(relation, time))
            assert found == oracle.holds(relation, time), program_text(checked.program)
    assert fired(run) == oracle.fired


@pytest.mark.slow
@settings(max_examples=10)
@given(st.data())
def test_facts_and_firings_are_those_of_a_naive_evaluation(data):
    same_as_the_oracle(data)


@pytest.mark.nightly
@settings(max_examples=400)
@given(st.data())
def test_facts_and_firings_are_those_of_a_naive_evaluation_on_many(data):
    same_as_the_oracle(data)


BROADCAST = """
    node("a","b")@1; node("a","c")@1; told("a","hi")@1;
    node(X,Y)@next :- node(X,Y);
    log(X,P) :- told(X,P);
    log(X,P)@next :- log(X,P);
    log(Y,P)@async :- told(X,P), node(X,Y);
"""


def test_a_message_arrives_one_round_later():
    run = executed(BROADCAST, eot=3)
    assert rows(run, "log") == [
        {("a", "hi")},
        {("a", "hi"), ("b", "hi"), ("c", "hi")},
        {("a", "hi"), ("b", "hi"), ("c", "hi")},
    ]
    assert [(m.src, m.dst, m.time, m.label, m.arrived) for m in run.messages()] == [
        ("a", "b", 1, 'log("b", "hi")', 2),
        ("a", "c", 1, 'log("c", "hi")', 2),
    ]


def test_a_lost_message_is_told_and_does_not_arrive():
    run = executed(BROADCAST, Loss(1, "a", "b"), eot=2)
    assert rows(run, "log")[1] == {("a", "hi"), ("c", "hi")}
    assert [m.arrived for m in run.messages()] == [None, 2]


def test_a_late_message_arrives_late():
    run = executed(BROADCAST, Delay(1, "a", "b", 2))
    held = [("b", "hi") in facts for facts in rows(run, "log")]
    assert held == [False, False, False, True]
    assert run.messages()[0].arrived == 4


def test_a_mute_node_goes_on_by_itself_and_receives():
    text = BROADCAST + 'node("b","a")@1; ack(Y,X)@async :- log(X,P), node(X,Y);'
    run = executed(text, Crash(1, "b"))
    assert ("b", "hi") in rows(run, "log")[3]
    assert (
        rows(run, "ack")
        == [set(), {("b", "a"), ("c", "a")}] + [{("b", "a"), ("c", "a")}] * 2
    )


def test_a_halted_node_has_nothing_from_its_crash_on():
    run = executed(BROADCAST, Crash(3, "b"), semantics="halt")
    held = [("b", "hi") in facts for facts in rows(run, "log")]
    assert held == [False, True, False, False]


def test_a_halted_node_takes_no_message():
    run = executed(BROADCAST, Crash(2, "b"), semantics="halt")
    assert [m.arrived for m in run.messages()] == [None, 2]
    assert not any(("b", "hi") in facts for facts in rows(run, "log"))


def test_crashes_are_seen_by_all_in_every_round():
    text = 'n("a","b")@1; n(X,Y)@next :- n(X,Y); up(X,Y) :- n(X,Y), notin crash(X,Y,_);'
    assert rows(executed(text, eot=2), "up") == [{("a", "b")}] * 2
    assert rows(executed(text, Crash(2, "b"), eot=2), "up") == [set()] * 2


def test_an_unbound_destination_is_every_node():
    text = 'n("a","b")@1; n("c","a")@1; hi(Z,X)@async :- n(X,"b");'
    run = executed(text, eot=2, nodes=("a", "b", "c"))
    assert rows(run, "hi")[1] == {("a", "a"), ("b", "a"), ("c", "a")}


def test_values_are_aggregated_once_each():
    text = """
        v("a",1,4)@1; v("a",2,4)@1; v("a",3,9)@1;
        count(X,count<I>) :- v(X,_,I);  total(X,sum<I>) :- v(X,_,I);
        least(X,min<I>) :- v(X,_,I);    most(X,max<I>) :- v(X,_,I);
        middle(X,avg<I>) :- v(X,_,I);   both(X,count<J>,max<I>) :- v(X,J,I);
    """
    run = executed(text, eot=1)
    found = {name: rows(run, name)[0] for name in run.compiled.relations}
    assert found["count"] == {("a", 2)}
    assert found["total"] == {("a", 13)}
    assert found["least"] == {("a", 4)}
    assert found["most"] == {("a", 9)}
    assert found["middle"] == {("a", 6)}
    assert found["both"] == {("a", 3, 9)}


def test_an_aggregate_may_share_its_head_with_a_recursive_rule():
    run = executed("""
        link("a","b")@1; link("a","c")@1;
        q(N, 0) :- q(N, _), link(N, "d");
        q(N, count<M>) :- link(N, M);
    """)
    assert rows(run, "q")[0] == {("a", 2)}


def test_a_node_aggregates_what_it_has_itself_before_it_sends():
    text = """
        v("a",1)@1; v("a",2)@1; v("b",5)@1;
        total("c",sum<I>)@async :- v(X,I);
    """
    assert rows(executed(text, eot=2), "total")[1] == {("c", 3), ("c", 5)}


def test_recursion_within_a_round_reaches_its_fixpoint():
    edges = "".join(f'e("a",{n},{n + 1})@1;' for n in range(1, 6))
    text = edges + "t(X,I,J) :- e(X,I,J); t(X,I,K) :- t(X,I,J), t(X,J,K);"
    found = rows(executed(text, eot=1), "t")[0]
    assert found == {("a", i, j) for i in range(1, 7) for j in range(i + 1, 7)}


def test_recursion_without_end_is_refused():
    with pytest.raises(UsageError, match="the derivation of p in round 1 has no end"):
        executed('p("a",1)@1; p(X,I+1) :- p(X,I);', eot=1)


def test_arithmetic_is_of_integers_rounded_down_and_silent_at_zero():
    text = """
        v("a",-7,2)@1; v("a",7,0)@1;
        d(X,I/J) :- v(X,I,J); s(X,(I-J)*2) :- v(X,I,J);
    """
    run = executed(text, eot=1)
    assert rows(run, "d")[0] == {("a", -4)}
    assert rows(run, "s")[0] == {("a", -18), ("a", 14)}


def test_a_premise_may_be_calculated():
    text = """
        v("a",1)@1; v("a",2)@1; v("a",4)@1; w("a",1,2)@1; w("a",1,3)@1;
        next(X,I) :- v(X,I), v(X,I+1); odd(X,I) :- v(X,I), notin v(X,I*2);
        up(X,I) :- w(X,I,I+1);
    """
    run = executed(text, eot=1)
    assert rows(run, "next")[0] == {("a", 1)}
    assert rows(run, "odd")[0] == {("a", 4)}
    assert rows(run, "up")[0] == {("a", 1)}


def test_a_rule_that_names_a_round_waits_for_it():
    text = """
        t("a")@1; t(X)@next :- t(X); s("a",9)@5;
        late(X)@next :- t(X), t(X)@2; given(X,I) :- t(X), s(X,I)@5;
    """
    run = executed(text)
    assert rows(run, "late") == [set(), set(), {("a",)}, {("a",)}]
    assert rows(run, "given") == [{("a", 9)}] * 4


def test_a_fault_that_names_no_node_is_refused():
    with pytest.raises(
        UsageError, match="loss a->z@1 names z, which is no node; nodes are a"
    ):
        executed(BROADCAST, Loss(1, "a", "z"))
    with pytest.raises(UsageError, match="no partial crashes"):
        executed(BROADCAST, semantics="partial")
    with pytest.raises(UsageError, match="cannot be injected"):
        executed(BROADCAST, Crash(1, "a", until=3))


def test_no_text_of_a_program_becomes_python():
    text = """
        r.k0?("a","now); raise SystemExit(")@1; out("a","out = found")@1;
        r0(X, now, "0,)): raise") :- r.k0?(X, now), now != "k1";
        out(X, nodes.v0_1) :- r.k0?(X, nodes.v0_1);
    """
    run = executed(text, eot=1)
    assert rows(run, "r0")[0] == {("a", "now); raise SystemExit(", "0,)): raise")}
    assert len(rows(run, "out")[0]) == 2


def test_a_rule_may_have_18_premises():
    body = ", ".join(f"n(X, Y{number})" for number in range(18))
    run = executed(f'n("a",3)@1; p(X, Y0+Y17) :- {body}, Y0 == Y1;', eot=1)
    assert rows(run, "p")[0] == {("a", 6)}
