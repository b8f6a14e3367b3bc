"""What the solver is asked, and what it answers."""

from __future__ import annotations

import builtins
import re
import sys
import time

import pytest

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.parse import parse_text
from worldline.dedalus.symbolic import search as searching
from worldline.dedalus.symbolic.encoding import Encoding
from worldline.dedalus.symbolic.faults import UP
from worldline.dedalus.symbolic.frontier import Breach, frontier, smallest_eff
from worldline.dedalus.symbolic.search import ProgramRerun, search
from worldline.dedalus.symbolic.solver import OutOfTime, Solver
from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import (
    NO_FAULTS,
    Crash,
    CrashSemantics,
    Delay,
    FaultSet,
    Loss,
    Scope,
)
from worldline.model.errors import InternalError, UsageError
from worldline.model.verdicts import Verdict

SEND = """
    link("a", "b")@1;
    start("a", 7)@1;
    got(N, X)@next :- got(N, X);
    got(N, X) :- start(N, X);
    got(M, X)@async :- start(N, X), link(N, M);
"""
ARRIVES = """
    pre(N, X) :- got(N, X);
    post(N, X) :- got(N, X), got(M, X), N != M;
"""


def program(*texts: str, nodes: tuple[str, ...] = ("a", "b")) -> CheckedProgram:
    return check(parse_text("\n".join(texts)), nodes)


def scope(eot: int, eff: int = 0, crashes: int = 0, **other: int) -> Scope:
    return Scope(("a", "b"), eot, eff, crashes, **other)  # type: ignore[arg-type]


def broken_by(checked: CheckedProgram, within: Scope) -> set[FaultSet]:
    return set(search(checked, within, every=True).falsifiers)


def test_a_program_holds_where_nothing_may_be_lost():
    answer = search(program(SEND, ARRIVES), scope(3))
    assert answer.verdict is Verdict.HOLDS
    assert answer.falsifiers == ()
    assert answer.executions == 1
    assert answer.bound is None


def test_a_counterexample_has_the_fewest_faults_and_was_run():
    answer = search(program(SEND, ARRIVES), scope(3, 3, 1))
    assert answer.verdict is Verdict.VIOLATED
    assert [len(faults) for faults in answer.falsifiers] == [1]
    assert answer.executions == 2


def test_all_smallest_sets_are_found_and_no_larger_one():
    found = broken_by(program(SEND, ARRIVES), scope(3, 3, 1))
    assert found == {frozenset({Loss(1, "a", "b")}), frozenset({Crash(1, "a")})}


def test_a_search_for_all_stops_at_the_most_that_it_may_find():
    answer = search(program(SEND, ARRIVES), scope(3, 3, 1), every=True, most=1)
    assert len(answer.falsifiers) == 1
    assert answer.bound == "falsifiers"
    assert answer.verdict is Verdict.VIOLATED


def test_exactly_the_most_is_no_bound():
    answer = search(program(SEND, ARRIVES), scope(3, 3, 1), every=True, most=2)
    assert len(answer.falsifiers) == 2
    assert answer.bound is None


def test_losses_end_strictly_before_eff():
    checked = program(SEND, ARRIVES)
    assert search(checked, scope(3, 1)).verdict is Verdict.HOLDS
    assert search(checked, scope(3, 2)).verdict is Verdict.VIOLATED


def test_what_fails_without_faults_is_violated_by_no_fault_at_all():
    checked = program(SEND, "pre(N, X) :- got(N, X); post(N, X) :- got(N, X), X > 9;")
    answer = search(checked, scope(3, 2, 1), every=True)
    assert answer.verdict is Verdict.VIOLATED
    assert answer.falsifiers == (NO_FAULTS,)


def test_what_owes_nothing_is_unknown_and_said_to_be_vacuous():
    rules = "pre(N, X) :- got(N, X), X > 9; post(N, X) :- got(N, X);"
    answer = search(program(SEND, rules), scope(3, 2, 1))
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.vacuous


def test_what_owes_something_only_under_faults_is_still_searched():
    rules = """
        pre(N, X) :- start(N, X)@1, notin got("b", X);
        post(N, X) :- start(N, X)@1, got("b", X);
    """
    answer = search(program(SEND, rules), scope(3, 2))
    assert not answer.vacuous
    assert answer.verdict is Verdict.VIOLATED
    assert answer.falsifiers == (frozenset({Loss(1, "a", "b")}),)


def test_a_late_message_arrives_within_the_bound_or_is_lost():
    checked = program(SEND, ARRIVES)
    assert broken_by(checked, scope(3, 2, delay=2)) == {
        frozenset({Loss(1, "a", "b")}),
        frozenset({Delay(1, "a", "b", 2)}),
    }
    assert broken_by(checked, scope(4, 2, delay=2)) == {frozenset({Loss(1, "a", "b")})}


@pytest.mark.parametrize("sender", ["N", "_"])
def test_a_message_without_a_destination_goes_to_all(sender: str):
    rules = f"got(M, X)@async :- start({sender}, X);"
    checked = program('start("a", 7)@1; got(N, X)@next :- got(N, X);', rules, ARRIVES)
    assert broken_by(checked, scope(3, 2)) == {frozenset({Loss(1, "a", "b")})}


def test_a_crashed_node_goes_on_if_mute_and_is_gone_if_it_halts():
    checked = program(SEND, "pre(N, X) :- start(N, X)@1; post(N, X) :- got(N, X);")
    assert broken_by(checked, scope(3, 0, 1)) == set()
    halting = Scope(("a", "b"), 3, 0, 1, CrashSemantics.HALT)
    assert broken_by(checked, halting) == {
        frozenset({Crash(time, "a")}) for time in (2, 3)
    }


def test_crashes_are_seen_in_every_round_by_everybody():
    rules = """
        pre(N, X) :- start(N, X)@1, crash(N, "b", 3);
        post(N, X) :- start(N, X)@1, notin crash("b", "b", _);
    """
    assert broken_by(program(SEND, rules), scope(3, 0, 1)) == {
        frozenset({Crash(3, "b")})
    }


def test_recursion_within_a_round_supports_nothing_by_itself():
    # 7 and 8 reach each other at b: once 7 has arrived, and never out of nothing.
    rules = """
        edge("b", 7, 8)@1; edge("b", 8, 7)@1;
        edge(N, X, Y)@next :- edge(N, X, Y);
        reach(N, X) :- got(N, X);
        reach(N, Y) :- reach(N, X), edge(N, X, Y);
    """
    unfounded = """
        pre(N, X) :- reach(N, X), notin got(N, 7);
        post(N, X) :- reach(N, X), got(N, 7);
    """
    assert broken_by(program(SEND, rules, unfounded), scope(3, 2)) == set()
    reached = """
        pre(N, X) :- start(N, X)@1;
        post(N, X) :- start(N, X)@1, reach("b", 7), reach("b", 8);
    """
    assert broken_by(program(SEND, rules, reached), scope(3, 2)) == {
        frozenset({Loss(1, "a", "b")})
    }


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [("count", 4), ("sum", -2), ("min", -4), ("max", 3), ("avg", -1)],
)
def test_aggregates_are_over_distinct_values_and_rounded_down(
    aggregate: str, value: int
):
    rules = f"""
        item("a", 1, 3)@1; item("a", 2, 3)@1; item("a", 3, -4)@1; item("a", 4, -2)@1;
        item("a", 5, 1)@1;
        kept(M, I, X)@async :- item(N, I, X), link(N, M);
        kept(N, I, X)@next :- kept(N, I, X);
        total(N, {aggregate}<X>) :- kept(N, _, X);
        pre(N, X) :- total(N, X);
        post(N, X) :- total(N, X), X != {value};
    """
    assert broken_by(program(SEND, rules), scope(2)) == {NO_FAULTS}


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", ["sum", "avg"])
def test_sums_over_many_uncertain_values_stay_small(aggregate: str):
    # Sixteen values that may each be lost: an assignment would be 2^16 ground rules.
    items = [f'item("a", {n})@{n + 1};' for n in range(1, 17)]
    rules = f"""
        kept(M, X)@async :- item(N, X), link(N, M);
        kept(N, X)@next :- kept(N, X);
        link(N, M)@next :- link(N, M);
        total(N, {aggregate}<X>) :- kept(N, X);
        pre(N, X) :- total(N, X);
        post(N, X) :- total(N, X), X >= 8;
    """
    checked = program('link("a", "b")@1;', *items, rules)
    began = time.monotonic()
    answer = search(checked, scope(19, 18), seconds=20)
    assert time.monotonic() - began < 20
    assert answer.verdict is Verdict.VIOLATED
    # Without faults the sum is 136: without 16 to 5 it is still 10. The average is 8,
    # and 120 / 15 is 8 as well.
    assert len(answer.falsifiers[0]) == {"sum": 13, "avg": 2}[aggregate]


def test_the_smallest_eff_does_not_depend_on_the_one_that_was_given():
    checked = program(SEND, ARRIVES)
    expected = Breach(2, frozenset({Loss(1, "a", "b")}))
    assert smallest_eff(checked, scope(5)) == expected
    assert smallest_eff(checked, scope(5, 5)) == expected


def test_the_smallest_eff_is_0_where_crashes_do_and_none_where_nothing_does():
    checked = program(SEND, ARRIVES)
    assert smallest_eff(checked, scope(5, 3, 1)) == Breach(
        0, frozenset({Crash(1, "a")})
    )
    always = program(SEND, "pre(N, X) :- got(N, X); post(N, X) :- got(N, X);")
    assert smallest_eff(always, scope(5, 3, 1)) is None


def test_the_frontier_says_what_each_crash_saves_in_losses():
    checked = program(SEND, ARRIVES)
    assert list(frontier(checked, scope(4, 4, 1))) == [
        FrontierPoint(0, 1, 2, frozenset({Loss(1, "a", "b")}), exact=True),
        FrontierPoint(1, 0, 0, frozenset({Crash(1, "a")}), exact=True),
    ]
    assert list(frontier(checked, scope(4))) == [
        FrontierPoint(0, None, None, None, exact=True)
    ]


def test_names_and_texts_may_be_anything_that_the_language_allows():
    text = """
        node("A_1", "x \\ y")@1; node("A_1", "not")@1; Is.It?("A_1", "x \\ y")@1;
        Is.It?(N, X)@next :- Is.It?(N, X);
        not_(N, X) :- Is.It?(N, X), X != "not";
        pre(N, X) :- not_(N, X);
        post(N, X) :- not_(N, X), X == "x";
    """
    answer = search(program(text, nodes=("A_1",)), Scope(("A_1",), 2))
    assert answer.falsifiers == (NO_FAULTS,)
    encoding = Encoding(program(text, nodes=("A_1",)), Scope(("A_1",), 2))
    assert '"x \\\\ y"' in encoding.text


ANYTHING = """
p("a", "b", 1)@1;
p(N, X, Y)@next :- p(N, X, Y), notin lost(N, _);
lost(N, X)@next :- p(N, X, _), crash(N, _, T), T > 2;
some(N, count<X>) :- p(N, X, _);
pre(N) :- some(N, _), notin crash(_, N, _);
post(N) :- p(N, _, _);
"""


def test_no_projection_is_left_to_the_grounder():
    """It would copy each of them in every round that follows."""
    scope = Scope(("a", "b"), 4, 3, 1, delay=1)
    encoding = Encoding(program(ANYTHING), scope)
    assert not re.findall(r"[(,]_[,)]", encoding.text + UP)


def test_time_that_is_up_before_the_answer_makes_it_unknown():
    answer = search(program(SEND, ARRIVES), scope(50, 49), seconds=0.0)
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.bound == "seconds"


def test_time_that_is_up_after_a_counterexample_leaves_it(monkeypatch):
    asked = Solver.falsifier

    def limited(self: Solver, **limits: int) -> FaultSet | None:
        if limits:
            raise OutOfTime
        return asked(self)

    monkeypatch.setattr(Solver, "falsifier", limited)
    answer = search(program(SEND, ARRIVES), scope(3, 3, 1))
    assert answer.verdict is Verdict.VIOLATED
    assert answer.bound == "seconds"
    assert any("fewer faults" in note for note in answer.notes)


def test_an_interrupt_ends_a_search_with_what_is_known(monkeypatch):
    def interrupted(self: Solver, **limits: int) -> FaultSet | None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Solver, "falsifier", interrupted)
    answer = search(program(SEND, ARRIVES), scope(3, 3, 1))
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.bound == "interrupted"


def test_an_answer_that_a_run_denies_is_our_error(monkeypatch):
    monkeypatch.setattr(Solver, "falsifier", lambda self, **_: frozenset())
    with pytest.raises(InternalError, match=r"no faults break .* owes \[\('a', 7\)"):
        search(program(SEND, ARRIVES), scope(3, 3, 1))


def test_a_run_confirms_faults_or_denies_them():
    rerun = ProgramRerun(program(SEND, ARRIVES), scope(3, 3))
    lost = frozenset({Loss(1, "a", "b")})
    assert rerun.confirm(lost) == lost
    with pytest.raises(InternalError, match="loss b->a@1"):
        rerun.confirm(frozenset({Loss(1, "b", "a")}))


def test_partial_crashes_and_recovery_are_refused():
    checked = program(SEND, ARRIVES)
    with pytest.raises(UsageError, match="no partial crashes"):
        search(checked, Scope(("a", "b"), 3, 0, 1, CrashSemantics.PARTIAL))
    with pytest.raises(UsageError, match="start again"):
        search(checked, Scope(("a", "b"), 3, 0, 1, recovery=True))


@pytest.mark.parametrize(
    ("rule", "eot"),
    [
        ("n(N, X * X)@next :- n(N, X);", 6),
        ("n(N, X + X)@next :- n(N, X);", 30),
        ("n(N, sum<X>)@next :- n(N, X); n(N, X)@next :- n(N, X);", 32),
        ("n(N, X * 100000)@next :- n(N, X);", 3),
    ],
)
def test_numbers_that_outgrow_the_solver_are_refused(rule: str, eot: int):
    rules = """
        n("a", 7)@1; n("a", 8)@1;
        pre(N, X) :- n(N, X);
        post(N, X) :- n(N, X), X > 0;
    """
    with pytest.raises(
        UsageError, match=r"beyond (what the solver can count to|9223372036854775808)"
    ):
        search(program(rules, rule), scope(eot))


def test_a_number_that_is_too_large_is_refused():
    with pytest.raises(UsageError, match="cannot count to 3000000000"):
        search(program(SEND, 'start("a", 3000000000)@1;', ARRIVES), scope(3))


def test_a_missing_solver_is_told_with_the_line_that_installs_it(monkeypatch):
    imported = builtins.__import__

    def missing(name: str, *rest: object) -> object:
        if name == "clingo":
            raise ImportError(name)
        return imported(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(UsageError, match=r"pip install 'worldline\[faults\]'"):
        search(program(SEND, ARRIVES), scope(3))


def test_importing_the_search_imports_no_solver(tmp_path):
    import subprocess

    code = (
        "import sys, worldline.dedalus.symbolic.frontier;"
        "sys.exit('clingo' in sys.modules or 'lark' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert searching.MOST == 1000


def test_progress_is_told_round_by_round():
    told: list[str] = []
    search(program(SEND, ARRIVES), scope(3, 2), progress=told.append)
    assert told[0] == "round 1 of 3"
    assert told[-1] == "fault sets found: 1"
