"""A whole state space as a graph in flat arrays, and its strongly connected components.

A search keeps of each state a fingerprint; what goes on for ever is a matter of edges.
`build` visits the space once more and writes them down. States are numbered in the
order in which they are met, breadth-first, so no state is met later than one that is
nearer to the beginning. Nothing here knows what an event is: an edge has a *label*, which
stands for the number of its event and of those that it *renews*. An event that is renewed
begins to wait anew, as if it could not happen for a moment; the states need not show it.

Memory: 20 bytes for each state (offset, parent, fingerprint), a bit more for each
predicate, and 8 for each edge; while it is built, some 180 more for each state, to know
it again, and the rows of those that wait. `build` refuses to number more than `limit`.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import final

from worldline.engine.decisions import Decision
from worldline.engine.expand import Path
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.tables import Leaf, Row

FAULT = -1
"""The event of an edge that need never be taken."""

NOWHERE = -1
"""The target of an edge whose event fails: there is no state after it."""

_TICK = 512
"""States between two looks at the clock."""


class GraphTooLarge(Exception):
    """A space has more states than a graph may have."""


@final
class Graph:
    """States 0, 1, ... with their edges; they are given edges in this order.

    Attributes
    ----------
    first
        The edges of state `s` are those from ``first[s]`` to ``first[s + 1]``.
    targets, labels
        Of each edge; no state has two that are alike.
    events, settled
        Of each label: its event, or `FAULT`; and the events to which nothing is owed
        after an edge with it, because they happened or were renewed.
    parents
        The state from which each one was met first; ``-1 - r`` for root `r`.
    cut
        1 for a state whose successors nobody asks about.
    pulse
        Called from time to time while something is worked out; what it raises ends that.
    """

    def __init__(self) -> None:
        self.first = array("q", [0])
        self.targets = array("i")
        self.labels = array("i")
        self.events: list[int] = []
        self.settled: list[frozenset[int]] = []
        self.parents = array("i")
        self.cut = bytearray()
        self._known: dict[tuple[int, frozenset[int]], int] = {}
        self.pulse: Callable[[], None] = _nothing
        self._breath = 0

    @property
    def states(self) -> int:
        """How many states have been met."""
        return len(self.parents)

    def label(self, event: int, renewed: frozenset[int] = frozenset()) -> int:
        """Return the label of an event, or of a fault, that renews others."""
        number = self._known.get((event, renewed))
        if number is None:
            number = self._known[event, renewed] = len(self.events)
            self.events.append(event)
            self.settled.append(renewed if event == FAULT else renewed | {event})
        return number

    def meet(self, parent: int) -> int:
        """Add a state and return its number."""
        self.parents.append(parent)
        return len(self.parents) - 1

    def leave(self, edges: Iterable[tuple[int, int]], *, cut: bool = False) -> None:
        """Give the next state its edges: target and label of each."""
        for target, label in edges:
            self.targets.append(target)
            self.labels.append(label)
        self.first.append(len(self.targets))
        self.cut.append(cut)

    def edges(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield target and label of every edge of a state."""
        self._breathe()
        low, high = self.first[state], self.first[state + 1]
        return zip(self.targets[low:high], self.labels[low:high], strict=True)

    def enabled(self, state: int) -> set[int]:
        """Return the events that can happen, without faults."""
        self._breathe()
        low, high = self.first[state], self.first[state + 1]
        events = set(map(self.events.__getitem__, self.labels[low:high]))
        events.discard(FAULT)
        return events

    def _breathe(self) -> None:
        """Call `pulse` from time to time: what is worked out of a graph takes long."""
        self._breath -= 1
        if self._breath < 0:
            self._breath = _TICK
            self.pulse()

    def is_final(self, state: int) -> bool:
        """Say whether a run may stop in a state: nothing but faults can happen."""
        return not self.cut[state] and not self.enabled(state)

    def way_to(self, state: int) -> list[int]:
        """Return the states of a shortest path from a root to a state."""
        way = [state]
        while (parent := self.parents[way[-1]]) >= 0:
            way.append(parent)
        return way[::-1]

    def components(self) -> array[int]:
        """Return for each state the number of its strongly connected component.

        A component is numbered after all that it leads to.

        References
        ----------
        R. Tarjan, "Depth-First Search and Linear Graph Algorithms", SIAM J. Comput.
        1(2), 1972; here with a stack of its own in place of recursion.
        """
        first, targets, total = self.first, self.targets, self.states
        met = array("i", bytes(4 * total))
        low = array("i", bytes(4 * total))
        at = array("q", first[:total])
        component_of = array("i", [-1]) * total
        clock = components = 0
        waiting = array("i")
        for root in range(total):
            path = array("i", () if met[root] else (root,))
            while path:
                self._breathe()
                state = path[-1]
                if not met[state]:
                    clock += 1
                    met[state] = low[state] = clock
                    waiting.append(state)
                edge, last, least = at[state], first[state + 1], low[state]
                while edge < last:
                    target = targets[edge]
                    # An edge is looked at again when its target is done.
                    if target >= 0 and component_of[target] < 0:
                        if not met[target]:
                            path.append(target)
                            break
                        least = min(least, low[target])
                    edge += 1
                at[state], low[state] = edge, least
                if edge < last:
                    continue
                path.pop()
                if least == met[state]:
                    while component_of[state] < 0:
                        component_of[waiting.pop()] = components
                    components += 1
        return component_of


def _nothing() -> None:
    """Do nothing: nobody looks at the clock."""


@final
class Space:
    """A graph with what its states and edges stand for.

    Parameters
    ----------
    search
        The exploration of the same space.
    decisions
        Predicates of which each state is asked.
    renewed
        Returns the events that an outcome renews, as they are where they happen.

    Attributes
    ----------
    graph
        The states and edges.
    false
        For each predicate, and each state, 1 if it is false there.
    """

    def __init__(
        self,
        search: Exploration,
        decisions: list[Decision],
        renewed: Callable[[Leaf], Iterable[Hashable]],
    ) -> None:
        self.graph = Graph()
        self.false = [bytearray() for _ in decisions]
        self._search = search
        self._decisions = decisions
        self._renewed = renewed
        self._events: dict[Hashable, int] = {}
        self._labels: dict[int, int] = {}
        self._fingerprints = array("Q")

    def build(self, limit: int, tick: Callable[[Graph], None]) -> None:
        """Visit every state.

        Parameters
        ----------
        limit
            The most states there may be.
        tick
            Called now and then; what it raises ends the visit.

        Raises
        ------
        TooLarge
            If there are more.
        """
        search, graph = self._search, self.graph
        numbers: dict[int, int] = {}
        search.large.append(numbers)
        rows: deque[Row] = deque()

        def meet(fingerprint: int, row: Row, parent: int) -> int:
            if graph.states >= limit:
                raise GraphTooLarge
            number = numbers[fingerprint] = graph.meet(parent)
            self._fingerprints.append(fingerprint)
            rows.append(row)
            return number

        for number, row in enumerate(search.roots):
            fingerprint = search.tables.fingerprint(row)
            if fingerprint not in numbers:
                meet(fingerprint, row, -1 - number)
        cut, successors = search.options.prune, search.expander.successors
        state = 0
        while rows:
            if state % _TICK == 0:
                tick(graph)
            row = rows.popleft()
            for false, decision in zip(self.false, self._decisions, strict=True):
                false.append(not decision(row))
            if cut is not None and cut(row) is True:
                graph.leave((), cut=True)
                state += 1
                continue
            edges: dict[tuple[int, int], None] = {}
            for total, new, _, leaf in successors(row, self._fingerprints[state]):
                target = NOWHERE if leaf.failed else numbers.get(total)
                if target is None:
                    target = meet(total, new, state)
                edges[target, self._label(leaf)] = None
            graph.leave(edges)
            state += 1

    def hit(self, way: list[int], onwards: list[tuple[int, int]]) -> Hit:
        """Return how to go a way of states, and on along some edges."""
        root = -1 - self.graph.parents[way[0]]
        row, before = self._search.roots[root], way[0]
        path: Path = []
        for state, label in [*((state, None) for state in way[1:]), *onwards]:
            row = self._step(row, before, state, label, path)
            before = state
        return Hit(root, path)

    def _step(
        self, row: Row, before: int, target: int, label: int | None, path: Path
    ) -> Row:
        wanted = self._fingerprints[target]
        successors = self._search.expander.successors(row, self._fingerprints[before])
        for total, new, entry, leaf in successors:
            right = label is None or self._label(leaf) == label
            if right and total == wanted and not leaf.failed:
                path.append((entry, leaf))
                return new
        raise LookupError(f"state {before} has no edge to {target} any more")

    def _label(self, leaf: Leaf) -> int:
        label = self._labels.get(leaf.number)
        if label is None:
            entry = leaf.entry
            event = FAULT if entry.fault else self._event(entry.event)
            renewed = frozenset(map(self._event, self._renewed(leaf))) - {event}
            label = self._labels[leaf.number] = self.graph.label(event, renewed)
        return label

    def _event(self, event: Hashable) -> int:
        return self._events.setdefault(event, len(self._events))
