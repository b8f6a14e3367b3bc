"""Evidence of a verdict: a run, confirmed with the real handlers, in a file.

A search hands in a schedule and what it expects of it; the run is confirmed, explained,
recorded, written, and named by the command that replays it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import final

from worldline.model.errors import Nondeterminism, Timeless, UsageError
from worldline.model.events import Schedule
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.options.defaults import in_force
from worldline.runs.confirm import confirm
from worldline.runs.explain import explain
from worldline.runs.lasso import objection
from worldline.runs.loading import call, command
from worldline.runs.record import Ending, record
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning, Start
from worldline.runs.witnessed import Witnessed
from worldline.show.phrases import REACHED
from worldline.trace.format import write
from worldline.trace.json_text import Json
from worldline.trace.records import Trace
from worldline.trace.storing import real_path
from worldline.trace.unpacking import holds_other
from worldline.worlds.direct import DirectWorld

DIRECTORY = Path("worldline-out")
"""The folder of traces that nobody gave a place, unless defaults say another."""

MINIMIZE = "minimize"
"""What stands in a trace that was minimised as that which found its run."""

_SHORT = 12
"""Deliveries of a run that anybody can read as it is."""


def file_of(system: str, what: str, folder: Path | None = None) -> Path:
    """Return the usual place of a trace.

    Parameters
    ----------
    folder
        Where it is, if not where defaults or `DIRECTORY` say.

    Examples
    --------
    >>> file_of("two locks", "mutex").as_posix()
    'worldline-out/two-locks-mutex.wl'
    """
    stem = re.sub(r"[^\w.-]+", "-", f"{system}-{what}").strip("-")
    if folder is None:
        defaults = in_force()
        folder = DIRECTORY if defaults is None else defaults.folder or DIRECTORY
    return folder / f"{stem}.wl"


def untaken(place: Path, kept: Iterable[Path] = ()) -> Path:
    """Return a place like one that nobody has named: it must not take that of others.

    Parameters
    ----------
    kept
        Files that stay as they are, there already or not; so do those that were written
        since defaults hold.
    """
    defaults = in_force()
    written = () if defaults is None else defaults.written
    taken = {*map(real_path, (*kept, *written))}
    one = place
    for number in itertools.count(2):
        if real_path(one) not in taken and not holds_other(one):
            break
        one = place.with_name(f"{place.stem}-{number}{place.suffix}")
    return one


def replay_of(file: Path, target: str | None, parameters: Mapping[str, str]) -> str:
    """Return the command that replays a trace; the call, if no target can be loaded."""
    if target is None:
        return call(file, None)
    return command("replay", file, target, parameters)


def why_unwritten(run: Trace, file: Path) -> str:
    """Write a trace; return why that was impossible, which loses no verdict."""
    try:
        write(run, file)
    except UsageError as error:
        return error.what
    if (defaults := in_force()) is not None:
        defaults.written.append(file.absolute())
    return ""


def with_file(
    report: PropertyReport, run: Trace, file: Path, target: str | None
) -> PropertyReport:
    """Write a run; return the report on the property that it concerns, with its file."""
    if reason := why_unwritten(run, file):
        return replace(report, run=run, unwritten=reason)
    again = replay_of(file, target, run.header.parameters)
    report = replace(report, run=run, trace=file, replay=again)
    return replace(report, minimize=_minimize_of(run, file, target))


def _minimize_of(run: Trace, file: Path, target: str | None) -> str | None:
    """Return the command that makes a run short; None if it is, or nothing can do so."""
    end = run.end
    if target is None or end is None or run.header.engine.startswith(MINIMIZE):
        return None
    if not shown_by_a_state(run) or end.deliveries <= _SHORT:
        return None
    return command("minimize", file, target, run.header.parameters)


def shown_by_a_state(run: Trace) -> bool:
    """Say whether the last state of a run shows its violation, as that of a part may."""
    end = run.end
    if end is None or end.cycle is not None:
        return False
    return end.kind != PropertyKind.LIVENESS.value


def _is_of_states(prop: Property, world: DirectWorld) -> bool:
    """Say whether a property can be judged in a state alone, without its time."""
    try:
        prop.judge(world.view)
    except Timeless:
        return False
    return True


def _as_it_is(report: PropertyReport) -> PropertyReport:
    """Return the report on a run that is not made shorter, as it rests on times."""
    return replace(report, minimize=None)


@final
class Evidence:
    """Confirms runs and writes their traces.

    Parameters
    ----------
    beginning
        Where the search begins.
    out
        The file of the first trace; the others, and the first if it is None, are
        named by system and property, or like it where that place is taken.
    folder
        Where these others go.
    is_written
        Whether there are to be files.
    engine, seed, drawn
        Noted in the traces.

    Attributes
    ----------
    notes
        Why traces of live runs were not written, if any were not.

    Raises
    ------
    UsageError
        If the first trace would take the place of that which the search began with.
    """

    def __init__(
        self,
        system: System,
        beginning: Beginning,
        out: Path | None,
        *,
        is_written: bool,
        engine: str,
        seed: int,
        folder: Path | None = None,
        drawn: Mapping[str, Json] | None = None,
    ) -> None:
        self.engine = engine
        self.seed = seed
        self.notes: list[str] = []
        self.is_written = is_written
        self._system = system
        self._begins_in = beginning.trace
        self._out = out
        self._kept: list[Path] = []
        self._folder = folder
        self._drawn = drawn
        if is_written and out is not None and self._is_input(out):
            raise UsageError(
                f"the run that is found would take the place of {out}",
                remedy="name another file",
            )

    def violated(
        self, run: Witnessed, ending: Ending, broken: Property | None
    ) -> PropertyReport:
        """Confirm a run that violates something, and write its trace.

        Parameters
        ----------
        ending
            How it ends; what `broken` says goes over its explanation.
        broken
            The property, to be evaluated again; None for failures and deadlocks.
        """
        direct, schedule = self._confirmed(run)
        if broken is not None and run.times is not None:
            # What it says may rest on them: recording judges it where they are known.
            trace = self._recorded(run, schedule, ending)
            assert trace.end is not None
            ending = replace(ending, explanation=trace.end.explanation)
            report = self._reported(run, schedule, ending, trace)
            return report if _is_of_states(broken, direct) else _as_it_is(report)
        if broken is not None:
            if broken.judge(direct.view).holds:
                raise Nondeterminism(
                    f"property {broken.name}", "was false", "true in the same state"
                )
            ending = replace(ending, explanation=str(explain(direct, broken)))
            self._confirm_cycle(ending, broken, run.start, schedule)
        return self._reported(run, schedule, ending)

    def reached(self, run: Witnessed, prop: Property) -> PropertyReport:
        """Confirm a run at whose end a `sometimes` property is true, and write its trace."""
        direct, schedule = self._confirmed(run)
        name, kind = prop.name, prop.kind.value
        if not prop.judge(direct.view).holds:
            what = f"property {name}"
            raise Nondeterminism(what, "was true", "false in the same state")
        report = PropertyReport(
            name=name,
            kind=kind,
            verdict=Verdict.HOLDS,
            steps=len(schedule),
            explanation=REACHED,
        )
        if not self.is_written:
            return report
        ending = Ending(name, kind, Verdict.HOLDS, REACHED)
        # The place that somebody has named is for what is violated.
        file = self._own_file(name)
        trace = self._recorded(run, schedule, ending)
        return _as_it_is(with_file(report, trace, file, self._target))

    def dead(
        self, run: Witnessed, wanted: list[Property], critical: int
    ) -> PropertyReport:
        """Confirm a run that has become dead, and write its trace.

        Parameters
        ----------
        wanted
            What does not become true any more, all of it together.
        critical
            The step from which on it does not.
        """
        direct, schedule = self._confirmed(run)
        missing = [one for one in wanted if not one.judge(direct.view).holds]
        if not missing:
            names = ", ".join(one.name for one in wanted)
            raise Nondeterminism(names, "not all were true", "true in the same state")
        text = str(explain(direct, missing[0]))
        kind = missing[0].kind.value
        ending = Ending(
            missing[0].name, kind, Verdict.VIOLATED, text, critical=critical
        )
        return self._reported(run, schedule, ending)

    def live(
        self, run: Witnessed, wanted: list[Property], name: str, kind: str, file: Path
    ) -> Path | None:
        """Confirm a run that becomes live, and write its trace; None if that failed.

        Parameters
        ----------
        file
            From `file` or `beside`.
        """
        direct, schedule = self._confirmed(run)
        for one in wanted:
            if not one.judge(direct.view).holds:
                what = f"property {one.name}"
                raise Nondeterminism(what, "was true", "false in the same state")
        text = "all that was searched for is true at the end of this run"
        # One run proves nothing of the others.
        ending = Ending(name, kind, Verdict.UNKNOWN, text)
        if reason := why_unwritten(self._recorded(run, schedule, ending), file):
            self.notes.append(reason)
            return None
        return file

    def file(self, what: str) -> Path:
        """Return where the next trace goes."""
        out, self._out = self._out, None
        if out is not None:
            self._kept.append(out)
            return out
        return self._own_file(what)

    def _own_file(self, what: str) -> Path:
        """Return where a trace goes that nobody has named a place for."""
        file = file_of(self._system.name, what, self._folder)
        if self._is_input(file):
            # The run that a search began with is not to be lost.
            file = file.with_name(f"{file.stem}-next.wl")
        return self._untaken(file)

    def beside(self, file: Path, what: str) -> Path:
        """Return where a trace goes that belongs to another."""
        return self._untaken(file.with_name(f"{file.stem}-{what}{file.suffix}"))

    def _untaken(self, file: Path) -> Path:
        """Return a place like one where no trace of this search is, nor anything else."""
        begins_in = [] if self._begins_in is None else [self._begins_in]
        self._kept.append(untaken(file, [*self._kept, *begins_in]))
        return self._kept[-1]

    def _is_input(self, file: Path) -> bool:
        begins_in = self._begins_in
        return begins_in is not None and real_path(file) == real_path(begins_in)

    def _confirmed(self, run: Witnessed) -> tuple[DirectWorld, Schedule]:
        direct = DirectWorld(self._system)
        return direct, confirm(direct, run.start, run.expected, run.end, run.free)

    def _reported(
        self,
        claimed: Witnessed,
        schedule: Schedule,
        ending: Ending,
        trace: Trace | None = None,
    ) -> PropertyReport:
        name = ending.property or ""
        report = PropertyReport(
            name=name,
            kind=ending.kind or "",
            verdict=Verdict.VIOLATED,
            steps=len(schedule),
            explanation=str(ending.explanation or ""),
            cycle=ending.cycle,
        )
        if not self.is_written:
            return report
        file = self.file(name)
        run = self._recorded(claimed, schedule, ending) if trace is None else trace
        return with_file(report, run, file, self._target)

    @property
    def _target(self) -> str | None:
        origin = self._system.origin
        return None if origin is None else origin.target

    def _recorded(
        self, claimed: Witnessed, schedule: Schedule, ending: Ending
    ) -> Trace:
        start = claimed.start
        return record(
            DirectWorld(self._system),
            start.boot,
            start.prologue,
            schedule,
            ending=ending,
            engine=self.engine,
            seed=self.seed,
            begins=start.begins,
            drawn=self._drawn,
            times=claimed.times,
            ended=claimed.ended,
            notes=claimed.notes,
        )

    def _confirm_cycle(
        self, ending: Ending, broken: Property, start: Start, schedule: Schedule
    ) -> None:
        if ending.cycle is None:
            return
        objected = objection(
            DirectWorld(self._system),
            start.boot,
            start.prologue,
            schedule,
            prop=broken,
            cycle=ending.cycle,
            begins=start.begins,
        )
        if objected:
            what = f"the run for ever against {broken.name}"
            raise Nondeterminism(what, "was fair and came round", objected)
