"""Searches with symmetry visit exactly one state of each orbit of random systems."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.alike import Plan, Space, TooLarge, plan_of, reports_of
from tests.shares import share

import worldline as wl
from worldline.engine.native import library
from worldline.worlds.symmetry_check import SymmetryCheck

LARGEST = 300
"""States beyond which orbits are not enumerated."""


def space_of(plan: Plan) -> Space | None:
    try:
        return Space(plan.build(symmetry=True), LARGEST)
    except TooLarge:
        return None


def essence(report: wl.Report) -> object:
    """What symmetry must not change: verdicts, and how far violations are."""
    rows = {known.name: (known.verdict, known.steps) for known in report.properties}
    return (report.depth, report.bound, rows)


def agree(plan: Plan) -> None:
    space = space_of(plan)
    if space is None:
        return
    folded, plain = reports_of(plan, deadlock=True)
    assert essence(folded) == essence(plain)
    if library.available():
        native = wl.check(
            plan.build(symmetry=True),
            deadlock=True,
            traces=False,
            keep_going=True,
            engine="native",
            threads=1 + len(plan.calls),
        )
        assert native.properties == folded.properties
        for name in ("states", "generated", "depth", "bound"):
            assert getattr(native, name) == getattr(folded, name)
    if folded.bound is None:
        orbits = space.orbits()
        assert folded.states == len(orbits)
        moves = sum(space.moves[key] for key in orbits.values())
        assert folded.generated == len(space.roots) + moves
        if len(orbits) < 30:
            deep, _ = reports_of(plan, depth_first=True, max_depth=30)
            assert deep.states == folded.states


def commute(plan: Plan) -> None:
    """Steps and renamings can change places, and a renaming can be undone."""
    space = space_of(plan)
    for row in [] if space is None else list(space.rows.values())[::7]:
        assert space is not None
        here = space.expander.successors(row, 0)
        for names in space.permutations():
            there = space.expander.successors(space.renamed(row, names), 0)
            assert {tuple(new) for _, new, _, leaf in there if not leaf.failed} == {
                tuple(space.renamed(new, names))
                for _, new, _, leaf in here
                if not leaf.failed
            }
            inverse = {image: node for node, image in names.items()}
            assert space.renamed(space.renamed(row, names), inverse) == row


@pytest.mark.parametrize("first", share(range(0, 60, 10), only=[50]))
def test_one_state_of_each_orbit_is_visited(first: int) -> None:
    for seed in range(first, first + 10):
        agree(plan_of(seed))


def crashing(seed: int) -> Plan:
    """A random plan on datagrams, with nodes that are down while messages arrive."""
    network = "queues" if seed % 2 else "datagrams"
    return replace(plan_of(seed), network=network, faults=("crashes", "restarts"))


def test_one_state_of_each_orbit_is_visited_where_nodes_are_down() -> None:
    for seed in range(2):
        agree(crashing(seed))


@pytest.mark.nightly
def test_one_state_of_each_orbit_is_visited_where_nodes_are_down_in_many() -> None:
    for seed in range(2, 300):
        agree(crashing(seed))


def test_steps_commute_with_renaming() -> None:
    for seed in range(10):
        commute(plan_of(seed))
    for seed in range(2):
        commute(crashing(seed))


def test_all_rows_of_an_orbit_have_one_canonical_row_in_any_order() -> None:
    """Neither names nor the numbers of interned values make a difference."""
    for seed in range(0, 30, 2):
        space, again = space_of(plan_of(seed)), space_of(plan_of(seed))
        if space is None or again is None:
            continue
        found: list[list[int]] = []
        for own, step in ((space, 1), (again, -1)):
            tables = own.world.tables
            canonical = SymmetryCheck(own.world).symmetry.canonical
            prints = {
                tables.fingerprint(row): tables.fingerprint(canonical(row))
                for row in list(own.rows.values())[::step]
            }
            found.append([prints[key] for key in sorted(prints)])
        assert found[0] == found[1]
        canonical = SymmetryCheck(space.world).symmetry.canonical
        for orbit in space.orbits():
            assert len({tuple(canonical(list(row))) for row in orbit}) == 1
            assert tuple(canonical(list(next(iter(orbit))))) in orbit


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(500, 3_000, 500))
def test_one_state_of_each_of_many_orbits_is_visited(first: int) -> None:
    for seed in range(first, first + 500):
        agree(plan_of(seed))


@pytest.mark.nightly
def test_the_plans_reach_large_orbits_and_violations() -> None:
    """The comparisons above would be empty if little ever happened."""
    largest, violated = 0.0, set()
    for seed in range(60, 100):
        space = space_of(plan_of(seed))
        if space is not None and space.rows:
            largest = max(largest, len(space.rows) / len(space.orbits()))
            folded, _ = reports_of(plan_of(seed))
            violated |= {p.name for p in folded.properties if p.steps is not None}
    assert largest > 4
    assert {"friends_are_not_mutual", "exception"} <= violated
