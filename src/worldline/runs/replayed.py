"""The result of a replay, as a value and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from worldline.model.counts import counted
from worldline.model.printable import one_line
from worldline.model.verdicts import Verdict
from worldline.runs.report import (
    BaseReport,
    PropertyFailed,
    property_lines,
    refuse_to_hold,
)
from worldline.show.phrases import (
    A_STATE,
    NO_PROOF,
    NO_PROOF_OF_STATE,
    open_phrase,
    shown_phrase,
)

CANNOT_HAPPEN = "it cannot happen"
"""How what happened begins, where an event is none that can happen."""


@final
@dataclass(frozen=True, slots=True)
class Divergence:
    """The first step that went otherwise than recorded.

    Attributes
    ----------
    step, event
        Its number, and what should have happened in it.
    what
        What differs: ``event`` if it could not happen, else choices, result, failure,
        sends, timers, changes, log, sender or order.
    recorded, happened
        The two observations, as text.
    """

    step: int
    event: str
    what: str
    recorded: str
    happened: str

    @property
    def is_of_the_code(self) -> bool:
        """Whether the code does something else, and not the trace says what is nothing."""
        return self.what != "event" or self.happened.startswith(CANNOT_HAPPEN)

    @property
    def sentence(self) -> str:
        """All of it, in one line."""
        where = f"at step {self.step}, {self.event}"
        if self.what == "event":
            return one_line(f"{where}, happened, and now {self.happened}")
        return one_line(
            f"{where}, {self.what}: recorded {self.recorded}, now {self.happened}"
        )

    def __str__(self) -> str:
        return (
            f"step {self.step}, {one_line(self.event)}, went otherwise: {self.what}\n"
            f"  recorded: {one_line(self.recorded)}\n"
            f"  happened: {one_line(self.happened)}"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(BaseReport):
    """The result of a replay.

    Attributes
    ----------
    verified, steps
        How many steps went as recorded, boot and prologue included, and how many
        there are.
    verdict
        VIOLATED if the run violates something, now as it was recorded or otherwise; HOLDS if
        it reaches what has to be true sometimes; UNKNOWN if it violates nothing, or what was recorded no more: that proves nothing of other
        runs. None for a trace that breaks off.
    property_name
        What was recorded to be violated.
    reproduced
        Whether every step went as recorded and the verdict is right again.
    divergence
        The first difference, if there is one.
    explanation
        Why the verdict is what it is, or why it is not reproduced.
    source_changed
        Whether the system's source is another than when this was recorded.
    parameters_changed
        Which of its parameters are others than then, in words; empty if none are.
    notes
        What else has changed: nodes' initial values, network, faults, options.
    kind, file, command
        The kind of the property, the file of the run, and what replays it.
    predicates
        The file of properties that were judged after each step, with all of the system's;
        None if only what was recorded was judged.
    is_judged
        Whether what is said is that of properties judged after each step: of all in a
        recorded run that violates nothing, or for that file; else of those of safety, where
        no violation was recorded, and one is violated, or unknown.
    violates_no_more
        Whether a violation was recorded, and the present code went otherwise, or the
        property is true at the end, and what was run violates nothing.
    is_decided
        Whether it could be judged if the recorded verdict is right.
    undecided, unknown
        The liveness properties among them that are false at the end, and not due there;
        and those that are unknown, as a journal of the run is missing, or a
        node is absent.
    """

    verified: int
    steps: int
    property_name: str | None
    reproduced: bool
    divergence: Divergence | None
    explanation: str
    source_changed: bool
    kind: str = ""
    file: Path
    command: str
    predicates: Path | None = None
    is_judged: bool = False
    parameters_changed: str = ""
    violates_no_more: bool = False
    is_decided: bool = True
    undecided: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def trace(self) -> Path:
        """The file of the run, whether or not it violates anything."""
        return self.file

    @property
    def replay(self) -> str:
        """The command or call that replays it again."""
        return self.command

    @property
    def steps_per_s(self) -> float:
        """Steps run and compared per second."""
        return self.verified / self.seconds if self.seconds > 0 else 0.0

    @property
    def exit_code(self) -> int:
        """1 for a violation, 2 for a run that went otherwise, 3 for one undecided, else 0."""
        if not self.reproduced:
            return 2
        if self.verdict is Verdict.VIOLATED:
            return 1
        return 3 if self.undecided or self.unknown else 0

    def expect_holds(self) -> None:
        """Refuse to say that it holds: always a `UsageError`."""
        refuse_to_hold()

    def expect_no_violation(self) -> None:
        """Raise `PropertyFailed` if the run violates something, or nobody knows.

        It passes where what was recorded is violated no more, since the code goes
        otherwise or the property is true; not where a run went otherwise of which no
        violation was recorded.
        """
        __tracebackhide__ = True
        if self.violates_no_more:
            return
        if not self.reproduced or self.verdict is Verdict.VIOLATED:
            raise PropertyFailed(self.told(), self)

    def to_json(self) -> dict[str, Any]:
        """Return the replay as one JSON object."""
        return {
            **self.base_json(),
            "trace": str(self.trace),
            "steps": self.steps,
            "replay": self.replay,
            "system": self.system,
            "property": self.property_name,
            "reproduced": self.reproduced,
            "violates_no_more": self.violates_no_more,
            "verified": self.verified,
            "divergence": None if self.divergence is None else asdict(self.divergence),
            "explanation": self.explanation,
            "source_changed": self.source_changed,
            "parameters_changed": self.parameters_changed or None,
            "notes": list(self.notes),
            "steps_per_s": round(self.steps_per_s, 1),
            "predicates": None if self.predicates is None else str(self.predicates),
            "undecided": list(self.undecided),
            "unknown": list(self.unknown),
        }

    def __str__(self) -> str:
        lines = self._judged_lines() if self.is_judged else self._recorded_lines()
        if self.parameters_changed:
            lines.insert(1, f"  {self.parameters_changed}")
        if self.steps:
            lines.append(
                f"  {self.verified} of {counted(self.steps, 'step')} went as recorded, "
                f"{self.seconds:.3f} s ({self.steps_per_s:,.0f}/s)"
            )
        if self.source_changed:
            lines.append("  note: the source changed since this trace was recorded")
        lines += self.note_lines()
        return "\n".join(map(one_line, lines))

    def _judged_lines(self) -> list[str]:
        """Return what is said of all properties."""
        no_proof = NO_PROOF if self.steps else NO_PROOF_OF_STATE
        said = open_phrase(self.undecided, self.unknown) or no_proof
        violated = [p.name for p in self.properties if p.verdict is Verdict.VIOLATED]
        if self.divergence is not None:
            said = "NOT REPRODUCED"
        elif violated:
            said = f"VIOLATED {', '.join(violated)}"
        lines = [f"{self.system}: {said}"]
        if self.divergence is not None:
            lines += [f"  {line}" for line in str(self.divergence).splitlines()]
        width = max((len(p.name) for p in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
        return lines

    def _recorded_lines(self) -> list[str]:
        """Return what is said of what was recorded."""
        if not self.reproduced:
            return self._otherwise_lines()
        shown = "no verdict"
        if self.verdict is not None:
            shown = shown_phrase(self.verdict.value, self.property_name, self.kind)
        if self.verdict is Verdict.UNKNOWN and not (self.steps or self.property_name):
            shown = A_STATE
        lines = [f"{self.system}: {shown}, reproduced"]
        return lines + [f"  {line}" for line in self.explanation.splitlines()]

    def _otherwise_lines(self) -> list[str]:
        """Return what is said where it is not what was recorded."""
        now, name = self.violated, self.property_name
        said = "it goes otherwise than recorded"
        if self.divergence is None:
            said = "what was recorded is not confirmed"
        if now is not None:
            said = f"it violates {now.name} now, otherwise than recorded"
        elif self.violates_no_more:
            said = f"it no longer violates {name} as recorded"
        lines = [f"{self.system}: NOT REPRODUCED: {said}"]
        reason = self.explanation if self.divergence is None else str(self.divergence)
        lines += [f"  {line}" for line in reason.splitlines()]
        if now is not None and now.explanation != self.explanation:
            lines.append("  now:")
            lines += [f"    {line}" for line in now.explanation.splitlines()]
        return lines
