"""The failures that a run saw coming, each told once, with the shortest way to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import final

from worldline.model.system import System
from worldline.model.verdicts import Verdict
from worldline.runs.evidence import file_of, untaken, why_unwritten
from worldline.runs.record import Ending, declared, record
from worldline.runs.start import Beginning
from worldline.steer.steering.findings import ForeseenFailure, FoundOften
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld

ENGINE = "steering"
"""What stands in a trace as that which found its run."""


@final
class Findings:
    """What was found in a run; equal findings are one.

    Parameters
    ----------
    seed
        That of the run, for the traces.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._found: dict[str, FoundOften] = {}

    def take(self, system: System, forecast: SnapshotForecast, now: float) -> None:
        """Take what was predicted.

        Parameters
        ----------
        system
            The system with the faults that may happen in a prediction.
        """
        if forecast.is_known:
            return
        for finding in forecast.findings:
            one = self._found.get(finding.property)
            if one is None or len(finding.schedule) < one.steps:
                made = FoundOften(
                    property=finding.property,
                    trace=finding.trace
                    or trace_of(system, forecast.begin, finding, self._seed),
                    steps=len(finding.schedule),
                    cost=finding.cost,
                    age=now - forecast.snapshot.time,
                    absent=forecast.begin.absent,
                )
                if one is not None:
                    made.count, made.nodes, made.actions = (
                        one.count,
                        one.nodes,
                        one.actions,
                    )
                one = self._found[finding.property] = made
            one.count += 1
            name = finding.node.name
            one.nodes[name] = one.nodes.get(name, 0) + 1
            one.actions[finding.action] = one.actions.get(finding.action, 0) + 1

    def all(self) -> tuple[FoundOften, ...]:
        """Return what was found, the most frequent first."""
        return tuple(sorted(self._found.values(), key=lambda one: -one.count))


def trace_of(
    system: System, begin: Beginning, finding: ForeseenFailure, seed: int
) -> Trace:
    """Return the run of a finding as a trace that begins in its snapshot."""
    start = next(one for one in begin.charged(system.faults).starts if one.snapshot)
    prop = declared(system, finding.property)
    kind = "safety" if prop is None else prop.kind.value
    return record(
        DirectWorld(system),
        start.boot,
        start.prologue,
        finding.schedule,
        ending=Ending(finding.property, kind, Verdict.VIOLATED),
        engine=ENGINE,
        seed=seed,
        begins=start.begins,
    )


def merged(several: Sequence[Sequence[FoundOften]]) -> tuple[FoundOften, ...]:
    """Return what several runs found as one."""
    found: dict[str, FoundOften] = {}
    for run in several:
        for one in run:
            other = found.get(one.property)
            if other is None:
                found[one.property] = one
                continue
            least, more = (one, other) if one.steps < other.steps else (other, one)
            _add(least, more)
            found[one.property] = least
    return tuple(sorted(found.values(), key=lambda one: -one.count))


def written(
    found: Sequence[FoundOften],
    system: str,
    folder: Path | None = None,
    taken: Sequence[Path] = (),
) -> list[str]:
    """Write the traces of what was found; return why some were not.

    Parameters
    ----------
    taken
        Files that are not written over.
    """
    notes, kept = [], list(taken)
    for one in found:
        file = untaken(file_of(system, f"predicted-{one.property}", folder), kept)
        kept.append(file)
        if reason := why_unwritten(one.trace, file):
            notes.append(reason)
        else:
            one.file = file
    return notes


def _add(one: FoundOften, other: FoundOften) -> None:
    one.count += other.count
    for mine, theirs in ((one.nodes, other.nodes), (one.actions, other.actions)):
        for name, number in theirs.items():
            mine[name] = mine.get(name, 0) + number
