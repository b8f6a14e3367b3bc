"""Depth-first exploration within a bound on depth."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.expand import Path, Successor
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.tables import Entry, Leaf, Row


def depth_first(search: Exploration) -> None:
    """Explore each path to the bound on depth before its siblings.

    A state that is met again nearer to the start is expanded again, so that within
    the bound nothing is missed. The frontier is one path, but counterexamples are
    not the shortest.
    """
    search.statistics.generated += len(search.roots)
    dive = _Dive(search)
    for number, row in enumerate(search.roots):
        dive.from_root(number, row)
        if search.is_over():
            search.bound = "first violation"
            return
    if dive.is_cut:
        raise BoundHit("depth")


@final
class _Dive:
    """The path on which a depth-first search is.

    Attributes
    ----------
    depths
        The least depth at which each state was met, by its identity.
    is_cut
        Whether the bound on depth kept a state from being expanded.
    """

    def __init__(self, search: Exploration) -> None:
        self._search = search
        self._root = 0
        self._path: Path = []
        self.depths: dict[Hashable, int] = {}
        search.large.append(self.depths)
        self.is_cut = False

    def from_root(self, number: int, row: Row) -> None:
        """Explore what can be reached from one initial state."""
        search = self._search
        row, fingerprint = search.canonical(row, search.tables.fingerprint(row))
        if not self._is_nearer(search.identity(row, fingerprint), 1):
            return
        self._root, self._path = number, []
        stack = [self._visit(fingerprint, row, 1)]
        while stack and not search.is_over():
            successor = next(stack[-1], None)
            if successor is None:
                stack.pop()
                if self._path:
                    self._path.pop()
                continue
            total, new, entry, leaf = successor
            depth = len(stack) + 1
            if leaf.failed:
                search.fail(successor, self._locate)
                continue
            new, total = search.canonical(new, total)
            if self._is_nearer(search.identity(new, total), depth):
                self._path.append((entry, leaf))
                stack.append(self._visit(total, new, depth))

    def _is_nearer(self, identity: Hashable, depth: int) -> bool:
        before = self.depths.get(identity)
        return before is None or depth < before

    def _visit(self, fingerprint: int, row: Row, depth: int) -> Iterator[Successor]:
        """Note a state and return its successors; none at the bound."""
        search = self._search
        identity = search.identity(row, fingerprint)
        is_new = identity not in self.depths
        self.depths[identity] = depth
        if is_new:
            search.discover()
            search.statistics.depth = max(search.statistics.depth, depth)
            search.examine(row, fingerprint, self._locate)
        if depth == search.bounds.depth:
            self.is_cut = True
            return iter(())
        return iter(search.expand(row, fingerprint, self._locate))

    def _locate(self, last: tuple[Entry, Leaf] | None) -> Hit:
        path = list(self._path)
        return Hit(self._root, path if last is None else [*path, last])
