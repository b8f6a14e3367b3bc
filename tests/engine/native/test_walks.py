"""Random walks in the kernel are those of the reference, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.shares import share
from tests.systems import VARIANTS

import worldline as wl
from worldline.engine.expand import Expander
from worldline.engine.native.library import KernelMissing, library
from worldline.engine.native.walks import NativeWalks as Compiled
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.tables import Entry, Row
from worldline.engine.walks import Ended, WalkEnd, Walks, WalkSettings
from worldline.loading.loader import load
from worldline.model.kinds import Kind
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.worlds.tabulated import TabulatedWorld

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)


def weight(entry: Entry) -> int:
    kind = entry.event.kind
    return 0 if kind is Kind.DROP else 5 if kind is Kind.DELIVER else 2


def prepare(
    system: wl.System, most_steps: int, threads: int = 1
) -> tuple[TabulatedWorld, Row, WalkSettings]:
    world = TabulatedWorld(system)
    (first, *_) = starts(system)
    assert first.snapshot is not None
    checks = tuple(
        (world.decision(known), False)
        for known in system.properties
        if known.kind is PropertyKind.SAFETY
    )
    options = WalkSettings(
        seed=11,
        most_steps=most_steps,
        traits=lambda entry: Traits(weight(entry)),
        checks=checks,
        threads=threads,
    )
    return world, world.encode(first.snapshot), options


def seen(ends: list[Ended], world: TabulatedWorld) -> list[object]:
    """Walks as they are, but for numbers of leaves, which depend on the order."""
    leaves = world.tables.leaves
    return [
        (
            e.walk,
            e.end,
            e.steps,
            e.what if e.end is not WalkEnd.FAILED else repr(leaves[e.what].entry.event),
        )
        for e in ends
    ]


def compare(
    build: Callable[[], wl.System], walks: int, most_steps: int
) -> set[WalkEnd]:
    world, start, options = prepare(build(), most_steps)
    reference = Walks(world.tables, world, options)
    expected = list(reference.walk(start, range(walks)))
    path = [(e.event, leaf.detail.choices) for e, leaf in reference.path(start, 2)]
    for threads in (1, 3):
        other, start, options = prepare(build(), most_steps, threads)
        compiled = Compiled(other.tables, other, options)
        found = list(compiled.walk(start, range(walks)))
        assert seen(found, other) == seen(expected, world)
        steps = compiled.path(start, 2)
        assert [(e.event, leaf.detail.choices) for e, leaf in steps] == path
        compiled.close()
    return {walk.end for walk in expected}


@pytest.mark.parametrize("build", share(VARIANTS, every=3))
def test_walks_are_alike(build: Callable[[], wl.System]) -> None:
    compare(build, walks=8, most_steps=30)


@pytest.mark.nightly
@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_many_walks_are_alike(build: Callable[[], wl.System]) -> None:
    compare(build, walks=100, most_steps=30)


@pytest.mark.parametrize(
    ("target", "parameters", "ends"),
    [
        ("zoo:twophase", {"n": "4"}, {WalkEnd.LIMIT}),
        ("zoo:abd", {}, {WalkEnd.STUCK}),
        ("zoo:brokentree", {"bugs": "bt2"}, {WalkEnd.HIT, WalkEnd.STUCK}),
        ("zoo:single-copy", {"servers": "2"}, {WalkEnd.HIT}),
    ],
    ids=str,
)
def test_walks_through_the_zoo_are_alike(
    target: str, parameters: dict[str, str], ends: set[WalkEnd]
) -> None:
    assert compare(lambda: load(target, parameters), walks=60, most_steps=40) == ends


def test_a_walk_is_the_same_in_any_batch() -> None:
    world, start, options = prepare(load("zoo:brokentree", {"bugs": "bt2"}), 40)
    whole = Compiled(world.tables, world, options)
    expected = [*whole.walk(start, range(3_000))]
    assert [*whole.walk(start, range(3_000))] == expected
    few, fresh, options = prepare(load("zoo:brokentree", {"bugs": "bt2"}), 40, 2)
    parts = Compiled(few.tables, few, options)
    bounds = [0, 1, 700, 2_999, 3_000]
    found = [
        ended
        for first, last in pairwise(bounds)
        for ended in parts.walk(fresh, range(first, last))
    ]
    assert seen(found, few) == seen(expected, world)
    parts.close()
    whole.close()


@pytest.mark.parametrize("most_steps", [0, 1])
def test_walks_that_hardly_begin_are_alike(most_steps: int) -> None:
    ends = compare(lambda: load("zoo:brokentree", {}), walks=20, most_steps=most_steps)
    assert ends == {WalkEnd.LIMIT}


@pytest.mark.parametrize("threads", [1, 3])
def test_walks_from_another_start_forget_the_first(threads: int) -> None:
    world, start, options = prepare(load("zoo:brokentree", {}), 30, threads)
    walks = Compiled(world.tables, world, options)
    before = [*walks.walk(start, range(50))]
    expander = Expander(world.tables, world)
    later = expander.follow(start, walks.path(start, 7)[:5])
    reference = Walks(world.tables, world, options)
    assert [*walks.walk(later, range(50))] == [*reference.walk(later, range(50))]
    assert [*walks.walk(start, range(50))] == before
    walks.close()


@pytest.mark.parametrize("threads", [1, 3])
def test_walks_from_many_starts_are_alike(threads: int) -> None:
    world, start, options = prepare(load("zoo:brokentree", {"bugs": "bt2"}), 30)
    reference = Walks(world.tables, world, options)
    expander, path = Expander(world.tables, world), reference.path(start, 7)
    starts = [expander.follow(start, path[:end]) for end in (0, 3, 3, 1, 5)]
    expected = [*reference.walk_each(starts, 40)]
    assert [ended.walk for ended in expected] == [40, 41, 42, 43, 44]
    compiled = Compiled(world.tables, world, replace(options, threads=threads))
    assert [*compiled.walk_each(starts, 40)] == expected
    # One walk is the same with any others.
    assert [*compiled.walk_each(starts[1:2], 41)] == expected[1:2]
    assert [*compiled.walk(starts[2], range(42, 43))] == expected[2:3]
    assert [*compiled.walk_each([], 0)] == []
    compiled.close()
