"""The result of replaying a recording, as a value and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

from worldline.model.counts import counted
from worldline.model.printable import one_line
from worldline.model.verdicts import Verdict
from worldline.runs.recording.comparing import RunDivergence
from worldline.runs.report import (
    BaseReport,
    PropertyFailed,
    property_lines,
    refuse_to_hold,
)
from worldline.show.phrases import NO_PROOF, open_phrase

_COMPARED = (
    "compared are the messages that were received, choices, durable fields, checkpoints "
    "and failures; what else is otherwise now does not show"
)


@final
class RecordedNode(NamedTuple):
    """The content of a node's journal, counted.

    Attributes
    ----------
    node
        Its name.
    incarnations, events
        How many.
    torn
        Bytes that were torn off.
    missing
        Whether there is no journal.
    stopped
        How it ended: the reason it gave, or empty if it was killed.
    gaps
        What is missing in it, in words: after each of these its state is not known, until
        the next checkpoint or start.
    """

    node: str
    incarnations: int
    events: int
    torn: int
    missing: bool
    stopped: str
    gaps: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class DeclaredNetwork:
    """The declared network of a recorded run.

    Attributes
    ----------
    declared
        What it is called.
    as_declared
        Whether the run is possible on it; None if unknown.
    step, reason
        The first step that is not, or of which it is unknown, and why; None and empty
        if all are.
    """

    declared: str
    as_declared: bool | None
    step: int | None
    reason: str

    def __str__(self) -> str:
        if self.as_declared:
            return f"network: as declared, {self.declared}"
        if self.as_declared is None:
            return (
                f"network: {self.declared}, and not judged from step {self.step or 1:,} "
                f"on: {self.reason}"
            )
        return (
            f"network: not as declared: {self.declared} does not allow step "
            f"{self.step:,}: {self.reason}"
        )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRecording(BaseReport):
    """The result of replaying a recording: all nodes, in one process, judged.

    Attributes
    ----------
    recording, target
        The folder, and what loads its system, as it says.
    begins
        When all nodes had begun, in seconds since the recording began; None if it was
        replayed from its start on.
    nodes
        What the journal of each node had.
    events, run_steps, drops
        What the journals say happened, how many steps that is with what the network did,
        and the messages that no handler took: they were never received, or refused.
    network
        Whether the declared network allows the run.
    divergence
        The first event that went otherwise; what is said of properties stands before it.
    failures
        How many handlers failed.
    undecided, unknown
        The liveness properties that are false at the end and not due, and the
        properties that are unknown.
    file, command, debug
        The trace of the run, or of a window of it; what replays the recording again, and
        what opens that trace.
    window
        The numbers of the first and the last step of the trace; None without a trace.
    offset
        The number of the step that is step 1 of the trace, where that is another.
    source_changed
        Whether the system's source is another than when this was recorded.
    parameters_changed
        Which of its parameters are others than then, in words; empty if none are.
    no_trace
        Why there is none.
    """

    recording: Path
    target: str | None
    begins: float | None
    nodes: tuple[RecordedNode, ...]
    events: int
    run_steps: int
    drops: int
    network: DeclaredNetwork
    divergence: RunDivergence | None
    failures: int
    undecided: tuple[str, ...]
    unknown: tuple[str, ...]
    file: Path | None
    command: str
    debug: str | None
    window: tuple[int, int] | None
    no_trace: str = ""
    offset: int | None = None
    source_changed: bool = False
    parameters_changed: str = ""

    @property
    def trace(self) -> Path | None:
        """The trace of the run, or of a window of it."""
        return self.file

    @property
    def replay(self) -> str:
        """The command or call that replays the recording again."""
        return self.command

    @property
    def reproduced(self) -> bool:
        """Whether every event went as recorded."""
        return self.divergence is None

    @property
    def events_per_second(self) -> float:
        """Events read, run, compared and judged per second."""
        return self.events / self.seconds if self.seconds > 0 else 0.0

    @property
    def exit_code(self) -> int:
        """2 if the run went otherwise, 1 for a violation, 3 if something is open, else 0."""
        if self.divergence is not None:
            return 2
        if self.verdict is Verdict.VIOLATED:
            return 1
        return 3 if self.undecided or self.unknown else 0

    def expect_holds(self) -> None:
        """Refuse to say that it holds: always a `UsageError`."""
        refuse_to_hold()

    def expect_no_violation(self) -> None:
        """Raise `PropertyFailed` if the run violates something, or went otherwise."""
        __tracebackhide__ = True
        if self.divergence is not None or self.verdict is Verdict.VIOLATED:
            raise PropertyFailed(self.told(), self)

    @property
    def spanned(self) -> str:
        """Which steps the trace has, in words."""
        first, last = self.window or (1, 0)
        if last < first:
            return "no step but starts"
        return f"steps {first:,} to {last:,}"

    def to_json(self) -> dict[str, Any]:
        """Return the replay as one JSON object."""
        return {
            **self.base_json(),
            "trace": None if self.file is None else str(self.file),
            "steps": self.run_steps,
            "replay": self.command,
            "recording": str(self.recording),
            "system": self.system,
            "target": self.target,
            "begins": self.begins,
            "nodes": [
                {**one._asdict(), "stopped": one.stopped or None} for one in self.nodes
            ],
            "events": self.events,
            "drops": self.drops,
            "events_per_second": round(self.events_per_second, 1),
            "network": asdict(self.network),
            "divergence": None if self.divergence is None else asdict(self.divergence),
            "failures": self.failures,
            "undecided": list(self.undecided),
            "unknown": list(self.unknown),
            "window": None if self.window is None else list(self.window),
            "debug": self.debug,
            "source_changed": self.source_changed,
            "parameters_changed": self.parameters_changed or None,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"{self.system}: {self._said()}"]
        if self.parameters_changed:
            lines.append(f"  {self.parameters_changed}")
        if self.divergence is not None:
            lines += [f"  {line}" for line in str(self.divergence).splitlines()]
        width = max((len(row.name) for row in self.properties), default=0)
        for row in self.properties:
            lines += property_lines(row, width)
        lines += [f"  {line}" for line in self._node_lines()]
        if self.begins is not None:
            lines.append(
                f"  begins at {self.begins:,.3f} s, when each node had begun at a "
                "checkpoint or start"
            )
        lines.append(
            f"  {counted(self.events, 'event')}, {counted(self.run_steps, 'step')}, "
            f"{counted(self.drops, 'message')} "
            f"lost, {self.seconds:.3f} s ({self.events_per_second:,.0f}/s)"
        )
        lines.append(f"  {self.network}")
        lines += [f"  {line}" for line in self._trace_lines()]
        if self.source_changed:
            lines.append("  note: the source changed since this was recorded")
        if self.source_changed or self.divergence is not None:
            lines.append(f"  note: {_COMPARED}")
        lines += self.note_lines()
        return "\n".join(map(one_line, lines))

    def _said(self) -> str:
        """Return what is said of the run as a whole."""
        if self.divergence is not None:
            return "WENT OTHERWISE than recorded"
        violated = [p.name for p in self.properties if p.verdict is Verdict.VIOLATED]
        if violated:
            return f"VIOLATED {', '.join(violated)}"
        return open_phrase(self.undecided, self.unknown) or NO_PROOF

    def _node_lines(self) -> list[str]:
        lines = []
        for one in self.nodes:
            if one.missing:
                lines.append(f"{one.node}: no journal, so its state is not known")
            if one.torn:
                lines.append(
                    f"{one.node}: {one.torn:,} bytes at the end of its journal are torn, "
                    "and left out"
                )
            lines += [
                f"{one.node}: {why}; what it did is not known from there to its next "
                "checkpoint or start, if it has one"
                for why in one.gaps
            ]
        return lines

    def _trace_lines(self) -> list[str]:
        lines = []
        if self.file is not None and self.window is not None:
            then = (
                "" if self.offset is None else f"; its step 1 is step {self.offset:,}"
            )
            lines.append(f"trace  {self.file} ({self.spanned}{then})")
            if self.debug is not None:
                lines.append(f"debug  {self.debug}")
        elif self.no_trace:
            lines.append(f"no trace: {self.no_trace}")
        return lines
