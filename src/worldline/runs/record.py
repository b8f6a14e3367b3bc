"""From a schedule to a trace: the run is repeated, every step is written down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, final

from worldline.model.errors import Nondeterminism
from worldline.model.events import Choices, Event, Schedule
from worldline.model.gauges import first_instruments
from worldline.model.kinds import KINDS
from worldline.model.properties import Property
from worldline.model.system import System
from worldline.model.usercode import divergence
from worldline.model.verdicts import Verdict
from worldline.model.view import View
from worldline.runs.explain import explain, known_gauges, plain
from worldline.runs.recorder import Recorder, header_of
from worldline.runs.state_record import state_record
from worldline.trace.json_text import Json
from worldline.trace.records import (
    BOOT,
    PROLOGUE,
    RUN,
    START,
    STATE,
    End,
    Explanation,
    SpanRecord,
    StepRecord,
    Trace,
)
from worldline.worlds.checkpoint import Checkpoint, go_back
from worldline.worlds.world import World

RECORDING = "recording"
"""Stands in a trace as that which found its run, where that was recorded."""

DIVERGENCE = "divergence"
DEADLOCK = "deadlock"
UNDECLARED = frozenset({"exception", DIVERGENCE, "unhandled", DEADLOCK})
"""What a run can end in that no property declares."""


@final
@dataclass(frozen=True, slots=True)
class Ending:
    """The words of a search about a run.

    Attributes
    ----------
    property, kind
        The property it is about, and its kind; or the violation's name.
    verdict
        What the run shows of it.
    explanation
        Why; for a declared property that is false at the end, the recorder finds out
        more than a text can say.
    cycle
        The step with which a cycle begins that the run goes round for ever, if it does;
        see `End.cycle`.
    critical
        For a liveness violation, the step from which on it cannot become true.
    span
        For a liveness property that was due, since when it was false.
    undecided, unknown
        Of a recorded run, what it leaves open; see `End`.
    """

    property: str | None
    kind: str | None
    verdict: Verdict
    explanation: Explanation | str | None = None
    cycle: int | None = None
    critical: int | None = None
    span: SpanRecord | None = None
    undecided: tuple[str, ...] | None = None
    unknown: tuple[str, ...] | None = None


def record(
    world: World,
    boot: Schedule,
    prologue: Schedule,
    schedule: Schedule,
    *,
    ending: Ending,
    engine: str,
    seed: int | None,
    begins: Checkpoint | None = None,
    drawn: Mapping[str, Json] | None = None,
    times: Sequence[float] | None = None,
    ended: float | None = None,
    notes: Mapping[int, str] | None = None,
    gauges: Mapping[str, Any] | None = None,
) -> Trace:
    """Run a schedule in a world and return its trace.

    Parameters
    ----------
    world
        A fresh world of the system.
    boot, prologue
        What happened before the run; faults of the prologue are free.
    schedule
        The run itself. If it ends in a divergence, the last handler is stopped by its
        budget of lines.
    begins
        The state in which all of this begins, which the trace then has; None for the
        start. Without any steps, the trace is that state as a file.
    drawn
        How the random runs were drawn of which it is one; see `DRAWN`.
    times
        When each step happened, in seconds, if the run had a clock.
    ended
        And when it ended, if not with its last step.
    notes
        Of steps that happened in the place of messages that were refused, by number, why.
    gauges
        What the gauges showed in the state in which it begins.

    Raises
    ------
    NotEnabled
        If an event cannot happen.
    Nondeterminism
        If a property that was violated is true at the end.
    ModelError
        If the state holds something that no file can keep.
    """
    state = None
    if begins is not None:
        state = state_record(world.system, begins)
        if gauges:
            state = replace(state, gauges=known_gauges(gauges))
        go_back(world, begins)
    if times is not None:
        at = None if begins is None else world.view
        declared_ = world.system.gauges
        world.attach(first_instruments(declared_, at, gauges, recorded=True))
    events = list(_numbered(boot, prologue, schedule))
    diverges = ending.property == DIVERGENCE
    steps = _steps(world, events, times, notes or {}, diverges=diverges)
    if world.instruments is not None and ended is not None:
        world.instruments.time = ended
    header = header_of(world.system, engine=engine, seed=seed, drawn=drawn)
    if state is not None:
        header = replace(header, begins=STATE)
    elif times is not None or any(step.calls is not None for step in steps):
        header = replace(header, begins=START)  # format 2, whose steps have these
    end = end_of(steps, ending, _explanation(world, ending))
    if times is not None and ended is not None and [*times[-1:]] != [ended]:
        end = replace(end, time=ended)
    return Trace(header, steps, end, state)


def _steps(
    world: World,
    events: Sequence[tuple[int, str, Event, Choices]],
    times: Sequence[float] | None,
    notes: Mapping[int, str],
    *,
    diverges: bool,
) -> tuple[StepRecord, ...]:
    """Let events happen; if the last one diverges, it has a budget of lines."""
    recorder = Recorder(world)
    last = events[-1][0] if diverges and events else None
    return tuple(
        recorder.step(
            number,
            phase,
            event,
            choices,
            lines=divergence.LINE_BUDGET if number == last else None,
            time=time,
            steer=notes.get(number),
        )
        for (number, phase, event, choices), time in zip(
            events, repeat(None) if times is None else times, strict=False
        )
    )


def _numbered(
    boot: Schedule, prologue: Schedule, schedule: Schedule
) -> Iterator[tuple[int, str, Event, Choices]]:
    number = 1 - len(boot) - len(prologue)
    for phase, part in ((BOOT, boot), (PROLOGUE, prologue), (RUN, schedule)):
        for event, choices in part:
            yield number, phase, event, choices
            number += 1


def end_of(
    steps: tuple[StepRecord, ...], ending: Ending, explanation: Explanation | None
) -> End:
    """Return the end record of a run.

    The counts are those of the run, without boot and prologue (as DEMi counts, table
    1): what the environment injects is external, a call is both.
    """
    kinds = [step.kind for step in steps if step.phase == RUN]
    return End(
        verdict=ending.verdict.value,
        property=ending.property,
        kind=ending.kind,
        explanation=explanation,
        steps=len(kinds),
        deliveries=sum(KINDS[kind].is_delivery for kind in kinds),
        externals=sum(KINDS[kind].is_external for kind in kinds),
        cycle=ending.cycle,
        critical=ending.critical,
        span=ending.span,
        undecided=ending.undecided,
        unknown=ending.unknown,
    )


def all_done(view: View) -> bool:
    """Say whether every script is finished and nothing can still arrive."""
    if not all(map(view.is_finished, view.nodes)):
        return False
    return not any(view.messages(dst=n) for n in view.nodes if not view.is_gone(n))


def declared(system: System, name: str | None) -> Property | None:
    """Return the property of a system by its name; None if there is none."""
    return next((prop for prop in system.properties if prop.name == name), None)


def _explanation(world: World, ending: Ending) -> Explanation | None:
    prop = declared(world.system, ending.property)
    if prop is not None and ending.verdict is Verdict.VIOLATED:
        explanation = explain(world, prop)
        if explanation is None:
            raise Nondeterminism(
                f"property {prop.name}",
                "was violated by this run",
                "is true at its end",
            )
        return explanation
    if ending.explanation is None and world.failure is not None:
        return plain(str(world.failure))
    if isinstance(ending.explanation, str):
        return plain(ending.explanation) if ending.explanation else None
    return ending.explanation
