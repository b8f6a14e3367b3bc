"""Dead states, shown by walks that did not become live, and where they began.

MaceMC (NSDI 2007), section 4.1: either the path hit a dead state (C1), or the walk was
too short (C2). In the second case the walk goes on to a higher bound, and the question
is asked again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from worldline.engine.expand import Expander, Path
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, WalkEnd
from worldline.model.counts import counted
from worldline.search.walks.critical import Case, find_critical, find_earlier
from worldline.search.walks.probe import Probe, Prober, UnsafeWalk, Walker

RAISES = 2
"""How often the bound on a walk's steps is doubled before the search gives up."""

AHEAD = 64
"""Walks that are made together, at most: so many may have been for nothing."""


@final
@dataclass(frozen=True, slots=True)
class Spot:
    """A state in which walks begin.

    Attributes
    ----------
    number
        Its position on the periphery, which is also the number of its walk.
    root, path
        The number of the initial state, and how it is reached from there.
    row
        The state, as the walks see it.
    """

    number: int
    root: int
    path: Path
    row: Row


@final
@dataclass(frozen=True, slots=True)
class Dead:
    """A run into a dead state.

    Attributes
    ----------
    path, position
        The run, from its initial state on, and its critical transition.
    probe
        What is known of the state after that.
    recovered, recovery_walks, live
        How many of how many walks from the state before became live, and the closest
        live run: no other has more steps in common with this one.
    """

    path: Path
    position: int
    probe: Probe
    recovered: int
    recovery_walks: int
    live: Path | None


@final
@dataclass(frozen=True, slots=True)
class Unresolved:
    """A walk that is not live at the highest bound, though states late on it can be."""

    path: Path
    most_steps: int


@final
class Suspects:
    """Looks into walks that did not become live.

    Parameters
    ----------
    expander
        Follows paths.
    as_walked
        Makes a state of the search one of the walks: without faults, mostly.
    most_steps
        The bound on a walk's steps; it may be raised, and stays so.
    look
        Called before each walk and probe; raises if time is up.

    Attributes
    ----------
    notes
        What was done to the bound.
    probing_s
        Seconds that went into probes.
    """

    def __init__(
        self,
        prober: Prober,
        walker: Callable[[int], Walker],
        expander: Expander,
        as_walked: Callable[[Row], Row],
        most_steps: int,
        look: Callable[[], None],
    ) -> None:
        self._look = look
        self.most_steps = most_steps
        self.notes: list[str] = []
        self.probing_s = 0.0
        self._raises = RAISES
        self._prober = prober
        self._walker = walker
        self._expander = expander
        self._as_walked = as_walked

    def walk(self, spot: Spot) -> Ended:
        """Walk from a spot.

        Raises
        ------
        UnsafeWalk
            If the walk meets a safety violation.
        """
        numbers = range(spot.number, spot.number + 1)
        (ended,) = self._walker(self.most_steps).walk(spot.row, numbers)
        self.refuse_unsafe(spot, ended)
        return ended

    def walk_each(self, spots: Sequence[Spot]) -> Iterator[tuple[Spot, Ended]]:
        """Walk from each spot in turn; their numbers follow one upon the other.

        Walks are made ahead in batches, to keep all threads busy. A walk that meets a
        safety violation is no error here.
        """
        at = 0
        while at < len(spots):
            some, most_steps = spots[at : at + max(1, min(at, AHEAD))], self.most_steps
            rows = [spot.row for spot in some]
            walks = self._walker(most_steps).walk_each(rows, some[0].number)
            for spot in some:
                self._look()
                ended = next(walks)
                if ended.end is WalkEnd.LIMIT and self.most_steps > most_steps:
                    (ended,) = self._walker(self.most_steps).walk_each(
                        [spot.row], spot.number
                    )
                yield spot, ended
            at += len(some)

    def refuse_unsafe(self, spot: Spot, ended: Ended) -> None:
        """Raise `UnsafeWalk` if a walk from a spot met a safety violation."""
        if ended.end in (WalkEnd.HIT, WalkEnd.FAILED):
            raise UnsafeWalk(ended, [*spot.path, *self.path(spot)])

    def examine(self, spot: Spot, root: Row, ended: Ended) -> Dead | Unresolved | None:
        """Decide about a walk that did not become live; None if it did in the end.

        Parameters
        ----------
        root
            The initial state.

        Raises
        ------
        UnsafeWalk
            If a walk meets a safety violation.
        """
        first = len(spot.path)
        while ended.end is not WalkEnd.GOAL:
            run = _Run(self, root, [*spot.path, *self.path(spot)], first)
            last = len(run.path)

            def end_is_dead(
                run: _Run = run,
                last: int = last,
                stuck: bool = ended.end is WalkEnd.STUCK,
            ) -> bool:
                return stuck or self._prober.certificate(run.rows[last]).is_dead

            critical = find_critical(run.recovers, first, last, end_is_dead=end_is_dead)
            if critical.case is Case.DEAD:
                return run.dead_at(critical.position)
            dead_at_first = critical.position == first
            if dead_at_first and run.probe(first).certified:
                return run.dead_at(find_earlier(run.recovers, first))
            if ended.end is WalkEnd.STUCK or not self._raise(
                critical.position, first, last
            ):
                if dead_at_first:
                    return run.dead_at(find_earlier(run.recovers, first))
                return Unresolved(run.path, self.most_steps)
            ended = self.walk(spot)
        self.notes.append(
            f"the walk became live then, after {counted(ended.steps, 'step')}"
        )
        return None

    def probe(self, row: Row) -> Probe:
        """Probe a state with walks of the present bound."""
        self._look()
        began = time.monotonic()
        try:
            return self._prober.probe(row, self.most_steps)
        finally:
            self.probing_s += time.monotonic() - began

    def nearest_live(self, row: Row) -> tuple[int, int, Path]:
        """Return how many of how many walks are live, and the shortest path."""
        return self._prober.nearest_live(row, self.most_steps)

    def rows(self, root: Row, path: Path, first: int) -> list[Row]:
        """Return all states on a run, as walks see them; faults end at `first`."""
        rows = [self._as_walked(root)]
        row = root if first else rows[0]
        for number, (entry, leaf) in enumerate(path, 1):
            row = self._expander.after(row, entry, leaf)
            if number == first:
                row = self._as_walked(row)
            rows.append(row if number >= first else self._as_walked(row))
        return rows

    def path(self, spot: Spot) -> Path:
        """Return the walk from a spot, with the present bound."""
        return self._walker(self.most_steps).path(spot.row, spot.number)

    def _raise(self, position: int, first: int, last: int) -> bool:
        if not self._raises:
            return False
        self._raises -= 1
        self.most_steps *= 2
        why = f"step {position} of {last} may still recover, or only just have died"
        if position == first:
            why = f"step {first}, where the walk began, seems dead already"
        self.notes.append(
            f"case C2, the walk may have been too short: {why}; "
            f"it went on, to {counted(self.most_steps, 'step')}"
        )
        return True


@final
class _Run:
    """A path that did not become live, and what is known of its states."""

    def __init__(self, suspects: Suspects, root: Row, path: Path, first: int) -> None:
        self.path = path
        self.rows = suspects.rows(root, path, first)
        self._suspects = suspects
        self._probes: dict[int, Probe] = {}

    def probe(self, position: int) -> Probe:
        if position not in self._probes:
            try:
                probe = self._suspects.probe(self.rows[position])
            except UnsafeWalk as met:
                raise self._whole(met, position) from None
            self._probes[position] = probe
        return self._probes[position]

    def recovers(self, position: int) -> bool:
        return self.probe(position).alive

    def dead_at(self, position: int) -> Dead:
        recovered, total, live = 0, 0, None
        if position:
            try:
                nearest = self._suspects.nearest_live(self.rows[position - 1])
            except UnsafeWalk as met:
                raise self._whole(met, position - 1) from None
            recovered, total, rest = nearest
            live = [*self.path[: position - 1], *rest]
        probe = self.probe(position)
        return Dead(self.path, position, probe, recovered, total, live)

    def _whole(self, met: UnsafeWalk, position: int) -> UnsafeWalk:
        return UnsafeWalk(met.ended, [*self.path[:position], *met.path])
