"""Files of a minimisation: the smallest run, others that it met, a regression test."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import final

from worldline.minimizing.aftermath import OtherViolation
from worldline.minimizing.delays import engine_of, refuse_no_delays
from worldline.minimizing.options import MinimizeOptions
from worldline.minimizing.original import Original
from worldline.minimizing.regression import (
    follow_options,
    refuse_no_test,
    write_test,
    written,
)
from worldline.minimizing.sameness import ANY, safety_of
from worldline.model.errors import InputError, InternalError, Nondeterminism, UsageError
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import Evidence, untaken
from worldline.runs.follow import follow
from worldline.runs.loading import command
from worldline.runs.record import DEADLOCK, Ending
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning
from worldline.runs.witnessed import Witnessed
from worldline.shrink.candidate import CandidateRunner, ShrunkRun
from worldline.trace.records import Trace
from worldline.trace.unpacking import holds_other


def refuse_no_result(
    recorded: Trace, system: System, path: Path, options: MinimizeOptions
) -> None:
    """Refuse what could not be written in the end, before anything is minimised.

    Raises
    ------
    UsageError
        If the result would take the place of the original, or no test can be made.
    """
    if options.traces:
        _refuse_place(_out(path, options), path, is_chosen=options.out is not None)
    if options.pytest is None:
        return
    if not options.traces:
        raise UsageError(
            "pytest has no meaning without traces, of which a test is made",
            remedy="leave traces=False out",
        )
    if options.reorder:
        raise UsageError(
            "a run in which messages overtake each other is one of another network, "
            "which a test could not load",
            remedy="leave --pytest or --reorder out",
        )
    if options.contents:
        raise UsageError(
            "a run of another workload is one that a test could not load",
            remedy="leave --pytest or --contents out",
        )
    test = Path(options.pytest)
    if test.resolve() == _out(path, options).resolve():
        raise UsageError(
            f"the test would take the place of the smaller run, {test}",
            remedy="name another file",
        )
    refuse_no_delays(recorded, options.predicates)
    refuse_no_test(system, recorded, test)


def _refuse_place(out: Path, path: Path, *, is_chosen: bool) -> None:
    if out.resolve() == path.resolve():
        raise UsageError(
            f"the smaller run would take the place of {path}",
            remedy="name another file",
        )
    if not is_chosen and holds_other(out):
        raise UsageError(
            f"{out} is there already, and is no trace",
            remedy="say where the smaller run goes: --out FILE",
        )


def _out(path: Path, options: MinimizeOptions) -> Path:
    return beside(path) if options.out is None else Path(options.out)


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
    """

    def __init__(
        self, original: Original, path: Path, options: MinimizeOptions
    ) -> None:
        self.notes: list[str] = []
        self._original = original
        self._path = path
        self._options = options
        self._out = _out(path, options)

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
        kept = kept_places(self._path, self._options)
        for one in met:
            run = Witnessed(
                start=self._original.start, expected=one.expected, end=one.end
            )
            kept.append(untaken(named(self._out, one.name), kept))
            evidence = self._evidence(runner, kept[-1])
            try:
                rows.append(evidence.violated(run, *_ending(one.what)))
            except Nondeterminism as error:
                self.notes.append(f"a run that violates {one.name}: {error.what}")
        return tuple(rows)

    def test(self, row: PropertyReport) -> Path | None:
        """Write the regression test that was asked for; None if there is none."""
        if self._options.pytest is None:
            return None
        place = Path(self._options.pytest)
        said = tested(row, self._original.system, self._path, place)
        self.notes += said
        return None if said else place

    def _evidence(self, runner: CandidateRunner, out: Path) -> Evidence:
        return Evidence(
            runner.world.system,
            Beginning([self._original.start]),
            out,
            is_written=self._options.traces,
            engine=engine_of(self._original.trace),
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
            if runner.world.verdict(runner.world.decision(prop)) is False:
                return _ending(prop)
        if self._original.end.property == DEADLOCK:
            said = self._original.end
            return Ending(DEADLOCK, said.kind, Verdict.VIOLATED, said.explanation), None
        raise InternalError("the smallest run violates nothing")


def tested(row: PropertyReport, system: System, path: Path, place: Path) -> list[str]:
    """Write the regression test of a run, once it was followed; return why not, if so.

    Parameters
    ----------
    path
        The trace that was minimised.
    """
    assert row.run is not None
    assert system.origin is not None
    try:
        # As the test will, from what it can name: it must fail while the bug is there.
        report = follow(
            written(row.run),
            system.origin.target,
            violates=row.name,
            **follow_options(system),
        )
    except (UsageError, InputError) as error:
        return [f"no test was written: {error.what}"]
    if report.violated is None or report.violated.name != row.name:
        return ["no test was written: event by event, the run violates nothing"]
    words = ["--pytest", str(place)]
    if system.predicates is not None:
        words = ["--predicates", system.predicates, *words]
    made = f"{command('minimize', path, system.origin.target)} {shlex.join(words)}"
    try:
        write_test(row.run, system, place, made)
    except UsageError as error:
        return [error.what]
    return []


def _ending(what: Property | Failure) -> tuple[Ending, Property | None]:
    if isinstance(what, Failure):
        safety = PropertyKind.SAFETY.value
        return Ending(what.kind, safety, Verdict.VIOLATED, str(what)), None
    return Ending(what.name, what.kind.value, Verdict.VIOLATED, ""), what


def beside(path: Path) -> Path:
    """Return where the smaller trace goes by default.

    Examples
    --------
    >>> beside(Path("runs/toy.wl")).as_posix()
    'runs/toy-min.wl'
    """
    return path.with_name(f"{path.stem}-min{path.suffix}")


def named(out: Path, what: str) -> Path:
    """Return where the trace of another violation goes.

    Examples
    --------
    >>> named(Path("runs/toy-min.wl"), "one leader").as_posix()
    'runs/toy-min-one-leader.wl'
    """
    stem = re.sub(r"[^\w.-]+", "-", what).strip("-")
    return out.with_name(f"{out.stem}-{stem}{out.suffix}")


def kept_places(path: Path, options: MinimizeOptions) -> list[Path]:
    """Return the files that no other one may replace: the original, and what is named."""
    test = [] if options.pytest is None else [Path(options.pytest)]
    return [path, _out(path, options), *test]
