"""How many steps a system takes to a live state, from a sample of what is at some depth.

MaceMC (NSDI 2007) plots this in figures 2 and 4, for walks from the states at which its
search ends, after 15 steps. With eight nodes there are too many of those to search, so
here they are a sample: where unbiased random walks of so many steps lead, with faults,
each state once. From each, one more walk goes on without faults, as those of
``worldline walk`` do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, final

import worldline as wl
from worldline.engine.expand import Expander
from worldline.engine.native.walks import NativeWalks
from worldline.engine.schedulers.protocol import Traits
from worldline.engine.tables import Entry, Row
from worldline.engine.walks import WalkEnd, WalkSettings
from worldline.model.properties import PropertyKind
from worldline.runs.start import starts
from worldline.search.walks.certify import without_faults
from worldline.search.walks.walkers import all_of
from worldline.search.walks.weights import weigher
from worldline.worlds.tabulated import TabulatedWorld

DEPTH = 15
"""Steps before the walks begin, as in the paper's figures."""

MOST_STEPS = 10_000
"""Steps of a walk: the right end of the paper's axes."""


class Curve(NamedTuple):
    """Walks to a live state.

    Attributes
    ----------
    name
        Of what.
    steps
        Of every walk that became live: its steps and those before it, sorted.
    walks
        How many walks there were.
    """

    name: str
    steps: tuple[int, ...]
    walks: int

    def quantile(self, share: float) -> int | None:
        """Return within how many steps a share of the walks was live, if it was."""
        place = max(1, -int(-share * self.walks // 1))
        return self.steps[place - 1] if place <= len(self.steps) else None

    def share(self, steps: int) -> float:
        """Return which share of the walks was live within so many steps."""
        return sum(one <= steps for one in self.steps) / self.walks


@final
class Sample:
    """Distinct states at a depth, and walks from them.

    Parameters
    ----------
    paths
        How many random paths to the depth are tried.
    """

    def __init__(self, system: wl.System, *, paths: int, depth: int = DEPTH) -> None:
        self._system = system
        self._depth = depth
        self._world = TabulatedWorld(system)
        live = [p for p in system.properties if p.kind is PropertyKind.LIVENESS]
        self._goal = self._world.decision(all_of(live))
        self.states = self._drawn(paths)

    def walk(self, name: str, *, unbiased: bool, seconds: float) -> Curve:
        """Walk once from every state, or from as many as the CPU seconds are enough for."""
        options = WalkSettings(
            seed=0,
            most_steps=MOST_STEPS,
            traits=self._traits(unbiased=unbiased),
            goal=self._goal,
        )
        walks = NativeWalks(self._world.tables, self._world, options)
        steps: list[int] = []
        number, until = 0, time.process_time() + seconds
        for number, row in enumerate(self.states, 1):
            (ended,) = walks.walk(row, range(number, number + 1))
            if ended.end is WalkEnd.GOAL:
                steps.append(self._depth + ended.steps)
            if time.process_time() > until:
                break
        walks.close()
        return Curve(name, tuple(sorted(steps)), number)

    def _traits(self, *, unbiased: bool) -> Callable[[Entry], Traits]:
        weigh = weigher(self._system, unbiased=unbiased, weights=None)
        return lambda entry: Traits(weigh(entry.event))

    def _drawn(self, paths: int) -> list[Row]:
        """Return the states after random paths that were not live on the way."""
        world = self._world
        found: dict[int, Row] = {}
        for row in self._ends(paths):
            start = without_faults(world, row)
            found.setdefault(world.tables.fingerprint(start), start)
        return list(found.values())

    def _ends(self, paths: int) -> Iterator[Row]:
        world = self._world
        options = WalkSettings(
            seed=0,
            most_steps=self._depth,
            traits=self._traits(unbiased=True),
            goal=self._goal,
        )
        walks = NativeWalks(world.tables, world, options)
        (first, *_) = starts(self._system)
        assert first.snapshot is not None
        start = world.encode(first.snapshot)
        expander = Expander(world.tables, world)
        for ended in list(walks.walk(start, range(paths))):
            if ended.end is WalkEnd.LIMIT:
                yield expander.follow(start, walks.path(start, ended.walk))
        walks.close()


QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
EDGE = 50
"""Steps: the depth that the paper takes for the edge of exhaustive search."""


def table(curves: Sequence[Curve]) -> list[str]:
    """Return the curves as a table in Markdown."""
    heads = [f"{share:.0%}" for share in QUANTILES]
    lines = [
        f"| walks | number | live within {EDGE} steps | {' | '.join(heads)} | all live |",
        f"|---|---:|---:|{'---:|' * len(heads)}---:|",
    ]
    for curve in curves:
        found = [curve.quantile(share) for share in QUANTILES]
        cells = ["-" if steps is None else f"{steps:,}" for steps in found]
        edge, live = f"{curve.share(EDGE):.1%}", f"{curve.share(MOST_STEPS):.1%}"
        lines.append(
            f"| {curve.name} | {curve.walks:,} | {edge} | {' | '.join(cells)} | {live} |"
        )
    return lines
