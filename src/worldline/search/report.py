"""What a search says in the end, for people and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from worldline.engine.profile import Profile
from worldline.model.errors import WorldlineError
from worldline.model.verdicts import Verdict
from worldline.trace.records import Trace, to_json


class PropertyFailed(WorldlineError, AssertionError):
    """A system that was expected to hold does not, or it is not known."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search has come.

    Attributes
    ----------
    liveness
        Whether the space is exhausted, and is visited again for liveness properties.
    walks, walk_steps
        Random walks that were made after the search, and the events on them.
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


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyReport:
    """The verdict on one property.

    Attributes
    ----------
    kind
        ``safety``, ``liveness`` or ``sometimes``.
    trace
        The file of the counterexample, or of the witness of a ``sometimes``.
    steps
        How many events lead there from state 0.
    replay
        The command or call that replays it.
    explanation
        What failed: the assert, or the reads and values that decided; or why nothing
        was searched for.
    cycle
        For a run that never ends, the step with which what it repeats for ever begins;
        ``steps + 1`` if it stops. None for any other run.
    unwritten
        Why there is no file of the counterexample, though one was to be written.
    run
        The counterexample itself, unless no file was wanted.
    """

    name: str
    kind: str
    verdict: Verdict
    trace: Path | None = None
    steps: int | None = None
    replay: str | None = None
    explanation: str = ""
    cycle: int | None = None
    unwritten: str = ""
    run: Trace | None = field(default=None, repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": self.verdict.value,
            "trace": None if self.trace is None else str(self.trace),
            "steps": self.steps,
            "replay": self.replay,
            "explanation": self.explanation,
            "cycle": self.cycle,
            **unwritten_json(self.unwritten, self.run),
        }


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a search.

    Attributes
    ----------
    states, generated, depth
        Distinct states; initial states plus every transition produced; states on
        the longest shortest path, the initial one counted.
    seconds, peak_mb
        Wall-clock time, and the process's peak memory in MiB.
    bound
        What ended the search before the space was exhausted, or None.
    assumptions
        Under which the verdict holds.
    notes
        What the user should know: growth of an unbounded model, what never ran.
    profile
        Where the time of the search went, if that was asked for.
    liveness_s
        Seconds that liveness properties took beyond `seconds`; None if none was judged.
    """

    system: str
    verdict: Verdict
    properties: tuple[PropertyReport, ...]
    states: int
    generated: int
    depth: int
    seconds: float
    peak_mb: float
    bound: str | None
    engine: str
    seed: int
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    profile: Profile | None = None
    liveness_s: float | None = None

    @property
    def violated(self) -> PropertyReport | None:
        """The first property that is violated, if any is."""
        found = (p for p in self.properties if p.verdict is Verdict.VIOLATED)
        return next(found, None)

    def expect_holds(self) -> None:
        """Raise `PropertyFailed` unless every property searched for holds.

        Raises
        ------
        PropertyFailed
            With the report as its text: what failed, and how to replay it.
        """
        if self.verdict is not Verdict.HOLDS:
            raise PropertyFailed(str(self))

    def expect_violated(self, name: str) -> PropertyReport:
        """Return the report on a property, or raise `PropertyFailed` if it holds."""
        for known in self.properties:
            if known.name == name and known.verdict is Verdict.VIOLATED:
                return known
        raise PropertyFailed(f"{name} was expected to be violated\n{self}")

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data: the object that ``--json`` prints."""
        first = self.violated
        profile = {} if self.profile is None else {"profile": self.profile.to_json()}
        return {
            "system": self.system,
            "verdict": self.verdict.value,
            "properties": [known.to_json() for known in self.properties],
            "states": self.states,
            "generated": self.generated,
            "depth": self.depth,
            "seconds": round(self.seconds, 3),
            "liveness_seconds": _rounded(self.liveness_s),
            "peak_mb": round(self.peak_mb, 1),
            "bound": self.bound,
            "trace": None if first is None or first.trace is None else str(first.trace),
            "steps": None if first is None else first.steps,
            "replay": None if first is None else first.replay,
            "engine": self.engine,
            "seed": self.seed,
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            **profile,
        }

    def __str__(self) -> str:
        lines = [f"{self.system}: {self.verdict.value.upper()}{self._because()}"]
        width = max((len(p.name) for p in self.properties), default=0)
        for known in self.properties:
            lines += property_lines(known, width)
        rate = self.generated / self.seconds if self.seconds > 0 else 0.0
        lines.append(
            f"  {self.states:,} states, {self.generated:,} generated, "
            f"depth {self.depth}, {self.seconds:.2f} s ({rate:,.0f}/s), "
            f"{self.peak_mb:,.0f} MiB, engine {self.engine}, seed {self.seed}"
        )
        if self.liveness_s is not None:
            rate = self.states / self.liveness_s if self.liveness_s > 0 else 0.0
            lines.append(
                f"  liveness in {self.liveness_s:.2f} s ({rate:,.0f} states/s)"
            )
        if self.verdict is Verdict.HOLDS and self.assumptions:
            lines.append(f"  assuming: {'; '.join(self.assumptions)}")
        lines += [f"  note: {note}" for note in self.notes]
        if self.profile is not None:
            lines += self.profile.lines()
        return "\n".join(lines)

    def _because(self) -> str:
        if self.verdict is not Verdict.UNKNOWN or self.bound is None:
            return ""
        return f" (bound: {self.bound})"


def unwritten_json(reason: str, run: Trace | None) -> dict[str, Any]:
    """Return the keys of a run that is in no file: it is in the report then."""
    if not reason or run is None:
        return {}
    return {"unwritten": reason, "run": to_json(run)}


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _length(known: PropertyReport) -> str:
    if known.steps is None:
        return ""
    if known.cycle is None:
        return f" after {known.steps} steps"
    again = known.steps - known.cycle + 1
    then = f"a cycle of {again} for ever" if again else "nothing more for ever"
    return f" after {known.cycle - 1} steps, then {then}"


def property_lines(known: PropertyReport, width: int) -> list[str]:
    """Return what a report says of one property; names are as wide as `width`."""
    steps = _length(known)
    lines = [f"  {known.name:<{width}}  {known.kind}: {known.verdict.value}{steps}"]
    if known.explanation:
        lines += [f"    {line}" for line in known.explanation.splitlines()]
    if known.trace is not None:
        lines.append(f"    trace  {known.trace}")
    if known.replay is not None:
        lines.append(f"    replay {known.replay}")
    if known.unwritten:
        lines.append(f"    no trace: {known.unwritten}")
    return lines
