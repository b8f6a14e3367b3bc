"""Fair runs of a graph that never end: which components have one, and one of them.

A run is weakly fair if no event can happen from some point on for ever without ever
happening or being renewed. All that matters is what a run does infinitely often, and
that lies within one strongly connected component. A run can go round a whole component
again and again; that is fair if for each event there is an edge inside with which it
happens or is renewed, or a state where it cannot happen. Where there is none of these,
no run that stays is fair.

References
----------
E. M. Clarke, O. Grumberg and D. Peled, "Model Checking", 1999, section 6.3 (fairness
constraints: a fair path exists exactly if a component that satisfies them all can be
reached); O. Lichtenstein and A. Pnueli, "Checking that finite state concurrent programs
satisfy their linear specification", POPL 1985.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.engine.graph import Graph

Edge = tuple[int, int]
"""The target and label of an edge."""


@final
@dataclass(frozen=True, slots=True)
class Lasso:
    """A run for ever, as a finite thing.

    Attributes
    ----------
    way
        The states from a root to where the cycle begins.
    cycle
        The edges of the cycle; none if the run stops there.
    """

    way: list[int]
    cycle: list[Edge]


@final
class Fairness:
    """The runs of a graph that go on for ever, fairly, or stop.

    Attributes
    ----------
    count
        How many strongly connected components there are.
    fair
        The components in which a fair run can stay.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._component = graph.components()
        self.count = 1 + max(self._component, default=-1)
        self.fair = self._fair()

    def can_stay(self, state: int) -> bool:
        """Say whether a fair run can come back to a state for ever, or stop there."""
        return self._component[state] in self.fair or self._graph.is_final(state)

    def has_runs(self) -> bool:
        """Say whether there is any such run.

        There is, unless all runs fail or lead to states that were cut.
        """
        return bool(self.fair) or any(
            map(self._graph.is_final, range(self._graph.states))
        )

    def lasso(self, bad: bytearray) -> Lasso | None:
        """Return a fair run that is in a bad state infinitely often, if there is one.

        Parameters
        ----------
        bad
            1 for each bad state. The cycle begins at one to which the way is shortest.
        """
        state = bad.find(1)
        while state >= 0:
            if self.can_stay(state):
                cycle = []
                if not self._graph.is_final(state):
                    cycle = _Round(self._graph, self._component, state).edges()
                return Lasso(self._graph.way_to(state), cycle)
            state = bad.find(1, state + 1)
        return None

    def _fair(self) -> set[int]:
        graph, component = self._graph, self._component
        sizes = array("i", bytes(4 * self.count))
        for number in component:
            sizes[number] += 1
        owed: dict[int, set[int]] = {}
        for state, number in enumerate(component):
            left = owed.get(number)
            if left is not None and not left:
                continue
            inside = {
                label
                for target, label in graph.edges(state)
                if target >= 0 and component[target] == number
            }
            if not inside and sizes[number] == 1:
                continue
            able = graph.enabled(state)
            left = owed[number] = able if left is None else left & able
            left.difference_update(*map(graph.settled.__getitem__, inside))
        return {number for number, left in owed.items() if not left}


@final
class _Round:
    """Builds a fair cycle through one state of a fair component.

    It is short, not the shortest: what is still owed is paid one by one, each by the
    nearest edge or state that pays something.
    """

    def __init__(self, graph: Graph, component: array[int], anchor: int) -> None:
        self._graph = graph
        self._component = component
        self._anchor = anchor
        self._owed = graph.enabled(anchor)
        self._cycle: list[Edge] = []

    def edges(self) -> list[Edge]:
        at = self._anchor
        while self._owed:
            at = self._go(at, self._pays)
        if at != self._anchor or not self._cycle:
            self._go(at, self._closes)
        return self._cycle

    def _pays(self, target: int, label: int) -> bool:
        if not self._owed.isdisjoint(self._graph.settled[label]):
            return True
        return not self._owed <= self._graph.enabled(target)

    def _closes(self, target: int, label: int) -> bool:
        return target == self._anchor

    def _go(self, start: int, goal: Callable[[int, int], bool]) -> int:
        """Go the shortest way that ends with an edge of a kind; return where it ends."""
        number = self._component[start]
        came: dict[int, tuple[int, int]] = {}
        pending = deque([start])
        while pending:
            state = pending.popleft()
            for target, label in self._graph.edges(state):
                if target < 0 or self._component[target] != number:
                    continue
                if goal(target, label):
                    self._walk(start, state, came, (target, label))
                    return target
                if target != start and target not in came:
                    came[target] = (state, label)
                    pending.append(target)
        raise LookupError(f"component {number} is not fair, or not connected")

    def _walk(
        self, start: int, state: int, came: dict[int, tuple[int, int]], last: Edge
    ) -> None:
        way = [last]
        while state != start:
            before, label = came[state]
            way.append((state, label))
            state = before
        for target, label in reversed(way):
            self._owed -= self._graph.settled[label]
            self._owed &= self._graph.enabled(target)
            self._cycle.append((target, label))
