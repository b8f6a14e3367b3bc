"""Breadth-first exploration: level by level, so that paths are the shortest.

Each level is processed in the order of fingerprints, and the events of a state in
canonical order. Of the steps that lead to a state from the level before, the one of the
last node is kept, and of these the first. So which path leads to a state, and which
violation is reported, is a matter of content alone, the same in every process.

Why the last node: where steps of two nodes commute, the path that is kept has them
in the order of nodes, so the compiled kernel need not even look up where the other leads.
"""

from __future__ import annotations

from array import array
from functools import partial
from typing import Any, TypeAlias, final

from worldline.engine.bounds import BoundHit
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.tables import Entry, Leaf, Row, Tables


@final
class Ancestry:
    """The step by which each state was first reached: three integers for each."""

    def __init__(self) -> None:
        self.parents = array("q")
        self.entries = array("l")
        self.leaves = array("l")

    def add(self, parent: int, entry: int, leaf: int) -> int:
        self.parents.append(parent)
        self.entries.append(entry)
        self.leaves.append(leaf)
        return len(self.parents) - 1

    def improve(self, tables: Tables, index: int, parent: int, leaf: Leaf) -> None:
        """Take over another step to a state if it is one of a later node."""
        entry = leaf.entry
        if entry.column > tables.entries[self.entries[index]].column:
            self.parents[index] = parent
            self.entries[index], self.leaves[index] = entry.number, leaf.number

    def locate(
        self, tables: Tables, index: int, last: tuple[Entry, Leaf] | None
    ) -> Hit:
        path = [] if last is None else [last]
        while (parent := self.parents[index]) >= 0:
            entry = tables.entries[self.entries[index]]
            path.append((entry, tables.leaves[self.leaves[index]]))
            index = parent
        return Hit(-1 - parent, path[::-1])


SearchState: TypeAlias = tuple[int, Row, int]
"""Fingerprint and row of a state of a level, and its number in the ancestry."""


def breadth_first(search: Exploration) -> None:
    """Explore level by level; the paths found are the shortest."""
    tree, tables, statistics = Ancestry(), search.tables, search.statistics
    seen: set[Any] = set()
    search.large.append(seen)
    level: list[SearchState] = []
    for number, row in enumerate(search.roots):
        statistics.generated += 1
        row, fingerprint = search.canonical(row, tables.fingerprint(row))
        identity = search.identity(row, fingerprint)
        if identity not in seen:
            search.discover()
            seen.add(identity)
            level.append((fingerprint, row, tree.add(-1 - number, 0, 0)))
    while level:
        level.sort(key=_by_fingerprint)
        statistics.depth += 1
        tables.tick(statistics.depth + 1)
        for fingerprint, row, index in level:
            search.examine(row, fingerprint, partial(tree.locate, tables, index))
        if search.is_over():
            break
        if statistics.depth == search.bounds.depth:
            if search.options.periphery:
                outermost = [(r, partial(tree.locate, tables, i)) for _, r, i in level]
                search.periphery[:0] = outermost
            raise BoundHit("depth")
        level = _next_level(search, tree, seen, level)
    if search.is_over():
        search.bound = "first violation"


def _by_fingerprint(state: SearchState) -> int:
    return state[0]


def _next_level(
    search: Exploration, tree: Ancestry, seen: set[Any], level: list[SearchState]
) -> list[SearchState]:
    next_level: list[SearchState] = []
    new_here: dict[Any, int] = {}
    statistics, tables = search.statistics, search.tables
    canonical, identity = search.canonical, search.identity
    for done, (fingerprint, row, index) in enumerate(level):
        statistics.frontier = len(level) - done + len(next_level)
        locate = partial(tree.locate, tables, index)
        for successor in search.expand(row, fingerprint, locate):
            total, new, entry, leaf = successor
            if leaf.failed:
                search.fail(successor, locate)
                continue
            key = identity(new, total)
            if key not in seen:
                new, total = canonical(new, total)
                key = identity(new, total)
            if key in new_here:
                tree.improve(tables, new_here[key], index, leaf)
            elif key not in seen:
                search.discover()
                seen.add(key)
                new_here[key] = tree.add(index, entry.number, leaf.number)
                next_level.append((total, new, new_here[key]))
    if search.options.periphery:
        parents = {tree.parents[index] for index in new_here.values()}
        for _, row, index in level:
            if index not in parents:
                search.periphery.append((row, partial(tree.locate, tables, index)))
    statistics.frontier = len(next_level)
    return next_level
