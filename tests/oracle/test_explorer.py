"""The oracle is right where the answer is known by hand, and notices a difference."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.systems import gamblers, players
from tests.worlds.adapters import DirectAdapter, OracleAdapter
from tests.worlds.test_schedules import compare

import worldline as wl
import worldline.zoo.toy
from worldline.model.network.link import Link

A, B = wl.ids("a", "b")


def test_the_toy_has_its_published_counts():
    counts = explore(Oracle(worldline.zoo.toy.system()))
    assert (counts.distinct, counts.edges, counts.maximal_paths) == (16, 24, 20)
    assert (counts.generated, counts.depth) == (25, 7)
    assert (counts.violated, counts.deadlocks) == ({}, 0)


def test_an_endless_space_is_given_up_at_the_limit():
    system = worldline.zoo.toy.system()
    endless = wl.System(
        system.nodes,
        workload=system.workload,
        network=wl.message_set(),
    )
    # Queries are answered again and again, so that counters grow without end.
    with pytest.raises(AssertionError):
        explore(Oracle(endless), limit=100)


def test_violations_have_their_least_depth():
    # throw (both bounces), deliver, throw, deliver: the fourth event catches the second.
    assert explore(Oracle(players())).violated == {"nobody_catches_two": 5}


def test_a_failing_transition_is_counted_and_leads_nowhere():
    @wl.node
    class Broken:
        steps: int = 0

        @wl.call
        def go(self, ctx: wl.Context) -> None:
            self.steps += 1
            if ctx.choose([False, True]) or self.steps == 3:
                raise ValueError("broken")

    counts = explore(
        Oracle(wl.System({A: Broken()}, workload=[wl.whenever(Broken.go)]))
    )
    # Steps 0, 1, 2; from each one failure, from the last two.
    assert (counts.distinct, counts.generated, counts.depth) == (3, 7, 3)
    assert counts.violated == {"exception": 2}


def test_a_deadlock_is_a_state_with_nothing_but_faults_that_is_not_done():
    @wl.node
    class Stuck:
        @wl.call(when=lambda self: False)
        def never(self, ctx: wl.Context) -> None: ...

    def stuck(**options: Any) -> wl.System:
        script = wl.script(A, [Stuck.never])
        faults = wl.Faults(crashes=1)
        return wl.System({A: Stuck()}, workload=[script], faults=faults, **options)

    assert explore(Oracle(stuck())).deadlocks == 2
    assert explore(Oracle(stuck(done=lambda view: True))).deadlocks == 0


def test_every_combination_of_choices_is_tried_in_order():
    @wl.node
    class Chooser:
        @wl.call
        def choose(self, ctx: wl.Context) -> None:
            if ctx.choose([False, True]):
                ctx.random(3)

    oracle = Oracle(wl.System({A: Chooser()}, workload=[wl.whenever(Chooser.choose)]))
    found = [choices for _, choices, _ in oracle.successors(oracle.initial()[0])]
    assert found == [(0,), (1, 0), (1, 1), (1, 2)]


def test_initial_states_are_those_of_all_choices_at_boot():
    counts = explore(Oracle(gamblers()))
    # Four pairs of ranks; each message delivered or not.
    assert (counts.distinct, counts.depth) == (16, 3)
    assert counts.generated == 4 + 4 * 4


def test_a_step_leaves_the_state_it_starts_from_alone():
    oracle = Oracle(players())
    state = oracle.initial()[0]
    before = oracle.identity(state)
    list(oracle.successors(state))
    assert oracle.identity(state) == before


def test_the_comparison_of_worlds_notices_a_planted_fault(
    monkeypatch: pytest.MonkeyPatch,
):
    def forgets_nothing(self: Link, *, silent: bool) -> None:
        self.error_here = False

    system = players(
        both=True, network=wl.streams(), faults=wl.Faults(resets=2, silent_resets=2)
    )
    oracle, direct = OracleAdapter(system), DirectAdapter(system)
    monkeypatch.setattr(Link, "reset_here", forgets_nothing)
    rng = random.Random(0)
    with pytest.raises(AssertionError):
        sum(compare(oracle, [direct], rng, 15) for _ in range(200))
