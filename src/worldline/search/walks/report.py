"""The report of a search with random walks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.runs.report import (
    BaseReport,
    PropertyFailed,
    property_lines,
    refuse_to_hold,
)
from worldline.search.walks.coverage import Coverage
from worldline.search.walks.probe import CONFIDENCE, missed_share


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalTransition:
    """The step at which a run becomes dead, and how sure that is.

    Attributes
    ----------
    step, event
        The first step after which nothing live can be reached, as in the trace, and
        what happens in it; 0 and nothing if the initial state is dead.
    certified, states
        Whether that is proved, by visiting all the states that can follow.
    walks
        How many walks from there were made; none became live.
    recovered, recovery_walks
        How many walks from the state before became live, out of how many.
    """

    step: int
    event: str
    certified: bool
    states: int
    walks: int
    recovered: int
    recovery_walks: int

    @property
    def certainty(self) -> str:
        """``certified`` or ``probable``."""
        return "certified" if self.certified else "probable"

    def lines(self) -> list[str]:
        """Return it in words."""
        place = f"{self.step}, {self.event}" if self.step else "0: all is dead"
        lines = [f"critical step {place}"]
        if self.certified:
            lines.append(
                f"certified: of the {counted(self.states, 'state')} that can follow "
                "none is live"
            )
        else:
            share = 100 * missed_share(self.walks)
            lines.append(
                f"probable: none of {counted(self.walks, 'walk')} from there became "
                "live; if "
                f"{share:.1f} % did, one would have with {CONFIDENCE:.0%} probability"
            )
        if self.step:
            lines.append(
                f"of {counted(self.recovery_walks, 'walk')} from the step before "
                f"{self.recovered} became live"
            )
        return lines


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class WalkReport(BaseReport):
    """The result of a search with random walks.

    Attributes
    ----------
    verdict
        VIOLATED or UNKNOWN: walks prove nothing.
    walks, steps
        How many walks were made, and the steps on them.
    coverage, schedulers, found_by
        Of random runs for safety: what they came by, the steps that each scheduler
        made, and which one met the violation.
    critical
        About a liveness violation.
    case
        ``C1`` if a dead state was found; ``C2`` if only walks were left that may have
        been too short.
    live_trace
        The file of the closest live run.
    live_traces
        The files of runs that become live, if any were wanted.
    states, generated, depth
        What the exhaustive search before walks for liveness has seen.
    periphery, live
        The states from which these walk, and those that were live to begin with.
    misses, hit_rate
        How often the tables lacked something on a walk, those of probes included; and
        the share of steps over tables, at least, that found there all they needed, None
        without any. Both depend on the engine.
    remembered_steps
        Steps that were taken in the remembering world, since the tables lacked too much.
    direct_steps
        Steps that were taken in the direct world, since there was no room for tables.
    """

    verdict: Verdict
    seed: int
    walks: int
    steps: int
    engine: str
    coverage: Coverage | None = None
    schedulers: Mapping[str, int] = field(default_factory=dict)
    found_by: str | None = None
    critical: CriticalTransition | None = None
    case: str | None = None
    live_trace: Path | None = None
    states: int = 0
    generated: int = 0
    depth: int = 0
    periphery: int = 0
    live: int = 0
    live_traces: tuple[Path, ...] = ()
    misses: int = 0
    hit_rate: float | None = None
    remembered_steps: int = 0
    direct_steps: int = 0

    def expect_no_violation(self) -> None:
        """Raise `PropertyFailed` if anything is violated, or nothing was run at all."""
        __tracebackhide__ = True
        # Without arguments, `super` would not find this class: slots make it anew.
        super(WalkReport, self).expect_no_violation()
        if not self.steps and not self.states:
            raise PropertyFailed(f"no step was taken\n{self.told()}", self)

    def expect_holds(self) -> None:
        """Refuse to say that it holds.

        Raises
        ------
        UsageError
            Always: random runs prove nothing.
        """
        refuse_to_hold("random runs never show")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        first, critical = self.violated, self.critical
        live = None if self.live_trace is None else str(self.live_trace)
        share = None
        if critical is not None and not critical.certified:
            share = round(missed_share(critical.walks), 4)
        return {
            **self.base_json(),
            "system": self.system,
            "property": None if first is None else first.name,
            "critical_step": None if critical is None else critical.step,
            "critical_event": None if critical is None else critical.event,
            "case": self.case,
            "certainty": None if critical is None else critical.certainty,
            "certified_states": None if critical is None else critical.states,
            "probe_walks": 0 if critical is None else critical.walks,
            "missed_share": share,
            "recovered": None if critical is None else critical.recovered,
            "walks": self.walks,
            "walk_steps": self.steps,
            "coverage": None if self.coverage is None else self.coverage.to_json(),
            "schedulers": dict(self.schedulers),
            "found_by": self.found_by,
            "states": self.states,
            "generated": self.generated,
            "depth": self.depth,
            "periphery": self.periphery,
            "live": self.live,
            "hit_rate": None if self.hit_rate is None else round(self.hit_rate, 6),
            "misses": self.misses,
            "remembered_steps": self.remembered_steps,
            "direct_steps": self.direct_steps,
            "live_trace": live,
            "live_traces": [str(file) for file in self.live_traces],
            "engine": self.engine,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self.head()]
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
            if self.critical is not None and row is self.violated:
                lines += [f"    {line}" for line in self.critical.lines()]
                if self.live_trace is not None:
                    lines.append(f"    closest live run  {self.live_trace}")
        lines += [f"  live run {file}" for file in self.live_traces]
        lines += self._searched() if self.coverage is None else self._ran(self.coverage)
        lines.append(
            f"  {self.seconds:.2f} s{self._hits()}, engine {self.engine}, "
            f"seed {self.seed}"
        )
        lines += self.note_lines()
        return "\n".join(lines)

    def _searched(self) -> list[str]:
        """Say what a search for liveness violations did."""
        case = "" if self.case is None else f", case {self.case}"
        seen = f"{counted(self.states, 'state')} to depth {self.depth}"
        periphery = f"{self.periphery:,} on the periphery ({self.live:,} live)"
        walks = f"{counted(self.walks, 'walk')} of {counted(self.steps, 'step')}{case}"
        return [f"  {seen}, {periphery}, {walks}"]

    def _ran(self, coverage: Coverage) -> list[str]:
        """Say what random runs did, and that they prove nothing."""
        rate = self.steps / self.seconds if self.seconds > 0 else 0.0
        outcome = f", found by {self.found_by}" if self.found_by else ""
        if self.verdict is not Verdict.VIOLATED:
            outcome = ": no violation met, which proves nothing"
        made = f"{counted(self.walks, 'random run')} of {counted(self.steps, 'step')}"
        runs = f"{made} ({rate:,.0f}/s)"
        return [f"  {runs}{outcome}", *(f"  {line}" for line in coverage.lines())]

    def _hits(self) -> str:
        text = "" if self.hit_rate is None else f", {self.misses:,} misses"
        if self.hit_rate:
            text = f", hit rate {self.hit_rate:.1%}"
        worlds = ("remembering", self.remembered_steps), ("direct", self.direct_steps)
        moved = [
            f", {counted(n, 'step')} in the {world} world" for world, n in worlds if n
        ]
        return text + "".join(moved)
