"""The solver against running everything, on programs that nobody thought of."""

from __future__ import annotations

import clingo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.dedalus.random_faults import (
    all_fault_sets,
    fault_sets,
    owes_by_force,
    scopes,
    small_scopes,
    smallest_by_force,
)
from tests.dedalus.random_programs import checked, programs

from worldline.dedalus.check import CheckedProgram
from worldline.dedalus.compile import compile_program
from worldline.dedalus.evaluate import evaluate
from worldline.dedalus.symbolic.encoding import SEEK_OWING, Encoding, always_needed
from worldline.dedalus.symbolic.faults import chosen
from worldline.dedalus.symbolic.search import search
from worldline.dedalus.symbolic.words import Relations
from worldline.dedalus.templates import FactRow
from worldline.injection.scope import FaultSet, Scope
from worldline.model.verdicts import Verdict

THREE = ("a", "b", "c")


def examples(number: int) -> settings:
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def agrees(text: str, scope: Scope) -> None:
    program = checked(text, scope.nodes)
    answer = search(program, scope, every=True)
    expected = smallest_by_force(program, scope)
    assert set(answer.falsifiers) == expected
    assert len(answer.falsifiers) == len(expected)
    if expected:
        assert answer.verdict is Verdict.VIOLATED
        one = search(program, scope)
        assert len(one.falsifiers[0]) == min(map(len, expected))
        assert one.falsifiers[0] in expected
    else:
        owes = owes_by_force(program, scope)
        assert answer.verdict is (Verdict.HOLDS if owes else Verdict.UNKNOWN)
        assert answer.vacuous is not owes


@pytest.mark.slow
@examples(6)
@given(programs(), small_scopes())
def test_the_solver_finds_what_running_everything_finds(text: str, scope: Scope):
    agrees(text, scope)


@pytest.mark.nightly
@examples(400)
@given(programs(), small_scopes())
def test_the_solver_finds_what_running_everything_finds_many_times(
    text: str, scope: Scope
):
    agrees(text, scope)


@pytest.mark.nightly
@examples(60)
@given(programs(THREE), small_scopes(THREE))
def test_the_solver_finds_what_running_everything_finds_with_three_nodes(
    text: str, scope: Scope
):
    agrees(text, scope)


def world_of_solver(
    program: CheckedProgram, scope: Scope, faults: FaultSet
) -> set[tuple[str, FactRow, int]]:
    """Return all that the encoding derives under given faults."""
    control = clingo.Control(["--warn=none"])
    # Every relation, not only what the question needs: the rules of the end as well.
    control.add(
        Encoding(program, scope).text.replace(f":-not broken,not {SEEK_OWING}.", "")
    )
    control.add("given", [], " ".join(f":-not {atom}." for atom in chosen(faults)))
    control.ground([("base", [])])
    control.ground([("given", []), ("faults", [clingo.Number(len(faults))])])
    for t in range(1, scope.eot + 1):
        for part in ["now", "later"] if t < scope.eot else ["now", "end"]:
            control.ground([(part, [clingo.Number(t)])])
    control.assign_external(clingo.parse_term(f"faults({len(faults)})"), True)
    found: list[set[tuple[str, FactRow, int]]] = []
    relations = Relations(program.program)
    names = {
        relations.predicate(name): name
        for name in program.columns.arity
        if name != "crash"
    }
    with control.solve(yield_=True) as handle:
        for model in handle:
            found.append(set())
            for symbol in model.symbols(atoms=True):
                if symbol.name in names:
                    *row, time = map(_value, symbol.arguments)
                    found[-1].add((names[symbol.name], tuple(row), int(time)))
    assert len(found) == 1, "the program has one meaning under given faults"
    return found[0]


def _value(symbol: clingo.Symbol) -> str | int:
    if symbol.type is clingo.SymbolType.Number:
        return symbol.number
    return symbol.string


def means_the_same(program: CheckedProgram, scope: Scope, faults: FaultSet) -> None:
    run = evaluate(compile_program(program), faults, scope.eot, scope.semantics)
    expected = {fact for fact in run.tuples() if fact[0] != "crash"}
    derived = world_of_solver(program, scope, faults)
    always = always_needed(program.program)
    # What only the specification reads, the encoding derives at the end alone.
    for found in (expected, derived):
        for name, row, time in sorted(found, key=repr):
            if time > scope.eot or (time < scope.eot and name not in always):
                found.remove((name, row, time))
    assert derived == expected


@pytest.mark.slow
@examples(15)
@given(programs(), small_scopes(), st.data())
def test_every_fact_of_every_round_is_derived_as_in_a_run(
    text: str, scope: Scope, data: st.DataObject
):
    faults = data.draw(st.sampled_from(list(all_fault_sets(scope))))
    means_the_same(checked(text, scope.nodes), scope, faults)


@pytest.mark.nightly
@examples(400)
@given(programs(), small_scopes(), st.data())
def test_every_fact_of_every_round_is_derived_as_in_a_run_many_times(
    text: str, scope: Scope, data: st.DataObject
):
    faults = data.draw(st.sampled_from(list(all_fault_sets(scope))))
    means_the_same(checked(text, scope.nodes), scope, faults)


@pytest.mark.slow
@examples(10)
@given(programs(THREE), scopes(delay=1), st.data())
def test_larger_programs_mean_the_same(text: str, scope: Scope, data: st.DataObject):
    means_the_same(checked(text, THREE), scope, data.draw(fault_sets(scope)))


@pytest.mark.nightly
@examples(300)
@given(programs(THREE), scopes(delay=1), st.data())
def test_larger_programs_mean_the_same_many_times(
    text: str, scope: Scope, data: st.DataObject
):
    means_the_same(checked(text, THREE), scope, data.draw(fault_sets(scope)))
