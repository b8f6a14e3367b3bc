"""The records of a trace: a header, one for each step, an end.

A run that does not begin at the start has the state in which it begins, too (`state`).
All are plain frozen values that hold JSON; nothing here needs the system whose run
it was. Values of fields, messages and timers are spelt as `json_values` says.
"""

# ruff: noqa: RUF009 -- `checked` is a field specifier, not a default

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from worldline.model.kinds import KINDS
from worldline.model.verdicts import Verdict
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.nested import CallRecord
from worldline.trace.schema import (
    among,
    checked,
    data,
    flag,
    many,
    mapping,
    nested,
    one_of,
    optional,
    pair,
    seconds,
    text,
    whole,
)
from worldline.trace.state import StateRecord

FORMAT = 2
"""The newest version of the file; `Header.format` says which one a trace has."""

START, STATE = "start", "state"
"""Where a run can begin: before any node has started, or in a state that is given."""

BOOT, PROLOGUE, RUN = "boot", "prologue", "run"
"""The phases of a run; the steps of the first two are not counted."""

STATUS = "(status)"
"""Stands among the changed fields for whether a node is new, up or down."""

INJECTED = "injected"
"""Stands among a header's options, where faults were injected, for which ones."""

FREE = "free_faults"
"""Stands there, too, for the names of those that could happen without limit."""

CONTENTS, DRAWN, DEVIATION = "contents", "drawn", "deviation"
"""Stand there, where calls had other arguments than the workload says, for which ones, a
list of objects with ``call``, ``was`` and ``is``; where random runs met this one, for how
they were drawn, with ``verb``, ``max_steps``, ``scheduler``, ``unbiased`` and ``weights``;
and where a run is none of the declared network, for the first ``step``, and a ``reason``."""

_LOWEST = -(2**40)
_result = one_of("handled", "unhandled", "failed")


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node as it was declared: its class and the values that a reset returns to."""

    name: str = checked(text)
    kind: str = checked(text)
    fields: dict[str, Json] = checked(mapping(data))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyRecord:
    """A property's name, and whether it is safety, liveness or sometimes."""

    name: str = checked(text)
    kind: str = checked(one_of("safety", "liveness", "sometimes"))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The header of a trace: what was run, and by what.

    Attributes
    ----------
    worldline
        The version that wrote the file.
    system
        The system's name.
    target, parameters, source
        What loads the system, and a hash of its source text; null and empty for a
        system that was not loaded but made by a program.
    seed, engine
        How the run was found.
    nodes
        In order of declaration.
    network, faults, options
        As declared: the network's name and options, the budget of each fault (null:
        no limit), and the system's other switches.
    cuts
        The nodes on one side, for each partition that can happen.
    properties
        All of them, in order.
    begins
        ``start`` or ``state``; None stands for a start in a trace of format 1.
    """

    worldline: str = checked(text)
    system: str = checked(text)
    target: str | None = checked(optional(text))
    parameters: dict[str, str] = checked(mapping(text))
    source: str | None = checked(optional(text))
    seed: int | None = checked(optional(whole(_LOWEST)))
    engine: str = checked(text)
    nodes: tuple[NodeRecord, ...] = checked(many(nested(NodeRecord)))
    network: dict[str, Json] = checked(mapping(data))
    faults: dict[str, Json] = checked(mapping(data))
    options: dict[str, Json] = checked(mapping(data))
    cuts: tuple[tuple[str, ...], ...] = checked(many(many(text)))
    properties: tuple[PropertyRecord, ...] = checked(many(nested(PropertyRecord)))
    begins: str | None = checked(optional(one_of(START, STATE)), later=True)

    @property
    def format(self) -> int:
        """The version of the file: 1 where nothing in it needs another.

        Worldlines that know format 1 alone read such files, too.
        """
        return 1 if self.begins is None else FORMAT

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes, in order."""
        return tuple(node.name for node in self.nodes)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SendRecord:
    """One attempt to send; `taken` is false if the send buffer was full."""

    to: str = checked(text)
    part: str = checked(text)
    name: str = checked(text)
    message: Json = checked(data)
    taken: bool = checked(flag)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRecord:
    """A timer that was set, to fire after some seconds; null means cancelled."""

    part: str = checked(text)
    name: str = checked(text)
    payload: Json = checked(data)
    after: float | None = checked(optional(seconds))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRecord:
    """The failure of a handler; see `worldline.model.semantics.execute.Failure`."""

    kind: str = checked(one_of("exception", "divergence", "unhandled"))
    name: str = checked(text)
    where: str = checked(text)
    message: str = checked(text)

    def __str__(self) -> str:
        said = f": {self.message}" if self.message else ""
        return f"{self.kind} {self.name}{said} ({self.where})"


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord:
    """One event and what it led to.

    Attributes
    ----------
    step
        1, 2, ... in the run itself; boot and prologue come before and end at 0.
    phase
        ``boot``, ``prologue`` or ``run``.
    node, kind, part, name, peer, payload
        The event; see `worldline.model.events.Event`.
    sent_in
        The step in which the message concerned was sent, for events about one.
    choices, widths
        The options that the handler took, and out of how many.
    result, failure
        What became of the event.
    sends, timers, log
        What the handler did, in order.
    changes
        Field, with parts dotted, to its value before and after.
    lamport
        The step's Lamport time.
    time
        Seconds since the run began, by the clock that it had; None if it had none.
    steer
        Why it happened in the place of a message that its node refused; None if it did not.
    calls, more_calls
        The calls between the services of its node, None if nobody looked or it has one
        only; and true if more were made than are written down.
    """

    step: int = checked(whole(_LOWEST))
    phase: str = checked(one_of(BOOT, PROLOGUE, RUN))
    node: str | None = checked(optional(text))
    kind: str = checked(among(KINDS))
    part: str = checked(text)
    name: str = checked(text)
    peer: str | None = checked(optional(text))
    payload: Json = checked(data)
    sent_in: int | None = checked(optional(whole(_LOWEST)), key="from")
    choices: tuple[int, ...] = checked(many(whole()))
    widths: tuple[int, ...] = checked(many(whole(1)))
    result: str = checked(_result)
    failure: FailureRecord | None = checked(optional(nested(FailureRecord)))
    sends: tuple[SendRecord, ...] = checked(many(nested(SendRecord)))
    timers: tuple[TimerRecord, ...] = checked(many(nested(TimerRecord)))
    changes: dict[str, tuple[Json, Json]] = checked(mapping(pair(data)))
    log: tuple[str, ...] = checked(many(text))
    lamport: int = checked(whole(1))
    time: float | None = checked(optional(seconds), later=True)
    steer: str | None = checked(optional(text), later=True)
    calls: tuple[CallRecord, ...] | None = checked(
        optional(many(nested(CallRecord))), later=True
    )
    more_calls: bool | None = checked(optional(flag), later=True)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """The value of a variable, or of a question to the view: both as text."""

    what: str = checked(text)
    value: str = checked(text)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a property is false in a state.

    Attributes
    ----------
    message
        One line: what a failed assert says, or which condition is false.
    condition
        The source text of the part of the property that decided; may be empty.
    bindings
        The variables for which it did: loop variables and nodes.
    reads
        What the property looked at, in order, the last one last.
    omitted
        How many earlier reads are left out.
    drawing
        What observers that were asked say of their values, line by line.
    """

    message: str = checked(text)
    condition: str = checked(text)
    bindings: tuple[Binding, ...] = checked(many(nested(Binding)))
    reads: tuple[Binding, ...] = checked(many(nested(Binding)))
    omitted: int = checked(whole())
    drawing: tuple[str, ...] | None = checked(optional(many(text)), later=True)

    def __str__(self) -> str:
        lines = [self.message, *(f"  {line}" for line in self.drawing or ())]
        if self.omitted:
            lines.append(f"  ({self.omitted} earlier reads are left out)")
        lines += [f"  {read.what} was {read.value}" for read in self.reads]
        return "\n".join(lines)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SpanRecord:
    """A stretch of a run in which a property is false.

    Attributes
    ----------
    first, last
        The first and the last step after which it is false.
    time, until
        When the first happened, and when it was true again, or nobody looked any more;
        in seconds since the run began, None without a clock.
    lamport
        The Lamport time of the first step; None where nobody kept it.
    confidence
        The highest that it had; None for a property without one.
    due
        When that was 1 first, in seconds; None if it never was.
    gauges
        The values of the gauges after the last step; null for what no file can hold.
    explanation
        Why it was false when its confidence was 1; if that was never so, after the first
        step. Empty for most of very many.
    """

    first: int = checked(whole(_LOWEST))
    last: int = checked(whole(_LOWEST))
    time: float | None = checked(optional(seconds))
    until: float | None = checked(optional(seconds))
    lamport: int | None = checked(optional(whole(1)))
    confidence: float | None = checked(optional(seconds))
    due: float | None = checked(optional(seconds))
    gauges: dict[str, Json] = checked(mapping(data))
    explanation: str = checked(text)

    def __str__(self) -> str:
        where = f"step {self.first}"
        if self.last != self.first:
            where = f"steps {self.first} to {self.last}"
        if self.time is None or self.until is None:
            return where
        when = f"{self.time:.6g} s to {self.until:.6g} s"
        sure = "" if self.confidence is None else f", confidence {self.confidence:.2g}"
        values = (f", {name} {_short(value)}" for name, value in self.gauges.items())
        return f"{when}, {where}{sure}{''.join(values)}"


def _short(value: Json) -> str:
    return f"{value:.6g}" if type(value) is float else shorten(show(value), 60)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """The end of a trace: what the run shows.

    Attributes
    ----------
    verdict
        A `Verdict` as text: ``violated``, or ``unknown`` for a run that violates nothing,
        since it proves nothing of others. Older files have ``holds`` there.
    property, kind
        The property it is about and its kind; for a failure or deadlock its name twice.
    explanation
        Why, if there is something to explain.
    steps, deliveries, externals
        How many events it has; how many are deliveries, timers or calls; how many
        starts, calls or faults.
    cycle
        For a run that never ends, the step with which what is repeated for ever begins;
        ``steps + 1`` if nothing is, because the run stops. None for any other run.
    critical
        For a liveness violation: the step from which on it cannot become true, or 0.
    time
        When the run ended, in seconds since it began, if not with its last step.
    span
        For a liveness property that was due: since when it was false.
    undecided, unknown
        Of a recorded run, the liveness properties that are false at its end and not due,
        and the properties that could not be judged in all states.
    """

    verdict: str = checked(one_of(*[verdict.value for verdict in Verdict]))
    property: str | None = checked(optional(text))
    kind: str | None = checked(optional(text))
    explanation: Explanation | None = checked(optional(nested(Explanation)))
    steps: int = checked(whole())
    deliveries: int = checked(whole())
    externals: int = checked(whole())
    cycle: int | None = checked(optional(whole(1)), later=True)
    critical: int | None = checked(optional(whole()), later=True)
    time: float | None = checked(optional(seconds), later=True)
    span: SpanRecord | None = checked(optional(nested(SpanRecord)), later=True)
    undecided: tuple[str, ...] | None = checked(optional(many(text)), later=True)
    unknown: tuple[str, ...] | None = checked(optional(many(text)), later=True)


@final
@dataclass(frozen=True, slots=True)
class Trace:
    """A run as a file; `end` is None if the file breaks off before it.

    `state` is where it begins, if not at the start.
    """

    header: Header
    steps: tuple[StepRecord, ...]
    end: End | None
    state: StateRecord | None = None

    @property
    def run(self) -> tuple[StepRecord, ...]:
        """The steps that are counted: those after boot and prologue."""
        return tuple(step for step in self.steps if step.phase == RUN)
