"""Gauges over time, with the stretches in which properties are false shaded.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, figure 6.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from worldline.runs.extras import matplotlib
from worldline.search.simulating.sampling import RunSample
from worldline.trace.records import SpanRecord
from worldline.trace.storing import store

# The palette of Okabe and Ito, which colour-blind readers can tell apart.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

_WIDTH, _HEIGHT = 8.0, 1.8
"""Inches: of the plot, and of each gauge."""


def numeric(names: Sequence[str], samples: Sequence[RunSample]) -> list[str]:
    """Return the gauges that have numbers alone."""
    return [
        name
        for number, name in enumerate(names)
        if not any(isinstance(one.gauges[number], str) for one in samples)
    ]


def write_plot(
    place: Path,
    title: str,
    samples: Sequence[RunSample],
    gauges: Mapping[str, int],
    spans: Mapping[str, Sequence[SpanRecord]],
) -> None:
    """Write a picture of the run of one seed, all of it or nothing.

    Parameters
    ----------
    gauges
        Those to draw, each with its place among the values of a sample. None: the
        events of each interval are drawn.
    spans
        The stretches in which a property is false, by its name.

    Raises
    ------
    UsageError
        If the file cannot be written there, or matplotlib is not installed.
    """
    module = matplotlib()
    # The same run is the same file: no date, and no random names inside.
    settings = {"svg.hashsalt": "worldline", "svg.fonttype": "none"}
    with module.rc_context(settings):
        curves = [*_curves(samples, gauges)]
        figure = module.figure.Figure(
            figsize=(_WIDTH, _HEIGHT * len(curves) + 1), layout="constrained"
        )
        panels = figure.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0]
        times = [one.time for one in samples]
        for panel, (name, values) in zip(panels, curves, strict=True):
            panel.step(times, values, where="post", color="black", gid=f"gauge {name}")
            panel.set_ylabel(name)
            _shade(panel, spans)
        panels[0].set_title(title)
        if any(spans.values()):
            marks, names = panels[0].get_legend_handles_labels()
            place_of_key = "outside right upper"
            figure.legend(marks, names, loc=place_of_key, title="false")
        panels[-1].set_xlabel("virtual seconds")
        content = io.BytesIO()
        form = place.suffix.removeprefix(".")
        dated: dict[str, Any] = {"Date": None} if form == "svg" else {}
        figure.savefig(content, format=form, metadata=dated)
    store(place, content.getvalue(), "a plot")


def _curves(
    samples: Sequence[RunSample], gauges: Mapping[str, int]
) -> Iterator[tuple[str, list[Any]]]:
    for name, number in gauges.items():
        values = [one.gauges[number] for one in samples]
        yield name, [float("nan") if value is None else value for value in values]
    if not gauges:
        yield "events", [one.events for one in samples]


def _shade(panel: Any, spans: Mapping[str, Sequence[SpanRecord]]) -> None:
    for number, (name, stretches) in enumerate(spans.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        label: str | None = name
        for span in stretches:
            if span.time is None or span.until is None:
                continue
            panel.axvspan(
                span.time,
                span.until,
                color=colour,
                alpha=0.25,
                label=label,
                gid=f"false {name}",
            )
            label = None  # one line in the key for all of them
