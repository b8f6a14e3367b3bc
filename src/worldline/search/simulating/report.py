"""The report of a simulation."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.runs.report import BaseReport, property_lines, refuse_to_hold


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateReport(BaseReport):
    """The result of a simulation: runs by the clock, one of each seed.

    Attributes
    ----------
    verdict
        VIOLATED or UNKNOWN: runs prove nothing.
    seed
        That of the run that violates something, the least of all that do; else the first.
    seeds
        Runs that were made; of several that violate something, up to the least seed.
    virtual_seconds
        On all of them together.
    events, messages, lost
        What happened; messages that were sent, and those that the network lost.
    at
        The virtual time of the violation, in seconds.
    peak_memory
        Of the process that needed most, in MiB.
    metrics, metric_rows
        The file of samples that was written, and how many it has.
    plot
        The picture that was drawn.
    beside
        What was to be known of what stood beside the nodes, run by run.
    """

    verdict: Verdict
    seed: int
    seeds: int
    virtual_seconds: float
    events: int
    messages: int
    lost: int
    at: float | None = None
    peak_memory: float = 0.0
    metrics: Path | None = None
    metric_rows: int = 0
    plot: Path | None = None
    beside: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def events_per_second(self) -> float:
        """Events in a second of the machine's time."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    def expect_holds(self) -> None:
        """Refuse to say that it holds.

        Raises
        ------
        UsageError
            Always: a simulation proves nothing.
        """
        refuse_to_hold("a simulation never shows")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        return {
            **self.base_json(),
            "system": self.system,
            "seeds": self.seeds,
            "virtual_seconds": round(self.virtual_seconds, 6),
            "events": self.events,
            "events_per_second": round(self.events_per_second),
            "messages": self.messages,
            "lost": self.lost,
            "at": self.at,
            "peak_memory": round(self.peak_memory, 1),
            "metrics": None if self.metrics is None else str(self.metrics),
            "plot": None if self.plot is None else str(self.plot),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self.head()]
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
        runs = counted(self.seeds, "run")
        said = ": no violation met, which proves nothing"
        if self.at is not None:
            said = f"; violated at {self.at:.6g} s"
        events = f"{counted(self.events, 'event')} ({self.events_per_second:,.0f}/s)"
        sent = f"{counted(self.messages, 'message')} ({self.lost:,} lost)"
        lines += [
            f"  {runs} of {self.virtual_seconds:,.6g} virtual seconds, {events}, {sent}",
            f"  {self.seconds:.2f} s, {self.peak_memory:,.0f} MiB, seed {self.seed}{said}",
        ]
        if self.metrics is not None:
            lines.append(
                f"  metrics {self.metrics} ({counted(self.metric_rows, 'row')})"
            )
        if self.plot is not None:
            lines.append(f"  plot {self.plot}")
        return "\n".join([*lines, *self.note_lines()])
