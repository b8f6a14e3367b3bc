"""The report of a prediction, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from worldline.model.counts import counted
from worldline.model.events import Choices, Event
from worldline.model.verdicts import Verdict
from worldline.runs.report import BaseReport, property_lines
from worldline.search.assumptions import is_claimed
from worldline.search.report import because


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A run that may follow, and that violates something.

    Attributes
    ----------
    property
        The safety property that is false at its end, or how a handler fails there.
    cost
        That of the state at its end as it was found: a step costs 1, and what was put off
        more.
    steps
        How many steps it has from where the prediction began.
    states
        How many distinct states were visited when all of that cost were.
    trace
        The file of the run, None without one.
    absent
        The names of what nothing is known of where it begins: nodes, and observers.
    schedule
        The steps as they were found, each with the options that its handler took; a run
        that was made shorter since is in the trace alone.
    """

    property: str
    cost: int
    steps: int
    states: int
    trace: Path | None = None
    absent: tuple[str, ...] = ()
    schedule: tuple[tuple[Event, Choices], ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data, but for the schedule."""
        return {
            "property": self.property,
            "cost": self.cost,
            "steps": self.steps,
            "states": self.states,
            "trace": None if self.trace is None else str(self.trace),
            "absent": list(self.absent),
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PredictReport(BaseReport):
    """The result of a prediction.

    Attributes
    ----------
    predictions
        The runs that violate something, one for each property, the cheapest first.
    states, generated
        Distinct states, and every transition that led to one of them or begins there.
    put_off, executed
        States in which steps were put off, ever; and own steps that were tried, by what
        they are and where their node stands.
    cost, depth
        The cost up to which all states were visited; and states on the longest path.
    bytes
        What the search holds of its states. It depends on the engine.
    decided
        How many of the safety and sometimes properties were answered (violated, or
        reached), or unseen in no state that was visited.
    peak_mb
        The process's peak memory in MiB.
    assumptions
        Under which the verdict holds.
    """

    verdict: Verdict
    seed: int
    predictions: tuple[Prediction, ...]
    states: int
    generated: int
    put_off: int
    executed: int
    cost: int
    depth: int
    bytes: int
    decided: int
    peak_mb: float
    engine: str
    assumptions: tuple[str, ...] = ()

    @property
    def because(self) -> str:
        """What is to be said behind the verdict, if anything."""
        return because(self)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        return {
            **self.base_json(),
            "system": self.system,
            "predictions": [one.to_json() for one in self.predictions],
            "states": self.states,
            "generated": self.generated,
            "put_off": self.put_off,
            "executed": self.executed,
            "cost": self.cost,
            "depth": self.depth,
            "bytes": self.bytes,
            "decided": self.decided,
            "peak_mb": round(self.peak_mb, 1),
            "engine": self.engine,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self.head()]
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
        rate = self.states / self.seconds if self.seconds > 0 else 0.0
        lines.append(
            f"  {counted(self.states, 'state')} ({self.put_off:,} put off), "
            f"cost {self.cost}, "
            f"depth {self.depth}, {self.seconds:.2f} s ({rate:,.0f}/s), "
            f"{self.bytes / 2**20:,.1f} MiB of states, engine {self.engine}"
        )
        if self.assumptions and is_claimed(self.verdict, self.properties):
            lines.append(f"  assuming: {'; '.join(self.assumptions)}")
        return "\n".join([*lines, *self.note_lines()])
