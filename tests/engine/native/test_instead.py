"""What happens instead of blocked events, in the compiled kernel: as in the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.engine.exploring import explored, outcome
from tests.engine.test_instead import filters_of
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import FINITE, VARIANTS

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.consequence import consequence
from worldline.engine.native.consequence import consequence as compiled
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.model.filters import EventFilter
from worldline.runs.start import starts
from worldline.worlds.instead import Blocking
from worldline.worlds.tabulated import TabulatedWorld

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

ZOO = [
    ("zoo:paxos", {"bugs": "cb1", "start": "chosen"}),
    ("zoo:randtree", {"bugs": "cb1", "start": "cb1", "silent_resets": "1"}),
]


def searched(
    world: TabulatedWorld, run: Any, filters: list[EventFilter], **options: Any
) -> Any:
    instead = Blocking(world.stead, filters) if filters else None
    return outcome(explored(world, run, instead=instead, **options))


def compare(
    build: Callable[[], wl.System],
    choose: Callable[[list[EventFilter]], list[list[EventFilter]]],
    **options: Any,
) -> None:
    """Explore with the reference and the kernel: without filters, with some, and without.

    The tables stay; what a search with filters has taught them is good for all.
    """
    reference, world = TabulatedWorld(build()), TabulatedWorld(build())
    plain = searched(reference, consequence, [], **options)
    some = choose(filters_of(reference))
    expected = [searched(reference, consequence, one, **options) for one in some]
    cold = searched(TabulatedWorld(build()), consequence, some[0], **options)
    assert cold == expected[0]
    for threads in (1, 2):
        options["threads"] = threads
        found = [searched(world, compiled, one, **options) for one in some]
        assert found == expected
        assert searched(world, compiled, [], **options) == plain


def each(filters: list[EventFilter]) -> list[list[EventFilter]]:
    """Each alone, as far as time allows, and all at once."""
    return [*([one] for one in filters[:3]), filters]


@pytest.mark.parametrize("build", share(FINITE, every=3, first=2))
def test_whole_spaces_are_alike(build: Callable[[], wl.System]) -> None:
    compare(build, each, repeat_cost=2, deadlock=True, keep_going=True)


@pytest.mark.nightly
@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_spaces_are_alike_up_to_a_cost(build: Callable[[], wl.System]) -> None:
    bounds = Bounds(states=400)
    compare(build, each, bounds=bounds, repeat_cost=1, keep_going=True)


@pytest.mark.parametrize(("target", "parameters"), ZOO, ids=str)
def test_the_zoo_is_alike(target: str, parameters: dict[str, str]) -> None:
    bounds = Bounds(states=300)
    compare(lambda: load(target, parameters), each, bounds=bounds)


def agree(plan: Plan, price: int | None, seed: int) -> None:
    assume(all(start.failure is None for start in starts(plan.build())))

    def choose(filters: list[EventFilter]) -> list[list[EventFilter]]:
        assume(filters)
        some = [one for number, one in enumerate(filters) if seed >> number % 16 & 1]
        return [[filters[seed % len(filters)]], some]

    compare(
        plan.build,
        choose,
        bounds=Bounds(states=1_000),
        repeat_cost=price,
        keep_going=True,
        deadlock=True,
    )


@pytest.mark.slow
@given(plans, st.sampled_from([1, 6, None]), st.integers(0, 2**16))
@settings(max_examples=6, suppress_health_check=list(HealthCheck), deadline=None)
def test_random_systems_are_alike(plan: Plan, price: int | None, seed: int) -> None:
    agree(plan, price, seed)


@pytest.mark.nightly
@given(plans, st.sampled_from([1, 6, None]), st.integers(0, 2**16))
@settings(max_examples=1_000, suppress_health_check=list(HealthCheck), deadline=None)
def test_many_random_systems_are_alike(
    plan: Plan, price: int | None, seed: int
) -> None:
    agree(plan, price, seed)
