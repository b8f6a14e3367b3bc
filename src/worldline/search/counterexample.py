"""From a hit of the engine to a confirmed counterexample in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from worldline.engine.expand import Expander
from worldline.engine.exploration import Hit
from worldline.engine.tables import Entry, Leaf, Row
from worldline.model.errors import Nondeterminism, UsageError
from worldline.model.events import Schedule
from worldline.model.properties import Property
from worldline.model.verdicts import Verdict
from worldline.runs.confirm import confirm
from worldline.runs.explain import explain
from worldline.runs.lasso import objection
from worldline.runs.loading import call, command
from worldline.runs.record import Ending, record
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning, Start
from worldline.trace.format import write
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot

DIRECTORY = Path("worldline-out")


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A violation as the engine found it.

    Attributes
    ----------
    text
        Why it is one, where no property says so.
    known
        The property, to be evaluated again; None for failures and deadlocks.
    cycle
        The step with which a cycle begins that the run goes round for ever, if it does.
    """

    name: str
    kind: str
    text: str
    hit: Hit
    known: Property | None = None
    cycle: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Run:
    """A run as the engine knows it.

    Attributes
    ----------
    root
        The number of the initial state.
    path, end
        The events from there, and the state to which they lead.
    """

    root: int
    path: list[tuple[Entry, Leaf]]
    end: Row


@final
class Counterexamples:
    """Confirms findings and writes their traces.

    Parameters
    ----------
    beginning
        Where the search begins.
    out
        The file of the first trace; the others, and the first if it is None, are
        named by system and property.
    folder
        Where these others go.
    write
        Whether to write files.
    engine, seed
        Noted in the traces.

    Attributes
    ----------
    notes
        Why traces of live runs were not written, if any were not.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        beginning: Beginning,
        out: Path | None,
        *,
        write: bool,
        engine: str,
        seed: int,
        folder: Path = DIRECTORY,
    ) -> None:
        self.starts = beginning.starts
        self._begins_in = beginning.trace
        self.engine = engine
        self.seed = seed
        self.system = world.system.name
        self.notes: list[str] = []
        self._system = world.system
        self._world = world
        self._out = out
        self._folder = folder
        self._write = write

    def violated(self, finding: Finding) -> PropertyReport:
        """Confirm a finding in the direct world, and write its trace."""
        start, path = self.starts[finding.hit.root], finding.hit.path
        expected = [(entry.event, leaf.detail) for entry, leaf in path]
        direct = DirectWorld(self._system)
        schedule = confirm(direct, start, expected, self._end(finding.hit, start))
        text = finding.text
        if finding.known is not None:
            if finding.known.judge(direct.view).holds:
                raise Nondeterminism(
                    f"property {finding.name}", "was false", "true in the same state"
                )
            text = str(explain(direct, finding.known))
            self._confirm_cycle(finding, finding.known, start, schedule)
        ending = Ending(
            finding.name, finding.kind, Verdict.VIOLATED, text, cycle=finding.cycle
        )
        return self._reported(start, schedule, ending)

    def dead(self, run: Run, wanted: list[Property], critical: int) -> PropertyReport:
        """Confirm a run that has become dead, and write its trace.

        Parameters
        ----------
        wanted
            What does not become true any more, all of it together.
        critical
            The step from which on it does not.
        """
        direct, schedule = self._confirmed(run)
        missing = [known for known in wanted if not known.judge(direct.view).holds]
        if not missing:
            names = ", ".join(known.name for known in wanted)
            raise Nondeterminism(names, "not all were true", "true in the same state")
        text = str(explain(direct, missing[0]))
        kind = missing[0].kind.value
        ending = Ending(
            missing[0].name, kind, Verdict.VIOLATED, text, critical=critical
        )
        return self._reported(self.starts[run.root], schedule, ending)

    def live(
        self, run: Run, wanted: list[Property], beside: PropertyReport
    ) -> Path | None:
        """Confirm a run that becomes live, and write its trace beside a dead one's."""
        assert beside.trace is not None
        file = beside.trace.with_name(f"{beside.trace.stem}-live{beside.trace.suffix}")
        return self._write_live(run, wanted, beside.name, beside.kind, file)

    def live_runs(self, runs: list[Run], wanted: list[Property]) -> list[Path]:
        """Confirm runs that become live, and write their traces, in order."""
        name, kind = wanted[0].name, wanted[0].kind.value
        files = [self._file(f"live-{n}") for n in range(1, len(runs) + 1)]
        if not self._write:
            return []
        written = [
            self._write_live(run, wanted, name, kind, file)
            for run, file in zip(runs, files, strict=True)
        ]
        return [file for file in written if file is not None]

    def _write_live(
        self, run: Run, wanted: list[Property], name: str, kind: str, file: Path
    ) -> Path | None:
        direct, schedule = self._confirmed(run)
        for known in wanted:
            if not known.judge(direct.view).holds:
                what = f"property {known.name}"
                raise Nondeterminism(what, "was true", "false in the same state")
        text = "all that was searched for is true at the end of this run"
        # One run proves nothing of the others.
        ending = Ending(name, kind, Verdict.UNKNOWN, text)
        trace = self._recorded(self.starts[run.root], schedule, ending)
        if reason := self._unwritten(trace, file):
            self.notes.append(reason)
            return None
        return file

    def _confirmed(self, run: Run) -> tuple[DirectWorld, Schedule]:
        expected = [(entry.event, leaf.detail) for entry, leaf in run.path]
        direct = DirectWorld(self._system)
        end = self._world.decode(run.end)
        return direct, confirm(direct, self.starts[run.root], expected, end)

    def _reported(
        self, start: Start, schedule: Schedule, ending: Ending
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
        if not self._write:
            return report
        file, run = self._file(name), self._recorded(start, schedule, ending)
        if reason := self._unwritten(run, file):
            return replace(report, run=run, unwritten=reason)
        return replace(report, run=run, trace=file, replay=self._command(file))

    def _unwritten(self, run: Trace, file: Path) -> str:
        """Write a trace; return why that was impossible, which loses no verdict."""
        try:
            write(run, file)
        except UsageError as error:
            return error.what
        return ""

    def _recorded(self, start: Start, schedule: Schedule, ending: Ending) -> Trace:
        return record(
            DirectWorld(self._system),
            start.boot,
            start.prologue,
            schedule,
            ending=ending,
            engine=self.engine,
            seed=self.seed,
            begins=start.begins,
        )

    def _confirm_cycle(
        self, finding: Finding, known: Property, start: Start, schedule: Schedule
    ) -> None:
        if finding.cycle is None:
            return
        found = objection(
            DirectWorld(self._system),
            start.boot,
            start.prologue,
            schedule,
            known=known,
            cycle=finding.cycle,
            begins=start.begins,
        )
        if found:
            what = f"the run for ever against {finding.name}"
            raise Nondeterminism(what, "was fair and came round", found)

    def _end(self, hit: Hit, start: Start) -> Snapshot | None:
        """Return the state in which a path ends, by the tables."""
        if start.snapshot is None:
            return None
        if any(leaf.failed for _, leaf in hit.path):
            return None
        row = self._world.encode(start.snapshot)
        expander = Expander(self._world.tables, self._world)
        return self._world.decode(expander.follow(row, hit.path))

    def _file(self, name: str) -> Path:
        out, self._out = self._out, None
        if out is not None:
            return out
        stem = re.sub(r"[^\w.-]+", "-", f"{self._system.name}-{name}").strip("-")
        file = self._folder / f"{stem}.wl"
        if self._begins_in is not None and file.resolve() == self._begins_in.resolve():
            # The run that a search began with is not to be lost.
            return file.with_name(f"{stem}-next.wl")
        return file

    def _command(self, file: Path) -> str:
        origin = self._system.origin
        if origin is None:
            return call(file, None)
        return command("replay", file, origin.target)
