"""What a command says of one property, and the keys that every verb's JSON begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from worldline.model.arguments import named
from worldline.model.errors import UsageError, WorldlineError
from worldline.model.printable import one_line
from worldline.model.verdicts import Verdict
from worldline.trace.records import Trace, to_json

BASE = (
    "verdict",
    "properties",
    "bound",
    "seconds",
    "seed",
    "trace",
    "steps",
    "replay",
)
"""The keys with which the JSON of every verb begins."""


_FOR_NOTHING = frozenset({"exception", "divergence", "unhandled", "deadlock"})
"""What may be violated that nobody has to declare."""


def refuse_unknown(name: str, properties: Sequence[PropertyReport]) -> None:
    """Refuse the name of a property that a report says nothing about.

    Raises
    ------
    UsageError
        If it is one.
    """
    __tracebackhide__ = True
    known = [report.name for report in properties]
    if name not in known and name not in _FOR_NOTHING:
        said: Any = name
        if isinstance(said, str):
            what = f"there is no property {name!r}"
        else:
            what = f"{named(said)} is no name of a property"
        raise UsageError(
            what,
            remedy=f"its properties are {', '.join(known)}" if known else "",
        )


class PropertyFailed(WorldlineError, AssertionError):
    """A system that was expected to hold does not, or it is not known."""


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
            **self._unwritten(),
        }

    def _unwritten(self) -> dict[str, Any]:
        """Return the keys of a run that is in no file: it is in the report then."""
        if not self.unwritten or self.run is None:
            return {}
        return {"unwritten": self.unwritten, "run": to_json(self.run)}


def first_violated(properties: Sequence[PropertyReport]) -> PropertyReport | None:
    """Return the first property that is violated, if any is."""
    return next((p for p in properties if p.verdict is Verdict.VIOLATED), None)


def base_json(
    verdict: Verdict | None,
    properties: Sequence[PropertyReport],
    *,
    bound: str | None,
    seconds: float,
    seed: int,
) -> dict[str, Any]:
    """Return the keys `BASE`; the run is that of the first property violated."""
    first = first_violated(properties)
    return {
        "verdict": None if verdict is None else verdict.value,
        "properties": [known.to_json() for known in properties],
        "bound": bound,
        "seconds": round(seconds, 6),
        "seed": seed,
        "trace": None if first is None or first.trace is None else str(first.trace),
        "steps": None if first is None else first.steps,
        "replay": None if first is None else first.replay,
    }


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
        lines.append(f"    trace  {one_line(str(known.trace))}")
    if known.replay is not None:
        lines.append(f"    replay {known.replay}")
    if known.unwritten:
        lines.append(f"    no trace: {known.unwritten}")
    return lines
