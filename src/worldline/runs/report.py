"""A report: what a verb says of each property, what a test expects of it, its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NoReturn, final

from worldline.model.arguments import named
from worldline.model.counts import counted
from worldline.model.errors import UsageError, WorldlineError
from worldline.model.printable import one_line, printable
from worldline.model.verdicts import INTERRUPTED, Verdict
from worldline.runs.alarms import Alarms, alarm_lines
from worldline.runs.record import UNDECLARED
from worldline.runs.short_run import short_run
from worldline.show.phrases import deadline_phrase
from worldline.trace.format import to_json
from worldline.trace.records import SpanRecord, Trace
from worldline.trace.schema import dump

BASE = (
    "verdict",
    "properties",
    "bound",
    "seconds",
    "seed",
    "trace",
    "steps",
    "replay",
)
"""The keys with which the JSON of every verb begins."""


def refuse_unknown(name: str, properties: Sequence[PropertyReport]) -> None:
    """Refuse the name of a property that a report says nothing about.

    Raises
    ------
    UsageError
        If it is one.
    """
    __tracebackhide__ = True
    names = [report.name for report in properties]
    if name not in names and name not in UNDECLARED:
        said: Any = name
        if isinstance(said, str):
            what = f"there is no property {name!r}"
        else:
            what = f"{named(said)} is no name of a property"
        raise UsageError(
            what,
            remedy=f"its properties are {', '.join(names)}" if names else "",
        )


def refuse_to_hold(how: str = "one run never shows") -> NoReturn:
    """Refuse to say of some runs that something holds.

    Parameters
    ----------
    how
        What it is that shows nothing of the kind.

    Raises
    ------
    UsageError
        Always: runs prove nothing of others.
    """
    raise UsageError(
        f"{how} that a property holds",
        remedy="use expect_no_violation(), or wl.check(...).expect_holds()",
    )


class PropertyFailed(WorldlineError, AssertionError):
    """A system that was expected to hold does not, or it is not known.

    Attributes
    ----------
    report
        The report in which that stands; None where it came from another process.
    """

    def __init__(self, what: str, report: BaseReport | None = None) -> None:
        super().__init__(what)
        self.report = report


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReport:
    """The verdict on one property.

    Attributes
    ----------
    kind
        ``safety``, ``liveness`` or ``sometimes``.
    trace
        The file of the counterexample, or of a run that reaches what has to be true
        sometimes.
    steps
        How many events lead there from state 0.
    replay
        The command or call that replays it.
    minimize
        The command that makes the run as short as it can be, where that is worth while.
    explanation
        What failed: the assert, or the reads and values that decided; or why nothing
        was searched for.
    cycle
        For a run that never ends, the step with which what it repeats for ever begins;
        ``steps + 1`` if it stops. None for any other run.
    unwritten
        Why there is no file of the counterexample, though one was to be written.
    run
        The counterexample itself, unless no file was wanted.
    spans
        Where one run was followed from event to event: when it was false; see
        `Alarms`, which counts these, for which ones.
    alarms
        How often it was false; None where it was not counted.
    words
        What is printed in the place of the verdict, where that says more.
    unseen
        In how many states of a search it was neither true nor false, as nodes are
        absent; None where none are.
    """

    name: str
    kind: str
    verdict: Verdict
    trace: Path | None = None
    steps: int | None = None
    replay: str | None = None
    explanation: str = ""
    cycle: int | None = None
    unwritten: str = ""
    run: Trace | None = field(default=None, repr=False, compare=False)
    minimize: str | None = None
    spans: tuple[SpanRecord, ...] = ()
    alarms: Alarms | None = None
    words: str = ""
    unseen: int | None = None

    @property
    def deadline(self) -> SpanRecord | None:
        """The span that a violated liveness property was due in, if that is why."""
        if self.verdict is not Verdict.VIOLATED:
            return None
        return next((span for span in self.spans if span.due is not None), None)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": self.verdict.value,
            "trace": None if self.trace is None else str(self.trace),
            "steps": self.steps,
            "replay": self.replay,
            "minimize": self.minimize,
            "explanation": self.explanation,
            "cycle": self.cycle,
            **({} if self.unseen is None else {"unseen": self.unseen}),
            **self._followed(),
            **self._unwritten(),
        }

    def _followed(self) -> dict[str, Any]:
        """Return the keys of a property that was followed along a run."""
        if self.alarms is None:
            return {}
        spans = [dump(span) for span in self.spans]
        return {"spans": spans, "alarms": self.alarms.to_json()}

    def _unwritten(self) -> dict[str, Any]:
        """Return the keys of a run that is in no file: it is in the report then."""
        if not self.unwritten or self.run is None:
            return {}
        return {"unwritten": self.unwritten, "run": to_json(self.run)}


def first_violated(properties: Sequence[PropertyReport]) -> PropertyReport | None:
    """Return the first property that is violated, if any is: by a run, if one is.

    Of a ``sometimes`` that is true nowhere there is no run.
    """
    violated = [p for p in properties if p.verdict is Verdict.VIOLATED]
    return next(
        (p for p in violated if p.steps is not None), next(iter(violated), None)
    )


def _length(row: PropertyReport) -> str:
    if row.steps is None:
        return ""
    if row.cycle is None:
        return f" after {counted(row.steps, 'step')}"
    again = row.steps - row.cycle + 1
    then = f"a cycle of {again} for ever" if again else "nothing more for ever"
    return f" after {counted(row.cycle - 1, 'step')}, then {then}"


def property_lines(row: PropertyReport, width: int) -> list[str]:
    """Return what a report says of one property; names are as wide as `width`."""
    steps = _length(row)
    said = row.words or f"{row.verdict.value}{steps}"
    lines = [f"  {row.name:<{width}}  {row.kind}: {said}"]
    if row.deadline is not None:
        lines.append(f"    {deadline_phrase(row.deadline)}")
    if row.explanation and row.explanation != row.words:
        lines += [f"    {line}" for line in row.explanation.splitlines()]
    if row.alarms is not None:
        lines += [f"    {line}" for line in alarm_lines(row.spans, row.alarms)]
    if row.trace is not None:
        lines.append(f"    trace  {one_line(str(row.trace))}")
    if row.replay is not None:
        lines.append(f"    replay {row.replay}")
    if row.minimize is not None:
        lines.append(f"    short  {row.minimize}")
    if row.unwritten:
        lines.append(f"    no trace: {row.unwritten}")
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseReport:
    """The base of the reports of all verbs.

    Attributes
    ----------
    system
        The system's name.
    verdict
        On everything asked for; None for a recorded run without one.
    properties
        What is said of each property.
    bound
        What ended the search before everything was known, or None.
    seconds, seed
        How long it took, and with which seed; None for a run that has none.
    notes
        What the user should know.
    """

    FAILURE: ClassVar[type[PropertyFailed]] = PropertyFailed
    """What is raised where something else was expected."""

    system: str
    verdict: Verdict | None
    properties: tuple[PropertyReport, ...]
    seconds: float
    seed: int | None
    bound: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def violated(self) -> PropertyReport | None:
        """The first property that is violated, if any is."""
        return first_violated(self.properties)

    @property
    def trace(self) -> Path | None:
        """The file of the run that violates it."""
        return None if self.violated is None else self.violated.trace

    @property
    def replay(self) -> str | None:
        """The command that replays it."""
        return None if self.violated is None else self.violated.replay

    @property
    def unwritten(self) -> str:
        """Why that file could not be written."""
        return "" if self.violated is None else self.violated.unwritten

    def remarks(self) -> Mapping[int, str]:
        """Return what is to be said of steps of the first run, by their numbers."""
        return {}

    @property
    def because(self) -> str:
        """What is to be said behind the verdict, if anything."""
        return "" if self.bound is None else f" (bound: {self.bound})"

    def head(self) -> str:
        """Return the line with which a report begins."""
        assert self.verdict is not None
        return f"{self.system}: {self.verdict.value.upper()}{self.because}"

    def note_lines(self) -> list[str]:
        """Return the lines with which a report ends."""
        return [f"  note: {note}" for note in self.notes]

    def expect_holds(self) -> None:
        """Raise `PropertyFailed` unless every property that was asked for holds.

        Raises
        ------
        PropertyFailed
            With the report and the run as its text: what failed, how to replay it,
            and the steps.
        """
        __tracebackhide__ = True
        if self.verdict is not Verdict.HOLDS:
            raise self.FAILURE(self.told(), self)

    def expect_no_violation(self) -> None:
        """Raise `PropertyFailed` if anything is violated; UNKNOWN is no violation.

        For searches with a bound, which cannot say HOLDS. Ctrl-C is no such bound: what
        was to be searched was not. It is no KeyboardInterrupt here, so that the report
        is shown, with what was learned until then.

        Raises
        ------
        PropertyFailed
            With the report and the run as its text.
        """
        __tracebackhide__ = True
        if self.verdict is Verdict.VIOLATED or self.violated is not None:
            raise self.FAILURE(self.told(), self)
        if self.bound == INTERRUPTED:
            said = "interrupted before the bounds that were asked for were reached"
            raise self.FAILURE(f"{said}\n{self.told()}", self)

    def expect_violated(self, name: str) -> PropertyReport:
        """Return the report on a property that is violated.

        Raises
        ------
        PropertyFailed
            If it is not.
        UsageError
            If there is none of that name.
        """
        __tracebackhide__ = True
        refuse_unknown(name, self.properties)
        for report in self.properties:
            if report.name == name and report.verdict is Verdict.VIOLATED:
                return report
        said = f"{name} was expected to be violated\n{self.told()}"
        raise self.FAILURE(said, self)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data; a verb adds its own keys."""
        return self.base_json()

    def told(self) -> str:
        """Return the report and, if something is violated, its run in short."""
        first, lines = self.violated, [str(self)]
        if first is not None and first.run is not None:
            lines += short_run(first.run, first.trace, self.remarks())
        return printable("\n".join(lines))

    def base_json(self) -> dict[str, Any]:
        """Return the keys `BASE`; the run is that of the first property violated."""
        first = self.violated
        return {
            "verdict": None if self.verdict is None else self.verdict.value,
            "properties": [report.to_json() for report in self.properties],
            "bound": self.bound,
            "seconds": round(self.seconds, 6),
            "seed": self.seed,
            "trace": None if first is None or first.trace is None else str(first.trace),
            "steps": None if first is None else first.steps,
            "replay": None if first is None else first.replay,
        }
