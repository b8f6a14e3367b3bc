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
from worldline.worlds.standing import Standing

T = TypeVar("T")


@final
@dataclass(frozen=True, slots=True)
class Stretch(Generic[T]):
    """A stretch of steps, `first` to `last`, with one value."""

    first: int
    last: int
    value: T


def spans(values: Iterable[tuple[int, T]]) -> tuple[Stretch[T], ...]:
    """Run-length encode the values at consecutive steps."""
    encoded: list[Stretch[T]] = []
    for step, value in values:
        if encoded and encoded[-1].value == value:
            encoded[-1] = Stretch(encoded[-1].first, step, value)
        else:
            encoded.append(Stretch(step, step, value))
    return tuple(encoded)


def along(
    timeline: Timeline, questions: Sequence[Callable[[View], T]]
) -> list[tuple[Stretch[T], ...]]:
    """Return the answers to each question, from state 0 to the last state known.

    Replays the run once for all questions. There are no answers if it went otherwise
    before state 0.
    """
    if not questions:
        return []
    first = max(0, timeline.first)
    if first > timeline.last:
        return [() for _ in questions]
    if timeline.seen is not None:
        return [
            spans(
                (position, question(timeline.at(position).view))
                for position in range(first, timeline.last + 1)
            )
            for question in questions
        ]
    standing = Standing(timeline.at(first))
    asked = [standing.of(question) for question in questions]
    answers: list[list[tuple[int, T]]] = [[] for _ in asked]
    for position in range(first, timeline.last + 1):
        world = timeline.at(position)
        # A jump to a checkpoint may touch any column, as little as a step does.
        standing.look_again(set(range(world.system.layout.width)))
        for values, one in zip(answers, asked, strict=True):
            values.append((position, one.value()))
    return [spans(values) for values in answers]
