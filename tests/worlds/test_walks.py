"""Random walks in the direct and remembering worlds end as those over tables do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.shares import share
from tests.systems import VARIANTS

import worldline as wl
from worldline.engine.native.library import KernelMissing, library
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.schedulers.weighted import Weighted
from worldline.engine.walks import Ended, WalkEnd, Walks, WalkSettings
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import Property, PropertyKind
from worldline.runs.start import starts
from worldline.worlds.remembered_walks import RememberedWalks
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import CannotTell, DirectWalks

SEED, WALKS, STEPS = 11, 6, 60


def weigh(event: Event) -> int:
    return 0 if event.kind is Kind.DROP else 5 if event.kind is Kind.DELIVER else 2


@wl.liveness
def busy(view: wl.View) -> bool:
    """Holds where two timers are set, which some walks get to."""
    return sum(len(view.timers(node)) for node in view) >= 2


class Both:
    """The same walks over tables and in the direct world."""

    def __init__(self, system: wl.System, *, goal: Property) -> None:
        self.world = TabulatedWorld(system)
        (first, *_) = starts(system)
        assert first.snapshot is not None
        self.start = self.world.encode(first.snapshot)
        safety = [p for p in system.properties if p.kind is PropertyKind.SAFETY]
        self.elsewhere = [
            made(
                self.world,
                seed=SEED,
                most_steps=STEPS,
                scheduler=Weighted(),
                traits=lambda event: Traits(weigh(event)),
                checks=safety,
                goal=goal,
            )
            for made in (DirectWalks, RememberedWalks)
        ]
        self.direct, self.remembered = self.elsewhere
        self.options = WalkSettings(
            seed=SEED,
            most_steps=STEPS,
            traits=lambda entry: Traits(weigh(entry.event)),
            checks=tuple((self.world.decision(p), False) for p in safety),
            goal=self.world.decision(goal),
        )

    def over_tables(self, gives_up: Callable[[int], bool] | None) -> Iterator[Ended]:
        options = WalkSettings(
            seed=SEED,
            most_steps=STEPS,
            traits=self.options.traits,
            checks=self.options.checks,
            goal=self.options.goal,
            gives_up=gives_up,
        )
        tables = Walks(self.world.tables, self.world, options)
        return tables.walk(self.start, range(WALKS))


@wl.liveness
def nothing(view: wl.View) -> bool:
    return False


@pytest.mark.slow
@pytest.mark.parametrize("build", share(VARIANTS, every=3, first=2))
@pytest.mark.parametrize("goal", [busy, nothing])
def test_walks_are_alike_wherever_they_move(
    build: Callable[[], wl.System], goal: Property
):
    both = Both(build(), goal=goal)
    expected = list(both.over_tables(None))
    for after in (0, 1, 7):
        left = [after]

        def gives_up(steps: int, after: int = after, left: list[int] = left) -> bool:
            left[0] -= steps
            if left[0] > 0:
                return False
            left[0] = after
            return True

        for ended, moved in zip(expected, both.over_tables(gives_up), strict=True):
            row, steps = both.start, 0
            if after:
                if moved.end is not WalkEnd.MOVED:
                    assert moved == ended
                    continue
                assert moved.row is not None
                row, steps = moved.row, moved.steps
            for walks in both.elsewhere:
                try:
                    found = walks.go_on(both.start, row, ended.walk, steps)
                except CannotTell:
                    assert ended.end is WalkEnd.FAILED
                else:
                    assert found == ended


def test_they_end_in_all_ways():
    ends = {
        ended.end
        for name in ("streams", "three on datagrams", "unhandled is an error")
        for goal in (busy, nothing)
        for ended in Both(VARIANTS[name](), goal=goal).over_tables(None)
    }
    assert set(WalkEnd) - {WalkEnd.MOVED} == ends


@wl.node
class Forgetful:
    """Reads what it must not look at, an ignored field."""

    noise: int = wl.ignored(default=0)
    loud: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Forgetful.tick)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.noise += 1
        self.loud = max(self.loud, self.noise)
        ctx.set_timer(Forgetful.tick)


@wl.node
class Stacked:
    below: Forgetful = wl.part()


@wl.liveness
def loud(view: wl.View) -> bool:
    return max(_loudness(view, node) for node in view) > 1


def _loudness(view: wl.View, node: wl.NodeId) -> int:
    found: int = view[node].loud if node.name == "a" else view[node].below.loud
    return found


def test_ignored_fields_are_forgotten_as_over_tables():
    a, b = wl.ids("a", "b")
    both = Both(wl.System({a: Forgetful(), b: Stacked(Forgetful())}), goal=loud)
    (first, *_) = both.over_tables(None)
    assert first.end is WalkEnd.LIMIT
    assert both.direct.go_on(both.start, both.start, first.walk, 0) == first


def test_the_kernel_says_where_a_walk_has_come_to():
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))
    from worldline.engine.native.walks import NativeWalks as Compiled

    both = Both(VARIANTS["streams"](), goal=nothing)
    expected = list(both.over_tables(None))
    other = Both(VARIANTS["streams"](), goal=nothing)
    told: list[int] = []

    def gives_up(steps: int) -> bool:
        told.append(steps)
        return sum(told) >= 100

    options = WalkSettings(
        seed=SEED,
        most_steps=STEPS,
        traits=other.options.traits,
        checks=other.options.checks,
        goal=other.options.goal,
        gives_up=gives_up,
    )
    compiled = Compiled(other.world.tables, other.world, options)
    moved = list(compiled.walk(other.start, range(WALKS)))
    compiled.close()
    assert sum(told) == sum(walk.steps for walk in moved) > 0
    assert WalkEnd.MOVED in {walk.end for walk in moved}
    for walk, ended in zip(moved, expected, strict=True):
        if walk.end is not WalkEnd.MOVED:
            assert (walk.end, walk.steps) == (ended.end, ended.steps)
            continue
        assert walk.row is not None
        assert walk.steps > 0
        try:
            found = other.direct.go_on(other.start, walk.row, walk.walk, walk.steps)
        except CannotTell:
            assert ended.end is WalkEnd.FAILED
        else:
            assert found == ended
