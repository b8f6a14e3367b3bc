"""Consequence prediction in the reference: published counts, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.engine.exploring import counts, explored, outcome
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import FINITE

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.consequence import consequence
from worldline.loading.loader import load
from worldline.runs.start import starts


def toy() -> wl.System:
    return load("zoo:toy", {})


def test_the_printed_algorithm_has_the_published_counts() -> None:
    """CrystalBall, appendix A: 14 edges lead on; both calls at once are skipped."""
    search = explored(toy(), consequence, repeat_cost=None)
    found = search.statistics
    executions, fresh = found.generated - 1, found.states - 1
    assert (found.states, executions, fresh) == (15, 18, 14)


def test_a_search_that_forgets_steps_is_never_exhaustive() -> None:
    search = explored(toy(), consequence, repeat_cost=None)
    assert (search.bound, search.exhausted) == ("pruned own steps", False)


@pytest.mark.parametrize("price", [1, 2, 6])
def test_with_all_taken_up_again_the_toy_is_exhausted(price: int) -> None:
    search = explored(toy(), consequence, repeat_cost=price)
    assert search.exhausted
    found = search.statistics
    assert (found.states, found.generated, found.put_off) == (16, 25, 4)


def lose_nothing(build: Callable[[], wl.System], price: int) -> None:
    """Compare a search to the end with an exhaustive one."""
    whole = explored(build(), breadth_first, keep_going=True, deadlock=True)
    search = explored(
        build(), consequence, repeat_cost=price, keep_going=True, deadlock=True
    )
    assert search.exhausted
    for name in ("states", "generated", "pruned", "frontier"):
        assert counts(search)[name] == counts(whole)[name]
    assert search.hits.keys() == whole.hits.keys()
    assert search.failures.keys() == whole.failures.keys()
    assert (search.deadlock is None) == (whole.deadlock is None)


@pytest.mark.parametrize("price", [1, 6])
@pytest.mark.parametrize("build", share(FINITE, every=3))
def test_nothing_is_lost(build: Callable[[], wl.System], price: int) -> None:
    lose_nothing(build, price)


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("zoo:twophase", {"n": "3"}),
        ("zoo:paxos-clients", {"clients": "1"}),
        ("zoo:abd", {}),
        ("zoo:brokentree", {}),
    ],
    ids=str,
)
def test_nothing_is_lost_in_the_zoo(target: str, parameters: dict[str, str]) -> None:
    lose_nothing(lambda: load(target, parameters), 6)


def lose_nothing_of(plan: Plan, price: int) -> None:
    assume(all(start.failure is None for start in starts(plan.build())))
    most = Bounds(states=2_000)
    small = explored(plan.build(), breadth_first, bounds=most, keep_going=True)
    assume(small.exhausted)
    lose_nothing(plan.build, price)


@pytest.mark.slow
@given(plans, st.integers(1, 8))
@settings(max_examples=6, suppress_health_check=list(HealthCheck), deadline=None)
def test_nothing_is_lost_in_random_systems(plan: Plan, price: int) -> None:
    lose_nothing_of(plan, price)


@pytest.mark.nightly
@given(plans, st.integers(1, 8))
@settings(max_examples=1_000, suppress_health_check=list(HealthCheck), deadline=None)
def test_nothing_is_lost_in_many_random_systems(plan: Plan, price: int) -> None:
    lose_nothing_of(plan, price)


@pytest.mark.parametrize(
    "step",
    share([{"states": 3}, {"states": 1}, {"cost": 1}, {"cost": 2}], every=2),
    ids=str,
)
@pytest.mark.parametrize("price", [1, 3, None])
def test_going_on_is_running_through(step: dict[str, int], price: int | None) -> None:
    whole = explored(toy(), consequence, repeat_cost=price)
    ((name, size),) = step.items()
    search = explored(toy(), consequence, repeat_cost=price, bounds=Bounds(**step))
    bound, stops = size, 0
    while search.bound == name:
        stops += 1
        bound += size
        once = explored(
            toy(), consequence, repeat_cost=price, bounds=Bounds(**{name: bound})
        )
        search.lift(Bounds(**{name: bound}))
        search.run(consequence)
        assert outcome(search) == outcome(once)
    assert stops > 2
    assert outcome(search) == outcome(whole)


def test_what_is_held_is_also_what_does_not_count_yet() -> None:
    """Of the second cost of the toy, which has two states, one counts."""
    search = explored(toy(), consequence, bounds=Bounds(states=2))
    assert (search.statistics.states, search.statistics.held) == (2, 3)
    search.lift(Bounds())
    search.run(consequence)
    assert search.statistics.held == search.statistics.states == 16


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(wl.UsageError, match="depth"):
        explored(toy(), consequence, bounds=Bounds(depth=3))
    with pytest.raises(wl.UsageError, match="repeat_cost=0"):
        explored(toy(), consequence, repeat_cost=0)


def test_a_search_that_ended_in_the_midst_of_a_step_does_not_go_on() -> None:
    search = explored(toy(), consequence)
    search.bound = "memory"
    with pytest.raises(wl.UsageError, match="cannot go on"):
        search.lift(Bounds())
