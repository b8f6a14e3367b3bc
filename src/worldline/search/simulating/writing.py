"""Files of a simulation beside its trace: metrics and a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, final

from worldline.model.errors import UsageError
from worldline.model.system import System
from worldline.search.simulating.metrics import (
    METRICS,
    PLOTS,
    refuse_unwritable,
    write_metrics,
)
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.plot import numeric, write_plot
from worldline.search.simulating.tally import Question, SeedTally

_MOST_ROWS = 5_000_000
"""Samples in all; each takes some 200 bytes until they are written."""


@final
class Written(NamedTuple):
    """The files that were written.

    Attributes
    ----------
    rows
        Of the metrics.
    notes
        Why one could not be written: the runs have been made by then.
    """

    metrics: Path | None = None
    rows: int = 0
    plot: Path | None = None
    notes: tuple[str, ...] = ()


def refuse_no_place(options: SimulateOptions, system: System) -> None:
    """Refuse before the runs what could not be written after them.

    Raises
    ------
    UsageError
        If a file could not, or what is to be drawn is no gauge.
    """
    names = [one.name for one in system.gauges]
    if options.metrics is not None or options.plot is not None:
        _refuse_sample(options)
    elif "sample" in options.given:
        raise UsageError(
            "--sample says how often to sample",
            remedy="add --metrics FILE or --plot FILE",
        )
    if options.metrics is not None:
        refuse_unwritable("--metrics", Path(options.metrics), METRICS, names)
    if options.plot is not None:
        refuse_unwritable("--plot", Path(options.plot), PLOTS, names)
    unknown = [name for name in options.gauges if name not in names]
    if unknown:
        has = f"it has {', '.join(names)}" if names else "it has none"
        raise UsageError(f"{system.name} has no gauge {unknown[0]!r}", remedy=has)
    if options.gauges and options.plot is None:
        raise UsageError("--gauges says what to draw", remedy="add --plot FILE")


def _refuse_sample(options: SimulateOptions) -> None:
    """Refuse more samples than there is room for."""
    if options.sample > 0:
        rows = options.seconds / options.sample * options.seeds
        if rows <= _MOST_ROWS:
            return
        many = f"gives {rows:,.0f} samples, and {_MOST_ROWS:,} is the most"
    else:
        many = "gives samples without end"
    raise UsageError(
        f"a sample every {options.sample:g} s of {options.seconds:g} s {many}",
        remedy="make fewer: --sample S, --seconds S or --seeds N",
    )


def written(
    options: SimulateOptions,
    question: Question,
    runs: Sequence[SeedTally],
    reported: SeedTally,
) -> Written:
    """Write what was asked for; what cannot be written now is told in the report.

    Parameters
    ----------
    runs
        Those of all seeds, in order.
    reported
        The run that the plot is of.
    """
    names = [one.name for one in question.system.gauges]
    done, notes = Written(), []
    if options.metrics is not None:
        place = Path(options.metrics)
        samples = [(run.seed, run.samples) for run in runs]
        try:
            done = done._replace(
                metrics=place, rows=write_metrics(place, names, samples)
            )
        except UsageError as error:
            notes.append(str(error))
    if options.plot is not None:
        try:
            _draw(Path(options.plot), options, question, reported)
            done = done._replace(plot=Path(options.plot))
        except UsageError as error:
            notes.append(str(error))
    return done._replace(notes=tuple(notes))


def _draw(
    place: Path, options: SimulateOptions, question: Question, reported: SeedTally
) -> None:
    names = [one.name for one in question.system.gauges]
    drawn = numeric(names, reported.samples)
    for name in options.gauges:
        if name not in drawn:
            raise UsageError(
                f"the gauge {name} is not drawn: it is no number everywhere",
                remedy="see --metrics for its values",
            )
    chosen = [name for name in names if name in (options.gauges or drawn)]
    spans = {
        question.wanted[number].name: stretches
        for number, stretches in reported.spans.items()
    }
    title = f"{question.system.name}, seed {reported.seed}"
    places = {name: names.index(name) for name in chosen}
    write_plot(place, title, reported.samples, places, spans)
