"""Simulation of nodes that steer: `simulate` with something beside them.

A mode is all that there is to say. Without one, nothing of this is loaded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, final

from worldline.loading.opening import SystemTarget, open_system
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.faults import Faults
from worldline.model.system import System
from worldline.options.declaring import Group, option, verb
from worldline.options.values import Amount, Choice, NameList, Seconds, Text, Whole
from worldline.search.report import Progress
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.report import SimulateReport
from worldline.search.simulating.simulate import simulate_beside
from worldline.steer.steering.companion import Steering
from worldline.steer.steering.counts import SteeringCounts
from worldline.steer.steering.findings import FoundOften, Refusal
from worldline.steer.steering.inline import inline_steering
from worldline.steer.steering.modes import Mode, SteeringOptions
from worldline.steer.steering.reporting import merged, written
from worldline.worlds.companions import Companion

_MOST_SHOWN = 10
"""Refusals that a report prints."""

_WARNING = """\
Steering protects safety properties only, and by refusing: it may cost progress. A neighbour \
that lies in its checkpoints can make a node refuse events for as long as a snapshot is \
good. So it is off unless it is asked for."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SteeredOptions(SimulateOptions):
    """Options of `simulate`, with those of what stands beside the nodes."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        *SimulateOptions.GROUPS,
        Group(
            "steering",
            "Nodes that see their next failures coming: 'predict' reports them, 'check' "
            "refuses what makes a property false at once, 'steer' also refuses what was "
            f"predicted to lead there. {_WARNING}",
            (
                "mode",
                "gather_every",
                "gather_bandwidth",
                "prediction_states",
                "prediction_faults",
                "prediction_latency",
                "predicting",
                "on_unseen",
            ),
        ),
    )

    mode: str = option(
        "off",
        "what is done about failures that are to come (default: off)",
        Choice(*(mode.value for mode in Mode)),
    )
    gather_every: float = option(
        10.0,
        "virtual seconds from one gathering of checkpoints to the next, where nothing "
        "changes (default: 10)",
        Seconds(least=0.1),
    )
    gather_bandwidth: float = option(
        10_000.0,
        "bits a second that a node may spend on checkpoints (default: 10000)",
        Amount(1e12, "BITS"),
    )
    prediction_states: int = option(
        3_000, "distinct states of each prediction (default: 3000)", Whole()
    )
    prediction_faults: Faults | str | None = option(
        None,
        "faults that may happen in a prediction; see 'worldline predict'",
        Text("declared|none|NAME=N,..."),
    )
    prediction_latency: float = option(
        0.1, "virtual seconds that a prediction takes (default: 0.1)", Seconds(least=0)
    )
    predicting: Sequence[str] | None = option(
        None, "the nodes that predict, by name (default: all)", NameList(together=True)
    )
    on_unseen: str = option(
        "allow",
        "what is done with an event of which nobody can say what it makes of a property, "
        "as too little is known of a neighbour (default: allow)",
        Choice("allow", "refuse"),
    )

    def steering(self, system: System) -> SteeringOptions:
        """Return what steers the nodes of a system.

        Raises
        ------
        UsageError
            If a node that is to predict is none.
        """
        chosen: tuple[NodeId, ...] | None = None
        if self.predicting is not None:
            by_name = {node.name: node for node in system.ids}
            for name in self.predicting:
                if name not in by_name:
                    raise UsageError(
                        f"{name} is no node of {system.name}",
                        remedy=f"its nodes are {', '.join(by_name)}",
                    )
            chosen = tuple(by_name[name] for name in self.predicting)
        return SteeringOptions(
            mode=Mode(self.mode),
            every=self.gather_every,
            bandwidth=self.gather_bandwidth,
            max_states=self.prediction_states,
            faults=self.prediction_faults,
            latency=self.prediction_latency,
            predicting=chosen,
            on_unseen="refuse" if self.on_unseen == "refuse" else "allow",
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SteeredReport(SimulateReport):
    """The result of a simulation in which something stands beside the nodes.

    Attributes
    ----------
    mode
        What was done about failures that were to come.
    steering
        What was done, over all nodes and runs.
    predictions
        What was seen coming; equal findings are one.
    refusals
        What was refused, of each run the first hundred times.
    """

    mode: Mode
    steering: SteeringCounts
    predictions: tuple[FoundOften, ...]
    refusals: tuple[Refusal, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        return {
            **SimulateReport.to_json(self),
            "mode": self.mode.value,
            "steering": self.steering.to_json(),
            "predictions": [one.to_json() for one in self.predictions],
            "refusals": [one.to_json() for one in self.refusals],
        }

    def __str__(self) -> str:
        lines = [SimulateReport.__str__(self), f"  {self.steering}"]
        lines += [f"  {one}" for one in self.refusals[:_MOST_SHOWN]]
        if len(self.refusals) > _MOST_SHOWN:
            lines.append(
                f"  ... and {len(self.refusals) - _MOST_SHOWN:,} more; see --json"
            )
        lines += [f"  predicted {one}" for one in self.predictions]
        return "\n".join(lines)


@verb(SteeredOptions, Progress, NodeId, Faults)
def simulate(system: SystemTarget, options: SteeredOptions) -> SimulateReport:
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
    if options.mode == Mode.OFF.value:
        return simulate_beside(system, options, None)
    opened = open_system(system, options.parameters)
    chosen = options.steering(opened)
    report = simulate_beside(opened, options, partial(_beside, chosen), _told)
    counts = SteeringCounts()
    for run in report.beside:
        counts.add(run.counts)
    found = merged([run.found for run in report.beside])
    taken = [Path(options.out)] if options.out is not None else []
    notes = written(found, report.system, taken=taken) if options.traces else []
    fields = {one.name: getattr(report, one.name) for one in dataclasses.fields(report)}
    fields["notes"] = (*report.notes, *notes)
    fields["beside"] = ()
    return SteeredReport(
        **fields,
        mode=chosen.mode,
        steering=counts,
        predictions=found,
        refusals=tuple(one for run in report.beside for one in run.refusals),
    )


@final
@dataclass(frozen=True, slots=True)
class _Told:
    """What is to be known of a run."""

    counts: SteeringCounts
    found: tuple[FoundOften, ...]
    refusals: tuple[Refusal, ...]


def _beside(
    options: SteeringOptions, system: System, seed: int
) -> tuple[Companion, ...]:
    return (inline_steering(system, options, seed),)


def _told(companions: Sequence[Companion]) -> _Told:
    counts, found = SteeringCounts(), list[Sequence[FoundOften]]()
    refusals: list[Refusal] = []
    for one in companions:
        assert isinstance(one, Steering)
        found.append(one.findings.all())
        counts.add(one.total())
        refusals += one.refusals
    return _Told(counts, merged(found), tuple(refusals))
