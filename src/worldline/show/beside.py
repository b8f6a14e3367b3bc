"""Two runs side by side: which steps of the one are in the other, and where.

Meant for a run and what was left of it by minimising: most steps of the short run are
steps of the long one, in its order; others were moved, say something else, or are new.
"""

from __future__ import annotations

import contextlib
import enum
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.model.counts import counted
from worldline.model.kinds import KINDS
from worldline.show.phrases import event_phrase, verdict_phrase
from worldline.trace.json_text import shorten, show
from worldline.trace.records import StepRecord, Trace

_MOST_CELLS = 4_000_000
"""Pairs of steps that are compared for the order that most steps have in common."""

_WIDEST = 100


@final
class StepFate(enum.Enum):
    """What became of a step of the other run."""

    STAYS = ""
    MOVED = "moved"
    CHANGED = "changed"
    NEW = "new"


@final
@dataclass(frozen=True, slots=True)
class Pairing:
    """A step of a run, and the one of the other run that it was.

    Attributes
    ----------
    step, other
        The steps; None if there is no such one in the other run.
    """

    step: StepRecord
    other: StepRecord | None
    fate: StepFate


_Key: TypeAlias = Callable[[StepRecord], Hashable]


def pairings(trace: Trace, other: Trace) -> list[Pairing]:
    """Return the steps of a run, each with what it was in another one.

    Steps are the same if they have the same event. Of those that are not in the common
    order, one with the same event was moved; one that is alike but for what it says, or
    for its choices, was changed.
    """
    steps, others = trace.run, other.run
    taken = dict(_in_order(steps, others))
    fates = dict.fromkeys(taken, StepFate.STAYS)
    for key, fate in ((_event, StepFate.MOVED), (_alike, StepFate.CHANGED)):
        free = defaultdict(list)
        used = set(taken.values())
        for place, one in enumerate(others):
            if place not in used:
                free[key(one)].append(place)
        for place, step in enumerate(steps):
            left = free[key(step)]
            if place not in taken and left:
                taken[place] = left.pop(0)
                fates[place] = fate
    return [
        Pairing(
            step,
            others[taken[place]] if place in taken else None,
            fates.get(place, StepFate.NEW),
        )
        for place, step in enumerate(steps)
    ]


def beside(trace: Trace, other: Trace) -> Iterator[str]:
    """Yield a run, each step with its number in another run, and what was changed."""
    pairs = pairings(trace, other)
    yield f"{trace.header.system}: {verdict_phrase(trace)}"
    if (said := verdict_phrase(other)) != verdict_phrase(trace):
        yield f"  the other: {said}"
    counts = [
        f"{count} {words}"
        for fate, words in _COUNTED.items()
        if (count := sum(pair.fate is fate for pair in pairs))
    ]
    yield (
        f"  {counted(len(pairs), 'step')} beside {len(other.run)}: "
        f"{', '.join(counts) or 'none'}"
    )
    yield ""
    lane = max(len(name) for name in trace.header.names)
    width = max(len(str(len(other.run))), 5)
    yield f"{'step':>6}  {'other':>{width}}"
    for pair in pairs:
        step, was = pair.step, pair.other
        number = "-" if was is None else str(was.step)
        phrase = event_phrase(step, trace.header)
        line = (
            f"{step.step:>6}  {number:>{width}}  {step.node or '*':<{lane}}  {phrase}"
        )
        yield shorten(line, _WIDEST) + _told(pair, other)


_COUNTED = {
    StepFate.STAYS: "stay in order",
    StepFate.MOVED: "moved",
    StepFate.CHANGED: "changed",
    StepFate.NEW: "new",
}


def _told(pair: Pairing, other: Trace) -> str:
    """Say what became of a step; nothing if it stays."""
    if pair.fate is StepFate.CHANGED and pair.other is not None:
        return f"  (was {shorten(_said(pair.other, other), _WIDEST - 20)})"
    return f"  ({pair.fate.value})" if pair.fate.value else ""


def _said(step: StepRecord, trace: Trace) -> str:
    is_message = KINDS[step.kind].is_about_message
    phrase = show(step.payload) if is_message else event_phrase(step, trace.header)
    chosen = ", ".join(map(str, step.choices))
    return f"{phrase} with choices {chosen}" if chosen else phrase


def _in_order(
    steps: Sequence[StepRecord], others: Sequence[StepRecord]
) -> Iterator[tuple[int, int]]:
    """Yield places of equal events, as many as two runs have in one order.

    Of very long runs perhaps fewer: each event is then found as early as it can be.
    """
    mine, theirs = [*map(_event, steps)], [*map(_event, others)]
    if len(mine) * len(theirs) > _MOST_CELLS:
        yield from _greedily(mine, theirs)
        return
    # How many are common to the rests of both runs.
    rests = [[0] * (len(theirs) + 1)]
    for event in reversed(mine):
        below, row = rests[-1], [0]
        for at in range(len(theirs) - 1, -1, -1):
            is_same = theirs[at] == event
            row.append(below[at + 1] + 1 if is_same else max(below[at], row[-1]))
        rests.append(row[::-1])
    rests.reverse()
    one = other = 0
    while one < len(mine) and other < len(theirs):
        if mine[one] == theirs[other]:
            yield one, other
            one, other = one + 1, other + 1
        elif rests[one + 1][other] > rests[one][other + 1]:
            one += 1
        else:
            other += 1


def _greedily(
    mine: Sequence[Hashable], theirs: Sequence[Hashable]
) -> Iterator[tuple[int, int]]:
    at = 0
    for place, event in enumerate(mine):
        with contextlib.suppress(ValueError):
            match = theirs.index(event, at)
            yield place, match
            at = match + 1


def _event(step: StepRecord) -> Hashable:
    """Return what a step has in common with others of the same event."""
    return (*_alike(step), show(step.payload), step.choices)


def _alike(step: StepRecord) -> tuple[str | None, ...]:
    return step.node, step.kind, step.part, step.name, step.peer
