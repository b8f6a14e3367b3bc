"""Phrases for steps and what they led to: the same in every output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from worldline.model.drawn import OneOf, phrase, picked
from worldline.model.kinds import KINDS
from worldline.model.properties import PropertyKind
from worldline.model.verdicts import Verdict
from worldline.trace.json_text import Json, show
from worldline.trace.nested import CallRecord
from worldline.trace.records import (
    End,
    Header,
    SendRecord,
    SpanRecord,
    StepRecord,
    TimerRecord,
    Trace,
)

FOR_EVER = "then for ever:"
NO_PROOF = "this run violates nothing"
NO_PROOF_OF_STATE = "this state violates nothing"
A_STATE = "a state, with no steps"
REACHED = "reached"
STOPS = "then nothing more happens (but faults could), for ever"

Cuts = Sequence[Sequence[str]]
"""The nodes on one side, for each partition of a system."""


class EventLike(Protocol):
    """The part of a step that is said: which event it was."""

    @property
    def kind(self) -> str: ...
    @property
    def part(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def peer(self) -> str | None: ...
    @property
    def payload(self) -> Json: ...


def event_phrase(step: EventLike, header: Header) -> str:
    """Return what happened, without where: ``deliver Join(joiner=a) from a``."""
    words = [step.kind.replace("_", " ")]
    if step.part:
        words.append(f"[{step.part}]")
    kind = KINDS[step.kind]
    if kind.is_about_message:
        words += [show(step.payload), f"from {step.peer}"]
    elif kind.phrase:
        words.append(kind.phrase.format(peer=step.peer))
    elif step.kind in _DETAILS:
        words += _DETAILS[step.kind](step, header)
    return " ".join(words)


def short_phrase(step: EventLike, header: Header) -> str:
    """Return what happened, with messages and calls by their names alone."""
    if KINDS[step.kind].is_about_message or step.kind in ("timer", "call"):
        return f"{step.kind} {step.name}"
    return event_phrase(step, header)


def _of_timer(step: EventLike, header: Header) -> list[str]:
    return [step.name + _argument(step.payload)]


def _of_call(step: EventLike, header: Header) -> list[str]:
    arguments = _arguments(step)
    options = [_options(argument) for argument in arguments]
    picks: list[int] | None = None
    if isinstance(step, StepRecord) and _draws(step) is not None:
        picks = picked([len(some) for some in options], step.choices)
    said = []
    for number, (argument, some) in enumerate(zip(arguments, options, strict=True)):
        if not some:
            said.append(show(argument))
        elif picks is None:
            said.append(phrase(some, show))
        else:
            said.append(show(some[picks[number]]))
    return [f"{step.name}({', '.join(said)})"]


def _arguments(step: EventLike) -> list[Json]:
    items = step.payload.get("$tuple", []) if isinstance(step.payload, dict) else []
    return list(items)


def _options(argument: Json) -> list[Json]:
    """Return what an argument of a call is drawn from; nothing if it is not drawn."""
    if not isinstance(argument, dict) or argument.get("$is") != OneOf.__qualname__:
        return []
    options = argument.get("options")
    return list(options.get("$tuple", [])) if isinstance(options, dict) else []


def _draws(step: StepRecord) -> int | None:
    """Return how many of a step's choices, its first ones, drew arguments.

    None if they do not fit, as in a step that failed before anything was drawn.
    """
    if step.kind != "call":
        return 0
    counts = [len(_options(argument)) for argument in _arguments(step)]
    widths = tuple(count for count in counts if count > 1)
    made = list(zip(step.choices, step.widths, strict=False))[: len(widths)]
    fits = tuple(width for _, width in made) == widths
    return len(widths) if fits and all(pick < width for pick, width in made) else None


def _of_error(step: EventLike, header: Header) -> list[str]:
    if step.name == "unreachable":
        return [f"({step.peer} cannot be reached)"]
    return [f"(connection to {step.peer} is lost)"]


def _of_reset(step: EventLike, header: Header) -> list[str]:
    deaf = step.payload.get("$tuple", []) if isinstance(step.payload, dict) else []
    return [f"unnoticed by {', '.join(map(show, deaf))}"] if deaf else []


def _of_partition(step: EventLike, header: Header) -> list[str]:
    number = step.payload
    if type(number) is not int or not 0 <= number < len(header.cuts):
        return [f"cut {show(number)}"]
    side = dict.fromkeys(header.cuts[number])
    others = [name for name in header.names if name not in side]
    return ["{" + ", ".join(side) + "} | {" + ", ".join(others) + "}"]


_DETAILS = {
    "timer": _of_timer,
    "call": _of_call,
    "transport_error": _of_error,
    "reset": _of_reset,
    "partition": _of_partition,
}


def _argument(payload: Json) -> str:
    return "" if payload is None else f"({show(payload)})"


def send_phrase(send: SendRecord) -> str:
    """Return what was sent to whom."""
    full = "" if send.taken else "  (not taken: the buffer is full)"
    part = f" [{send.part}]" if send.part else ""
    return f"→ {send.to}{part}  {show(send.message)}{full}"


def timer_name(part: str, name: str, payload: Json) -> str:
    """Return how a timer is called: with its part and its argument."""
    return f"{part}.{name}".lstrip(".") + _argument(payload)


def timer_phrase(timer: TimerRecord) -> str:
    """Return which timer was set or cancelled."""
    name = timer_name(timer.part, timer.name, timer.payload)
    if timer.after is None:
        return f"cancel timer {name}"
    return f"set timer {name}, after {timer.after:g} s"


def nested_phrase(call: CallRecord) -> str:
    """Return which service was called by the one around it, and what it returned."""
    # Parts are below what has them: who is called up has the shorter path.
    arrow = "↓" if len(call.callee) > len(call.caller) else "↑"
    name = f"{call.callee}.{call.name}".lstrip(".")
    given = ", ".join(map(show, call.arguments))
    ended = f" = {show(call.result)}" if call.result is not None else ""
    if call.unwatched:
        ended = "  (not watched to its end)"
    elif not call.returned:
        ended = "  did not return"
    elif not call.handler:
        ended = "  no handler took it"
    return f"{arrow} {name}({given}){ended}"


def steer_phrase(steer: str) -> str:
    """Return why a step happened in the place of a message."""
    return f"in the place of a message: {steer}"


def change_phrases(step: StepRecord) -> list[str]:
    """Return the changed fields, each with its value before and after."""
    return [
        f"{name}: {_plain(old)} → {_plain(new)}"
        if name.startswith("(")
        else f"{name}: {show(old)} → {show(new)}"
        for name, (old, new) in step.changes.items()
    ]


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else show(value)


def choice_phrase(step: StepRecord) -> str:
    """Return which options were taken in a step, counted from 0; empty if none."""
    return ", ".join(_choices(step))


def own_choice_phrase(step: StepRecord) -> str:
    """Return which options the handler itself took, not what its arguments show."""
    return ", ".join(_choices(step)[_draws(step) or 0 :])


def _choices(step: StepRecord) -> list[str]:
    pairs = zip(step.choices, step.widths, strict=True)
    return [f"{taken} of {width}" for taken, width in pairs]


def facet_phrases(step: StepRecord) -> dict[str, str]:
    """Return what a step led to, by aspect, for comparing two executions of it."""
    return {
        "choices": choice_phrase(step) or "none",
        "result": step.result,
        "failure": str(step.failure or "none"),
        "sends": "; ".join(map(send_phrase, step.sends)) or "none",
        "timers": "; ".join(map(timer_phrase, step.timers)) or "none",
        "changes": "; ".join(change_phrases(step)) or "none",
        "log": "; ".join(step.log) or "nothing",
        "calls": "; ".join(map(nested_phrase, step.calls or ())) or "none",
        "sender": "unknown" if step.sent_in is None else f"step {step.sent_in}",
        "order": f"Lamport time {step.lamport}",
    }


def cycle_phrase(end: End | None, number: int) -> str:
    """Return what is said before step `number` of a run that never ends; or ``""``.

    The step after the last one counts too: there a run may stop.
    """
    if end is None or end.cycle != number:
        return ""
    return STOPS if number > end.steps else FOR_EVER


def deadline_phrase(span: SpanRecord) -> str:
    """Return in one line why a liveness property is violated that was due."""
    return (
        f"deadline: false since step {span.first} ({span.time or 0:.6g} s), and sure at "
        f"{span.due or 0:.6g} s that it should be true"
    )


def verdict_phrase(trace: Trace) -> str:
    """Return what a run shows, with the property that it is about."""
    end = trace.end
    if end is None:
        return "no verdict: the trace breaks off"
    is_open = end.verdict == Verdict.UNKNOWN.value and end.property is None
    if is_open and is_state(trace):
        return A_STATE
    if is_open and end.explanation is not None:
        return f"UNKNOWN: {end.explanation.message}"
    phrase = shown_phrase(end.verdict, end.property, end.kind)
    if end.property is not None and end.kind not in (None, end.property):
        phrase += f" ({end.kind})"
    is_all = end.verdict == Verdict.VIOLATED.value or is_reached(end)
    return phrase if is_all else f"{phrase}: {NO_PROOF}"


def is_reached(end: End | None) -> bool:
    """Say whether a run shows that something is true that has to be so sometimes."""
    return (
        end is not None
        and end.kind == PropertyKind.SOMETIMES.value
        and end.verdict == Verdict.HOLDS.value
    )


def is_state(trace: Trace) -> bool:
    """Say whether a trace has a state to begin in, and nothing that happens there."""
    return trace.state is not None and not trace.steps


def open_phrase(undecided: Sequence[str], unknown: Sequence[str]) -> str:
    """Return what one run leaves open of properties; empty if nothing."""
    said = []
    if undecided:
        said.append(f"{', '.join(undecided)} false at the end, and not due")
    if unknown:
        said.append(f"{', '.join(unknown)} not known")
    return "; ".join(said)


def shown_phrase(verdict: str, name: str | None, kind: str | None = None) -> str:
    """Return what a run shows of a property, or of none.

    That a run violates nothing says nothing of other runs: it is not called a verdict.
    """
    if (verdict, kind) == (Verdict.HOLDS.value, PropertyKind.SOMETIMES.value):
        return f"REACHED {name}"
    if verdict == Verdict.VIOLATED.value:
        return "VIOLATED" if name is None else f"VIOLATED {name}"
    return "LIVE" if name is None else f"LIVE {name}"
