"""Handlers that are apart change nothing that is watched, and what they change is kept."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.loading_sources import loaded
from tests.shares import share
from tests.worlds.test_touching import (
    ALIASES,
    CHANGES,
    HEAD,
    READS,
    UNCLEAR,
    fields_of,
    source,
)

import worldline as wl
from worldline.model.node import Handler, NodeType, node_type
from worldline.worlds.touching.touched import touched_by_any
from worldline.worlds.undoing import Before

A, B = wl.ids("a", "b")


def watching(kind: NodeType, node: Any, *names: str) -> tuple[Before, list[str]]:
    """Return what keeps a node of which fields are watched, and whom it has told."""
    before, told = Before(kind, node), list[str]()
    before.watch(frozenset(names), lambda: told.append("reshaped"))
    return before, told


def run_at_random(kind: NodeType, rng: random.Random) -> int:
    """Run handlers, some of which nobody asks about; return how many were apart."""
    node, apart = kind.cls(), 0
    watched = rng.sample([*kind.roles], rng.randint(0, 3))
    before, _ = watching(kind, node, *watched)
    untold, handlers = set[Handler](), [*kind.timers.values()]
    for _ in range(16):
        handler, was = rng.choice(handlers), fields_of(node)
        is_apart = before.is_apart(handler)
        if not is_apart and untold:
            before.catch_up(touched_by_any(kind, untold))
            untold.clear()
            assert not before.changes()
        try:
            handler.function(node, None)
        except Exception:
            return apart
        now = fields_of(node)
        if is_apart:
            assert not [name for name in watched if now[name] != was[name]]
            untold.add(handler)
            apart += 1
            continue
        changed = before.changes_after(handler)
        differ = {name for name, one in now.items() if one != was[name]}
        assert differ <= set(changed)
        if rng.random() < 0.5:
            before.put_back(node)
            assert fields_of(node) == was
        else:
            before.renew(changed, handler)
        assert not before.changes()
    return apart


@pytest.fixture(scope="module")
def apart() -> Iterator[list[int]]:
    """Count how many were apart, of which there must be some."""
    counts: list[int] = []
    yield counts
    assert sum(counts) > len(counts), counts


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), unclear=st.sampled_from([False, False, True]))
def test_handlers_that_are_apart_change_nothing_that_is_watched(
    seed: int,
    unclear: bool,
    apart: list[int],
    tmp_path_factory: pytest.TempPathFactory,
):
    rng = random.Random(seed)
    path = tmp_path_factory.mktemp("apart") / f"apart_{seed}_{unclear}.py"
    kind = node_type(loaded(source(rng, unclear=unclear), path).Node)
    apart.append(run_at_random(kind, rng))


@pytest.mark.parametrize(
    "statement", share(CHANGES + ALIASES + UNCLEAR + READS, every=2)
)
def test_no_way_to_a_watched_field_is_apart(statement: str, tmp_path: Path):
    text = HEAD
    others = ("for c in STORE:\n    c.add('x')", "self.s.add('q')\nself.l.append('q')")
    for number, body in enumerate((statement, *others, "self.m += 1")):
        lines = "".join(f"        {line}\n" for line in body.split("\n"))
        text += f"    @wl.timer\n    def h{number}(self, ctx):\n{lines}"
    for seed in range(6):
        kind = node_type(loaded(text, tmp_path / f"apart_{seed}.py").Node)
        run_at_random(kind, random.Random(seed))


INSIDE = """
import worldline as wl

@wl.node
class Node:
    w: object = None
    u: dict[str, object] = wl.field(default_factory=dict)
    n: int = 0

    @wl.timer
    def looks(self, ctx):
        for one in self.w or ():
            if isinstance(one, list):
                one.append(7)

    @wl.timer
    def clears(self, ctx):
        self.w.clear()

    @wl.timer
    def counts(self, ctx):
        self.n += 1
        self.u["n"] = [self.n]

    @wl.timer
    def nests(self, ctx):
        for one in self.u.values():
            one.append({"b", "a"})"""


def inside(tmp_path: Path) -> NodeType:
    return node_type(loaded(INSIDE, tmp_path / "inside.py").Node)


def test_who_is_apart_depends_on_what_watched_fields_hold(tmp_path: Path):
    kind = inside(tmp_path)
    node = kind.cls()
    before, told = watching(kind, node, "w")

    def hold(value: Any) -> list[str]:
        node.w = value
        before.renew(before.changes())
        return [name for name, one in kind.timers.items() if before.is_apart(one)]

    every = [*kind.timers]
    assert {*hold((1, 2))} == {*every}  # what cannot change may go anywhere
    assert not told
    flat: list[Any] = [{A, B}, [1, 2], {"k": 1}]
    for value in flat:
        assert hold(value) == ["counts", "looks", "nests"], value
    assert len(told) == 1  # whether it is a set or a list changes nothing
    nested: list[Any] = [[[1]], {"k": [1]}, ([1],)]
    for value in nested:
        assert hold(value) == [], value
    assert len(told) == 2
    node.w[0].append(3)
    before.renew(before.changes())
    assert len(told) == 2
    assert hold([1]) == ["counts", "looks", "nests"]
    assert hold(A) == every
    assert len(told) == 4


def test_a_field_that_is_not_watched_may_hold_what_it_likes(tmp_path: Path):
    kind = inside(tmp_path)
    node = kind.cls()
    before, told = watching(kind, node, "w")
    for name in ("counts", "nests", "counts", "nests", "nests"):
        assert before.is_apart(kind.timers[name])
        kind.timers[name].function(node, None)
    assert node.n == 2
    before.catch_up(touched_by_any(kind, [kind.timers["counts"], kind.timers["nests"]]))
    was = fields_of(node)
    assert len(node.u["n"]) == 3
    assert type(node.u["n"][1]).__name__ == "CanonicalSet"
    kind.timers["nests"].function(node, None)
    before.put_back(node)
    assert fields_of(node) == was
    assert not told
