"""The report of a minimisation."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

from worldline.minimizing.aftermath import NeededStep
from worldline.model.counts import counted
from worldline.model.printable import one_line
from worldline.model.verdicts import Verdict
from worldline.runs.report import BaseReport, PropertyReport, property_lines
from worldline.shrink.progress import PassReport

DECLARED = "declared"
"""A network or a workload that is the system's own."""

OUTSIDE = "from outside"
"""A workload of which any call may happen at any time, as where a run was recorded."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunSize:
    """The size of a run, as DEMi counts (table 1).

    Attributes
    ----------
    externals
        Starts, calls and faults.
    deliveries
        Deliveries of messages, timers and calls.
    """

    externals: int
    deliveries: int


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SeedRun:
    """One of several failing runs that were minimised.

    Attributes
    ----------
    initial, final
        The sizes of the run and of what became of it; None if the seed met no violation.
    error
        Why nothing became of this seed, if that is not so because it met nothing.
    """

    seed: int
    initial: RunSize | None
    final: RunSize | None
    error: str | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return f"seed {self.seed}  failed: {self.error}"
        if self.initial is None or self.final is None:
            return f"seed {self.seed}  met no such violation"
        return f"seed {self.seed}  {_sizes(self.initial, self.final)}"


def _sizes(before: RunSize, after: RunSize) -> str:
    return (
        f"{deliveries_of(before.deliveries)} ({externals_of(before.externals)}) "
        f"-> {after.deliveries:,} ({after.externals:,})"
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MinimizeReport(BaseReport):
    """The result of a minimisation.

    Attributes
    ----------
    original
        The file that was minimised; None where that is a run of another seed, which could
        not be written.
    initial, final
        The sizes of the two runs.
    passes
        What each pass came to, in order.
    schedules, events
        Candidates that were run, and the events that were executed; those of the searches
        for bounds are not counted.
    same
        What made a violation the same: ``strict``, ``property`` or ``any``.
    network
        ``declared``, or ``reordering`` where messages were let overtake each other.
    workload
        ``declared``, or ``from outside`` where any call could happen at any time, as in
        the recorded run that was minimised.
    contents
        The calls of the workload that have other arguments in the result, if that was
        asked for: each as it was declared, and as it is.
    level
        ``1-minimal`` if leaving out any single event of the result gives no run that
        violates the same and is smaller; ``pair-minimal`` if no two of them either;
        ``closed-world`` if no run with the same calls, or fewer, has fewer deliveries. None if
        that was not found out.
    lower_bound
        No run that violates the same from the same beginning has fewer deliveries; None
        where that was not searched.
    certified
        Whether the result has no more than that.
    slipped
        Whether the explanation speaks of something else than that of the original: its
        text differs by more than numbers and the names of nodes.
    needed
        What happens without each step of the result; None if that was not tried.
    others
        Runs that violate something else, met when steps were left out.
    test
        The regression test that was written, if one was.
    runs
        The failing runs of which this is the smallest result, that of the trace first;
        none if there was only that. `original` is then the run of the result, and
        `passes`, `level` and bounds speak of it alone.
    """

    verdict: Verdict
    original: Path | None
    initial: RunSize
    final: RunSize
    passes: tuple[PassReport, ...]
    schedules: int
    events: int
    same: str
    network: str
    workload: str = DECLARED
    contents: tuple[str, ...] = ()
    level: str | None
    lower_bound: int | None
    certified: bool
    slipped: bool
    runs: tuple[SeedRun, ...] = ()
    needed: tuple[NeededStep, ...] | None = None
    others: tuple[PropertyReport, ...] = ()
    test: Path | None = None

    def remarks(self) -> dict[int, str]:
        """Return what is to be said of each step of the result."""
        needed = self.needed or ()
        return {one.step: f"without it: {one.because}" for one in needed}

    @property
    def sizes(self) -> str:
        """The sizes of the two runs, in words."""
        return _sizes(self.initial, self.final)

    def to_json(self) -> dict[str, Any]:
        """Return the report as one JSON object."""
        return {
            **self.base_json(),
            "system": self.system,
            "original": None if self.original is None else str(self.original),
            "initial": asdict(self.initial),
            "externals": self.final.externals,
            "deliveries": self.final.deliveries,
            "passes": [
                {**asdict(one), "seconds": round(one.seconds, 6)} for one in self.passes
            ],
            "schedules": self.schedules,
            "events": self.events,
            "same": self.same,
            "network": self.network,
            "workload": self.workload,
            "contents": list(self.contents),
            "level": self.level,
            "lower_bound": self.lower_bound,
            "certified": self.certified,
            "slipped": self.slipped,
            "needed": (
                None if self.needed is None else [one.to_json() for one in self.needed]
            ),
            "others": [row.to_json() for row in self.others],
            "test": None if self.test is None else str(self.test),
            "runs": [asdict(one) for one in self.runs],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [
            self.head(),
            f"  {self.sizes}",
            *self._runs(),
            *self._passes(),
            *(f"    call {one}" for one in self.contents),
        ]
        for row in self.properties:
            lines += property_lines(row, len(row.name))
        if self.test is not None:
            lines.append(f"    test   {self.test}")
        if self.slipped:
            lines.append("    slipped: the original was violated in another way")
        if self.others:
            lines.append("  met on the way:")
        for row in self.others:
            lines += property_lines(replace(row, explanation=""), len(row.name))
        lines += [self._cost(), *self._claims(), *self.note_lines()]
        return "\n".join(map(one_line, lines))

    def _cost(self) -> str:
        speed = self.events / self.seconds if self.seconds > 0 else 0.0
        return (
            f"  {counted(self.schedules, 'schedule')}, "
            f"{counted(self.events, 'event')}, "
            f"{self.seconds:.2f} s ({speed:,.0f}/s)"
        )

    def _claims(self) -> list[str]:
        """Say under which network the run is small, and how small it is known to be."""
        claims = [f"network {self.network}"]
        if self.workload != DECLARED:
            claims.append(f"calls as they came {self.workload}")
        if self.contents:
            claims.append("another workload")
        if self.same != "property":
            claims.append(f"same {self.same}")
        if self.level is not None:
            claims.append(self.level)
        if self.certified:
            claims.append("no run has fewer deliveries")
        elif self.lower_bound:
            claims.append(f"every run has {deliveries_of(self.lower_bound)} or more")
        return [f"  {', '.join(claims)}"]

    def _runs(self) -> list[str]:
        """Return a line for each failing run, if there are several, and which it was."""
        if not self.runs:
            return []
        failing = sum(one.initial is not None for one in self.runs)
        which = "that of the trace"
        if self.seed != self.runs[0].seed:
            where = "no file" if self.original is None else self.original
            which = f"that of seed {self.seed}, another run, in {where}"
        runs = counted(failing, "failing run")
        head = f"  from {runs}; the smallest became of {which}"
        return [head, *(f"    {one}" for one in self.runs)]

    def _passes(self) -> list[str]:
        """Return a line for each pass that made the run smaller."""
        lines, size = [], (self.initial.deliveries, self.initial.externals)
        for one in self.passes:
            if (one.deliveries, one.externals) != size:
                size = one.deliveries, one.externals
                lines.append(
                    f"    {one.name:<18} {size[0]:>6,} ({size[1]:,})  "
                    f"{counted(one.schedules, 'schedule')}, {one.seconds:.2f} s"
                )
        return lines


def deliveries_of(count: int) -> str:
    """Return so many deliveries in words."""
    return counted(count, "delivery", "deliveries")


def externals_of(count: int) -> str:
    """Return so many externals in words."""
    return counted(count, "external")
