"""How deep a prediction goes, how fast and with how much memory; and what it finds.

Each system is searched from the same state to the same number of states: exhaustively, as
the algorithm is printed (what is pruned is forgotten), and with what is pruned put off.
Then each bug is looked for from its live state, with faults of all kinds allowed at once.
Processor seconds of one thread.

    python benchmarks/consequence.py             all of it
    python benchmarks/consequence.py --write     into docs/results.md, too

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, sections 3.2, 5.2
and 5.5.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from worldline.engine.bounds import Bounds
from worldline.engine.exploration import Exploration, Options, StateCheck
from worldline.loading.loader import load
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.search.engines import choose
from worldline.worlds.tabulated import TabulatedWorld

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # run as a script
from benchmarks.results import Part

SIZES = (30_000, 100_000)
MOST = 400_000
PRICE = 6
"""What it costs more to take a state up again."""

WIDE = {"resets": "1", "silent_resets": "1", "connection_errors": "1"}
BREAKING = {"resets": "1", "connection_errors": "1"}

PLACES = {
    "RandTree, live, 6 nodes": ("zoo:randtree", {"start": "cb5", **WIDE}),
    "RandTree, live, 4 nodes": ("zoo:randtree", {"start": "cb3", **WIDE}),
    "RandTree, initial, 5 nodes": (
        "zoo:randtree",
        {"size": "5", "contacts": "ring", **WIDE},
    ),
    "Chord, live, 3 nodes": ("zoo:chord", {"start": "cb1", **BREAKING}),
    "Chord, initial, 4 nodes": (
        "zoo:chord",
        {"size": "4", "fingers": "no", **BREAKING},
    ),
    "Paxos, initial, 2 rounds": (
        "zoo:paxos",
        {"rounds": "2", "drops": "2", "resets": "1"},
    ),
}
"""Systems without a bug, by what the table calls them."""

BUGS = {
    **{
        f"randtree-cb{n}": (
            "zoo:randtree",
            {"bugs": f"cb{n}", "start": f"cb{n}", **WIDE},
        )
        for n in range(1, 7)
    },
    "randtree-cb7": ("zoo:randtree", {"bugs": "cb7", "size": "2", **WIDE}),
    **{
        f"chord-cb{n}": (
            "zoo:chord",
            {"bugs": f"cb{n}", "start": f"cb{n}", **BREAKING},
        )
        for n in range(1, 4)
    },
    **{
        f"paxos-cb{n}": (
            "zoo:paxos",
            {"bugs": f"cb{n}", "start": "chosen", "drops": "2", "resets": "1"},
        )
        for n in range(1, 3)
    },
}


@dataclass(frozen=True)
class Way:
    """A way of searching: as `choose` and `Options` have it."""

    by_cost: bool
    price: int | None = None


EXHAUSTIVE, PRINTED, PUT_OFF = Way(False), Way(True), Way(True, PRICE)


class Place:
    """A system with its tables, which stay warm, and its properties."""

    def __init__(self, target: str, parameters: dict[str, str]) -> None:
        self.world = TabulatedWorld(load(target, parameters))
        found = starts(self.world.system)
        self._roots = [s.snapshot for s in found if s.snapshot is not None]
        self._checks = [
            StateCheck(self.world.decision(p), target=False, fatal=True)
            for p in self.world.system.properties
            if p.kind is PropertyKind.SAFETY
        ]

    def search(self, way: Way, states: int) -> tuple[Exploration, float]:
        """Search up to so many states; return also the processor seconds."""
        began = time.process_time()
        search = Exploration(
            self.world.tables,
            self.world,
            [self.world.encode(root) for root in self._roots],
            self._checks,
            bounds=Bounds(states=states),
            options=Options(repeat_cost=way.price),
        )
        search.run(choose("auto", by_cost=way.by_cost).run)
        return search, time.process_time() - began


def reached(search: Exploration, way: Way) -> tuple[int, int]:
    """Return the cost to which all states were met, and the steps of the longest path.

    A depth is that of exhaustive search, in states; the bound on states ends that in the
    midst of a level, of which some states are met.
    """
    found = search.statistics
    steps = found.depth - 1
    if way.by_cost:
        return found.cost, steps
    return steps, steps + (search.bound == "states")


def cell(search: Exploration, way: Way) -> str:
    """Say how far a search came."""
    cost, longest = reached(search, way)
    if search.bound == "states":
        return f"{cost} / {longest}"
    return f"{search.statistics.states:,} states, {longest}"


def depths() -> Iterator[str]:
    """Yield the rows of a table: how deep the searches go, and what they use up."""
    yield (
        "| from | states | exhaustive | printed | put off | path | cold, s | warm, s | "
        "bytes per state (held) |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, (target, parameters) in PLACES.items():
        for states in SIZES:
            whole, _ = Place(target, parameters).search(EXHAUSTIVE, states)
            printed, _ = Place(target, parameters).search(PRINTED, states)
            place = Place(target, parameters)
            search, cold = place.search(PUT_OFF, states)
            _, warm = place.search(PUT_OFF, states)
            longer = reached(search, PUT_OFF)[1] / reached(whole, EXHAUSTIVE)[1]
            found = search.statistics
            each, held = found.bytes / found.states, found.bytes / found.held
            yield (
                f"| {name} | {states:,} | {cell(whole, EXHAUSTIVE)} | "
                f"{cell(printed, PRINTED)} | {cell(search, PUT_OFF)} | {longer:.1f}× | "
                f"{cold:.2f} | {warm:.2f} | {each:.0f} ({held:.0f}) |"
            )


def hits(search: Exploration) -> str:
    """Say after how many states something was found, and by how many steps."""
    found = [len(h.path) for h in (*search.hits.values(), *search.failures.values())]
    states = f"{search.statistics.states:,}"
    if not found:
        return f"none in {states}"
    return f"{states}, {min(found)} step{'s' if min(found) > 1 else ''}"


def bugs() -> Iterator[str]:
    """Yield the rows of a table: what is found from the live state of each bug."""
    yield "| bug | exhaustive | printed | put off | cold, s |"
    yield "|---|---:|---:|---:|---:|"
    for name, (target, parameters) in BUGS.items():
        whole, printed = (
            hits(Place(target, parameters).search(way, MOST)[0])
            for way in (EXHAUSTIVE, PRINTED)
        )
        search, seconds = Place(target, parameters).search(PUT_OFF, MOST)
        yield f"| `{name}` | {whole} | {printed} | {hits(search)} | {seconds:.2f} |"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="into docs/results.md")
    given = parser.parse_args()
    part = Part("consequence.py")
    for table in (depths, bugs):
        rows = []
        for row in table():
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
        part.say("\n".join(rows))
    if given.write:
        part.write()


if __name__ == "__main__":
    main()
