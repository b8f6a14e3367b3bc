"""Steps that touch nothing in common are independent, in random systems."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.model.test_faults import A, B, C, shop
from tests.search.test_random_systems import Plan, plans

import worldline as wl
from worldline.engine.expand import Expander
from worldline.engine.tables import Entry, Leaf, Row
from worldline.runs.start import starts
from worldline.worlds.footprints import Footprints
from worldline.worlds.tabulated import TabulatedWorld

Step = tuple[Entry, Leaf, Row]

LARGEST = 150
"""States of a system that are looked at."""


class Space:
    """The first states of a system, and what the tables say of them."""

    def __init__(self, system: wl.System) -> None:
        self.world = TabulatedWorld(system)
        self.expander = Expander(self.world.tables, self.world)
        self.footprints = Footprints(self.world.system)
        self.rows = [
            self.world.encode(start.snapshot)
            for start in starts(self.world.system)
            if start.snapshot is not None
        ]
        met = set(map(tuple, self.rows))
        for row in self.rows:
            for _, _, new in self.steps(row):
                if len(self.rows) < LARGEST and tuple(new) not in met:
                    met.add(tuple(new))
                    self.rows.append(new)

    def steps(self, row: Row) -> list[Step]:
        """What can happen in a state without a failure, and what is then."""
        return [
            (entry, leaf, new)
            for _, new, entry, leaf in self.expander.successors(row, 0)
            if not leaf.failed
        ]

    def after(self, row: Row, entry: Entry) -> list[tuple[int, tuple[int, ...]]]:
        """The outcomes of an event in a state, each with what is then."""
        return [
            (leaf.number, tuple(self.expander.step(row, 0, entry, leaf)[1]))
            for leaf in self.expander.outcomes(entry, row)
        ]

    def check(self) -> tuple[int, int]:
        """Check all pairs of steps; return how many are independent, and dependent."""
        apart = together = 0
        for row in self.rows:
            for one, other in itertools.permutations(self.steps(row), 2):
                if self.may_commute(one, other):
                    self.commute(row, one, other)
                    apart += 1
                else:
                    together += 1
        return apart, together

    def may_commute(self, one: Step, other: Step) -> bool:
        left, right = self.slots(one), self.slots(other)
        return not (left is None or right is None or set(left) & set(right))

    def slots(self, step: Step) -> tuple[int, ...] | None:
        entry, leaf, _ = step
        changes: Any = [(one.column, one.operation) for one in leaf.changes]
        return self.footprints.slots(entry.event, changes, leaf.detail)

    def commute(self, row: Row, one: Step, other: Step) -> None:
        first, leaf, new = one
        second, outcome, _ = other
        assert second in self.expander.enabled(new), (first.event, second.event)
        then = dict(self.after(new, second))
        # The same outcomes, all of them, and the one in question to the same end.
        assert list(then) == [number for number, _ in self.after(row, second)]
        assert then[outcome.number] == dict(self.after(other[2], first))[leaf.number]


def test_a_datagram_that_is_lost_and_the_last_restart_are_not_independent() -> None:
    """Once it is spent at another node, what is under way to this one stays."""
    system = shop(
        (A, B, C), faults=wl.Faults(crashes=2, restarts=1, nodes=(B, C))
    ).system
    apart, together = Space(system).check()
    assert apart
    assert together


@pytest.mark.slow
@given(plans)
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_steps_with_nothing_in_common_are_independent(plan: Plan) -> None:
    Space(plan.build()).check()


@pytest.mark.nightly
@given(plans)
@settings(max_examples=3_000, suppress_health_check=list(HealthCheck))
def test_steps_with_nothing_in_common_are_independent_in_many(plan: Plan) -> None:
    Space(plan.build()).check()
