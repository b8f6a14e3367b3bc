"""What a node judges of what it knows is what asking everything anew gives there.

Nodes of random runs know some others, as they are or as they were; what they say after
each event is compared with a plain evaluation of the state that they know, and what is
decided there is never otherwise in a state that it may be a part of.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steer.checking.driving import Judged, record
from tests.systems import VARIANTS
from tests.worlds.test_standing_random import SHAPES, Shape, catches, judge

import worldline as wl
from worldline.model.absent import NO_VALUE, without
from worldline.model.answers import seen_for
from worldline.model.errors import Unseen
from worldline.model.pure import Pure
from worldline.model.semantics.hidden import Status
from worldline.model.verdicts import UNSEEN
from worldline.model.view import ColumnRead, View
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.snapshots.records import MemberRecord
from worldline.worlds.direct import DirectWorld
from worldline.worlds.reading import PartialReader


class Within:
    """Reads what one node can know of a state: its own columns, and those of some."""

    is_partial = True

    def __init__(self, world: DirectWorld, me: int, absent: frozenset[int]) -> None:
        self._first, self._me = world.system.layout.first, me
        self._inner = PartialReader(world, absent)
        self.view = View(world.system, self)

    def read(self, read: ColumnRead) -> Any:
        index, which = divmod(read.column - self._first, 3)
        if read.what == "present":
            return False
        is_going_on = read.what == "finished" and index == self._me
        if read.column < self._first or which == 2 or is_going_on:
            raise Unseen("what no node knows")
        return self._inner.read(read)

    def nested(self, view: View, function: Pure, nodes: tuple[wl.NodeId, ...]) -> Any:
        return seen_for(function, view._apart(), nodes)


class Known:
    """The checkpoints of each node, and the columns that they were made from."""

    def __init__(self, world: DirectWorld, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        self.records: dict[wl.NodeId, dict[int, MemberRecord]] = {}
        self.columns: dict[wl.NodeId, dict[int, tuple[Any, Any]]] = {}
        self.number = 0

    def __call__(self, me: wl.NodeId) -> Mapping[int, MemberRecord]:
        return self.records.get(me, {})

    def gather(self, me: wl.NodeId) -> None:
        """Let a node know some others, of which some are as they were before."""
        layout, world = self.world.system.layout, self.world
        self.number += 1
        records = dict(self.records.get(me, {}))
        columns = dict(self.columns.get(me, {}))
        state = world.snapshot()
        for index, node in enumerate(world.system.ids):
            hidden: Any = world.cells[layout.hidden(index)]
            drawn = self.rng.random()
            if node == me or drawn < 0.3 or hidden.status is not Status.UP:
                records.pop(index, None)
                columns.pop(index, None)
            elif drawn < 0.8:
                records[index] = record(world, index, self.number)
                local = layout.local(index)
                columns[index] = state[local], state[local + 1]
        self.records[me], self.columns[me] = records, columns

    def lose(self, me: wl.NodeId, peer: wl.NodeId | None) -> None:
        """Take what a node knows of another for old, as the check itself does."""
        if peer is not None:
            self.columns.get(me, {}).pop(self.world.system.index[peer], None)

    def state_at(self, me: wl.NodeId) -> tuple[Any, ...]:
        """Return the state of which a node knows something; the rest has no value."""
        system, layout = self.world.system, self.world.system.layout
        known = self.columns.get(me, {})
        absent = [
            node
            for index, node in enumerate(system.ids)
            if node != me and index not in known
        ]
        columns = list(without(system, self.world.snapshot(), absent))
        for index, (local, hidden) in known.items():
            at = layout.local(index)
            columns[at], columns[at + 1] = local, hidden
        return tuple(columns)


def said(prop: wl.Property, view: View) -> Any:
    """What a property says, or that it fails."""
    try:
        return prop.answer(view)
    except wl.ModelError:
        return "fails"


def swallows(shape: Shape) -> bool:
    """Say whether a property catches what elements raise, which is no answer to a form."""
    inner = [part for part in shape[1:] if isinstance(part, tuple)]
    return shape[0] == "try" or catches in shape or any(map(swallows, inner))


def completed(state: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a state in which what has no value has that of another."""
    return tuple(
        there if mine == NO_VALUE else mine
        for mine, there in zip(state, other, strict=True)
    )


class Run:
    """A random run of which each event is judged, and each judgement looked at."""

    def __init__(
        self, system: wl.System, shapes: list[Shape], rng: random.Random
    ) -> None:
        self.system, self.rng = system, rng
        self.world, self.plain = DirectWorld(system), DirectWorld(system)
        self.declared = [
            wl.Property(
                f"p{number}", wl.PropertyKind.SAFETY, functools.partial(judge, shape)
            )
            for number, shape in enumerate(shapes)
        ]
        self.plainly = [not swallows(shape) for shape in shapes]
        self.known = Known(self.world, rng)
        self.check = ImmediateCheck(system, self.declared, neighbours=self.known)
        self.judged = Judged(self.world, self.check, quickly=rng.random() < 0.5)
        self.todo = self.world.boot_events()
        self.past: list[tuple[Any, ...]] = []

    def step(self) -> bool:
        """Let an event happen; say whether there was one."""
        world, rng = self.world, self.rng
        offered = self.todo[:1] or world.enabled()
        if not offered:
            return False
        del self.todo[:1]
        event = rng.choice(offered)
        if event.node is not None and rng.random() < 0.4:
            self.known.gather(event.node)
        if event.node is not None and event.kind is wl.Kind.TRANSPORT_ERROR:
            self.known.lose(event.node, event.peer)
        before = world.snapshot()
        instead = self.judged.step(
            event, source=lambda count, weights: rng.randrange(count)
        )
        if instead is not None:
            assert world.snapshot() == before
        if world.failure is None and event.node is not None and event.kind.runs_handler:
            self.past.append(world.snapshot())
            self.compare(event.node)
        return world.failure is None

    def compare(self, node: wl.NodeId) -> None:
        """Compare what a node says with a plain evaluation of what it knows."""
        state = self.known.state_at(node)
        self.plain.restore(state)
        absent = self.plain.absent
        seen = Within(self.plain, self.system.index[node], absent).view
        decided: list[tuple[wl.Property, bool]] = []
        said_by_it = self.check.verdicts(node)
        asked = zip(self.declared, self.plainly, said_by_it, strict=True)
        for prop, is_plain, verdict in asked:
            expected = said(prop, seen)
            if not absent and not self.check.errors:
                assert verdict is expected
            elif expected != "fails":
                assert verdict in (expected, UNSEEN)
            if isinstance(verdict, bool) and is_plain:
                decided.append((prop, verdict))
        # Whatever the rest may be, it is so.
        for _ in range(2 if decided else 0):
            self.plain.restore(completed(state, self.rng.choice(self.past)))
            for prop, verdict in decided:
                assert said(prop, self.plain.view) in (verdict, "fails")


judging = given(
    st.sampled_from(sorted(VARIANTS)),
    st.lists(SHAPES, min_size=1, max_size=4),
    st.integers(0, 10**6),
)


@pytest.mark.slow
@settings(max_examples=15)
@judging
def test_a_node_judges_what_it_knows(name: str, shapes: list[Shape], seed: int):
    walk_and_judge(name, shapes, seed)


@pytest.mark.nightly
@settings(max_examples=200)
@judging
def test_a_node_judges_what_it_knows_in_many_runs(
    name: str, shapes: list[Shape], seed: int
):
    walk_and_judge(name, shapes, seed)


def walk_and_judge(name: str, shapes: list[Shape], seed: int) -> None:
    run = Run(VARIANTS[name](), shapes, random.Random(seed))
    for _ in range(20):
        if not run.step():
            return
