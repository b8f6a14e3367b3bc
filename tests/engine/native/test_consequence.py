"""Consequence prediction in the compiled kernel: the same as in the reference."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.consequence import PLACES
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.engine.exploring import exploration, explored, outcome
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import FINITE, VARIANTS

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.consequence import consequence
from worldline.engine.native.consequence import consequence as compiled
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.runs.start import starts
from worldline.search.engines import choose
from worldline.worlds.tabulated import TabulatedWorld

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

ROOT = Path(__file__).resolve().parents[3]
PRICES = [1, 2, 6, None]
ZOO = [
    ("zoo:toy", {}),
    ("zoo:twophase", {"n": "3"}),
    ("zoo:brokentree", {"bugs": "bt2"}),
    ("zoo:paxos", {"bugs": "cb1", "start": "chosen"}),
    ("zoo:randtree", {"bugs": "cb1", "start": "cb1", "silent_resets": "1"}),
    ("zoo:randtree", {"start": "cb5", "resets": "1", "connection_errors": "1"}),
]


def compare(
    build: Callable[[], wl.System], *, threads: tuple[int, ...] = (1, 2), **options: Any
) -> Any:
    """Explore with the reference and the kernel; with the tables cold, then warm."""
    expected = outcome(explored(build(), consequence, **options))
    for count in threads:
        world = TabulatedWorld(build())
        for _ in ("cold", "warm"):
            search = explored(world, compiled, threads=count, **options)
            assert outcome(search) == expected
    return expected


@pytest.mark.parametrize("price", [2, None])
@pytest.mark.parametrize("build", share(FINITE, every=3, first=1))
def test_whole_spaces_are_alike(
    build: Callable[[], wl.System], price: int | None
) -> None:
    compare(build, repeat_cost=price, deadlock=True, keep_going=True)


@pytest.mark.parametrize("build", share(FINITE, every=2))
def test_the_first_violation_is_alike(build: Callable[[], wl.System]) -> None:
    compare(build, deadlock=True)


@pytest.mark.parametrize(
    "cost", [2, pytest.param(5, marks=pytest.mark.nightly)], ids=str
)
@pytest.mark.parametrize("build", share(VARIANTS, every=3))
def test_spaces_are_alike_up_to_a_cost(
    build: Callable[[], wl.System], cost: int
) -> None:
    compare(
        build, bounds=Bounds(cost=cost), repeat_cost=1, deadlock=True, keep_going=True
    )


@pytest.mark.parametrize(("target", "parameters"), ZOO, ids=str)
@pytest.mark.parametrize("price", share([6, None], every=2))
def test_the_zoo_is_predicted_alike(
    target: str, parameters: dict[str, str], price: int | None
) -> None:
    bounds = Bounds(states=300)
    compare(lambda: load(target, parameters), repeat_cost=price, bounds=bounds)


@pytest.mark.nightly
@pytest.mark.parametrize("price", [6, None])
@pytest.mark.parametrize("place", PLACES)
def test_large_predictions_are_alike(place: str, price: int | None) -> None:
    """Rows are packed anew, and levels have many chunks."""
    bounds = Bounds(states=20_000)
    target, parameters = PLACES[place]
    compare(lambda: load(target, parameters), repeat_cost=price, bounds=bounds)


def test_a_prune_cuts_the_same_states() -> None:
    def one_asks(view: wl.View) -> bool:
        return bool(sum(view[node].counter for node in view.nodes) == 2)

    compare(lambda: load("zoo:toy", {}), prune=one_asks)


@pytest.mark.parametrize("price", [1, 6, None])
def test_whole_states_may_be_compared(price: int | None) -> None:
    compare(
        FINITE["players on streams"], repeat_cost=price, exact=True, keep_going=True
    )


@pytest.mark.parametrize("name", ["states", "cost"])
@pytest.mark.parametrize("price", [2, None])
def test_going_on_is_running_through(name: str, price: int | None) -> None:
    def build() -> wl.System:
        return load("zoo:twophase", {"n": "3"})

    search = exploration(build(), repeat_cost=price)
    size = 15 if name == "states" else 2
    for bound in itertools.count(size, size):
        bounds = Bounds(**{name: bound})
        search.lift(bounds)
        search.run(compiled)
        once = explored(build(), consequence, repeat_cost=price, bounds=bounds)
        assert outcome(search) == outcome(once)
        if search.bound != name:
            break
    assert bound > 2 * size


def test_a_search_that_ran_out_of_time_goes_on() -> None:
    def build() -> wl.System:
        return load("zoo:twophase", {"n": "4"})

    expected = outcome(explored(build(), consequence, repeat_cost=2))
    for run in (consequence, compiled):
        search = exploration(build(), repeat_cost=2)
        ended = 0
        for seconds in itertools.count(1):
            search.lift(Bounds(seconds=seconds / 1000))
            search.run(run)
            if search.bound is None:
                break
            ended += 1
        assert ended
        assert outcome(search) == expected


def test_what_a_search_holds_is_given_back_when_it_is_told_to() -> None:
    search = explored(load("zoo:toy", {}), compiled)
    kept = search.unfinished.kernel.ways.forget
    assert kept.alive
    search.unfinished = None
    assert not kept.alive


def test_it_can_be_chosen() -> None:
    assert choose("native", by_cost=True).run is compiled
    assert choose("python", by_cost=True).run is consequence


def told(engine: str, hash_seed: str, threads: int) -> str:
    """What a process with a hash seed says of two predictions."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.telling", engine, str(threads)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_hash_seeds_do_not_matter() -> None:
    runs = {told("python", "1", 1), told("python", "2", 1), told("native", "3", 2)}
    (once,) = runs
    assert "children_are_not_siblings" in once


def agree(plan: Plan, price: int | None, bounds: Bounds) -> None:
    assume(all(start.failure is None for start in starts(plan.build())))
    compare(
        plan.build, bounds=bounds, repeat_cost=price, keep_going=True, deadlock=True
    )


some_bounds = st.builds(
    Bounds,
    states=st.one_of(st.just(3_000), st.integers(1, 60)),
    cost=st.one_of(st.none(), st.integers(0, 8)),
)


@pytest.mark.slow
@given(plans, st.sampled_from(PRICES), some_bounds)
@settings(max_examples=8, suppress_health_check=list(HealthCheck), deadline=None)
def test_random_systems_are_predicted_alike(
    plan: Plan, price: int | None, bounds: Bounds
) -> None:
    agree(plan, price, bounds)


@pytest.mark.nightly
@given(plans, st.sampled_from(PRICES), some_bounds)
@settings(max_examples=1_000, suppress_health_check=list(HealthCheck), deadline=None)
def test_many_random_systems_are_predicted_alike(
    plan: Plan, price: int | None, bounds: Bounds
) -> None:
    agree(plan, price, bounds)
