"""Values along a run, run-length encoded.

What is asked is a pure function of a view. It is asked again only after a step that
changed something it depends on, which `worlds.standing` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar, final

from worldline.debug.timeline import Timeline
from worldline.model.view import View
from worldline.worlds.standing import Standing, touched_by

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Span(Generic[T]):
    """A stretch of steps, `first` to `last`, with one value."""

    first: int
    last: int
    value: T


def spans(values: Iterable[tuple[int, T]]) -> tuple[Span[T], ...]:
    """Run-length encode the values at consecutive steps."""
    found: list[Span[T]] = []
    for step, value in values:
        if found and found[-1].value == value:
            found[-1] = Span(found[-1].first, step, value)
        else:
            found.append(Span(step, step, value))
    return tuple(found)


def along(
    timeline: Timeline, questions: Sequence[Callable[[View], T]]
) -> list[tuple[Span[T], ...]]:
    """Return the answers to each question, from state 0 to the last state known.

    Replays the run once for all questions.
    """
    if not questions:
        return []
    first = max(0, timeline.first)
    world = timeline.at(first)
    standing = Standing(world)
    asked = [standing.of(question) for question in questions]
    answers: list[list[tuple[int, T]]] = [[] for _ in asked]
    for position in range(first, timeline.last + 1):
        event = None if position == first else timeline.event_after(position - 1)
        if event is not None:
            timeline.at(position)
            standing.look_again(touched_by(world, event))
        for found, one in zip(answers, asked, strict=True):
            found.append((position, one.value()))
    return [spans(found) for found in answers]
