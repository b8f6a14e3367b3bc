"""A trace as a list to read: each step with what it sent and changed, then why."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from worldline.model.counts import counted
from worldline.model.verdicts import Verdict
from worldline.show.effects import effect_lines
from worldline.show.lost import lost_timers
from worldline.show.opening_state import state_lines, unseen_nodes
from worldline.show.phrases import (
    A_STATE,
    change_phrases,
    cycle_phrase,
    deadline_phrase,
    event_phrase,
    own_choice_phrase,
    steer_phrase,
    verdict_phrase,
)
from worldline.show.still import still_steps
from worldline.trace.json_text import Json, shorten, show
from worldline.trace.records import (
    BOOT,
    CONTENTS,
    INJECTED,
    RUN,
    STATE,
    STATUS,
    End,
    Header,
    StepRecord,
    Trace,
)
from worldline.trace.state import PREDICTED

_WIDEST = 120
"""Columns of what is said of steps that change nothing."""


def steps(trace: Trace, remarks: Mapping[int, str] | None = None) -> Iterator[str]:
    """Yield the lines of a trace, for a reader.

    Parameters
    ----------
    remarks
        What is to be said of steps, by their numbers.
    """
    yield from header_lines(trace)
    if trace.state is not None:
        yield ""
        yield from state_lines(trace.state, trace.header)
    number = max((len(str(step.step)) for step in trace.steps), default=1)
    lane = max(len(name) for name in trace.header.names)
    still, lost = still_steps(trace), lost_timers(trace)
    phase = RUN if trace.state is None else STATE
    for is_still, together in itertools.groupby(
        trace.steps, key=lambda step: step.step in still
    ):
        group = list(together)
        # Those that change nothing are all of the cycle, which may begin with the first.
        for step in group[:1] if is_still else group:
            if step.phase != phase:
                yield ""
                if step.phase != RUN or phase != RUN:
                    yield _heading(step)
                phase = step.phase
            if turn := cycle_phrase(trace.end, step.step):
                yield from ("", turn)
            if is_still:
                yield still_line(group, trace.header, number, lane)
            else:
                taken = lost.get(step.step, "")
                yield from step_lines(step, trace.header, number, lane, lost=taken)
                if remarks and step.step in remarks:
                    yield f"{' ' * (number + lane + 6)}{remarks[step.step]}"
    if trace.end is not None and (turn := cycle_phrase(trace.end, trace.end.steps + 1)):
        yield from ("", turn)
    yield ""
    yield from end_lines(trace)


def run_lines(trace: Trace, remarks: Mapping[int, str] | None = None) -> list[str]:
    """Return the lines of the steps alone, without what a report says of them."""
    begin, end = len([*header_lines(trace)]), len([*end_lines(trace)])
    lines = [*steps(trace, remarks)][begin:-end]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return lines


def header_lines(trace: Trace) -> Iterator[str]:
    """Yield what was run: the system, its nodes and network, what it was run by."""
    header = trace.header
    yield f"{header.system}: {verdict_phrase(trace)}{_length(trace)}"
    for kind in dict.fromkeys(node.kind for node in header.nodes):
        names = [node.name for node in header.nodes if node.kind == kind]
        yield f"  {kind}: {', '.join(names)}"
    yield f"  network {_network(header)}{_faults(header)}{_contents(header)}"
    if unseen := _unseen(header):
        yield f"  not known {unseen}"
    if header.target is not None:
        given = "".join(f" -p {k}={v}" for k, v in header.parameters.items())
        yield f"  from {header.target}{given}"
    seed = "" if header.seed is None else f", seed {header.seed}"
    yield f"  engine {header.engine}{seed}, worldline {header.worldline}"


def critical_lines(end: End | None) -> Iterator[str]:
    """Yield where the run becomes dead, if that is known."""
    if end is not None and end.critical is not None:
        yield f"  step {end.critical} is the critical transition"


def deadline_lines(end: End) -> Iterator[str]:
    """Yield since when a liveness property was false that was due, and the gauges."""
    if end.span is not None:
        yield f"  {deadline_phrase(end.span)}"
        for name, value in end.span.gauges.items():
            yield f"    gauge {name} = {shorten(show(value), 200)}"


def end_lines(trace: Trace) -> Iterator[str]:
    """Yield the verdict and why it is so."""
    yield verdict_phrase(trace)
    if trace.end is None:
        return
    yield from critical_lines(trace.end)
    yield from deadline_lines(trace.end)
    if trace.end.explanation is None:
        return
    explanation = trace.end.explanation
    if trace.end.property is not None or trace.end.verdict != Verdict.UNKNOWN.value:
        yield f"  {explanation.message}"
    yield from (f"    {line}" for line in explanation.drawing or ())
    if explanation.condition and explanation.condition not in explanation.message:
        yield f"  because this is false: {explanation.condition}"
        for binding in explanation.bindings:
            yield f"    {binding.what} = {binding.value}"
    if explanation.reads:
        left_out = f" ({explanation.omitted} left out)" * bool(explanation.omitted)
        yield f"  what the property looked at{left_out}:"
        yield from (f"    {read.what} = {read.value}" for read in explanation.reads)


def _length(trace: Trace) -> str:
    if trace.end is None or verdict_phrase(trace) == A_STATE:
        return ""
    return (
        f" after {counted(trace.end.steps, 'step')} "
        f"({counted(trace.end.deliveries, 'delivery', 'deliveries')}, "
        f"{counted(trace.end.externals, 'external')})"
    )


def _network(header: Header) -> str:
    return _declared(header.network)


def _declared(network: dict[str, Json]) -> str:
    """Return how a network was declared; that of several names each of them."""
    options = [
        f"{key}={_declared(value) if isinstance(value, dict) else show(value)}"
        for key, value in network.items()
        if key != "name"
    ]
    return f"{network.get('name', 'unknown')}({', '.join(options)})"


def _faults(header: Header) -> str:
    if INJECTED in header.options:
        return f"; injected: {header.options[INJECTED]}"
    allowed = [
        f"{name}={'any' if amount is None else amount}"
        for name, amount in header.faults.items()
        if (type(amount) is int and amount > 0) or (amount is None and name != "nodes")
    ]
    of = "predicted " if PREDICTED in header.options else ""
    return f"; {of}faults {', '.join(allowed)}" if allowed else ""


def _contents(header: Header) -> str:
    listed = header.options.get(CONTENTS)
    if not isinstance(listed, list):
        return ""
    names = [str(one.get("call")) for one in listed if isinstance(one, dict)]
    return f"; calls with other contents: {', '.join(names)}"


def _unseen(header: Header) -> str:
    """Return of which nodes nothing is known, and from where on."""
    return ", ".join(
        name if step is None else f"{name} after step {show(step)}"
        for name, step in unseen_nodes(header).items()
    )


def _heading(step: StepRecord) -> str:
    if step.phase == RUN:
        return "the run"
    if step.phase == BOOT:
        return "boot"
    return "prologue (its faults are not counted)"


def still_line(steps: list[StepRecord], header: Header, number: int, lane: int) -> str:
    """Return the line of some steps, one after the other, that change nothing."""
    first, last = steps[0], steps[-1]
    if first is last:
        where = first.node or "*"
        phrase = event_phrase(first, header)
        return f"{first.step:>{number}}  {where:<{lane}}  {phrase}  (changes nothing)"
    said = (f"{event_phrase(step, header)} at {step.node}" for step in steps)
    text = f"{len(steps)} steps change nothing: {'; '.join(said)}"
    return f"{first.step:>{number}}–{last.step}  {shorten(text, _WIDEST)}"


def at_time(time: float | None) -> str:
    """Return what follows a step that happened at a time, in seconds; empty for None."""
    return "" if time is None else f"  (at {time:.6g} s)"


def step_lines(
    step: StepRecord, header: Header, number: int, lane: int, *, lost: str = ""
) -> Iterator[str]:
    """Yield a step's lines: what happened, then what it led to.

    Parameters
    ----------
    number, lane
        The columns of the step's number and of its node's name.
    lost
        What is said of timers that its node lost; see `lost_timers`.
    """
    sent = "" if step.sent_in is None else f"  (sent in step {step.sent_in})"
    unhandled = "  no handler took it" if step.result == "unhandled" else ""
    time = at_time(step.time)
    where = step.node or "*"
    phrase = event_phrase(step, header)
    yield f"{step.step:>{number}}  {where:<{lane}}  {phrase}{sent}{time}{unhandled}"
    margin = " " * (number + lane + 6)
    chosen = own_choice_phrase(step)
    if chosen:
        yield f"{margin}chose option {chosen}"
    if step.steer is not None:
        yield f"{margin}{steer_phrase(step.steer)}"
    if lost:
        yield f"{margin}{lost}"
    for phrase in change_phrases(step):
        # That a node is up when it has started goes without saying.
        if step.kind != "start" or not phrase.startswith(STATUS):
            yield f"{margin}{phrase}"
    for line in effect_lines(step):
        yield f"{margin}{line}"
    if step.failure is not None:
        yield f"{margin}FAILED: {step.failure}"
