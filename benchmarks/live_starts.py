"""How far CrystalBall's bugs are from the live states that they are searched for from.

For each bug, from its start (docs/zoo.md): the events of the shortest run to a violation
of safety, which a breadth-first search finds, and the states that it had seen by then.
Once with the faults that the bug needs, and once with one of each kind that the network
has: a reset, a silent reset, a connection error, a lost message. And from the initial
state of the same system, with the faults that the bug needs and those that lead to its
start.

    python benchmarks/live_starts.py                     all of them
    python benchmarks/live_starts.py chord-cb1
    python benchmarks/live_starts.py --write             into docs/zoo.md, too

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, sections 5.2, 5.3.
"""

from __future__ import annotations

import argparse
import inspect
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import worldline as wl
from worldline import zoo
from worldline.loading.loader import find, load
from worldline.worlds.direct import DirectWorld

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part

PAGE = Path(__file__).resolve().parents[1] / "docs" / "zoo.md"
MOST = 500_000
KINDS = ("resets", "silent_resets", "connection_errors", "drops")


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to.

    Attributes
    ----------
    steps
        The events of the shortest run to a violation; None if there was none.
    broken
        The properties that it violates.
    """

    steps: int | None
    broken: tuple[str, ...]
    states: int


@dataclass(frozen=True, slots=True)
class LiveStart:
    """A bug, and where it is searched for.

    Attributes
    ----------
    parameters
        Those of the system: the bug, its start, the faults that it needs.
    """

    target: str
    parameters: Mapping[str, str]

    @property
    def faults(self) -> dict[str, str]:
        """The faults that the bug needs."""
        return {kind: n for kind, n in self.parameters.items() if kind in KINDS}

    def every_fault(self) -> dict[str, str]:
        """Return one of each kind that the system's network has."""
        known = inspect.signature(find(self.target).function).parameters
        return dict.fromkeys([kind for kind in KINDS if kind in known], "1")

    def depth(self) -> int:
        """Return how many events lead from the initial state to the start."""
        system = load(self.target, self.parameters)
        world = DirectWorld(system)
        for event in world.boot_events():
            world.step(event)
        return len(world.prepare(system.prologue))

    def search(self, *, every: bool, present: bool = True) -> Found:
        """Search from the start, with every fault or with those needed."""
        given = {**self.parameters, **(self.every_fault() if every else {})}
        return _search(load(self.target, given if present else {**given, "bugs": ""}))

    def search_from_scratch(self) -> Found:
        """Search from the initial state, with the faults of the prologue as well."""
        system = load(self.target, self.parameters)
        needed: dict[str, Any] = {kind: int(n) for kind, n in self.faults.items()}
        for pattern in system.prologue:
            if pattern.kind in _BUDGETS:
                is_silent = pattern.kind is wl.Kind.RESET and pattern.payload
                kind = "silent_resets" if is_silent else _BUDGETS[pattern.kind]
                needed[kind] = needed.get(kind, 0) + 1
        return _search(system.replace(prologue=(), faults=wl.Faults(**needed)))


_BUDGETS = {
    wl.Kind.RESET: "resets",
    wl.Kind.CRASH: "crashes",
    wl.Kind.DISCONNECT: "connection_errors",
    wl.Kind.DROP: "drops",
}
"""The faults of prologues: what a search is allowed of each is called so."""


def _search(system: wl.System) -> Found:
    safety = [p.name for p in system.properties if p.kind.value == "safety"]
    report = wl.check(system, properties=safety, max_states=MOST, traces=False)
    broken = [p for p in report.properties if p.verdict is wl.Verdict.VIOLATED]
    steps = broken[0].steps if broken else None
    return Found(steps, tuple(p.name for p in broken), report.states)


_ELSEWHERE = {
    "paxos-cb1": {"start": "chosen"},
    "paxos-cb2": {"start": "chosen"},
    # The command's own start stands behind a part of the paper's scenario.
    "randtree-cb3": {"start": "cb3-before", "silent_resets": "1"},
    "randtree-cb7": {"start": "cb7"},
}
"""What differs from the parameters of a bug's command."""


def _live_start(bug: str, command: str) -> LiveStart:
    _, target, *options = shlex.split(command)
    pairs = zip(options[::2], options[1::2], strict=True)
    given = dict(value.split("=", 1) for option, value in pairs if option == "-p")
    return LiveStart(target, given | _ELSEWHERE.get(bug, {}))


STARTS = {
    bug: _live_start(bug, case.command)
    for bug, case in zoo.cross_checks().items()
    if case.paper == "crystalball"
}


def rows(names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the table in Markdown."""
    yield (
        "| bug | start | violates | faults needed | events | states "
        "| events, every fault | states | events before it "
        "| events, from the initial state | states |"
    )
    yield "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    for name in names:
        yield row(name)


def row(name: str) -> str:
    """Return the line of a bug."""
    start = STARTS[name]
    own, every = (start.search(every=each) for each in (False, True))
    faults = ", ".join(f"`{kind}={n}`" for kind, n in start.faults.items()) or "none"
    broken = ", ".join(f"`{prop}`" for prop in own.broken) or "nothing"
    cells = [
        f"`{name}`",
        f"`{start.parameters['start']}`",
        *(broken, faults),
        *(*_cells(own), *_cells(every)),
        f"{start.depth()}",
        *_cells(start.search_from_scratch()),
    ]
    return f"| {' | '.join(cells)} |"


def _cells(found: Found) -> tuple[str, str]:
    events = "not found" if found.steps is None else f"{found.steps}"
    return events, f"{found.states:,}"


def main() -> None:
    """Search from each start, and print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="BUG", help=", ".join(STARTS))
    parser.add_argument("--write", action="store_true", help="into docs/zoo.md")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(STARTS)):
        parser.error(f"no bug {', '.join(unknown)}; there are {', '.join(STARTS)}")
    part = Part("live_starts.py", PAGE)
    part.say("\n".join(rows(given.names or list(STARTS))))
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
