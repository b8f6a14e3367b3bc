"""Properties judged after each step of a recorded run.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3: predicates after each step of a replay, evaluated only if what they read has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from worldline.model.errors import Timeless
from worldline.model.events import Event
from worldline.model.instruments import INSTRUMENTS
from worldline.model.properties import Property, PropertyKind
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.runs.spans import SpanWatch
from worldline.worlds.direct import DirectWorld
from worldline.worlds.standing import Standing, touched_by

NO_TIMES = "not judged: it asks for times, and the trace has none"


@final
class RunJudge:
    """The judge of a run: asks each property after each of its steps.

    Parameters
    ----------
    world
        Where the run happens, with its instruments, before the first step.
    """

    def __init__(self, world: DirectWorld, properties: Sequence[Property]) -> None:
        self._world = world
        self._standing = Standing(world)
        self._watched = [_Watched(prop, world, self._standing) for prop in properties]

    def look(
        self, event: Event | None, step: int, lamport: int | None, *, counts: bool
    ) -> None:
        """Judge the state after a step.

        Parameters
        ----------
        event
            What happened; None before the first step.
        counts
            Whether the step is one of the run: in the boot nothing is judged.
        """
        touched = {INSTRUMENTS}
        if event is not None:
            touched |= touched_by(self._world, event)
        self._standing.look_again(touched)
        if counts and self._world.failure is None:
            for one in self._watched:
                one.look(step, lamport)

    def wait(self, until: float | None) -> None:
        """Let time go by until the next step, or the end of the run."""
        instruments = self._world.instruments
        if instruments is None or until is None or until <= instruments.time:
            return
        instruments.time = math.nextafter(until, 0.0)
        self.end()

    def end(self) -> None:
        """Judge what is due by now."""
        instruments = self._world.instruments
        now = 0.0 if instruments is None else instruments.time
        for one in self._watched:
            one.wait()
            if instruments is not None:
                instruments.time = now

    def rows(self) -> tuple[PropertyReport, ...]:
        """Return what the run has shown of each; the last step has been looked at."""
        return tuple(one.row() for one in self._watched)

    def undecided(self) -> tuple[str, ...]:
        """Return what is false at the end and not violated: nobody knows for how long."""
        return tuple(one.name for one in self._watched if one.is_undecided)


_DECIDES = {PropertyKind.SAFETY: False, PropertyKind.SOMETIMES: True}
"""What in one state decides a property, by its kind."""


@final
class _Watched:
    """One property along a run."""

    def __init__(self, prop: Property, world: DirectWorld, standing: Standing) -> None:
        self.name = prop.name
        self._prop = prop
        self._answer = standing.of_property(prop)
        self._watch = SpanWatch(prop, world, detailed=True)
        self._step = 0
        self._decided: int | None = None
        self._is_timeless = False
        self._ends_false = False

    @property
    def is_undecided(self) -> bool:
        """Whether it is false at the end of the run, and may yet be true."""
        is_liveness = self._prop.kind is PropertyKind.LIVENESS
        return is_liveness and self._ends_false and self._decided is None

    def look(self, step: int, lamport: int | None) -> None:
        """Judge the property in the present state."""
        if self._is_timeless:
            return
        try:
            holds = self._answer.value()
        except Timeless:
            self._is_timeless = True
            return
        self._step, self._ends_false = step, not holds
        kind = self._prop.kind
        if kind is not PropertyKind.SOMETIMES:
            self._watch.look(holds=holds, step=step, lamport=lamport)
        if kind is not PropertyKind.LIVENESS and holds is _DECIDES[kind]:
            self._decide()

    def wait(self) -> None:
        """Ask whether the property is due by now."""
        if self._watch.is_sure():
            self._watch.deadline()
            self._decide()
        self._watch.note()

    def _decide(self) -> None:
        if self._decided is None:
            self._decided = self._step

    def row(self) -> PropertyReport:
        """Return what is said of the property."""
        kind, verdict, said = self._prop.kind, Verdict.UNKNOWN, ""
        self._watch.end()
        spans = self._watch.spans()
        alarms = self._watch.alarms
        alarms.in_run = alarms.spans
        if self._is_timeless:
            said = NO_TIMES
        elif kind is PropertyKind.SOMETIMES:
            said = "not reached in this run" if self._decided is None else "reached"
            verdict = Verdict.UNKNOWN if self._decided is None else Verdict.HOLDS
        elif self._decided is not None:
            verdict = Verdict.VIOLATED
            decisive = [s for s in spans if s.first <= self._decided <= s.last]
            said = decisive[0].explanation if decisive else ""
        return PropertyReport(
            name=self.name,
            kind=kind.value,
            verdict=verdict,
            steps=self._decided,
            explanation=said,
            spans=spans,
            alarms=None if kind is PropertyKind.SOMETIMES else alarms,
        )
