"""What a minimisation writes: the smallest run, others that it met, a regression test."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import final

from worldline.minimizing.aftermath import OtherViolation
from worldline.minimizing.options import MinimizeOptions
from worldline.minimizing.original import Original
from worldline.minimizing.regression import refuse_no_test, write_test, written
from worldline.minimizing.sameness import ANY, safety_of
from worldline.model.errors import InternalError, Nondeterminism, UsageError
from worldline.model.properties import Property
from worldline.model.semantics.execute import Failure
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import MINIMIZE, Evidence, Witnessed
from worldline.runs.follow import follow
from worldline.runs.loading import command
from worldline.runs.record import DEADLOCK, Ending
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning
from worldline.shrink.candidate import CandidateRunner, ShrunkRun


@final
class ResultFiles:
    """Confirms runs with the real nodes, and writes them.

    Parameters
    ----------
    path
        The trace that is minimised.

    Attributes
    ----------
    notes
        What could not be written, and why.

    Raises
    ------
    UsageError
        If what is wanted cannot be written where it is wanted.
    """

    def __init__(
        self, original: Original, path: Path, options: MinimizeOptions
    ) -> None:
        self.notes: list[str] = []
        self._original = original
        self._path = path
        self._options = options
        self._out = Path(options.out) if options.out is not None else beside(path)
        self._test = None if options.pytest is None else Path(options.pytest)
        if options.traces and self._out.resolve() == path.resolve():
            raise UsageError(
                f"the smaller run would take the place of {path}",
                remedy="name another file",
            )
        if self._test is not None and not options.traces:
            raise UsageError(
                "pytest has no meaning without traces, of which a test is made",
                remedy="leave traces=False out",
            )
        if self._test is not None:
            refuse_no_test(original.system, original.trace, self._test)

    def smallest(self, runner: CandidateRunner, best: ShrunkRun) -> PropertyReport:
        """Confirm the smallest run, and write its trace."""
        expected, end = runner.outcomes(best)
        run = Witnessed(start=self._original.start, expected=expected, end=end)
        what = self._violated(runner, run)
        return self._evidence(runner, self._out).violated(run, *what)

    def others(
        self, runner: CandidateRunner, met: Iterable[OtherViolation]
    ) -> tuple[PropertyReport, ...]:
        """Confirm runs that violate something else, and write a trace of each."""
        rows = []
        for one in met:
            run = Witnessed(
                start=self._original.start, expected=one.expected, end=one.end
            )
            evidence = self._evidence(runner, _named(self._out, one.name))
            try:
                rows.append(evidence.violated(run, *_ending(one.what)))
            except Nondeterminism as error:
                self.notes.append(f"a run that violates {one.name}: {error.what}")
        return tuple(rows)

    def test(self, row: PropertyReport) -> Path | None:
        """Write the regression test that was asked for; None if there is none."""
        if self._test is None or row.run is None:
            return None
        system = self._original.system
        origin, steps = system.origin, written(row.run)
        assert origin is not None
        try:
            report = follow(steps, system, violates=row.name)
        except UsageError as error:
            self.notes.append(f"no test was written: {error.what}")
            return None
        if report.violated is None or report.violated.name != row.name:
            why = "followed event by event, the run violates nothing"
            self.notes.append(f"no test was written: {why}")
            return None
        words = ["--pytest", str(self._test)]
        made = f"{command('minimize', self._path, origin.target)} {shlex.join(words)}"
        try:
            write_test(row.run, system, self._test, made)
        except UsageError as error:
            self.notes.append(error.what)
            return None
        return self._test

    def _evidence(self, runner: CandidateRunner, out: Path) -> Evidence:
        return Evidence(
            runner.world.system,
            Beginning([self._original.start]),
            out,
            is_written=self._options.traces,
            engine=MINIMIZE,
            seed=self._original.trace.header.seed or 0,
        )

    def _violated(
        self, runner: CandidateRunner, run: Witnessed
    ) -> tuple[Ending, Property | None]:
        """Return what the smallest run violates in its last state."""
        failure = run.expected[-1][1].failure if run.expected else None
        if failure is not None:
            return _ending(failure)
        if self._options.same != ANY:
            said = self._original.end
            ending = Ending(
                said.property, said.kind, Verdict.VIOLATED, said.explanation
            )
            return ending, self._original.prop
        for prop in safety_of(self._original.system):
            if not runner.world.holds(runner.world.decision(prop)):
                return _ending(prop)
        if self._original.end.property == DEADLOCK:
            said = self._original.end
            return Ending(DEADLOCK, DEADLOCK, Verdict.VIOLATED, said.explanation), None
        raise InternalError("the smallest run violates nothing")


def _ending(what: Property | Failure) -> tuple[Ending, Property | None]:
    if isinstance(what, Failure):
        return Ending(what.kind, what.kind, Verdict.VIOLATED, str(what)), None
    return Ending(what.name, what.kind.value, Verdict.VIOLATED, ""), what


def beside(path: Path) -> Path:
    """Return where the smaller trace goes by default.

    Examples
    --------
    >>> beside(Path("runs/toy.wl")).as_posix()
    'runs/toy-min.wl'
    """
    return path.with_name(f"{path.stem}-min{path.suffix}")


def _named(out: Path, what: str) -> Path:
    """Return where the trace of another violation goes.

    Examples
    --------
    >>> _named(Path("runs/toy-min.wl"), "one leader").as_posix()
    'runs/toy-min-one-leader.wl'
    """
    stem = re.sub(r"[^\w.-]+", "-", what).strip("-")
    return out.with_name(f"{out.stem}-{stem}{out.suffix}")
