"""The states beyond which a search saw nothing new: the same from either engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import FINITE, VARIANTS

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.exploration import Exploration, Options, StateCheck
from worldline.engine.native.breadth_first import breadth_first as compiled
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.runs.start import starts
from worldline.worlds.tabulated import TabulatedWorld

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

Strategy = Callable[[Exploration], None]


def explore(
    system: wl.System, run: Strategy, threads: int = 1, **bounds: Any
) -> tuple[TabulatedWorld, Exploration]:
    world = TabulatedWorld(system)
    roots = [s.snapshot for s in starts(system) if s.snapshot is not None]
    search = Exploration(
        world.tables,
        world,
        [world.encode(root) for root in roots],
        [
            StateCheck(world.decision(p), target=False, fatal=True)
            for p in system.properties
        ],
        bounds=Bounds(**bounds),
        options=Options(periphery=True, threads=threads, keep_going=True),
    )
    search.run(run)
    return world, search


def periphery(system: wl.System, run: Strategy, threads: int = 1, **bounds: Any) -> Any:
    """What it is made of, in order, and the bound that ended the search."""
    world, search = explore(system, run, threads, **bounds)
    found = []
    for row, locate in search.periphery:
        hit = locate(None)
        path = [(entry.event, leaf.detail.choices) for entry, leaf in hit.path]
        assert search.row_after(hit) == row
        found.append((world.decode(row), hit.root, path))
    return found, search.bound


def compare(build: Callable[[], wl.System], **bounds: Any) -> Any:
    """Explore with both engines, and with the kernel on several threads."""
    expected = periphery(build(), breadth_first, **bounds)
    for threads in (1, 3):
        assert periphery(build(), compiled, threads, **bounds) == expected
    return expected


@pytest.mark.parametrize("depth", [1, 4, None])
@pytest.mark.parametrize("build", share(FINITE, every=3, first=2))
def test_peripheries_are_alike(
    build: Callable[[], wl.System], depth: int | None
) -> None:
    found, bound = compare(build, depth=depth)
    assert bound == (None if depth is None else "depth")
    # Nothing leads on from the states met last.
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("build", share(VARIANTS, every=3, first=1))
def test_peripheries_at_a_depth_are_alike(build: Callable[[], wl.System]) -> None:
    compare(build, depth=4)


@pytest.mark.parametrize("target", ["zoo:twophase", "zoo:brokentree", "zoo:abd"])
def test_peripheries_in_the_zoo_are_alike(target: str) -> None:
    compare(lambda: load(target, {}), depth=6)


def test_the_outermost_come_first_and_nobody_is_missing() -> None:
    world, search = explore(load("zoo:twophase", {}), compiled, depth=4)
    located = [locate(None).path for _, locate in search.periphery]
    depths = [len(path) for path in located]
    outermost = depths.count(3)
    assert depths[:outermost] == [3] * outermost
    assert depths[outermost:] == sorted(depths[outermost:])
    # Each state met is on the way to one of these, so all can be had from their paths.
    ways = {
        world.tables.fingerprint(search.expander.follow(search.roots[0], path[:end]))
        for path in located
        for end in range(len(path) + 1)
    }
    assert len(ways) == search.statistics.states


@pytest.mark.parametrize("run", [breadth_first, compiled], ids=["python", "native"])
def test_a_search_that_is_cut_off_has_no_periphery(run: Strategy) -> None:
    found = periphery(load("zoo:twophase", {}), run, states=50)
    assert found == ([], "states")


@pytest.mark.slow
def test_many_chunks_and_wider_rows_are_kept() -> None:
    """Rows are packed anew while some are kept."""
    found, _ = compare(lambda: load("zoo:twophase", {"n": "5"}), depth=8)
    assert len(found) > 1_024


def test_a_periphery_outlives_its_search() -> None:
    def kept() -> Any:
        world, search = explore(load("zoo:brokentree", {}), compiled, depth=5)
        return [locate for _, locate in search.periphery], world

    locates, world = kept()
    assert {len(locate(None).path) for locate in locates} <= set(range(5))
    assert world.tables.leaves


def compare_random(plan: Plan, depth: int) -> None:
    assume(all(start.failure is None for start in starts(plan.build())))
    compare(plan.build, depth=depth)


@pytest.mark.slow
@given(plans, st.integers(1, 5))
@settings(max_examples=10, suppress_health_check=list(HealthCheck))
def test_peripheries_of_random_systems_are_alike(plan: Plan, depth: int) -> None:
    compare_random(plan, depth)


@pytest.mark.nightly
@given(plans, st.integers(1, 5))
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
def test_peripheries_of_many_random_systems_are_alike(plan: Plan, depth: int) -> None:
    compare_random(plan, depth)
