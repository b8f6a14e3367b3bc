"""Simulation of nodes that steer: `simulate` with something beside them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, final

from worldline.loading.opening import SystemTarget, open_system
from worldline.model.data.identity import NodeId
from worldline.model.faults import Faults
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.options.declaring import Group, option, verb
from worldline.options.steering import ModeOptions
from worldline.options.values import Seconds
from worldline.runs.timeless import judging, without
from worldline.search.report import Progress
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.report import SimulateReport
from worldline.search.simulating.simulate import simulate_beside
from worldline.steer.checking.judge import NO_TIME
from worldline.steer.steering.companion import Steering
from worldline.steer.steering.counts import SteeringCounts
from worldline.steer.steering.findings import FoundOften, RefusedEvent
from worldline.steer.steering.inline import inline_steering
from worldline.steer.steering.modes import SteeringMode, SteeringOptions
from worldline.steer.steering.reporting import merged, written
from worldline.worlds.companions import NOTHING_JUDGED, Companion

_MOST_SHOWN = 10
"""Refusals that a report prints."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SteeredOptions(SimulateOptions, ModeOptions):
    """Options of `simulate`, with those of what stands beside the nodes."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        *SimulateOptions.GROUPS,
        ModeOptions.STEERING._replace(
            names=(*ModeOptions.STEERING.names, "prediction_latency")
        ),
    )

    prediction_latency: float = option(
        0.1, "virtual seconds that a prediction takes (default: 0.1)", Seconds(least=0)
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SteeredReport(SimulateReport):
    """The result of a simulation, with what stood beside the nodes.

    Attributes
    ----------
    mode
        What was done about failures that were to come; nothing if it is off.
    steering
        What was done, over all nodes and runs.
    predictions
        What was seen coming; equal findings are one.
    refusals
        What was refused, of each run the first hundred times.
    """

    mode: SteeringMode
    steering: SteeringCounts
    predictions: tuple[FoundOften, ...]
    refusals: tuple[RefusedEvent, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        if self.mode is SteeringMode.OFF:
            return SimulateReport.to_json(self)
        return {
            **SimulateReport.to_json(self),
            "mode": self.mode.value,
            "steering": self.steering.to_json(),
            "predictions": [one.to_json() for one in self.predictions],
            "refusals": [one.to_json() for one in self.refusals],
        }

    def __str__(self) -> str:
        if self.mode is SteeringMode.OFF:
            return SimulateReport.__str__(self)
        lines = [SimulateReport.__str__(self), f"  {self.steering}"]
        lines += [f"  {one}" for one in self.refusals[:_MOST_SHOWN]]
        if len(self.refusals) > _MOST_SHOWN:
            lines.append(
                f"  ... and {len(self.refusals) - _MOST_SHOWN:,} more; see --json"
            )
        lines += [f"  predicted {one}" for one in self.predictions]
        return "\n".join(lines)


@verb(SteeredOptions, Progress, NodeId, Faults)
def simulate(system: SystemTarget, options: SteeredOptions) -> SteeredReport:
    """Run a system by the clock, once for each seed, until one run violates a property.

    Messages arrive after their latency, timers fire after their delay, calls are made
    at a rate, and faults are what loss, duplication and weather say; budgets of the
    system do not count. Same seed, same run.

    With a mode, something stands beside the nodes that sees failures coming; see
    docs/steering.md.

    Parameters
    ----------
    system
        What to run; see `check`.

    Raises
    ------
    UsageError
        If the options say nothing of this system, or it cannot be run by a clock.
    """
    options.refuse_idle(("prediction_latency",))
    opened = open_system(system, options.parameters)
    if options.mode == "off":
        return _report(simulate_beside(opened, options, None), SteeringMode.OFF)
    latency = options.prediction_latency
    chosen = SteeringOptions.of(options, opened, latency=latency)
    names = [prop.name for prop in opened.properties]

    def beside(judged: Sequence[str] | None) -> SimulateReport:
        make = partial(_beside, chosen, judged)
        return simulate_beside(opened, options, make, _told)

    report, left_out = without(names, names, beside)
    counts = SteeringCounts()
    for run in report.beside:
        counts.add(run.counts)
    found = merged([run.found for run in report.beside])
    taken = [Path(options.out)] if options.out is not None else []
    notes = written(found, report.system, taken=taken) if options.traces else []
    judged = sum(prop.kind is PropertyKind.SAFETY for prop in opened.properties)
    if 0 < counts.checked * judged <= counts.unseen:
        notes.append(NOTHING_JUDGED)
    notes += [f"{name} {NO_TIME}" for name in left_out]
    stubborn = dict.fromkeys(note for run in report.beside for note in run.notes)
    notes += list(stubborn)[:_MOST_SHOWN]
    refusals = tuple(one for run in report.beside for one in run.refusals)
    whole = dataclasses.replace(report, notes=(*report.notes, *notes), beside=())
    return _report(whole, chosen.mode, counts, found, refusals)


def _report(
    report: SimulateReport,
    mode: SteeringMode,
    counts: SteeringCounts | None = None,
    found: tuple[FoundOften, ...] = (),
    refusals: tuple[RefusedEvent, ...] = (),
) -> SteeredReport:
    """Return the report of a simulation with what stood beside the nodes."""
    fields = {one.name: getattr(report, one.name) for one in dataclasses.fields(report)}
    return SteeredReport(
        **fields,
        mode=mode,
        steering=counts or SteeringCounts(),
        predictions=found,
        refusals=refusals,
    )


@final
@dataclass(frozen=True, slots=True)
class _Told:
    """What is to be known of a run."""

    counts: SteeringCounts
    found: tuple[FoundOften, ...]
    refusals: tuple[RefusedEvent, ...]
    notes: tuple[str, ...]


def _beside(
    options: SteeringOptions, judged: Sequence[str] | None, system: System, seed: int
) -> tuple[Companion, ...]:
    known = system if judged is None else judging(system, judged)
    return (inline_steering(known, options, seed),)


def _told(companions: Sequence[Companion]) -> _Told:
    counts, found = SteeringCounts(), list[Sequence[FoundOften]]()
    refusals: list[RefusedEvent] = []
    notes: list[str] = []
    for one in companions:
        assert isinstance(one, Steering)
        found.append(one.findings.all())
        counts.add(one.total())
        refusals += one.refusals
        notes += [*one.troubles(), *one.stubborn()]
    return _Told(counts, merged(found), tuple(refusals), tuple(notes))
