"""Properties judged after each step of a run that is made again.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3: predicates after each step of a replay, evaluated only if what they read has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

from worldline.model.counts import counted
from worldline.model.errors import Timeless, Unseen
from worldline.model.gauges import Gauge, TimedStep, fold
from worldline.model.instruments import Instruments
from worldline.model.properties import Property, PropertyKind
from worldline.model.usercode.running import Series
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.runs.report import PropertyReport
from worldline.runs.spans import SpanWatch
from worldline.runs.unseen import SeenAnswer, SeenReader
from worldline.worlds.standing import Standing, StandingAnswer
from worldline.worlds.world import Readable

NO_TIMES = "not judged: it asks for times, and the trace has none"


@final
class RunJudge:
    """The judge of a run: asks each property after each of its steps.

    A property is asked again only if something has changed that it read, or while it is
    false.

    Parameters
    ----------
    world
        Where the run happens, with its instruments, before the first step.
    series
        In which user code of the run is executed; None if each is by itself.
    seen
        Reads the state where that is known in part; None if it is known.

    Attributes
    ----------
    violated
        The property that is violated since the last step, or since time went by; None
        where none has become so.
    """

    def __init__(
        self,
        world: Readable,
        properties: Sequence[Property],
        series: Series | None = None,
        seen: SeenReader | None = None,
    ) -> None:
        self._world = world
        self._series = series
        self._seen = seen
        self._standing = Standing(world, series)
        self._watched = [
            _Watched(prop, world, self._answer(prop), series, seen and seen.view)
            for prop in properties
        ]
        self._open = list(self._watched)
        self._may_be_due = [one for one in self._watched if one.has_deadline]
        self.violated: Property | None = None

    def _answer(self, prop: Property) -> StandingAnswer[bool] | SeenAnswer:
        if self._seen is None:
            return self._standing.of_property(prop)
        return SeenAnswer(self._seen, prop)

    def fold(self, gauges: Sequence[Gauge], step: TimedStep, number: int) -> None:
        """Fold a step into gauges, which look at what it has changed.

        `look` comes after it, and is told of no more columns.
        """
        instruments = self._world.instruments
        assert instruments is not None, "who has gauges has instruments"
        if self._seen is None:
            view, series = self._standing.view, self._series
            fold(gauges, instruments, step, view, series, number=number)
        else:
            self._seen.fold(gauges, step, number)

    def note(self, touched: set[int]) -> None:
        """Compare what was read with what is there now, in columns that were touched."""
        self._standing.look_again(touched)

    def look(
        self, touched: set[int], step: int, lamport: int | None, *, counts: bool
    ) -> None:
        """Judge the state after a step.

        Parameters
        ----------
        touched
            The columns that may have changed since the last look.
        counts
            Whether the step is one of the run: in the boot nothing is judged.
        """
        self.violated = None
        if self._seen is None:
            stands = self._standing.stands(touched)
            if stands and not any(one.is_false for one in self._open):
                return
        if not counts:
            return
        for one in self._open:
            if one.look(step, lamport):
                self.violated = self.violated or one.prop
        self._open = [one for one in self._open if not one.is_over]

    def wait(self, until: float | None) -> None:
        """Let time go by until the next step, or the end of the run."""
        instruments = self._world.instruments
        if instruments is None or until is None or until <= instruments.time:
            return
        if any(one.is_false for one in self._may_be_due):
            instruments.time = math.nextafter(until, 0.0)
            self.end()

    def end(self) -> None:
        """Judge what is due by now."""
        self.violated = None
        instruments = self._world.instruments
        now = 0.0 if instruments is None else instruments.time
        for one in self._may_be_due:
            if one.wait(instruments):
                self.violated = self.violated or one.prop
            if instruments is not None:
                instruments.time = now

    def rows(self, steps: int | None = None) -> tuple[PropertyReport, ...]:
        """Return what the run has shown of each; the last step has been looked at.

        Parameters
        ----------
        steps
            How many there were, to be said of what was true after each.
        """
        return tuple(one.row(steps) for one in self._watched)

    def violations(self) -> tuple[str, ...]:
        """Return the properties that are violated so far."""
        return tuple(one.prop.name for one in self._watched if one.is_violated)

    def unknown(self) -> tuple[str, ...]:
        """Return the properties of which nobody knows whether the run violates them."""
        return tuple(
            one.prop.name for one in self._watched if one.unknown and not one.is_decided
        )

    def undecided(self) -> tuple[str, ...]:
        """Return what is false at the end and not violated: nobody knows for how long."""
        return tuple(one.prop.name for one in self._watched if one.is_undecided)


_DECIDES = {PropertyKind.SAFETY: False, PropertyKind.SOMETIMES: True}
"""What in one state decides a property, by its kind."""


@final
class _Watched:
    """One property along a run.

    Attributes
    ----------
    is_false
        Whether it is false by now, and its span grows with each step.
    is_over
        Whether there is nothing more to see.
    due
        When a liveness property was violated, in seconds.
    unknown
        Why it is not judged any more; empty if it is.
    """

    def __init__(
        self,
        prop: Property,
        world: Readable,
        answer: StandingAnswer[bool] | SeenAnswer,
        series: Series | None,
        view: View | None,
    ) -> None:
        self.prop = prop
        self.is_false = self.is_over = False
        self.due: float | None = None
        self._answer = answer
        self._watch = SpanWatch(prop, world, detailed=True, series=series, view=view)
        self._step = 0
        self._decided: int | None = None
        self.unknown = ""

    @property
    def has_deadline(self) -> bool:
        """Whether it can be violated by being false for too long."""
        is_liveness = self.prop.kind is PropertyKind.LIVENESS
        return is_liveness and self.prop.confidence is not None

    @property
    def is_decided(self) -> bool:
        """Whether the run has violated or reached it."""
        return self._decided is not None

    @property
    def is_violated(self) -> bool:
        """Whether the run has violated it."""
        return self.is_decided and self.prop.kind is not PropertyKind.SOMETIMES

    @property
    def is_undecided(self) -> bool:
        """Whether it is false at the end of the run, and may yet be true."""
        is_liveness = self.prop.kind is PropertyKind.LIVENESS
        is_open = self.is_false and self._decided is None
        return is_liveness and is_open and not self._watch.unsure

    def look(self, step: int, lamport: int | None) -> bool:
        """Judge the property in the present state; say whether that violates it first."""
        try:
            holds = self._answer.value()
        except Timeless:
            self.unknown = NO_TIMES
            self._retire()
            return False
        except Unseen as error:
            self._step = step
            self._lose(error.what)
            if self.is_false:
                self.is_false = False
                self._watch.end()
            return False
        self._step = step
        kind = self.prop.kind
        if kind is not PropertyKind.SOMETIMES:
            self.is_false = not holds
            self._watch.look(holds=holds, step=step, lamport=lamport)
        if kind is PropertyKind.LIVENESS or holds is not _DECIDES[kind]:
            return False
        if kind is PropertyKind.SOMETIMES:
            self._retire()
        return self._decide() and kind is PropertyKind.SAFETY

    def wait(self, instruments: Instruments | None) -> bool:
        """Ask whether the property is due by now; say whether that is so first."""
        is_due = False
        try:
            is_sure = self._watch.is_sure()
        except Unseen as error:
            step, what = self._step, error.what
            said = f"from step {step} on its confidence is not known: {what}"
            self.unknown = self.unknown or said
            return False
        if is_sure:
            due = self._watch.deadline()
            is_due = self._decide()
            if is_due:
                self.due = due
        if self._watch.unsure and not self.unknown:
            self._lose(self._watch.unsure)
        self._watch.note()
        return is_due

    def _lose(self, what: str) -> None:
        """Take note that nobody knows what it is; what is known may yet violate it."""
        self.unknown = self.unknown or f"not known from step {self._step} on: {what}"

    def _retire(self) -> None:
        self.is_false, self.is_over = False, True
        self._answer.retire()

    def _decide(self) -> bool:
        is_new = self._decided is None
        if is_new:
            self._decided = self._step
        return is_new

    def row(self, steps: int | None) -> PropertyReport:
        """Return what is said of the property, after so many steps."""
        kind, verdict, said = self.prop.kind, Verdict.UNKNOWN, ""
        self._watch.end()
        spans = self._watch.spans()
        alarms = self._watch.alarms
        alarms.in_run = alarms.spans
        if self.unknown and self._decided is None:
            said = self.unknown
        elif kind is PropertyKind.SOMETIMES:
            said = "not reached in this run" if self._decided is None else "reached"
            verdict = Verdict.UNKNOWN if self._decided is None else Verdict.HOLDS
        elif self._decided is not None:
            verdict = Verdict.VIOLATED
            decisive = [s for s in spans if s.first <= self._decided <= s.last]
            said = decisive[0].explanation if decisive else ""
        return PropertyReport(
            name=self.prop.name,
            kind=kind.value,
            verdict=verdict,
            steps=self._decided,
            explanation=said,
            spans=spans,
            alarms=None if kind is PropertyKind.SOMETIMES else alarms,
            words=self._words(steps),
        )

    def _words(self, steps: int | None) -> str:
        """Return what the run has shown where UNKNOWN says little: it proves nothing."""
        if self._decided is not None or steps is None:
            return ""
        if self.unknown:
            return self.unknown
        if self.prop.kind is PropertyKind.SOMETIMES:
            return "not reached in this run"
        if self.is_false:
            return "false at the end, and not due"
        if self._watch.alarms.spans:
            return "true at the end"
        if not steps:
            return "true where it begins"
        return f"true after each of {counted(steps, 'step')}"
