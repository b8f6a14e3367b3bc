"""Steps of two nodes that commute are looked up in one order only.

The results stay those of the reference, which looks up all of them; and where the steps
get in each other's way, both orders are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.native.comparison import compare

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.exploration import Exploration, Options
from worldline.engine.native.breadth_first import breadth_first
from worldline.engine.native.library import KernelMissing, library
from worldline.loading.loader import load
from worldline.runs.start import starts
from worldline.worlds.tabulated import TabulatedWorld

try:
    library()
except KernelMissing as missing:
    pytest.skip(str(missing), allow_module_level=True)

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Note:
    number: int = 0


@wl.node
class Clerk:
    """Counts its own steps, notes what comes, and may write to another."""

    to: wl.NodeId | None = None
    steps: int = 0
    taken: tuple[bool, ...] = ()
    heard: frozenset[int] = frozenset()

    @wl.call
    def work(self, ctx: wl.Context) -> None:
        self.steps += 1
        if self.to is not None:
            self.taken += (ctx.send(self.to, Note(self.steps)) is not False,)

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, note: Note) -> None:
        self.heard |= {note.number}


def clerks(
    *to: wl.NodeId | None, works: int = 2, idle: wl.NodeId | None = None, **options: Any
) -> wl.System:
    """Return clerks that each, but for one, work, and write to whom `to` says."""
    ids = [A, B, C][: len(to)]
    return wl.System(
        {node: Clerk(other) for node, other in zip(ids, to, strict=True)},
        workload=[
            wl.script(node, [Clerk.work] * works) for node in ids if node != idle
        ],
        name="clerks",
        **options,
    )


NETWORKS = {
    "bag": wl.datagrams(),
    "fifo": wl.datagrams(reordering=False),
    "set": wl.message_set(),
    "streams": wl.streams(),
    "full streams": wl.streams(buffer=1),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize(
    "to",
    [
        (None, None, None),
        pytest.param((B, C, A), marks=pytest.mark.nightly),
        (C, C, None),
        pytest.param((None, A, A), marks=pytest.mark.nightly),
        (B, A),
    ],
    ids=["alone", "round", "to the last", "to the first", "both ways"],
)
def test_nothing_is_lost(to: tuple[wl.NodeId | None, ...], network: Any) -> None:
    compare(lambda: clerks(*to, network=network), keep_going=True, deadlock=True)


def test_the_other_order_is_searched_where_one_is_pruned() -> None:
    def first_alone(view: wl.View) -> bool:
        return bool(view[A].steps == 1 and view[B].steps == 0)

    compare(lambda: clerks(None, None, works=1), prune=first_alone)


def test_that_a_fault_is_left_out_is_no_sign_of_life() -> None:
    faults = wl.Faults(resets=1)

    def build() -> wl.System:
        # Its last state is reached by a delivery at b; then resets are possible alone.
        options: Any = {"faults": faults, "done": lambda view: False}
        return clerks(None, None, B, works=1, idle=B, **options)

    compare(build, deadlock=True, keep_going=True)


@pytest.mark.parametrize("goal", [(1, 1, 0), (0, 2, 2), (2, 2, 2)])
def test_what_is_reported_does_not_depend_on_what_is_left_out(
    goal: tuple[int, ...],
) -> None:
    @wl.safety
    def elsewhere(view: wl.View) -> bool:
        return tuple(view[node].steps for node in (A, B, C)) != goal

    compare(lambda: clerks(None, None, None, properties=[elsewhere]))


@pytest.mark.parametrize(
    ("build", "least"),
    [
        (lambda: load("zoo:twophase", {"n": "5"}), 0.5),
        (lambda: clerks(None, None, None, works=4), 0.3),
        (lambda: clerks(B, C, A, works=2), 0.2),
    ],
    ids=["2pc", "alone", "round"],
)
def test_much_is_left_out(build: Callable[[], wl.System], least: float) -> None:
    system = build()
    world = TabulatedWorld(system)
    roots = [world.encode(start.snapshot) for start in starts(system) if start.snapshot]
    search = Exploration(
        world.tables, world, roots, [], bounds=Bounds(), options=Options()
    )
    search.run(breadth_first)
    assert least < search.statistics.left_out / search.statistics.generated < 1
