"""Programs as subjects of fault injection: goals, renamings, explanations."""

from __future__ import annotations

import pytest

from worldline.dedalus.derivations import DerivedBy, DerivedFact
from worldline.dedalus.parse import parse_text
from worldline.dedalus.problems import ProgramError
from worldline.injection.formula import NEVER
from worldline.injection.scope import Crash, CrashSemantics, Loss, Scope
from worldline.injection.subject import SentMessage
from worldline.lineage.targets.program_subject import NOTHING_ELSE, DedalusSubject
from worldline.model.errors import UsageError

NODES = ("a", "b", "c")
NONE = frozenset[Loss | Crash]()
LINKS = "".join(f'node("{x}","{y}")@1;' for x in NODES for y in NODES if x != y)
PROGRAM = f"""
    {LINKS}
    told("a","hi")@1;
    node(X,Y)@next :- node(X,Y);
    log(X,P) :- told(X,P);
    log(X,P)@next :- log(X,P);
    log(Y,P)@async :- told(X,P), node(X,Y);
    missing(Y,P) :- log(X,P), node(X,Y), notin log(Y,P);
    pre(X,P) :- log(X,P), notin crash(X,X,_);
    post(X,P) :- log(X,P), notin missing(_,P);
"""


def subject(text: str = PROGRAM, *, eot=3, eff=2, crashes=1, **options):
    scope = Scope(NODES, eot, eff, crashes)
    return DedalusSubject(parse_text(text), scope, **options)


def test_goals_are_rows_of_pre_and_post_at_the_end():
    run = subject(negation="ignore").run(NONE)
    rows = {(node, "hi") for node in NODES}
    assert (run.owed, run.kept, run.broken) == (rows, rows, frozenset())


def test_faults_break_goals():
    run = subject().run(frozenset({Loss(1, "a", "b"), Crash(3, "c")}))
    assert run.broken == {("a", "hi")}
    assert run.kept == {NOTHING_ELSE}
    assert [message.arrived for message in run.sent] == [None, 2]


def test_failure_free_goals_are_those_of_the_run_without_faults():
    text = PROGRAM + 'pre(X,"lost") :- told(X,_)@1, notin log("b","hi")@2;'
    lost = frozenset({Loss(1, "a", "b")})
    free = subject(text, goals="failure-free").run(lost)
    assert free.owed == {("a", "hi"), ("c", "hi")}
    assert subject(text).run(lost).owed == free.owed | {("a", "lost")}


@pytest.mark.parametrize(
    ("negation", "goals", "complete"),
    [
        ("conservative", "all", True),
        ("ignore", "all", False),
        ("conservative", "failure-free", False),
    ],
)
def test_only_conservative_lineage_of_all_goals_is_complete(negation, goals, complete):
    found = subject(negation=negation, goals=goals)
    assert found.complete == complete
    assert (NOTHING_ELSE in found.run(NONE).kept) == complete


def test_what_is_not_kept_has_no_support():
    with pytest.raises(UsageError, match="no goal that this run keeps"):
        subject().run(NONE).support(("z", "hi"))


def test_nothing_appears_where_nothing_negated_is_owed():
    assert subject(crashes=0).run(NONE).support(NOTHING_ELSE) is NEVER


def test_what_is_owed_only_under_faults_is_foreseen():
    text = PROGRAM + 'pre(X,"alone") :- told(X,_)@1, notin log("b","hi")@2;'
    found = subject(text)
    assert ("a", "alone") in found.run(frozenset({Loss(1, "a", "b")})).broken
    assert found.run(NONE).support(NOTHING_ELSE) is not NEVER


def test_the_same_faults_give_the_same_run():
    found, faults = subject(), frozenset({Loss(1, "a", "c")})
    one, other = found.run(faults), found.run(faults)
    assert (one.owed, one.kept, list(one.sent)) == (
        other.owed,
        other.kept,
        list(other.sent),
    )


def test_nodes_that_nothing_tells_apart_may_be_renamed():
    assert subject().renamings() == [{"a": "a", "b": "c", "c": "b"}]


def test_a_renaming_changes_runs_only_by_names():
    found = subject()
    (renaming,) = found.renamings()
    run = found.run(frozenset({Loss(1, "a", "b")}))
    other = found.run(frozenset({Loss(1, "a", "c")}))
    assert {(renaming[str(n)], p) for n, p in run.broken} == other.broken


@pytest.mark.parametrize(
    "rule",
    [
        'seen(X) :- log(X,_), X != "b"; post(X,"x") :- seen(X);',
        'post(X,"x") :- log("b",_), node(X,_);',
        'post(X,"x") :- node(X,Y), X < Y;',
        "low(X,min<Y>) :- node(X,Y); post(X,Y) :- low(X,Y);",
        'node("b","b")@1;',
    ],
)
def test_nodes_that_something_tells_apart_may_not(rule: str):
    assert subject(PROGRAM + rule).renamings() == []


def test_many_equal_nodes_have_many_renamings():
    nodes = "abcdefgh"  # 40,320 orders
    text = "".join(f'n("{x}","{y}")@1;' for x in nodes for y in nodes)
    text += "n(X,Y)@next :- n(X,Y); pre(X,Y) :- n(X,Y); post(X,Y) :- n(X,Y);"
    found = DedalusSubject(parse_text(text), Scope(tuple(nodes), 2))
    assert len(found.renamings()) == 720


def test_derivations_tell_how_a_goal_came_true():
    graph = subject().derivations(NONE, [("b", "hi")])
    facts = [(fact.label, fact.node, fact.time, fact.given) for fact in graph.facts]
    assert facts[:2] == [
        ('pre("b", "hi")', "b", 3, False),
        ('post("b", "hi")', "b", 3, False),
    ]
    told = DerivedFact('told("a", "hi")', "told", "a", 1, given=True)
    assert told in graph.facts
    post = next(f for f in graph.firings if f.fact == 1)
    assert post == DerivedBy(
        "post(X, P) :- log(X, P), notin missing(_, P);",
        1,
        (2,),
        ('missing(_, "hi")@3',),
        None,
    )
    sent = [firing.message for firing in graph.firings if firing.message]
    assert sent == [SentMessage("a", "b", 1, 'log("b", "hi")', 2)]


def test_every_premise_of_a_derivation_is_derived_or_given():
    graph = subject().derivations(frozenset({Crash(2, "a")}))
    derived = {firing.fact for firing in graph.firings}
    for number, fact in enumerate(graph.facts):
        assert fact.given or number in derived


def test_a_scope_that_a_program_cannot_have_is_refused():
    partial = Scope(NODES, 3, semantics=CrashSemantics.PARTIAL)
    with pytest.raises(UsageError, match="no partial crashes"):
        DedalusSubject(parse_text(PROGRAM), partial)
    with pytest.raises(ProgramError, match='"c" is used as a place, and is no node'):
        DedalusSubject(parse_text(PROGRAM), Scope(("a", "b"), 3))
