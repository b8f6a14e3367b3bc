"""Partial-order reduction: of the orders of independent steps, one is searched.

Two steps are *independent* in a state in which both can be taken if each leaves the
other possible, with the same outcomes, and both orders lead to the same state. The
search carries a *sleep set* with each state: events that can be taken there but need
not be, since what they lead to is reached by taking them earlier. No state is lost,
and none is met later than without: what is cut is transitions.

The loop is breadth-first. In a state ``p`` with the sleep set ``Z(p)`` the events that
are not asleep are taken in an order ``<`` that is the same in every state. The state
after ``e`` is handed the events of ``Z(p)``, and those taken in ``p`` before ``e``, as
far as they are independent of ``e``. A state that is reached more than once from the
level before it sleeps only on what it was handed each time; it is never expanded twice.

**Every state is visited, at its least depth.** Order paths of one length by their first
state, then event by event by ``<``. Let ``w = e1 ... ek t`` be the least of the
shortest paths to a state ``x``; by induction on its length its prefix, which is the
least of the shortest to its own end ``s``, was taken. Suppose that ``t`` was asleep in
``s``. Then it was handed down at each step of ``w`` since some state ``a``, after
``e1 ... ej``, in which it was taken before the next event: ``t < e(j+1)``, and ``t`` is
independent of ``e(j+1) ... ek``. So ``e1 ... ej t e(j+1) ... ek`` leads to ``x`` too,
is as long as ``w``, and comes before it: a contradiction. (What other paths hand to the
states of ``w`` can only wake events, as sleep sets are intersected.)

So every predicate sees the states that it sees without the reduction, level by level:
what is always, sometimes or never true, deadlocks, counts of states, bounds on depth and
the length of counterexamples are all the same (but which states come last before a bound
on their number is not). A failed outcome depends on what an
independent event does not touch; so an event asleep has failed already where it was
taken, nearer to the start. States that a search does not expand at will (`prune`) are
not covered: the other order may lead through one of them.

References
----------
P. Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", LNCS
1032, 1996: sleep sets (chapter 5). There the search is depth-first, and a state that is
met again with a smaller sleep set is expanded again for what is awake now; that the
levels of a breadth-first search make this unnecessary is the proof above. Persistent and
ample sets, which cut states too, are not used: ``docs/design.md`` says why.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias, final

from worldline.engine.breadth_first import Ancestry, State, levels
from worldline.engine.expand import Successor
from worldline.engine.exploration import Exploration, Locate
from worldline.engine.tables import Entry, Leaf, Row
from worldline.model.errors import InternalError, UsageError

Slots: TypeAlias = tuple[int, ...]


def sleeping(search: Exploration) -> None:
    """Explore level by level, leaving out steps that lead nowhere new.

    Raises
    ------
    UsageError
        If some states are not to be expanded.
    """
    if search.options.prune is not None:
        raise UsageError(
            "partial-order reduction cannot be combined with prune or assume: another "
            "order of the same steps may lead through a state that is cut",
            remedy="search without it",
        )
    sleepers = _Sleepers(search)
    levels(search, sleepers.next_level)


@final
class _Sleepers:
    """The sleep sets of a level; a set of events is an int with a bit for each."""

    def __init__(self, search: Exploration) -> None:
        if search.footprints is None:
            raise InternalError("a reduced search does not know what steps touch")
        self._search = search
        self._footprints = search.footprints
        self._asleep: dict[int, int] = {}
        search.large.append(self._asleep)
        """By fingerprint; of this level, a state that is not listed has none."""
        self._touching: list[int] = []
        """For each slot, the events of which a step is known to touch it."""
        self._slots: dict[int, Slots | None] = {}
        """For each outcome, by number."""

    def next_level(
        self, tree: Ancestry, seen: set[int], level: list[State]
    ) -> list[State]:
        """Return the states first met from those of a level."""
        search, statistics = self._search, self._search.statistics
        found: list[State] = []
        asleep, handed = self._asleep, dict[int, int]()
        for done, (fingerprint, row, index) in enumerate(level):
            statistics.frontier = len(level) - done + len(found)
            locate = partial(tree.locate, search.tables, index)
            quiet = asleep.get(fingerprint, 0)
            for successor, sleep in self._expand(row, fingerprint, quiet, locate):
                total, new, entry, leaf = successor
                if leaf.failed:
                    search.fail(successor, locate)
                elif total not in seen:
                    search.discover()
                    seen.add(total)
                    found.append(
                        (total, new, tree.add(index, entry.number, leaf.number))
                    )
                    if sleep:
                        handed[total] = sleep
                elif total in handed:
                    handed[total] &= sleep
        self._asleep = handed
        statistics.frontier = len(found)
        return found

    def _expand(
        self, row: Row, fingerprint: int, asleep: int, locate: Locate
    ) -> list[tuple[Successor, int]]:
        """Return the successors of a state by events that are awake.

        Each comes with the events that sleep in it.
        """
        search, touching = self._search, self._touching
        search.tick()
        expander = search.expander
        sleep, stuck = asleep, True
        found: list[tuple[Successor, int]] = []
        for entry in expander.enabled(row):
            bit = 1 << entry.number
            if asleep & bit:
                stuck &= entry.fault
                continue
            column = entry.column
            leaves = entry.outcomes.get(row[column] if column >= 0 else 0)
            if type(leaves) is not tuple:
                leaves = expander.outcomes(entry, row)
            if not leaves:
                continue
            stuck &= entry.fault
            may_sleep = True
            for leaf in leaves:
                slots = self._touched(entry, leaf)
                left = sleep
                if slots is None:
                    may_sleep, left = False, 0
                elif left:
                    for slot in slots:
                        left &= ~touching[slot]
                total, new = expander.step(row, fingerprint, entry, leaf)
                found.append(((total, new, entry, leaf), left))
            if may_sleep:
                sleep |= bit
        search.statistics.generated += len(found)
        search.note_stuck(row, locate, stuck=stuck)
        return found

    def _touched(self, entry: Entry, leaf: Leaf) -> Slots | None:
        """Return what a step touches, after noting it in all that it touches."""
        if leaf.number in self._slots:
            return self._slots[leaf.number]
        slots = self._slots[leaf.number] = self._footprints.slots(entry, leaf)
        for slot in slots or ():
            if slot >= len(self._touching):
                self._touching += [0] * (slot + 1 - len(self._touching))
            self._touching[slot] |= 1 << entry.number
        return slots
