"""What partial-order reduction cuts: systems of the zoo, with and without it.

Run ``python benchmarks/partial_order.py``; it prints one line per system: states,
transitions without and with sleep sets, and CPU seconds of either search (the least of
three, each in a process of its own, start-up left out; python engine).

Run ``python benchmarks/partial_order.py ample`` for how many states ample sets would
leave if they were chosen with hindsight (see `Graph`).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import worldline as wl
from worldline.engine.expand import Expander
from worldline.engine.tables import Entry, Leaf
from worldline.loading.loader import load
from worldline.model.semantics.layout import ColumnKind
from worldline.runs.start import starts
from worldline.worlds.footprints import Footprints
from worldline.worlds.tabulated import TabulatedWorld

Job = tuple[str, dict[str, str], int | None]
JOBS: list[Job] = [
    ("zoo:twophase", {"n": "5"}, None),
    ("zoo:twophase", {"n": "7"}, None),
    ("zoo:paxos", {}, None),
    ("zoo:paxos", {"drops": "1"}, None),
    ("zoo:paxos-clients", {"clients": "2"}, None),
    ("zoo:paxos-clients", {"clients": "2", "network": "ordered"}, None),
    ("zoo:single-copy", {"clients": "3"}, None),
    ("zoo:abd", {"clients": "2", "servers": "2"}, None),
    ("zoo:abd", {"clients": "2", "servers": "2", "network": "ordered"}, None),
    ("zoo:randtree", {"size": "3", "contacts": "ring"}, 12),
    ("zoo:randtree", {"size": "3", "resets": "1"}, 12),
    ("zoo:overcast", {}, 15),
]


def name(job: Job) -> str:
    """Return the words of the command line that mean a job."""
    target, parameters, depth = job
    words = [target, *(f"-p {key}={value}" for key, value in parameters.items())]
    return " ".join([*words, *([] if depth is None else [f"--max-depth {depth}"])])


def measure(job: Job, *, reduced: bool) -> str:
    """Search one system and return the figures as JSON."""
    target, parameters, depth = job
    system = load(target, parameters)
    began = time.process_time()
    report = wl.check(
        system,
        max_depth=depth,
        engine="python",
        symmetry=False,
        partial_order=reduced,
        traces=False,
    )
    seconds = time.process_time() - began
    return json.dumps([report.states, report.generated, seconds])


def main() -> None:
    """Run every job in processes of its own, with and without by turns."""
    for number, job in enumerate(JOBS):
        best: dict[str, list[float]] = {}
        for _ in range(3):
            for way in ("plain", "reduced"):
                command = [sys.executable, __file__, str(number), way]
                done = subprocess.run(command, check=True, capture_output=True)
                found = json.loads(done.stdout)
                best[way] = min(best.get(way, found), found, key=lambda f: float(f[2]))
        plain, reduced = best["plain"], best["reduced"]
        print(
            f"{name(job)}: {plain[0]:,} states, {plain[1]:,} -> {reduced[1]:,} "
            f"transitions, {plain[2]:.2f} -> {reduced[2]:.2f} s",
            flush=True,
        )


# ----------------------------------------------------------------------- ample sets

State = tuple[int, ...]
Edge = tuple[int | None, bool, frozenset[int], bool, State | None]
"""Node, whether it is a fault, nodes sent to, whether the step touches no more than its
node, and the state that it leads to (None for a failure)."""


class Graph:
    """The whole graph of a system, on which ample sets are chosen with hindsight.

    The set of a node is all that can happen at it. It is ample if, as the graph shows,
    nothing that happens elsewhere before can send anything to the node (C1), no answer
    to any question that a property ever asked changes (C2), and it leads to a state that
    is not expanded yet (C3). The smallest is taken. A search does not know the graph, so
    it would find fewer of these sets.
    """

    def __init__(self, system: wl.System) -> None:
        self.world = TabulatedWorld(system)
        self.system = system
        self._expander = Expander(self.world.tables, self.world)
        self._footprints = Footprints(self.world)
        decisions = [self.world.decision(p) for p in system.properties]
        encoded = [self.world.encode(s.snapshot) for s in starts(system) if s.snapshot]
        self.roots = list(dict.fromkeys(map(tuple, encoded)))
        self.edges: dict[State, list[Edge]] = {}
        todo = deque(self.roots)
        while todo:
            state = todo.popleft()
            if state in self.edges:
                continue
            for decision in decisions:
                decision(list(state))
            self.edges[state] = list(self._out(state))
            todo += [edge[4] for edge in self.edges[state] if edge[4] is not None]
        self._reads: dict[int, list[Any]] = {}
        for read in self.world._recall._answers:
            self._reads.setdefault(read.column, []).append(read)
        self.reached = [self._reaching(n) for n in range(len(system.ids))]

    def _out(self, state: State) -> Iterator[Edge]:
        for _, new, entry, leaf in self._expander.successors(list(state), 0):
            yield self._edge(entry, leaf, None if leaf.failed else tuple(new))

    def _edge(self, entry: Entry, leaf: Leaf, state: State | None) -> Edge:
        columns = self.system.layout.columns
        index: int | None = None
        if entry.event.node is not None:
            index = self.system.index[entry.event.node]
        mail = frozenset(
            columns[o.column].index
            for o in leaf.changes
            if columns[o.column].kind is ColumnKind.INBOX
        )
        alone = self._footprints.slots(entry, leaf) == (index,)
        return index, entry.fault, mail, alone, state

    def _reaching(self, node: int) -> set[State]:
        """Return the states from which the others alone can send to a node."""
        back: dict[State, list[State]] = {}
        todo: list[State] = []
        for state, edges in self.edges.items():
            for index, _, mail, _, after in edges:
                if index is None or (index != node and node in mail):
                    todo.append(state)
                elif index != node and after is not None:
                    back.setdefault(after, []).append(state)
        found = set(todo)
        while todo:
            for state in back.get(todo.pop(), ()):
                if state not in found:
                    found.add(state)
                    todo.append(state)
        return found

    def _is_hidden(self, state: State, after: State) -> bool:
        look = self.world._recall.look
        return all(
            look(read, before)[1] == look(read, then)[1]
            for column, (before, then) in enumerate(zip(state, after, strict=True))
            if before != then
            for read in self._reads.get(column, ())
        )

    def reduced(self) -> int:
        """Return how many states are met if ample sets are used wherever they are."""
        seen, expanded = set(self.roots), set[State]()
        todo = deque(self.roots)
        while todo:
            state = todo.popleft()
            expanded.add(state)
            for edge in self._chosen(state, expanded):
                if edge[4] is not None and edge[4] not in seen:
                    seen.add(edge[4])
                    todo.append(edge[4])
        return len(seen)

    def _chosen(self, state: State, expanded: set[State]) -> list[Edge]:
        every = chosen = self.edges[state]
        for node, reached in enumerate(self.reached):
            mine = [edge for edge in every if edge[0] == node]
            after = [edge[4] for edge in mine if edge[4] is not None]
            if (
                0 < len(mine) < len(chosen)
                and len(after) == len(mine)
                and state not in reached
                and all(edge[3] for edge in mine)
                and not all(edge[1] for edge in mine)
                and not expanded.issuperset(after)
                and all(self._is_hidden(state, other) for other in after)
            ):
                chosen = mine
        return chosen


def hindsight() -> None:
    """Print the states of systems that are small enough, without and with ample sets."""
    for job in JOBS:
        if job[2] is None and job[1] != {"n": "7"}:
            graph = Graph(load(job[0], job[1]))
            print(f"{name(job)}: {len(graph.edges):,} -> {graph.reduced():,} states")


if __name__ == "__main__":
    if sys.argv[1:] == ["ample"]:
        hindsight()
    elif len(sys.argv) > 1:
        print(measure(JOBS[int(sys.argv[1])], reduced=sys.argv[2] == "reduced"))
    else:
        main()
