"""A trace as a space-time diagram in text: a lane per node, time going down.

A delivery is an arrow from the sender's lane; the step that sent the message is said
beside it. Faults are marked; the lane of a node that is down is dotted. Lines have at
most `WIDTH` columns.
"""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import final

from worldline.model.kinds import KINDS
from worldline.show.phrases import (
    cycle_phrase,
    event_phrase,
    short_phrase,
    verdict_phrase,
)
from worldline.show.steps import end_lines
from worldline.trace.json_text import shorten, show
from worldline.trace.records import STATUS, StepRecord, Trace

WIDTH = 100
_LABEL = 40
"""Columns that the text beside the lanes has at least."""
_USUAL, _WIDEST, _NARROWEST = 8, 14, 2

_HANDLED, _UNHANDLED, _FAILED = "●", "○", "✗"
_RESULTS = {
    _HANDLED: "delivered",
    _UNHANDLED: "no handler took it",
    _FAILED: "the handler failed",
}
_IN_KEY = "SCo!x"
"""The first marks in the key, after the results; the others follow as in the table."""

_GLUE = "\N{NO-BREAK SPACE}"
_LIVE, _DEAD, _CROSSED = "│", "┊", "╪"


def diagram(trace: Trace) -> Iterator[str]:
    """Yield the lines of the diagram."""
    yield shorten(f"{trace.header.system}: {verdict_phrase(trace)}", WIDTH)
    used = {_mark(step) for step in trace.steps if step.node is not None}
    yield from _key(used)
    lanes = _Lanes(trace, trace.run)
    yield ""
    yield lanes.title()
    for step in trace.steps:
        if turn := cycle_phrase(trace.end, step.step):
            yield turn
        yield lanes.row(step).rstrip()
    if trace.end is not None and (turn := cycle_phrase(trace.end, trace.end.steps + 1)):
        yield turn
    yield ""
    for line in end_lines(trace):
        yield shorten(line, WIDTH)


def part(trace: Trace, wanted: Container[int], *, at: int) -> Iterator[str]:
    """Yield the rows of some steps, without the key of the diagram.

    Parameters
    ----------
    wanted
        The numbers of those steps.
    at
        The step to point at.
    """
    lanes = _Lanes(trace, [step for step in trace.steps if step.step in wanted])
    yield lanes.title()
    for step in trace.steps:
        if step.step not in wanted:
            lanes.skip(step)
            continue
        row = lanes.row(step).rstrip()
        yield f">{row[1:]}" if step.step == at else row


@final
class _Lanes:
    """Draws one row after another, and knows which nodes are up.

    Parameters
    ----------
    steps
        Those that will be drawn.
    """

    def __init__(self, trace: Trace, steps: Sequence[StepRecord]) -> None:
        self._header = trace.header
        self._number = max((len(str(step.step)) for step in trace.steps), default=1) + 1
        self._clock = max((len(_time(step)) for step in steps), default=0)
        if self._clock:
            self._number += self._clock + 2
        names = _shown(trace, steps)
        room = WIDTH - _LABEL - self._number - 2
        wanted = max(len(name) for name in names) + 2
        fair = max(room // len(names), _NARROWEST)
        self._pitch = min(max(wanted, _USUAL), _WIDEST, fair)
        self._at = {name: 1 + i * self._pitch for i, name in enumerate(names)}
        self._lanes = frozenset(self._at.values())
        self._width = min(len(names) * self._pitch, room)
        self._up = dict.fromkeys(trace.header.names, False)
        if trace.state is not None:
            self._up |= {n.name: n.status == "up" for n in trace.state.nodes}

    def title(self) -> str:
        line = [" "] * self._width
        for name, at in self._at.items():
            self._put(line, at, shorten(name, self._pitch - 1))
        return " " * (self._number + 2) + "".join(line).rstrip()

    def row(self, step: StepRecord) -> str:
        """Return the line of a step."""
        everywhere = step.node is None
        line = ["═" if everywhere else " "] * self._width
        for name, at in self._at.items():
            mark = _LIVE if self._up[name] else _DEAD
            self._put(line, at, _CROSSED if everywhere else mark)
        if step.node is not None:
            self._draw(line, step)
        self.skip(step)
        label = self._label(step, WIDTH - self._number - 3 - self._width)
        head = str(step.step)
        if self._clock:
            head = f"{head}  {_time(step):>{self._clock}}"
        return f"{head:>{self._number}}  {''.join(line)} {label}"

    def skip(self, step: StepRecord) -> None:
        """Take note of a step that gets no line."""
        status = step.changes.get(STATUS)
        if step.node is not None and status is not None:
            self._up[step.node] = status[1] == "up"

    def _draw(self, line: list[str], step: StepRecord) -> None:
        at = self._at.get(step.node or "")
        if at is None:
            return
        source = self._at.get(step.peer or "")
        arrives = KINDS[step.kind].is_about_message
        if arrives and source is not None and source != at:
            self._arrow(line, source, at)
        self._put(line, at, _mark(step))

    def _arrow(self, line: list[str], source: int, target: int) -> None:
        right = target > source
        for at in range(min(source, target) + 1, max(source, target)):
            self._put(line, at, "─" if at not in self._lanes else "┼")
        self._put(line, source, "├" if right else "┤")
        self._put(line, target - 1 if right else target + 1, "▶" if right else "◀")

    def _put(self, line: list[str], at: int, text: str) -> None:
        for offset, character in enumerate(text):
            if 0 <= at + offset < len(line):
                line[at + offset] = character

    def _label(self, step: StepRecord, room: int) -> str:
        """Say what happened; the arrow has said from where."""
        words = []
        if step.sent_in is not None:
            words.append(f"sent in {step.sent_in}")
        if step.failure is not None:
            words.append(f"FAILED: {step.failure}")
        words += [f"→ {send.to} {send.name}" for send in step.sends]
        phrase = event_phrase(step, self._header)
        if step.kind == "deliver":
            phrase = show(step.payload)
        label = "  ".join([phrase, *words])
        if len(label) > room:
            phrase = short_phrase(step, self._header).removeprefix("deliver ")
            label = "  ".join([phrase, *words])
        return shorten(label, room)


def _key(used: set[str]) -> list[str]:
    """Return the lines that say what the marks mean."""
    marks = {kind.mark: kind.meaning for kind in KINDS.values() if kind.mark}
    ordered = {**_RESULTS, **{mark: marks[mark] for mark in _IN_KEY}, **marks}
    meanings = [f"{mark} {text}" for mark, text in ordered.items() if mark in used]
    glued = "   ".join(text.replace(" ", _GLUE) for text in meanings)
    return [line.replace(_GLUE, " ") for line in textwrap.wrap(glued, WIDTH)]


def _time(step: StepRecord) -> str:
    """Return when a step happened, if that is known."""
    return "" if step.time is None else f"{step.time:.3f} s"


def _shown(trace: Trace, steps: Sequence[StepRecord]) -> list[str]:
    """Return the nodes that get a lane: all, or where there are many, those that act."""
    names = list(trace.header.names)
    if len(names) * 4 <= WIDTH - _LABEL:
        return names
    acting = {step.node for step in steps} | {step.peer for step in steps}
    return [name for name in names if name in acting] or names[:1]


def _mark(step: StepRecord) -> str:
    if step.failure is not None:
        return _FAILED
    if step.result == "unhandled":
        return _UNHANDLED
    return KINDS[step.kind].mark or _HANDLED
