"""Searches with symmetry visit exactly one state of each orbit of random systems."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.alike import Plan, Space, TooLarge, plans, reports_of

import worldline as wl
from worldline.model.verdicts import Verdict

LARGEST = 400
"""States beyond which orbits are not enumerated."""


def space_of(plan: Plan) -> Space:
    try:
        return Space(plan.build(symmetry=True), LARGEST)
    except TooLarge:
        assume(False)
        raise


def essence(report: wl.Report) -> object:
    """What symmetry must not change: verdicts, and how far violations are."""
    rows = {known.name: (known.verdict, known.steps) for known in report.properties}
    return (report.depth, report.bound, rows)


def agree(plan: Plan) -> None:
    space = space_of(plan)
    folded, plain = reports_of(plan, deadlock=True)
    assert essence(folded) == essence(plain)
    if folded.bound is None:
        orbits = space.orbits()
        assert folded.states == len(orbits)
        moves = sum(space.moves[key] for key in orbits.values())
        assert folded.generated == len(space.roots) + moves
        deep, _ = reports_of(plan, strategy="depth-first", max_depth=200)
        assert deep.states == folded.states


def commute(plan: Plan) -> None:
    """Steps and renamings can change places."""
    space = space_of(plan)
    for row in list(space.rows.values())[::7]:
        for names in space.permutations():
            there = space.expander.successors(space.renamed(row, names), 0)
            here = space.expander.successors(row, 0)
            assert {tuple(new) for _, new, _, leaf in there if not leaf.failed} == {
                tuple(space.renamed(new, names))
                for _, new, _, leaf in here
                if not leaf.failed
            }
            inverse = {image: node for node, image in names.items()}
            assert space.renamed(space.renamed(row, names), inverse) == row


@pytest.mark.slow
@given(plans)
@settings(max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)
def test_one_state_of_each_orbit_is_visited(plan: Plan) -> None:
    agree(plan)


@pytest.mark.slow
@given(plans)
@settings(max_examples=20, suppress_health_check=list(HealthCheck), deadline=None)
def test_steps_commute_with_renaming(plan: Plan) -> None:
    commute(plan)


@pytest.mark.nightly
@given(plans)
@settings(max_examples=1_500, suppress_health_check=list(HealthCheck), deadline=None)
def test_one_state_of_each_of_many_orbits_is_visited(plan: Plan) -> None:
    agree(plan)


def test_the_plans_reach_violations_and_large_orbits() -> None:
    """The comparison above would be empty if nothing ever happened."""
    table = ((("greet", 1), ("befriend", 0)), (("reply", 0), ("befriend", 1)))
    plan = Plan(
        tables=(table,) * 3,
        sizes=(3,),
        hub=False,
        fuel=1,
        network="datagrams",
        faults=(),
        options=(),
        calls=(0,),
        observed=True,
    )
    folded, plain = reports_of(plan)
    assert 5 * folded.states < plain.states
    found = folded.expect_violated("friends_are_not_mutual")
    assert found.verdict is Verdict.VIOLATED
    assert found.steps == plain.expect_violated("friends_are_not_mutual").steps
