"""A test whether a state can still become live: by random walks, and by proof.

A state that one walk leads to a live one is alive, for certain. That one is dead is
proved where everything that can follow can be visited; else it is probable, because no
walk of several became live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, final

from worldline.engine.bounds import Meter
from worldline.engine.decisions import Decision
from worldline.engine.expand import Path
from worldline.engine.exploration import Exploration
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, WalkEnd
from worldline.model.errors import InternalError
from worldline.search.walks.certify import Certificate, Fate, certify
from worldline.worlds.tabulated import TabulatedWorld

_FIRST = 2**32
"""The number of the first walk of a probe: walks of the search have smaller ones."""

CONFIDENCE = 0.95


class Walker(Protocol):
    """Either engine's random walks."""

    def walk(self, start: Row, numbers: range) -> Iterator[Ended]: ...
    def walk_each(self, starts: Sequence[Row], first: int) -> Iterator[Ended]: ...
    def path(self, start: Row, number: int) -> Path: ...
    def close(self) -> None: ...


class UnsafeWalk(Exception):
    """A walk met a safety violation.

    Attributes
    ----------
    ended
        How it ended.
    path
        How it got there.
    """

    def __init__(self, ended: Ended, path: Path) -> None:
        super().__init__(ended)
        self.ended = ended
        self.path = path


class Probe(NamedTuple):
    """The result of a probe of a state.

    Attributes
    ----------
    alive
        Whether it can become live.
    certificate
        The proof, if one was tried.
    walks
        How many walks were made.
    live
        A path to a live state, if it is alive.
    """

    alive: bool
    certificate: Certificate
    walks: int
    live: Path | None = None

    @property
    def certified(self) -> bool:
        """Whether it is proved that the state is dead."""
        return self.certificate.is_dead


def missed_share(walks: int) -> float:
    """Return a share of live walks that so many walks would have shown.

    If at least this share of all walks from a state became live, then with a
    probability of `CONFIDENCE` one of `walks` would have.

    Examples
    --------
    >>> round(missed_share(60), 3)
    0.049
    """
    return 1.0 - float((1.0 - CONFIDENCE) ** (1 / walks))


@final
class Prober:
    """Probes states.

    Parameters
    ----------
    goal
        Says which states are live.
    walker
        Returns who walks, by the most steps of a walk.
    walks
        How many walks a state gets.
    most_states
        Where to give up a proof.
    run
        A breadth-first strategy.
    meter
        Watches time and memory.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        goal: Decision,
        walker: Callable[[int], Walker],
        *,
        walks: int,
        most_states: int,
        run: Callable[[Exploration], None],
        meter: Meter | None = None,
    ) -> None:
        self._world = world
        self._goal = goal
        self._walker = walker
        self._walks = walks
        self._most_states = most_states
        self._run = run
        self._meter = meter
        self._known: dict[tuple[int, ...], Certificate] = {}

    def probe(self, row: Row, most_steps: int) -> Probe:
        """Find out whether a state can become live.

        One walk comes first: a state that is alive mostly shows it at once. Then comes
        the proof, and only if there is none the other walks.

        Raises
        ------
        UnsafeWalk
            If a walk meets a safety violation.
        """
        live = self._first_live(row, range(_FIRST, _FIRST + 1), most_steps)
        none = Certificate(Fate.UNKNOWN)
        if live is not None:
            return Probe(True, none, 1, live)
        certificate = self.certificate(row)
        if certificate.is_dead:
            return Probe(False, certificate, 1)
        if certificate.fate is Fate.ALIVE:
            return Probe(True, certificate, 1, certificate.path)
        numbers = range(_FIRST + 1, _FIRST + self._walks)
        live = self._first_live(row, numbers, most_steps)
        return Probe(live is not None, certificate, self._walks, live)

    def certificate(self, row: Row) -> Certificate:
        """Try to prove what can become of a state."""
        if not self._most_states:
            return Certificate(Fate.UNKNOWN)
        key = tuple(row)
        if key not in self._known:
            self._known[key] = certify(
                self._world,
                self._goal,
                row,
                most_states=self._most_states,
                run=self._run,
                meter=self._meter,
            )
        return self._known[key]

    def nearest_live(self, row: Row, most_steps: int) -> tuple[int, int, Path]:
        """Return how many of how many walks are live, and the shortest such path.

        The state is one that can become live.
        """
        numbers = range(_FIRST, _FIRST + self._walks)
        ends = self._ends(row, numbers, most_steps)
        live = [ended for ended in ends if ended.end is WalkEnd.GOAL]
        if not live:
            proved = self.certificate(row).path
            if proved is None:
                raise InternalError("a state that was alive has no live path")
            return 0, len(numbers), proved
        best = min(live, key=lambda ended: (ended.steps, ended.walk))
        path = self._walker(most_steps).path(row, best.walk)
        return len(live), len(numbers), path

    def _first_live(self, row: Row, numbers: range, most_steps: int) -> Path | None:
        for ended in self._ends(row, numbers, most_steps):
            if ended.end is WalkEnd.GOAL:
                return self._walker(most_steps).path(row, ended.walk)
        return None

    def _ends(self, row: Row, numbers: range, most_steps: int) -> list[Ended]:
        walker = self._walker(most_steps)
        ends = list(walker.walk(row, numbers))
        for ended in ends:
            if ended.end in (WalkEnd.HIT, WalkEnd.FAILED):
                raise UnsafeWalk(ended, walker.path(row, ended.walk))
        return ends
