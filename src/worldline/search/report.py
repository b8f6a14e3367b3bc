"""The report of a search, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from worldline.engine.profile import Profile
from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.runs.report import BaseReport, property_lines
from worldline.runs.timeless import NOT_HERE
from worldline.search.assumptions import is_claimed


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a search.

    Attributes
    ----------
    liveness
        Whether the space is exhausted, and is visited again for liveness properties.
    walks, walk_steps
        Random walks that were made, and the events on them.
    local_states
        States of single nodes that random runs have come by, or are a step away.
    virtual_seconds
        How far the run is that goes on, where something stands beside its nodes; else None.
    """

    states: int
    generated: int
    depth: int
    frontier: int
    seconds: float
    memory_mb: float
    liveness: bool = False
    walks: int = 0
    walk_steps: int = 0
    local_states: int = 0
    virtual_seconds: float | None = None


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Report(BaseReport):
    """The result of a search.

    Attributes
    ----------
    states, generated, depth
        Distinct states; initial states plus every transition produced; states on
        the longest shortest path, the initial one counted.
    peak_mb
        The process's peak memory in MiB.
    assumptions
        Under which the verdict holds.
    profile
        Where the time of the search went, if that was asked for.
    liveness_s
        Seconds that liveness properties took beyond `seconds`; None if none was judged.
    """

    verdict: Verdict
    seed: int
    states: int
    generated: int
    depth: int
    peak_mb: float
    engine: str
    assumptions: tuple[str, ...] = ()
    profile: Profile | None = None
    liveness_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        profile = {} if self.profile is None else {"profile": self.profile.to_json()}
        return {
            **self.base_json(),
            "system": self.system,
            "states": self.states,
            "generated": self.generated,
            "depth": self.depth,
            "liveness_seconds": _rounded(self.liveness_s),
            "peak_mb": round(self.peak_mb, 1),
            "engine": self.engine,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            **profile,
        }

    def __str__(self) -> str:
        lines = [self.head()]
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
        rate = self.generated / self.seconds if self.seconds > 0 else 0.0
        lines.append(
            f"  {counted(self.states, 'state')}, {self.generated:,} generated, "
            f"depth {self.depth}, {self.seconds:.2f} s ({rate:,.0f}/s), "
            f"{self.peak_mb:,.0f} MiB, engine {self.engine}, seed {self.seed}"
        )
        if self.liveness_s is not None:
            rate = self.states / self.liveness_s if self.liveness_s > 0 else 0.0
            lines.append(
                f"  liveness in {self.liveness_s:.2f} s ({rate:,.0f} states/s)"
            )
        if self.assumptions and is_claimed(self.verdict, self.properties):
            lines.append(f"  assuming: {'; '.join(self.assumptions)}")
        lines += self.note_lines()
        if self.profile is not None:
            lines += self.profile.lines()
        return "\n".join(lines)

    @property
    def because(self) -> str:
        """What is to be said behind the verdict, if anything."""
        return because(self)


def because(report: BaseReport) -> str:
    """Return what is to be said behind the verdict of a search, if anything."""
    left = [r for r in report.properties if r.verdict is Verdict.NOT_SEARCHED]
    if report.verdict is Verdict.HOLDS and left:
        names = dict.fromkeys(
            "liveness" if r.kind == "liveness" and r.explanation != NOT_HERE else r.name
            for r in left
        )
        verb = "was" if len(names) == 1 else "were"
        return f" (without {', '.join(names)}, which {verb} not judged)"
    unknown = any(r.verdict is Verdict.UNKNOWN for r in report.properties)
    is_open = report.verdict is Verdict.UNKNOWN or (
        report.verdict is Verdict.VIOLATED and unknown
    )
    # That a search ended at the violation that it reports is no news.
    if not is_open or report.bound in (None, FIRST_VIOLATION):
        return ""
    return f" (bound: {report.bound})"


FIRST_VIOLATION = "first violation"
"""The bound of a search that ends once it has found one."""


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)
