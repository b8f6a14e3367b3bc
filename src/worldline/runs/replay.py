"""Replaying a trace: run it again, compare every step with what was recorded."""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from worldline.loading.predicates import with_predicates
from worldline.model.arguments import check_trace
from worldline.model.errors import refuse_no_asserts
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.model.verdicts import Verdict, combine
from worldline.runs.elsewhere import elsewhere, remedy
from worldline.runs.evidence import replay_of
from worldline.runs.judging import RunJudge
from worldline.runs.lasso import Cycle
from worldline.runs.loading import TraceTarget, call, system_of, with_file
from worldline.runs.otherwise import present
from worldline.runs.record import RECORDING, declared
from worldline.runs.replayed import Divergence, Replayed
from worldline.runs.report import PropertyReport
from worldline.runs.rerun import (
    Rerun,
    changes_since,
    check_nodes,
    parameters_changed,
    source_changed,
)
from worldline.runs.restoring import instruments_of, world_of
from worldline.runs.unjudged import as_asked
from worldline.runs.unseen import SeenReader
from worldline.runs.verdict_again import judge_again
from worldline.show.phrases import (
    NO_PROOF,
    NO_PROOF_OF_STATE,
    is_reached,
    open_phrase,
)
from worldline.trace.format import StrPath, read
from worldline.trace.records import End, Trace
from worldline.worlds.standing import touched_by

if TYPE_CHECKING:
    from worldline.runs.recording.recorded import ReplayedRecording


_NOW = "no violation was recorded: this is what the properties say now"


def replay(
    path: StrPath,
    system: TraceTarget | None = None,
    *,
    parameters: Mapping[str, str | int | float] | None = None,
    predicates: StrPath | None = None,
) -> Replayed | Any:
    """Run a trace or a recording again, in the present form of its system, and compare.

    Parameters
    ----------
    path
        The trace, or the folder of a recording. One that breaks off is replayed as far as
        it goes.
    system
        The system, or the target that loads it, such as ``counter.py``; of a program,
        its files. What the trace names is loaded by itself only if it is of the zoo.
    parameters
        For the function that makes the system; those of the trace, where not given.
    predicates
        A file of properties and gauges, which are added to those of the system. All are
        then judged after each step, and not only what the run violated. Of a recording
        they are in any case.

    Returns
    -------
    Replayed or ReplayedRecording
        The latter of a recording.

    Raises
    ------
    InputError
        If it is no trace or recording, or one of a system with other nodes.
    UsageError
        If the system has to be given and is not, or cannot be loaded; if the file has no
        predicates.
    """
    refuse_no_asserts()
    check_trace(path)
    if Path(path).is_dir():
        return _replay_folder(path, system, parameters, predicates)
    trace = read(path, partial=True)
    how = functools.partial(call, path)
    loaded = system_of(trace.header, system, parameters, how=how)
    return replay_trace(trace, loaded, path, predicates=predicates)


def _replay_folder(
    path: StrPath,
    system: TraceTarget | None,
    parameters: Mapping[str, str | int | float] | None,
    predicates: StrPath | None,
) -> ReplayedRecording:
    # Needs an extra, and is large: who replays a trace does without.
    from worldline.runs.recording.folder import as_trace_header, header_of
    from worldline.runs.recording.replay import replay_recording

    folder, how = Path(path), functools.partial(call, path)
    header = as_trace_header(header_of(folder))
    loaded = system_of(header, system, parameters, how=how)
    given = None if predicates is None else Path(predicates)
    return replay_recording(folder, loaded, predicates=given)


def replay_trace(
    trace: Trace, system: System, path: StrPath, *, predicates: StrPath | None = None
) -> Replayed:
    """Run a trace again that was read from a file, on its system; see `replay`."""
    header, end = trace.header, trace.end
    check_nodes(header, system)
    notes: tuple[str, ...] = ()
    if predicates is not None:
        system, notes = with_predicates(system, Path(predicates))
    system = as_asked(system, end)
    begin = time.perf_counter()
    right, explanation, is_decided = False, "", True
    with listening(), watched():
        judges_all = predicates is not None or _leaves_open(trace)
        judged = _judged(trace, system, judges_all=judges_all)
        again = _Again(trace, system, judged)
        again.run()
        seconds = time.perf_counter() - begin
        if again.divergence is None:
            judged_again = judge_again(again.world, trace, again.cycle)
            right, explanation, is_decided = judged_again
            if other := elsewhere(trace, system, reproduced=right):
                right, explanation = False, f"{other}; {remedy(trace)}"
    command = replay_of(Path(path), header.target, header.parameters)
    verdict = None if end is None else _of_one_run(end)
    rows = _rows(trace, verdict, explanation, Path(path), command)
    replayed = Replayed(
        system=header.system,
        verified=again.verified,
        steps=len(trace.steps),
        verdict=verdict,
        properties=rows,
        property_name=None if end is None else end.property,
        reproduced=right,
        divergence=again.divergence,
        explanation=explanation,
        is_decided=is_decided,
        source_changed=source_changed(header, system),
        parameters_changed=parameters_changed(header, system),
        notes=(*changes_since(header, system), *notes),
        seconds=seconds,
        kind="" if end is None else end.kind or "",
        seed=header.seed,
        file=Path(path),
        command=command,
    )
    if verdict is Verdict.VIOLATED and not right:
        replayed = present(replayed, trace, again.world)
    if again.judge is None:
        return replayed
    if not judges_all:
        if not _says_otherwise(replayed, again.judge):
            return replayed
        replayed = replace(replayed, notes=(*replayed.notes, _NOW))
    file = None if predicates is None else Path(predicates)
    return _with_judgements(replayed, again.judge, file, len(trace.run))


def _leaves_open(trace: Trace) -> bool:
    """Say whether it is a recorded run of which all properties are to be judged again."""
    end = trace.end
    is_recorded = trace.header.engine == RECORDING
    return is_recorded and end is not None and end.verdict != Verdict.VIOLATED.value


def _judged(trace: Trace, system: System, *, judges_all: bool) -> Sequence[Property]:
    """Return the properties that are judged after each step of a run.

    Those of safety, unless it was recorded that one is violated: nobody else says of a
    state that was kept, or with a property of today, that it violates nothing.
    """
    if judges_all:
        return system.properties
    end = trace.end
    if end is not None and end.verdict == Verdict.VIOLATED.value:
        return ()
    return [one for one in system.properties if one.kind is PropertyKind.SAFETY]


def _says_otherwise(replayed: Replayed, judge: RunJudge) -> bool:
    """Say whether the run violates something, or nobody knows, and no violation was recorded."""
    if replayed.divergence is not None:
        return False
    return bool(judge.violations() or (replayed.reproduced and judge.unknown()))


def _with_judgements(
    replayed: Replayed, judge: RunJudge, file: Path | None, steps: int
) -> Replayed:
    """Return what a replay showed of all properties, and not only what was recorded."""
    judged = judge.rows(steps)
    names = {row.name for row in judged if row.verdict is Verdict.VIOLATED}
    own = [
        row
        for row in replayed.properties
        if row.name not in names
        and row.verdict is Verdict.VIOLATED
        and replayed.reproduced
    ]
    rows = (*own, *(row for row in judged if row.name not in {r.name for r in own}))
    verdict = combine([row.verdict for row in rows])
    explanation = replayed.explanation
    if explanation in (NO_PROOF, NO_PROOF_OF_STATE):
        said = [row.explanation for row in judged if row.name in names]
        opened = open_phrase(judge.undecided(), judge.unknown())
        explanation = said[0] if said else opened or explanation
    return replace(
        replayed,
        explanation=explanation,
        verdict=Verdict.VIOLATED if verdict is Verdict.VIOLATED else Verdict.UNKNOWN,
        properties=rows,
        reproduced=replayed.divergence is None,
        is_judged=True,
        violates_no_more=replayed.violates_no_more and verdict is not Verdict.VIOLATED,
        undecided=judge.undecided(),
        unknown=judge.unknown(),
        predicates=file,
        command=replayed.command if file is None else with_file(replayed.command, file),
    )


def _rows(
    trace: Trace, verdict: Verdict | None, explanation: str, file: Path, again: str
) -> tuple[PropertyReport, ...]:
    """Return what is said of the property that a run is about, if it is about one."""
    end = trace.end
    if end is None or end.property is None or verdict is None:
        return ()
    report = PropertyReport(
        name=end.property,
        kind=end.kind or "",
        verdict=verdict,
        trace=file,
        steps=len(trace.steps),
        replay=again,
        explanation=explanation,
        cycle=end.cycle,
        run=trace,
    )
    return (report,)


def _of_one_run(end: End) -> Verdict:
    """Return what a run can show: a violation, or that something is reached."""
    shows = end.verdict == Verdict.VIOLATED.value or is_reached(end)
    return Verdict(end.verdict) if shows else Verdict.UNKNOWN


@final
class _Again:
    """A run that is made again, step by step, until one goes otherwise.

    Parameters
    ----------
    judged
        The properties that are judged after each step.

    Attributes
    ----------
    verified, divergence
        How many steps went as recorded, and how the next one did not.
    cycle
        Of a run that never ends, the steps that it repeats for ever.
    judge
        What judges the properties, if somebody does.
    """

    def __init__(
        self, trace: Trace, system: System, judged: Sequence[Property]
    ) -> None:
        self._trace = trace
        self.world = world = world_of(trace, system)
        instruments = instruments_of(trace, world)
        if instruments is not None:
            world.attach(instruments)
        self._rerun = Rerun(trace.header, world)
        self.verified = 0
        self.divergence: Divergence | None = None
        end = trace.end
        prop = None if end is None else declared(system, end.property)
        self.cycle: Cycle | None = None
        if end is not None and end.cycle is not None and prop is not None:
            self.cycle = Cycle(world, prop)
        self.judge: RunJudge | None = None
        if judged:
            self.judge = RunJudge(world, judged, seen=self._reader)

    @property
    def _reader(self) -> SeenReader | None:
        seen = self._rerun.seen
        return None if seen is None else seen.reader

    def run(self) -> None:
        """Run the steps; in the end it is as late as it was."""
        trace, rerun, judge = self._trace, self._rerun, self.judge
        end, boots = trace.end, len(trace.steps) - len(trace.run)
        if judge is not None and not boots:
            judge.look(set(), 0, None, counts=True)
        for number, step in enumerate(trace.steps, 1):
            repeats = end and end.cycle and step.step >= end.cycle
            watched = self.cycle if repeats else None
            if watched is not None:
                watched.look()
            if judge is not None:
                judge.wait(step.time)
            happened = rerun.step(step)
            if isinstance(happened, Divergence):
                self.divergence = happened
                return
            self.verified = number
            if watched is not None:
                watched.take(happened, rerun.timers(step))
            if judge is not None:
                touched = touched_by(self.world, happened)
                judge.look(touched, step.step, step.lamport, counts=number >= boots)
        instruments = self.world.instruments
        if end is not None and end.time is not None and instruments is not None:
            instruments.time = end.time
        if judge is not None:
            if rerun.seen is not None:  # less may be known than after the last step
                last = trace.steps[-1].step if trace.steps else 0
                rerun.seen.come(last + 1)
                judge.look(set(), last, None, counts=True)
            judge.end()
