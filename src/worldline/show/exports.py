"""Traces in the formats of other tools: Graphviz, Mermaid and ShiViz."""

from __future__ import annotations

import json
from collections.abc import Iterator

from worldline.model.kinds import KINDS
from worldline.show.effects import effect_lines
from worldline.show.phrases import event_phrase, short_phrase, verdict_phrase
from worldline.trace.causality import (
    NETWORK,
    causal_past,
    dependencies,
    lane_of,
    vector_clocks,
)
from worldline.trace.json_text import shorten, show
from worldline.trace.records import StepRecord, Trace

MOST_IN_DOT = 300
"""Steps that Graphviz lays out in reasonable time."""

MOST_IN_MERMAID = 200
"""Steps of a sequence diagram that a reader, and Mermaid, can take."""

_WIDEST = 60


# ------------------------------------------------------------------------- Graphviz


def dot(trace: Trace) -> Iterator[str]:
    """Yield the event graph: a cluster per node, an edge per message.

    Whoever points at a step with calls between services sees those.

    Of a trace of more than `MOST_IN_DOT` steps only the latest of the last step's
    causal past are drawn.
    """
    direct = dependencies(trace)
    shown = _drawn(trace)
    yield "digraph trace {"
    yield '  node [shape=box, style=rounded, fontname="sans-serif"];'
    yield f"  label={_quoted(f'{trace.header.system}: {verdict_phrase(trace)}')};"
    for number, lane in enumerate((*trace.header.names, NETWORK)):
        steps = [s for s in trace.steps if s.step in shown and lane_of(s) == lane]
        if steps:
            yield from _cluster(number, lane, steps, trace)
    for step in trace.steps:
        for before in direct[step.step]:
            if step.step in shown and before in shown:
                yield _edge(before, step)
    yield "}"


def _drawn(trace: Trace) -> frozenset[int]:
    numbers = [step.step for step in trace.steps]
    if len(numbers) > MOST_IN_DOT:
        numbers = sorted(causal_past(trace, numbers[-1]))[-MOST_IN_DOT:]
    return frozenset(numbers)


def _cluster(
    number: int, lane: str, steps: list[StepRecord], trace: Trace
) -> Iterator[str]:
    yield f"  subgraph cluster_{number} {{"
    yield f"    label={_quoted(lane)};"
    for step in steps:
        text = shorten(f"{step.step} {short_phrase(step, trace.header)}", _WIDEST)
        color = "red" if step.failure is not None else "black"
        calls = "\n".join(effect_lines(step)) if step.calls else ""
        hint = f", tooltip={_quoted(calls)}" if calls else ""
        yield f"    {_dot_name(step.step)} [label={_quoted(text)}, color={color}{hint}];"
    yield "  }"


def _edge(before: int, step: StepRecord) -> str:
    pair = f"  {_dot_name(before)} -> {_dot_name(step.step)}"
    if before == step.sent_in:
        return f"{pair} [label={_quoted(step.name)}, color=blue];"
    return f"{pair};"


def _dot_name(number: int) -> str:
    return f"s{number}" if number >= 0 else f"b{-number}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# -------------------------------------------------------------------------- Mermaid


def mermaid(trace: Trace) -> Iterator[str]:
    """Yield a sequence diagram of the last `MOST_IN_MERMAID` steps.

    A message is drawn where it is delivered, so concurrency is lost.
    """
    steps = trace.steps[-MOST_IN_MERMAID:]
    names = {name: f"n{number}" for number, name in enumerate(trace.header.names)}
    yield "sequenceDiagram"
    for name, alias in names.items():
        yield f"  participant {alias} as {_plain(name)}"
    first, *_, last = (*names.values(), *names.values())
    every = first if first == last else f"{first},{last}"
    left_out = len(trace.steps) - len(steps)
    if left_out:
        yield f"  Note over {every}: {left_out} earlier steps are left out"
    cycle = None if trace.end is None else trace.end.cycle
    again = [step for step in steps if cycle is not None and step.step >= cycle]
    for step in steps:
        if again and step is again[0]:
            yield "  loop for ever"
        yield f"  {_mermaid_step(step, trace, names, every)}"
    if again:
        yield "  end"
    yield f"  Note over {every}: {_plain(verdict_phrase(trace))}"


def _mermaid_step(
    step: StepRecord, trace: Trace, names: dict[str, str], every: str
) -> str:
    kind = KINDS[step.kind]
    if kind.is_about_message and step.node is not None and step.peer is not None:
        lost = "-x" if kind.takes_message else "-->>"
        arrow = "->>" if kind.runs_handler else lost
        text = _plain(f"{step.step} {show(step.payload)}")
        return f"{names[step.peer]}{arrow}{names[step.node]}: {text}"
    text = _plain(f"{step.step} {event_phrase(step, trace.header)}")
    return f"Note over {every if step.node is None else names[step.node]}: {text}"


def _plain(text: str) -> str:
    """Return text in one line without what Mermaid would take for its own syntax."""
    line = shorten(" ".join(text.split()), _WIDEST)
    return "".join(f"#{ord(c)};" if c in '#;"<>{}%' else c for c in line)


# --------------------------------------------------------------------------- ShiViz


def shiviz(trace: Trace) -> Iterator[str]:
    """Yield a log with vector clocks.

    Its first line is the regular expression that ShiViz wants for parsing it, the
    second one the expression that separates executions, of which there is one.
    """
    yield r"(?<event>.*)\n(?<host>\S*) (?<clock>{.*})"
    yield r"^=== (?<trace>.*) ===$"
    yield ""
    yield f"=== {_one_line(trace.header.system)} ==="
    for step, clock in zip(trace.steps, vector_clocks(trace), strict=True):
        yield _one_line(f"{step.step} {event_phrase(step, trace.header)}")
        hosts = {_host(lane): count for lane, count in sorted(clock.items())}
        yield f"{_host(lane_of(step))} {json.dumps(hosts)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _host(lane: str) -> str:
    return "_".join(lane.split()) or "_"
