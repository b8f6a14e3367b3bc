"""Several failing runs of one system: each is minimised, and the smallest result counts.

The others come about as the run of the trace did, with the seeds that follow its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias, final

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.room import MIB
from worldline.minimizing.files import (
    beside,
    kept_places,
    named,
    tested,
)
from worldline.minimizing.options import MinimizeOptions
from worldline.minimizing.report import MinimizeReport, SeedRun
from worldline.model.errors import ModelError, UsageError
from worldline.model.system import System
from worldline.model.verdicts import INTERRUPTED
from worldline.runs.evidence import untaken, why_unwritten, with_file
from worldline.runs.loading import as_recorded
from worldline.runs.record import declared
from worldline.search.engines import threads_of
from worldline.search.walks.fuzz import fuzz
from worldline.search.walks.report import WalkReport
from worldline.search.walks.walk import walk
from worldline.shrink.progress import ShrinkProgress
from worldline.shrink.spread import Spread
from worldline.trace.format import read
from worldline.trace.records import DRAWN, Trace

STEPS = 500_000
"""Steps of the random runs of one seed; one that meets nothing in them has no run."""

_VERBS: Mapping[str, Callable[..., WalkReport]] = {"walk": walk, "fuzz": fuzz}

Minimized: TypeAlias = Callable[[Path, MinimizeOptions], MinimizeReport]
"""Minimises the trace in a file."""


class _OfSeed(NamedTuple):
    """What came of one seed: no report if it met nothing, or because of an error."""

    seed: int
    report: MinimizeReport | None
    interrupted: bool
    error: str | None = None


@final
@dataclass(frozen=True, slots=True)
class FailingRuns:
    """The run of a trace, and others of the same system, property and random runs.

    Parameters
    ----------
    system
        As it was declared, whatever network it is minimised under.

    Raises
    ------
    UsageError
        If the trace does not say how its run was drawn.
    """

    trace: Trace
    path: Path
    system: System
    options: MinimizeOptions

    def __post_init__(self) -> None:
        drawn = self.trace.header.options.get(DRAWN)
        if self.trace.header.seed is None or not isinstance(drawn, dict):
            raise UsageError(
                f"{self.path} does not say of which random runs it is one, so it has no "
                "seed that others could follow",
                remedy="begin with one failing run, or give a trace that walk or fuzz has written, "
                "from the start of a system and with a scheduler that has a name",
            )
        if drawn.get("verb") not in [*_VERBS]:  # it can be anything
            raise UsageError(
                f"{self.path} was drawn by {drawn.get('verb')!r}, which is no verb",
                remedy=f"one of {', '.join(_VERBS)} is meant",
            )

    def smallest(self, minimized: Minimized) -> MinimizeReport:
        """Minimise all of them, on as many cores as there may be; report the smallest."""
        options = self.options
        meter = Meter(Bounds(seconds=options.max_seconds, memory_mb=options.max_memory))
        results: list[_OfSeed] = []

        with TemporaryDirectory() as folder:

            def work(number: int) -> _OfSeed:
                given = self._each(meter, Path(folder) / f"{number}-min.wl")
                if not number:
                    return _of(self._seed, minimized(self.path, given))
                seed, file = self._seed + number, Path(folder) / f"{number}.wl"
                try:
                    drawn = self._draw(seed, file, given)
                    row = drawn.violated
                    ended = drawn.bound == INTERRUPTED
                    if row is None or row.name != self._name or row.trace != file:
                        why = None if row is None else row.unwritten
                        return _OfSeed(seed, None, ended, why)
                    return _of(seed, minimized(file, given))
                except (UsageError, ModelError) as error:
                    # What became of the run of the trace must not get lost.
                    return _OfSeed(seed, None, interrupted=False, error=error.what)

            def done(number: int, result: _OfSeed) -> None:
                results.append(result)
                if result.interrupted:
                    spread.stop()
                self._tell(results, meter)

            processes = min(threads_of(options.threads), options.seeds)
            spread = Spread(work, processes, done)
            spread.run(options.seeds)
            if spread.interrupted and not any(one.report for one in results):
                raise KeyboardInterrupt
            return self._reported(results, meter, Path(folder))

    @property
    def _seed(self) -> int:
        assert self.trace.header.seed is not None
        return self.trace.header.seed

    @property
    def _name(self) -> str:
        assert self.trace.end is not None
        return self.trace.end.property or ""

    def _each(self, meter: Meter, out: Path) -> MinimizeOptions:
        """Return the options of one of the minimisations: its share of what may be used."""
        options = self.options
        threads = threads_of(options.threads)
        at_once = min(threads, options.seeds)
        seconds, memory = meter.seconds_left, options.max_memory
        if meter.ceiling is not None:
            memory = max(1, meter.ceiling // at_once // MIB)
        return replace(
            options,
            seeds=1,
            threads=max(1, threads // at_once),
            max_events=max(1, options.max_events // options.seeds),
            max_seconds=None if seconds is None else max(0.01, seconds),
            max_memory=memory,
            out=out,
            pytest=None,
            traces=True,
            progress=None,
        )

    def _draw(self, seed: int, file: Path, given: MinimizeOptions) -> WalkReport:
        """Make random runs as those of the trace were, with another seed."""
        drawn: Any = self.trace.header.options[DRAWN]
        is_declared = declared(self.system, self._name) is not None
        told: Mapping[str, Any] = {
            name: drawn[name]
            for name in ("max_steps", "scheduler", "unbiased", "weights")
            if drawn.get(name)
        }
        return _VERBS[drawn["verb"]](
            self.system,
            seed=seed,
            events=STEPS,
            properties=[self._name] if is_declared else None,
            engine="python" if self.trace.header.engine == "python" else "auto",
            threads=given.threads,
            max_seconds=given.max_seconds,
            max_memory=given.max_memory,
            out=file,
            **told,
        )

    def _tell(self, results: list[_OfSeed], meter: Meter) -> None:
        reports = [one.report for one in results if one.report is not None]
        if self.options.progress is None or not reports:
            return
        best = min(reports, key=_size)
        self.options.progress(
            ShrinkProgress(
                deliveries=best.final.deliveries,
                externals=best.final.externals,
                schedules=sum(one.schedules for one in reports),
                events=sum(one.events for one in reports),
                seconds=meter.seconds,
            )
        )

    def _reported(
        self, results: list[_OfSeed], meter: Meter, folder: Path
    ) -> MinimizeReport:
        reports = [one for one in results if one.report is not None]
        number, best = min(
            ((at, one.report) for at, one in enumerate(results) if one.report),
            key=lambda pair: (_size(pair[1]), pair[0]),
        )
        row, run = best.properties[0], best.properties[0].run
        assert run is not None
        path = None if number else self.path
        row = replace(row, trace=None, replay=None)
        others = [
            replace(one, trace=None, replay=None)
            for one in best.others
            if one.run is not None
        ]
        test, notes = None, list(best.notes)
        if self.options.traces:
            out = self.options.out
            file = beside(self.path) if out is None else Path(out)
            kept = kept_places(self.path, self.options)
            if number:
                seed = results[number].seed
                name = f"{self.path.stem}-seed{seed}{self.path.suffix}"
                path = untaken(self.path.with_name(name), kept)
                kept.append(path)
                if unwritten := why_unwritten(read(folder / f"{number}.wl"), path):
                    notes.append(f"the run of seed {seed}: {unwritten}")
                    path = None
            target = run.header.target  # of another network's run there is none
            row = with_file(row, run, file, target)
            for at, one in enumerate(others):
                assert one.run is not None
                kept.append(untaken(named(file, one.name), kept))
                others[at] = with_file(one, one.run, kept[-1], target)
            if self.options.pytest is not None:
                test = Path(self.options.pytest)
                said = tested(
                    row, as_recorded(run.header, self.system), path or self.path, test
                )
                test, notes = None if said else test, [*notes, *said]
        bounds = [one.report.bound for one in reports if one.report is not None]
        return replace(
            best,
            properties=(row,),
            seconds=meter.seconds,
            seed=results[number].seed,
            bound=next(filter(None, bounds), None),
            original=path,
            schedules=sum(one.report.schedules for one in reports if one.report),
            events=sum(one.report.events for one in reports if one.report),
            runs=tuple(_row(one) for one in results),
            others=tuple(others),
            test=test,
            notes=tuple(notes),
        )


def _of(seed: int, report: MinimizeReport) -> _OfSeed:
    return _OfSeed(seed, report, report.bound == INTERRUPTED)


def _size(report: MinimizeReport) -> tuple[int, int]:
    return report.final.deliveries, report.final.externals


def _row(result: _OfSeed) -> SeedRun:
    if result.report is None:
        return SeedRun(seed=result.seed, initial=None, final=None, error=result.error)
    return SeedRun(
        seed=result.seed, initial=result.report.initial, final=result.report.final
    )
