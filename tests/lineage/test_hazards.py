from __future__ import annotations

import sys
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worldline.injection.formula import (
    ALWAYS,
    NEVER,
    Every,
    Formula,
    Injected,
    Some,
    Spared,
)
from worldline.injection.scope import Crash, Fault, FaultSet, Loss, Scope
from worldline.lineage.engines.hazards import cuts, hazards, is_admissible
from worldline.lineage.engines.space import fault_sets
from worldline.model.errors import UsageError

AB, BA = Loss(1, "a", "b"), Loss(1, "b", "a")
SCOPE = Scope(("a", "b"), eot=3, eff=3, crashes=1)


def lost(fault: Fault) -> Injected:
    return Injected(fault)


def test_all_supports_must_fall_and_each_falls_by_one_of_its_links():
    either = Some((lost(AB), lost(BA)))
    both = Every((either, lost(Loss(2, "a", "b"))))
    found = set(hazards(both, Scope(("a", "b"), eot=3, eff=3)))
    assert found == {frozenset({one, Loss(2, "a", "b")}) for one in (AB, BA)}


def test_a_link_falls_with_its_sender():
    found = set(hazards(lost(Loss(2, "a", "b")), SCOPE))
    assert found == {
        frozenset({Loss(2, "a", "b")}),
        frozenset({Crash(1, "a")}),
        frozenset({Crash(2, "a")}),
    }


def test_nothing_is_lost_from_the_end_of_finite_failures_on():
    assert list(hazards(lost(Loss(2, "a", "b")), Scope(("a", "b"), eot=3, eff=2))) == []


def test_no_more_nodes_crash_than_may():
    both = Every((lost(Crash(1, "a")), lost(Crash(1, "b"))))
    assert list(hazards(both, SCOPE)) == []
    two = Scope(("a", "b"), eot=3, crashes=2)
    assert list(hazards(both, two)) == [{Crash(1, "a"), Crash(1, "b")}]


def test_a_node_crashes_once():
    both = Every((lost(Crash(1, "a")), lost(Crash(2, "a"))))
    assert list(hazards(both, Scope(("a", "b"), eot=3, crashes=2))) == []


def test_a_seed_is_in_every_hazard_and_counts():
    seed = frozenset({Crash(3, "b")})
    found = list(hazards(Some((lost(AB), lost(Crash(1, "a")))), SCOPE, seed))
    assert found == [seed | {AB}]


def test_what_always_falls_needs_no_fault_and_what_never_does_has_no_hazard():
    assert list(hazards(ALWAYS, SCOPE)) == [frozenset()]
    assert list(hazards(NEVER, SCOPE)) == []


def test_a_deep_formula_is_no_problem():
    formula: Formula = lost(AB)
    for _ in range(3000):
        formula = Some((Every((formula, formula)),))
    assert set(hazards(formula, SCOPE)) == {
        frozenset({AB}),
        frozenset({Crash(1, "a")}),
    }


def test_without_the_solver_the_message_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "clingo", None)
    with pytest.raises(UsageError, match=r"pip install 'worldline\[faults\]'"):
        list(hazards(ALWAYS, SCOPE))


# ------------------------------------------------------------- against trying all sets


FAULTS: list[Fault] = [
    *[Loss(time, *ends) for time in (1, 2) for ends in ("ab", "ba")],
    *[Crash(time, node) for time in (1, 2, 3) for node in "ab"],
]


def gates(parts: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(parts, max_size=3).map(tuple)
    return several.map(Every) | several.map(Some)


LEAVES = st.sampled_from(FAULTS).map(Injected) | st.sampled_from(FAULTS).map(Spared)
FORMULAS = st.recursive(LEAVES, gates, max_leaves=12)
SCOPES = st.builds(
    Scope,
    st.just(("a", "b")),
    st.just(3),
    st.sampled_from([0, 2, 3]),
    st.integers(0, 2),
)


def is_true(formula: Formula, faults: FaultSet, scope: Scope) -> bool:
    match formula:
        case Injected(fault):
            return not faults.isdisjoint(cuts(fault, scope))
        case Spared(fault):
            return fault not in faults
        case Every(parts):
            return all(is_true(part, faults, scope) for part in parts)
        case Some(parts):
            return any(is_true(part, faults, scope) for part in parts)


@settings(max_examples=60, deadline=None)
@given(FORMULAS, SCOPES, st.sampled_from(FAULTS), st.booleans())
def test_it_finds_the_smallest_of_all_sets(
    formula: Formula, scope: Scope, fault: Fault, seeded: bool
):
    seeded = seeded and is_admissible(fault, scope)
    seed = frozenset({fault} if seeded else ())
    true = [
        faults
        for faults in fault_sets(scope)
        if seed <= faults and is_true(formula, faults, scope)
    ]
    least = {one for one in true if not any(other < one for other in true)}
    found = list(hazards(formula, scope, seed))
    assert len(found) == len(set(found))
    assert set(found) == least


def test_all_fault_sets_are_counted():
    """One loss may be or not be, in each direction; one of three crashes of each node."""
    scope = Scope(("a", "b"), eot=3, eff=2, crashes=1)
    found = list(fault_sets(scope))
    assert len(found) == len(set(found)) == 2**2 * (1 + 2 * 3)
    assert all(len(a) <= len(b) for a, b in combinations(found, 2))
