"""Replaying a recording: what users call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

from worldline.loading.predicates import with_predicates
from worldline.model.counts import counted
from worldline.model.errors import (
    Nondeterminism,
    UsageError,
    WorldlineError,
    refuse_no_asserts,
)
from worldline.model.properties import Property
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.model.verdicts import Verdict, combine
from worldline.runs.evidence import file_of, untaken, why_unwritten
from worldline.runs.loading import call, command, with_file
from worldline.runs.record import UNDECLARED, Ending
from worldline.runs.recording.folder import JournalFolder
from worldline.runs.recording.journaled import Journals
from worldline.runs.recording.kept import WHOLE, KeptRun
from worldline.runs.recording.recorded import (
    DeclaredNetwork,
    RecordedNode,
    ReplayedRecording,
)
from worldline.runs.recording.run import RecordedRun
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.tracing import trace_of
from worldline.runs.report import PropertyReport
from worldline.runs.rerun import parameters_changed
from worldline.show.phrases import open_phrase
from worldline.trace.format import line_of
from worldline.trace.records import Header, Trace

LARGEST = 24 << 20
"""Bytes of the text of a trace that is written unasked: it opens in seconds."""

_SAMPLE = 500
"""Steps of which it is known how large they are before more are made."""

_ASK = "ask for some with --window FIRST:LAST"

_EARLIER = (
    "no node had written a checkpoint or begun anew by {since:g} s, so the run is judged from "
    "its start on; worldline run --every SECONDS has them written"
)

_UNSAID = (
    "a program made the system that was recorded, and nothing says with which parameters: "
    "if not with the defaults, give them with -p NAME=VALUE"
)


def replay_recording(
    folder: Path,
    system: System,
    *,
    predicates: Path | None = None,
    partial: bool = False,
    window: tuple[int, int] | None = None,
    out: Path | None = None,
    since: float | None = None,
    prop: str | None = None,
    judges: bool = True,
    traces: bool = True,
) -> ReplayedRecording:
    """Replay the recording in a folder, on its system in the present form.

    Parameters
    ----------
    predicates
        A file of properties and gauges, which are added to those of the system.
    partial
        Whether a damaged journal is taken for what comes before the damage.
    window
        The first and the last step to keep as a trace; None for the whole run, or of one
        with more than 100,000 steps the last 20,000 before its first violation.
    out
        The file of the trace; None for the usual place, of which a run that went otherwise
        has another.
    since
        Seconds since the recording began: each node begins at its last checkpoint, or
        start, before that, and there are steps from then on. None for the whole run.
    prop
        The property, by name, with whose violation the trace ends where no window is
        given; None for the first that is violated.
    judges, traces
        Whether properties are judged, and a trace written.

    Raises
    ------
    InputError
        If it is no recording of the system.
    UsageError
        If it ends before that time, or there is no such property.
    """
    target = None if system.origin is None else system.origin.target
    journals = JournalFolder(folder, system, partial=partial)
    replaying = Replaying(
        folder,
        system,
        target,
        told=journals.header,
        predicates=predicates,
        window=window,
        out=out,
        since=since,
        prop=prop,
        judges=judges,
        traces=traces,
    )
    report = replaying.run(journals)
    origin = system.origin
    changed = origin is not None and bool(journals.sources - {origin.source})
    is_unsaid = origin is not None and journals.header.target is None
    notes = (_UNSAID,) if is_unsaid and report.divergence is not None else ()
    return replace(
        report,
        notes=(*report.notes, *notes),
        source_changed=changed,
        parameters_changed=parameters_changed(journals.header, system),
    )


@final
class Replaying:
    """The replay of one recording.

    Parameters
    ----------
    folder
        Where it is.
    system
        In its present form.
    target
        What loads that, for the commands that are printed.
    told
        What the recording says of target and parameters.
    predicates
        A file of properties and gauges to add.
    window
        The first and the last step to keep as a trace; None for the whole run, or of a
        long one the last steps before its first violation.
    out
        The file of the trace; None for the usual place.
    since
        Seconds since the recording began, where to begin; None for the start.
    prop
        The property with whose violation the trace ends; None for the first.
    judges, traces
        Whether properties are judged, and a trace written.
    """

    def __init__(
        self,
        folder: Path,
        system: System,
        target: str | None = None,
        *,
        told: Header | None = None,
        predicates: Path | None = None,
        window: tuple[int, int] | None = None,
        out: Path | None = None,
        since: float | None = None,
        prop: str | None = None,
        judges: bool = True,
        traces: bool = True,
    ) -> None:
        self._folder, self._declared, self._target = folder, system, target
        self._told, self._predicates = told, predicates
        self._window = window
        self._out, self._since = out, since
        self._prop = prop
        self._judges, self._traces = judges, traces
        self._notes: tuple[str, ...] = ()
        self._given = {} if system.origin is None else dict(system.origin.parameters)
        self._system = system
        if predicates is not None:
            self._system, self._notes = with_predicates(system, predicates)

    def run(self, journals: Journals) -> ReplayedRecording:
        """Replay it."""
        refuse_no_asserts()
        judged: Sequence[Property] = self._system.properties if self._judges else ()
        names = [one.name for one in judged]
        if self._prop is not None and self._prop not in (*names, *UNDECLARED):
            raise UsageError(
                f"there is no property {self._prop!r}",
                remedy=f"there are {', '.join(names) or 'none'}",
            )
        window = self._window or (None, None)
        kept = KeptRun(*(window if self._traces else (None, 0)))
        with listening(), watched():
            run = RecordedRun(
                self._system, journals, judged, kept, self._since, self._prop
            )
            nodes = run.run()
            report = self._report(run, nodes)
            if not self._traces:
                return report
            return self._with_trace(report, run, kept)

    def _report(self, run: RecordedRun, nodes: list[RecordedNode]) -> ReplayedRecording:
        judge, stepping = run.judge, run.stepping
        steps = max(0, stepping.steps)
        rows = () if judge is None else judge.rows(steps)
        rows = (*_failures(run), *rows)
        verdict = combine([row.verdict for row in rows])
        return ReplayedRecording(
            system=self._system.name,
            verdict=verdict if verdict is Verdict.VIOLATED else Verdict.UNKNOWN,
            properties=rows,
            seconds=run.seconds,
            seed=None,
            notes=(*self._notes, *self._begun_earlier(run)),
            recording=self._folder,
            target=self._target,
            begins=run.begins,
            nodes=tuple(nodes),
            events=run.happenings,
            run_steps=steps,
            drops=stepping.drops,
            network=DeclaredNetwork(
                declared=self._system.network.name,
                as_declared=as_declared(stepping),
                step=stepping.unallowed,
                reason=stepping.allowed.reason or stepping.allowed.unknown,
            ),
            divergence=run.divergence,
            failures=len(run.failures),
            undecided=() if judge is None else judge.undecided(),
            unknown=() if judge is None else judge.unknown(),
            file=None,
            command=self._command(),
            debug=None,
            window=None,
        )

    def _begun_earlier(self, run: RecordedRun) -> tuple[str, ...]:
        """Say so if it begins earlier than was asked for, as there is no later place."""
        since = self._since
        if not since or run.begins is not None or not run.stepping.is_begun:
            return ()
        return (_EARLIER.format(since=since),)

    def _command(self) -> str:
        """Return the command that replays it again, or the call if none can."""
        if self._target is None:
            return call(self._folder, None, self._predicates)
        again = command("replay", self._folder, self._target, self._given, self._told)
        if self._predicates is not None:
            again = with_file(again, self._predicates)
        return again if self._since is None else f"{again} --from {self._since:.15g}"

    def _with_trace(
        self, report: ReplayedRecording, run: RecordedRun, kept: KeptRun
    ) -> ReplayedRecording:
        """Write the trace of what was kept."""
        is_long = report.run_steps > WHOLE
        if is_long and run.violation is None and self._window is None:
            count = counted(report.run_steps, "step")
            why = f"the run has {count} and violates nothing; {_ASK}"
            return replace(report, no_trace=why)
        steps = kept.steps()
        if not steps:
            at_once = run.violation is not None and run.violation.step == 0
            why = "no step was kept"
            why = "it begins in a state that is violated already" if at_once else why
            return replace(report, no_trace=why)
        how = "replayed" if report.divergence is None else "otherwise"
        file = self._out or untaken(file_of(self._folder.name, how))
        try:
            if self._window is None:
                kept = self._fitting(run, kept, report)
                if len(kept.steps()) < len(steps) and run.violation is None:
                    return replace(report, no_trace=f"the trace would be large; {_ASK}")
                steps = kept.steps()
            trace = self._trace(run, kept, report)
        except WorldlineError as error:
            if isinstance(error, Nondeterminism):
                raise
            return replace(report, no_trace=str(error))
        if why := why_unwritten(trace, file):
            return replace(report, no_trace=why)
        debug = None  # no command line can load what a program made
        if self._target is not None:
            debug = command("debug", file, self._target, self._given)
            if self._predicates is not None:
                debug = with_file(debug, self._predicates)
        window = max(1, steps[0].number), steps[-1].number
        offset = steps[0].number if kept.begins is not None and window[0] > 1 else None
        return replace(report, file=file, debug=debug, window=window, offset=offset)

    def _fitting(
        self, run: RecordedRun, kept: KeptRun, report: ReplayedRecording
    ) -> KeptRun:
        """Return as many of the last steps as a trace of a size that can be read has."""
        sample = kept.latest(_SAMPLE)
        count, all_ = len(sample.steps()), len(kept.steps())
        if count == all_:
            return kept
        steps = self._trace(run, sample, report).steps
        size = sum(len(line_of(step)) for step in steps) / count
        return kept if size * all_ <= LARGEST else kept.latest(int(LARGEST / size))

    def _trace(
        self, run: RecordedRun, kept: KeptRun, report: ReplayedRecording
    ) -> Trace:
        ending, ended = self._open(run, kept, report), kept.steps()[-1].time
        violated = self._ends_in(run, kept, report)
        if violated is not None:
            ending, ended = violated
        return trace_of(kept, run.stepping, self._system, ending, ended)

    def _ends_in(
        self, run: RecordedRun, kept: KeptRun, report: ReplayedRecording
    ) -> tuple[Ending, float] | None:
        """Return what the last step violates, if anything, and when that was so."""
        last = kept.steps()[-1]
        rows = [
            row
            for row in report.properties
            if row.verdict is Verdict.VIOLATED and row.steps == last.number
        ]
        rows.sort(key=lambda row: row.name != self._prop)
        if not rows:
            return None
        row = rows[0]
        failed = any(row.name == failure.kind for _, failure in run.failures)
        due = next((span for span in row.spans if span.due is not None), None)
        ending = Ending(
            row.name,
            row.kind,
            Verdict.VIOLATED,
            row.explanation if failed else None,
            span=due,
        )
        ended = 0.0 if due is None or due.due is None else due.due
        return ending, max(ended, last.time)

    def _open(
        self, run: RecordedRun, kept: KeptRun, report: ReplayedRecording
    ) -> Ending:
        """Return what a trace says that does not end with a violation."""
        last = kept.steps()[-1].number
        if not self._judges:
            return Ending(None, None, Verdict.UNKNOWN, "no property was judged")
        if report.divergence is not None:
            why = f"its step {last + 1:,} went otherwise than recorded"
            return Ending(None, None, Verdict.UNKNOWN, why)
        known = run.known
        if known is None or known.step != last:
            return Ending(
                None, None, Verdict.UNKNOWN, "it is a part of a run, judged as a whole"
            )
        said = open_phrase(known.undecided, known.unknown)
        if known.violated:
            said = f"the run violates {', '.join(known.violated)} before this end"
        return Ending(
            None,
            None,
            Verdict.UNKNOWN,
            said or None,
            undecided=known.undecided,
            unknown=known.unknown,
        )


def as_declared(run: Stepping) -> bool | None:
    """Say whether the declared network allows a run; None if nobody knows."""
    if run.allowed.reason:
        return False
    return None if run.allowed.unknown else True


def _failures(run: RecordedRun) -> list[PropertyReport]:
    """Return what is said of handlers that failed, each kind of violation once."""
    first: dict[str, PropertyReport] = {}
    for step, failure in run.failures:
        first.setdefault(
            failure.kind,
            PropertyReport(
                name=failure.kind,
                kind="safety",
                verdict=Verdict.VIOLATED,
                steps=step,
                explanation=str(failure),
            ),
        )
    return list(first.values())
