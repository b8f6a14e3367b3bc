"""Values along a run, run-length encoded.

What is asked is a pure function of a view. It is asked again only after a step that
can have changed something it read the last time, which the step's record tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, final

from worldline.debug.timeline import Timeline
from worldline.model.data.identity import NodeId
from worldline.model.kinds import KINDS, Kind
from worldline.model.structure import Structure
from worldline.model.view import Pure, Read, Reader, View, holds_for, observed
from worldline.trace.records import STATUS, StepRecord

T = TypeVar("T")

Key = tuple[Any, ...]
"""What a read depends on: its sort, and where there is one, its node and field."""

_HISTORY: Key = ("history",)


@final
@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A stretch of steps, `first` to `last`, with one value."""

    first: int
    last: int
    value: T


def spans(values: Iterable[tuple[int, T]]) -> tuple[Span[T], ...]:
    """Run-length encode the values at consecutive steps."""
    encoded: list[Span[T]] = []
    for step, value in values:
        if encoded and encoded[-1].value == value:
            encoded[-1] = Span(encoded[-1].first, step, value)
        else:
            encoded.append(Span(step, step, value))
    return tuple(encoded)


def along(
    timeline: Timeline, questions: Sequence[Callable[[View], T]]
) -> list[tuple[Span[T], ...]]:
    """Return the answers to each question, from state 0 to the last state known.

    Replays the run once for all questions.
    """
    if not questions:
        return []
    first = max(0, timeline.first)
    asked = [_Question(question) for question in questions]
    for position in range(first, timeline.last + 1):
        world = timeline.at(position)
        touched = _touched(timeline, position, first)
        for question in asked:
            question.ask(position, world.view, touched)
    return [spans(question.answers) for question in asked]


def _touched(timeline: Timeline, position: int, first: int) -> set[Key] | None:
    """Return what the step to a position may have changed; None for all of it."""
    step = timeline.step_at(position)
    if step is None or position == first:
        return None
    return touched_by(step, timeline.trace.header.names)


@final
class _Question(Generic[T]):
    """A question with its latest answer, and what that depends on."""

    def __init__(self, question: Callable[[View], T]) -> None:
        self._question = question
        self._depends: set[Key] = set()
        self.answers: list[tuple[int, T]] = []

    def ask(self, position: int, view: View, touched: set[Key] | None) -> None:
        if touched is not None and touched.isdisjoint(self._depends):
            self.answers.append((position, self.answers[-1][1]))
            return
        tracked, reader = observed(view, Tracked)
        self.answers.append((position, self._question(tracked)))
        self._depends = reader.keys


@final
class Tracked:
    """Reads through another reader, and remembers what the answers depend on."""

    def __init__(self, system: Structure, inner: Reader) -> None:
        self._system = system
        self._inner = inner
        self.keys: set[Key] = set()

    def read(self, read: Read) -> Any:
        index = self._system.layout.columns[read.column].index
        if read.what in ("history", "verdict", "affords"):
            self.keys.add(_HISTORY)
        elif read.what == "field":
            name = self._system.ids[index].name
            self.keys.add(("field", name, ".".join(read.detail)))
        else:
            sort = "mail" if read.what in ("messages", "any") else read.what
            self.keys.add((sort, self._system.ids[index].name))
        return self._inner.read(read)

    def nested(self, view: View, function: Pure, nodes: tuple[NodeId, ...]) -> bool:
        return holds_for(function, view, nodes)


def touched_by(step: StepRecord, names: Iterable[str]) -> set[Key]:
    """Return what a step may have changed, as keys of reads; perhaps some too many."""
    keys: set[Key] = {_HISTORY}
    keys.update(("field", step.node, name) for name in step.changes)
    keys.update(("mail", send.to) for send in step.sends)
    if STATUS in step.changes:
        keys.add(("status", step.node))
    kind = KINDS[step.kind]
    if step.timers or kind is not Kind.DELIVER:
        keys |= {("timers", step.node), ("finished", step.node)}
    if kind.is_about_message:
        keys.add(("mail", step.node))
    if kind.flushes:
        keys.update(("mail", name) for name in names)
    return keys
