"""Whom a node of a Pastry ring knows: its leafset, its table, and the way to a key.

The leafset has the nodes nearest in the ring, half of them on either side; in a small
ring a node may be on both. The table has nodes further away, by the digits of their
keys. Here is what is kept of them and how it is asked, and nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterable

import worldline as wl
from worldline.zoo.pastry.space import Cell, Key, Space


@wl.node
class Known:
    """What a node knows of others.

    Attributes
    ----------
    me, space
        This node, and the keys.
    half
        How many nodes there are on either side of a leafset.
    candidates
        How many nodes a cell of the table has room for.
    left, right
        The halves of the leafset, the nearest first.
    leafset
        All of both, by their keys.
    left_bound, right_bound
        How far away the furthest in each half is: who is further does not get in. None
        while there is room.
    table
        Who suits each cell.
    """

    me: wl.NodeId
    space: Space = Space()
    half: int = 2
    candidates: int = 10
    bugs: frozenset[str] = frozenset()
    left: list[wl.NodeId] = wl.field(default_factory=list)
    right: list[wl.NodeId] = wl.field(default_factory=list)
    leafset: dict[Key, wl.NodeId] = wl.field(default_factory=dict)
    left_bound: int | None = None
    right_bound: int | None = None
    table: dict[Cell, tuple[wl.NodeId, ...]] = wl.field(default_factory=dict)

    @property
    def key(self) -> Key:
        """Where this node stands."""
        return self.space.key(self.me)

    def after(self, node: wl.NodeId) -> int:
        """Return how far behind this one a node stands, as keys grow."""
        return self.space.onward(self.key, self.space.key(node))

    def before(self, node: wl.NodeId) -> int:
        """Return how far a node stands before this one."""
        return self.space.onward(self.space.key(node), self.key)

    # -------------------------------------------------------------------- the leafset

    def suits(self, node: wl.NodeId) -> bool:
        """Say whether a node is not in the leafset and would get into it."""
        if node == self.me or self.space.key(node) in self.leafset:
            return False
        if self.left_bound is None or self.right_bound is None:
            return True
        return (
            self.before(node) < self.left_bound or self.after(node) < self.right_bound
        )

    def admit(self, node: wl.NodeId) -> bool:
        """Let a node into the leafset if it suits; say whether it did."""
        if not self.suits(node):
            return False
        self._have([*self.leaves(), node])
        return True

    def _have(self, nodes: list[wl.NodeId]) -> None:
        """Make a leafset of nodes, as far as there is room on either side."""
        self.left = sorted(nodes, key=self.before)[: self.half]
        self.right = sorted(nodes, key=self.after)[: self.half]
        both = {*self.left, *self.right}
        self.leafset = {self.space.key(node): node for node in both}
        self.left_bound = self.right_bound = None
        if len(both) == 2 * self.half:
            self.left_bound = self._furthest(map(self.before, self.left))
            self.right_bound = self._furthest(map(self.after, self.right))

    def _furthest(self, distances: Iterable[int]) -> int:
        bound, *others = distances
        for distance in others:
            if self.space.is_at_most(
                bound, distance, overflows="pastry-3" in self.bugs
            ):
                bound = distance
        return bound

    # ---------------------------------------------------------------------- the table

    def learn(self, nodes: Iterable[wl.NodeId]) -> None:
        """Take nodes into the table, where there is room: others have told of them."""
        for node in nodes:
            if node != self.me:
                cell = self.space.cell(self.key, self.space.key(node))
                there = self.table.get(cell, ())
                if node not in there and len(there) < self.candidates:
                    self.table[cell] = (*there, node)

    def row(self, number: int) -> tuple[wl.NodeId, ...]:
        """Return the nodes in a row of the table."""
        cells = sorted(cell for cell in self.table if cell[0] == number)
        return tuple(node for cell in cells for node in self.table[cell])

    def in_table(self) -> list[wl.NodeId]:
        """Return all nodes in the table."""
        return [node for there in self.table.values() for node in there]

    def leaves(self) -> tuple[wl.NodeId, ...]:
        """Return all nodes in the leafset."""
        return tuple(self.leafset.values())

    def forget(self, node: wl.NodeId) -> Cell | None:
        """Forget a node; return the cell of the table that is empty now, if one is."""
        self._have([other for other in self.leaves() if other != node])
        cell = self.space.cell(self.key, self.space.key(node))
        there = self.table.get(cell, ())
        if node not in there:
            return None
        rest = tuple(other for other in there if other != node)
        if rest:
            self.table[cell] = rest
            return None
        del self.table[cell]
        return cell

    # ------------------------------------------------------------------------ the way

    def hop(self, key: Key, avoided: wl.NodeId | None = None) -> wl.NodeId:
        """Return the next node on the way to a key; this one if it owns it.

        Parameters
        ----------
        avoided
            A node that is not to be it.
        """
        left = [node for node in self.left if node != avoided]
        right = [node for node in self.right if node != avoided]
        if self._is_near(key, left, right):
            return self._nearest(key, {self.me, *left, *right})
        row, column = self.space.cell(self.key, key)
        there = self.table.get((row, column), ())
        suiting = [node for node in there if node != avoided]
        if suiting:
            return self._nearest(key, suiting)
        others = {*self.in_table(), *left, *right} - {avoided}
        as_similar = {
            n for n in others if self.space.shared(self.space.key(n), key) >= row
        }
        return self._nearest(key, {self.me, *as_similar})

    def _is_near(self, key: Key, left: list[wl.NodeId], right: list[wl.NodeId]) -> bool:
        """Say whether a key is where the leafset reaches, or this node's own."""
        space = self.space
        if left and space.onward(key, self.key) <= self.before(left[-1]):
            return True
        if right and space.onward(self.key, key) <= self.after(right[-1]):
            return True
        return key == self.key

    def _nearest(self, key: Key, nodes: Iterable[wl.NodeId]) -> wl.NodeId:
        found = self.space.nearest(key, nodes)
        return self.me if found is None else found
