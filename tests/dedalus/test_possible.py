"""What may hold under any faults: of random programs, all that does in some run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dedalus.random_faults import fault_sets, scopes
from tests.dedalus.random_programs import checked, programs

from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.dedalus.possible import PossibleFacts
from worldline.dedalus.walk import CRASH
from worldline.injection.scope import Scope

NODES = ("a", "b")


def whatever_holds_may_hold(data: st.DataObject) -> None:
    program = checked(data.draw(programs(NODES)), NODES)
    scope = data.draw(scopes(NODES, delay=1))
    possible = PossibleFacts(program, scope)
    faults = data.draw(fault_sets(scope))
    run = evaluate(compile_program(program), faults, scope.eot, scope.semantics)
    for relation, row, time in run.tuples():
        rows = possible.rows(relation, row, time)
        assert rows is None or row in list(rows)


@settings(max_examples=10)
@given(st.data())
def test_whatever_holds_in_a_run_may_hold(data: st.DataObject):
    whatever_holds_may_hold(data)


@pytest.mark.nightly
@settings(max_examples=400)
@given(st.data())
def test_whatever_holds_in_many_runs_may_hold(data: st.DataObject):
    whatever_holds_may_hold(data)


RULES = """
    link("a", "b")@1;
    start("a", 7)@1;
    got(M, X)@async :- start(N, X), link(N, M), notin got(M, X);
    seen(N, count<X>) :- got(N, X);
    sees(N, X) :- seen(N, X);
    gone(N, 1) :- crash(N, N, _), link(N, _);
    pre(N, X) :- got(N, X);
    post(N, X) :- got(N, X);
"""


def test_it_is_told_where_and_when_and_by_what_columns():
    possible = PossibleFacts(checked(RULES), Scope(NODES, 3, 2, 1))
    assert list(possible.rows("got", ("b", None), 2) or ()) == [("b", 7)]
    assert list(possible.rows("got", ("a", None), 2) or ()) == []
    assert list(possible.rows("got", (None, None), 1) or ()) == []


def test_of_counts_crashes_and_late_messages_nothing_is_known():
    possible = PossibleFacts(checked(RULES), Scope(NODES, 3, 2, 1))
    for relation in ("seen", "sees", "gone", CRASH):
        assert possible.rows(relation, (None, None), 2) is None
    late = PossibleFacts(checked(RULES), Scope(NODES, 3, 2, 1, delay=1))
    assert late.rows("got", (None, None), 2) is None
