"""Consequence prediction: chains of messages first, and what nodes do of their own later.

Steps of the network, what arrives at a node, are always taken. An own step, such as a
timer, a call or a reset, is taken at once only where its key is new: its event, and the
local and the hidden value of its node. Where it is not, the step is pruned: put off.

A step costs 1. A state of cost c in which own steps were pruned is taken up again, for
those alone, at cost c + `Options.repeat_cost`; so nothing is lost, and a search that has
nothing left was exhaustive. With None they are forgotten, as the paper prints it.

States are taken by cost, then by fingerprint. Of the states of one cost that could take
an own step first, the one with the least fingerprint does; of the steps that lead to a
state, that of the last node is kept (`worldline.engine.breadth_first` says why). So all
is a matter of content alone. The depth of a state is that of the path kept.

The bound on states is looked at after each cost: of the states then met, those with the
least fingerprints count up to the bound, and the others are kept. A search that is run
again, with other bounds (`Exploration.lift`), goes on where it stood, and gives what one
that ran through would have given.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, section 3.2 and
figure 8. There a key is a node and its local state, pruned steps are forgotten, and
which of several states takes a step depends on the order in which they come.
"""

from __future__ import annotations

import sys
from array import array
from functools import partial
from typing import Any, TypeAlias, final

from worldline.engine.bounds import BoundHit
from worldline.engine.breadth_first import Ancestry
from worldline.engine.expand import Successor
from worldline.engine.exploration import Exploration
from worldline.engine.tables import Entry, Row, Tables
from worldline.model.errors import UsageError

PRUNED = "pruned own steps"
"""The bound of a search that has nothing left but forgot some steps."""


def consequence(search: Exploration) -> None:
    """Explore by cost; go on where the search stood if it was run before."""
    refuse_unfit(search)
    if search.unfinished is None:
        search.unfinished = _Costs(search)
    costs: _Costs = search.unfinished
    try:
        costs.explore()
    finally:
        costs.count()


def refuse_unfit(search: Exploration) -> None:
    """Refuse what does not go together with exploring by cost.

    Raises
    ------
    UsageError
        If there is a symmetry, a bound on depth, or a price that is none.
    """
    if search.symmetry is not None:
        raise UsageError(
            "a prediction knows no symmetry", remedy="leave out the symmetry"
        )
    if search.bounds.depth is not None:
        raise UsageError(
            "a prediction has no bound on depth", remedy="bound its cost instead"
        )
    price = search.options.repeat_cost
    if price is not None and price < 1:
        raise UsageError(
            f"repeat_cost={price} is no price", remedy="use 1 or more, or None"
        )


_Taken: TypeAlias = tuple[int, Row, int, bool]
"""Fingerprint and row of a state, its number in the ancestry, and whether it is back."""


def _by_fingerprint(state: _Taken) -> int:
    return state[0]


def key_of(tables: Tables, row: Row, entry: Entry) -> int:
    """Return the key of an own step in a state: a 64-bit content hash."""
    key = entry.content
    for column in entry.own:
        key ^= tables.mixes[column][row[column]]
    return key


@final
class _Costs:
    """A search that stands at some cost.

    Attributes
    ----------
    tree, lengths
        How each state was first met, and how many states are on that way.
    executed
        For each key, the fingerprint of the state that took its step first.
    cost
        That of the states which are judged, or expanded, next.
    fresh, met
        The states first met at this cost, and how many of them were judged.
    level, done
        The states to expand at this cost, and how many of them were; None in between.
    later, new_here
        The states that they lead to, and the numbers of these in the ancestry.
    waiting
        The states put off, by the cost at which they are back.
    """

    def __init__(self, search: Exploration) -> None:
        self.search = search
        self.tree = Ancestry()
        self.lengths = array("l")
        self.seen: set[Any] = set()
        self.executed: dict[int, int] = {}
        search.large += [self.seen, self.executed]
        self.cost = self.met = self.done = 0
        self.fresh: list[_Taken] = []
        self.level: list[_Taken] | None = None
        self.new_here: dict[Any, int] = {}
        self.later: list[_Taken] = []
        self.waiting: dict[int, list[_Taken]] = {}
        self._add_roots()

    def explore(self) -> None:
        """Judge and expand the states of one cost after the other."""
        search = self.search
        while True:
            if self.level is None:
                is_cut = self._judge()
                if search.is_over():
                    search.bound = "first violation"
                    return
                if is_cut:
                    raise BoundHit("states")
                if self._is_exhausted():
                    return
                self._begin_level()
            self._expand_level()

    def count(self) -> None:
        """Say what the search holds."""
        statistics, width = self.search.statistics, len(self.search.tables.interners)
        rows = len(self.level or []) - self.done + len(self.later) + len(self.fresh)
        rows += sum(map(len, self.waiting.values()))
        statistics.executed, statistics.frontier = len(self.executed), rows
        statistics.held = len(self.seen)
        ways = self.tree.parents, self.tree.entries, self.tree.leaves, self.lengths
        held = [self.seen, self.executed, *ways]
        statistics.bytes = sum(map(sys.getsizeof, held)) + rows * (56 + 8 * width)

    def _add_roots(self) -> None:
        search = self.search
        for number, row in enumerate(search.roots):
            search.statistics.generated += 1
            fingerprint = search.tables.fingerprint(row)
            identity = search.identity(row, fingerprint)
            if identity not in self.seen:
                self.seen.add(identity)
                index = self.tree.add(-1 - number, 0, 0)
                self.lengths.append(1)
                self.fresh.append((fingerprint, row, index, False))
        self.fresh.sort(key=_by_fingerprint)

    def _judge(self) -> bool:
        """Count and judge the states met last; whether there are more than may be."""
        search, statistics = self.search, self.search.statistics
        limit = search.bounds.states
        end = len(self.fresh)
        if limit is not None:
            end = min(end, max(self.met, self.met + limit - statistics.states))
        for fingerprint, row, index, _ in self.fresh[self.met : end]:
            locate = partial(self.tree.locate, search.tables, index)
            search.examine(row, fingerprint, locate)
            statistics.states += 1
            statistics.depth = max(statistics.depth, self.lengths[index])
            self.met += 1
        if end < len(self.fresh):
            return True
        self._reach(self.cost)
        return False

    def _is_exhausted(self) -> bool:
        """Say whether nothing is left, or raise `BoundHit`; find the next cost."""
        search, limit = self.search, self.search.bounds.cost
        if not self.fresh and not self.waiting:
            if search.options.repeat_cost is None and search.statistics.put_off:
                raise BoundHit(PRUNED)
            return True
        cost = self.cost if self.fresh else min(self.waiting)
        if limit is not None and cost >= limit:
            self._reach(limit)
            search.next_cost = cost
            raise BoundHit("cost")
        self.cost = cost
        return False

    def _reach(self, cost: int) -> None:
        """Note that all states of at most a cost were judged."""
        statistics = self.search.statistics
        statistics.cost = max(statistics.cost, cost)

    def _begin_level(self) -> None:
        """Take what is fresh and what is back at this cost, by fingerprint."""
        back = self.waiting.pop(self.cost, [])
        self.level = sorted([*self.fresh, *back], key=_by_fingerprint)
        self.fresh, self.done, self.met = [], 0, 0
        self._reach(self.cost)
        self.search.tables.tick(self.cost + 2)

    def _expand_level(self) -> None:
        level = self.level or []
        statistics = self.search.statistics
        waiting = sum(map(len, self.waiting.values()))
        for state in level[self.done :]:
            statistics.frontier = len(level) - self.done + len(self.later) + waiting
            self._expand(*state)
            self.done += 1
        for index in self.new_here.values():
            self.lengths[index] = self.lengths[self.tree.parents[index]] + 1
        self.fresh = sorted(self.later, key=_by_fingerprint)
        self.level, self.done, self.later, self.new_here = None, 0, [], {}
        self.cost += 1

    def _expand(self, fingerprint: int, row: Row, index: int, is_back: bool) -> None:
        search, tree = self.search, self.tree
        locate = partial(tree.locate, search.tables, index)
        successors = search.successors(row, fingerprint, locate)
        taken = self._take(row, fingerprint, successors, is_back=is_back)
        search.statistics.generated += len(taken)
        if len(taken) < len(successors) and not is_back:
            search.statistics.put_off += 1
            if (price := search.options.repeat_cost) is not None:
                later = self.waiting.setdefault(self.cost + price, [])
                later.append((fingerprint, row, index, True))
        for successor in taken:
            total, new, entry, leaf = successor
            if leaf.failed:
                search.fail(successor, locate)
                continue
            identity = search.identity(new, total)
            if identity in self.new_here:
                tree.improve(search.tables, self.new_here[identity], index, leaf)
            elif identity not in self.seen:
                self.seen.add(identity)
                number = tree.add(index, entry.number, leaf.number)
                self.new_here[identity] = number
                self.lengths.append(0)
                self.later.append((total, new, number, False))

    def _take(
        self, row: Row, fingerprint: int, successors: list[Successor], *, is_back: bool
    ) -> list[Successor]:
        """Return the steps to take in a state now: own ones by who took them first."""
        taken: list[Successor] = []
        before, is_own_turn = None, False
        for successor in successors:
            entry = successor[2]
            if entry is not before:
                before = entry
                is_own_turn = not is_back
                if entry.own:
                    key = key_of(self.search.tables, row, entry)
                    first = self.executed.setdefault(key, fingerprint)
                    is_own_turn = (first == fingerprint) is not is_back
            if is_own_turn:
                taken.append(successor)
        return taken
