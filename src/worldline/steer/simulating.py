"""Simulation of nodes that steer: `simulate` with something beside them."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, final

from worldline.engine.room import memory_mb
from worldline.loading.opening import SystemTarget, open_system
from worldline.loading.predicates import with_predicates
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
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.counts import SteeringCounts
from worldline.steer.steering.findings import FoundOften
from worldline.steer.steering.modes import SteeringMode, SteeringOptions
from worldline.worlds.beside_report import (
    MOST_SHOWN,
    RefusedEvent,
    UnseenProperty,
    notes_on,
    refused_in_all,
    said_of,
    unseen_together,
)
from worldline.worlds.companions import Companion

_SHOWN_EVERY_S = 0.1
"""Seconds between two times that it is shown how far a run is."""


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
    unseen
        Which properties the immediate check could not always judge, and why; the most
        frequent first.
    """

    mode: SteeringMode
    steering: SteeringCounts
    predictions: tuple[FoundOften, ...]
    refusals: tuple[RefusedEvent, ...]
    unseen: tuple[UnseenProperty, ...]

    @property
    def refused_in_all(self) -> int:
        """How many events were refused, with those that are not among the refusals."""
        return refused_in_all(self.steering.to_json())

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
            "refused_in_all": self.refused_in_all,
            "unseen": [one.to_json() for one in self.unseen],
        }

    def __str__(self) -> str:
        if self.mode is SteeringMode.OFF:
            return SimulateReport.__str__(self)
        lines = [SimulateReport.__str__(self), f"  {self.steering}"]
        said = said_of(self.steering.to_json(), self.refusals, self.unseen)
        lines += [f"  {line}" for line in said]
        lines += [f"  predicted {one}" for one in self.predictions]
        return "\n".join(lines)


@verb(SteeredOptions, Progress, NodeId, Faults)
def simulate(system: SystemTarget, options: SteeredOptions) -> SteeredReport:
    """Run a system by the clock, once for each seed, until one run violates a property.

    Messages arrive after their latency, timers fire after their delay, calls are made
    at a rate, and faults are what loss, duplication and weather say; budgets of the
    system do not count. Same seed, same run.

    With a mode, something stands beside the nodes that sees failures coming: of the
    properties that are judged, and no others. See docs/steering.md.

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
    # Steering spells snapshots, for which it needs an extra; nothing else here does.
    from worldline.steer.steering.reporting import merged, written

    latency = options.prediction_latency
    chosen = SteeringOptions.of(options, opened, latency=latency)
    whole = opened
    if options.predicates is not None:
        whole, _ = with_predicates(opened, options.predicates)
    asked = options.properties
    names = [
        prop.name for prop in whole.properties if asked is None or prop.name in asked
    ]

    def beside(judged: Sequence[str] | None) -> SimulateReport:
        shown = None if options.progress is None else _HowFar(options.progress)
        make = partial(_beside, chosen, names if judged is None else judged, shown)
        return simulate_beside(opened, options, make, _told)

    report, left_out = without(names, names, beside)
    counts = SteeringCounts()
    for run in report.beside:
        counts.add(run.counts)
    found = merged([run.found for run in report.beside])
    taken = [Path(options.out)] if options.out is not None else []
    notes = written(found, report.system, taken=taken) if options.traces else []
    unseen = unseen_together(
        one.to_json() for run in report.beside for one in run.unseen
    )
    judged = sum(
        prop.kind is PropertyKind.SAFETY and prop.name in {*names} - {*left_out}
        for prop in whole.properties
    )
    notes += notes_on(counts.to_json(), unseen, judged)
    notes += [f"{name} {NO_TIME}" for name in left_out]
    stubborn = dict.fromkeys(note for run in report.beside for note in run.notes)
    notes += list(stubborn)[:MOST_SHOWN]
    refusals = tuple(one for run in report.beside for one in run.refusals)
    told = dataclasses.replace(report, notes=(*report.notes, *notes), beside=())
    return _report(told, chosen.mode, counts, found, refusals, unseen)


def _report(
    report: SimulateReport,
    mode: SteeringMode,
    counts: SteeringCounts | None = None,
    found: tuple[FoundOften, ...] = (),
    refusals: tuple[RefusedEvent, ...] = (),
    unseen: tuple[UnseenProperty, ...] = (),
) -> SteeredReport:
    """Return the report of a simulation with what stood beside the nodes."""
    fields = {one.name: getattr(report, one.name) for one in dataclasses.fields(report)}
    return SteeredReport(
        **fields,
        mode=mode,
        steering=counts or SteeringCounts(),
        predictions=found,
        refusals=refusals,
        unseen=unseen,
    )


@final
@dataclass(frozen=True, slots=True)
class _Told:
    """What is to be known of a run."""

    counts: SteeringCounts
    found: tuple[FoundOften, ...]
    refusals: tuple[RefusedEvent, ...]
    unseen: tuple[UnseenProperty, ...]
    notes: tuple[str, ...]


def _beside(
    options: SteeringOptions,
    judged: Sequence[str],
    shown: _HowFar | None,
    system: System,
    seed: int,
) -> tuple[Companion, ...]:
    from worldline.steer.steering.inline import inline_steering

    is_all = len(judged) == len(system.properties)
    if shown is not None:
        shown.begin()
    known = system if is_all else judging(system, judged)
    return (inline_steering(known, options, seed, taken=shown),)


@final
class _HowFar:
    """Shows how far a run is, as predictions take their time; of one process alone."""

    def __init__(self, progress: Callable[[Progress], None]) -> None:
        self._progress, self._process = progress, os.getpid()
        self._began = self._last = time.monotonic()
        self._latest = 0.0

    def begin(self) -> None:
        """Take note that another run begins."""
        self._latest = 0.0

    def __call__(self, snapshot: NeighbourhoodSnapshot) -> None:
        """Show it, if it is some time since the last time."""
        now = time.monotonic()
        # Of when a snapshot was begun: that of a slow one is older than others were.
        self._latest = max(self._latest, snapshot.time)
        if now - self._last < _SHOWN_EVERY_S or os.getpid() != self._process:
            return
        self._last = now
        self._progress(
            Progress(
                states=0,
                generated=0,
                depth=0,
                frontier=0,
                seconds=now - self._began,
                memory_mb=memory_mb(),
                virtual_seconds=self._latest,
            )
        )


def _told(companions: Sequence[Companion]) -> _Told:
    from worldline.steer.steering.companion import Steering
    from worldline.steer.steering.reporting import merged

    counts, found = SteeringCounts(), list[Sequence[FoundOften]]()
    refusals: list[RefusedEvent] = []
    unseen: list[UnseenProperty] = []
    notes: list[str] = []
    for one in companions:
        assert isinstance(one, Steering)
        found.append(one.findings.all())
        counts.add(one.total())
        refusals += one.refusals
        unseen += one.unseen()
        notes += [*one.troubles(), *one.stubborn()]
    return _Told(counts, merged(found), tuple(refusals), tuple(unseen), tuple(notes))
