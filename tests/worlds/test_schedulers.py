"""Every scheduler makes the same walks over tables, in the kernel and with real nodes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from tests.shares import share
from tests.systems import VARIANTS

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.engine.schedulers.named import PLAIN, scheduler_named
from worldline.engine.walks import Ended, WalkEnd, Walks, WalkSettings
from worldline.loading.loader import load
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.search.walks.weights import TO_GO_DEEP, describer, weigher
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import CannotTell, DirectWalks

SEED, WALKS, STEPS = 7, 8, 40
NAMES = [*PLAIN, "pct:1", "delay:40"]


class Prepared:
    """A system, ready for walks."""

    def __init__(self, system: wl.System, name: str, threads: int = 1) -> None:
        self.world = world = TabulatedWorld(system)
        (first, *_) = starts(system)
        assert first.snapshot is not None
        self.start = world.encode(first.snapshot)
        weigh = weigher(system, unbiased=False, weights={"drop": 30}, usual=TO_GO_DEEP)
        self.describe = describer(system, weigh)
        self.safety = [p for p in system.properties if p.kind is PropertyKind.SAFETY]
        self.sometimes = [
            p for p in system.properties if p.kind is PropertyKind.SOMETIMES
        ]
        self.scheduler = scheduler_named(name)
        self.options = WalkSettings(
            seed=SEED,
            most_steps=STEPS,
            scheduler=self.scheduler,
            traits=lambda entry: self.describe(entry.event),
            checks=tuple((world.decision(p), False) for p in self.safety),
            watches=tuple(world.decision(p) for p in self.sometimes),
            threads=threads,
        )

    def reference(self) -> Walks:
        return Walks(self.world.tables, self.world, self.options)

    def direct(self) -> DirectWalks:
        return DirectWalks(
            self.world,
            seed=SEED,
            most_steps=STEPS,
            scheduler=self.scheduler,
            traits=self.describe,
            checks=self.safety,
            watches=self.sometimes,
        )


def alike(ended: Ended) -> Ended:
    """The same walk, but for the number of a leaf, which depends on the order."""
    return ended._replace(what=0) if ended.end is WalkEnd.FAILED else ended


SYSTEMS: dict[str, Callable[[], wl.System]] = {
    **VARIANTS,
    "toy": lambda: load("zoo:toy", {}),
    "randtree": lambda: load("zoo:randtree", {"resets": "1"}),
    "abd": lambda: load("zoo:abd", {}),
}
ALWAYS = ("streams", "toy", "randtree")
"""The others are left to the night: each takes a second or two."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(build, id=name, marks=[pytest.mark.nightly] * (name not in ALWAYS))
        for name, build in SYSTEMS.items()
    ],
)
def test_walks_are_alike(build: Callable[[], wl.System]) -> None:
    system = build()
    one = Prepared(system, NAMES[0])
    reference, direct = one.reference(), one.direct()
    for name in NAMES:
        scheduler = scheduler_named(name)
        reference.use(scheduler, STEPS)
        direct.use(scheduler, STEPS)
        for ended in reference.walk(one.start, range(WALKS)):
            try:
                found = direct.go_on(one.start, one.start, ended.walk, 0)
            except CannotTell:
                assert ended.end is WalkEnd.FAILED
            else:
                assert found == ended
    assert direct.reached == reference.reached


def _has_no_kernel() -> bool:
    try:
        library()
    except KernelMissing:
        return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(_has_no_kernel(), reason="the kernel was not built")
@pytest.mark.parametrize("threads", share([1, 3], only=[3]))
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(build, id=name, marks=[pytest.mark.nightly] * (name not in ALWAYS))
        for name, build in SYSTEMS.items()
    ],
)
def test_walks_in_the_kernel_are_alike(
    build: Callable[[], wl.System], threads: int
) -> None:
    from worldline.engine.native.walks import NativeWalks as Compiled

    one, other = Prepared(build(), NAMES[0]), Prepared(build(), NAMES[0], threads)
    reference = one.reference()
    compiled = Compiled(other.world.tables, other.world, other.options)
    for name in NAMES:
        reference.use(scheduler_named(name), STEPS)
        compiled.use(scheduler_named(name), STEPS)
        expected = [alike(ended) for ended in reference.walk(one.start, range(WALKS))]
        found = [alike(ended) for ended in compiled.walk(other.start, range(WALKS))]
        assert found == expected
        path = reference.path(one.start, 2)
        seen = compiled.path(other.start, 2)
        assert [(entry.event, leaf.detail.choices) for entry, leaf in seen] == [
            (entry.event, leaf.detail.choices) for entry, leaf in path
        ]
    assert compiled.reached == reference.reached
    known = {(leaf.entry.event, leaf.detail.choices) for leaf in compiled.taken(WALKS)}
    assert known >= {
        (leaf.entry.event, leaf.detail.choices) for leaf in reference.taken(WALKS)
    }
    compiled.close()


def test_a_walk_is_the_same_after_walks_with_another_scheduler() -> None:
    one = Prepared(load("zoo:toy", {}), "pct")
    walks = one.reference()
    before = [*walks.walk(one.start, range(WALKS))]
    walks.use(scheduler_named("pos"), 9)
    others = [*walks.walk(one.start, range(WALKS))]
    assert max(ended.steps for ended in others) <= 9
    walks.use(one.scheduler, STEPS)
    assert [*walks.walk(one.start, range(WALKS))] == before


def test_options_are_not_changed_by_walks() -> None:
    one = Prepared(load("zoo:toy", {}), "pct")
    before = dataclasses.replace(one.options)
    [*one.reference().walk(one.start, range(3))]
    assert one.options == before
