"""Data that crosses from process to process: the best run, and candidates of it.

A step is known by its place in the best run; an event, to processes that were forked off
one that knew it, by its number there. Only what came up later is spelt out.
"""

# ruff: noqa: S301 -- see `Crossing`

from __future__ import annotations

import pickle
from array import array
from collections.abc import Sequence
from typing import TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.values import thaw
from worldline.model.events import Choices
from worldline.shrink.candidate import Candidate, ShrunkRun
from worldline.shrink.matching import Matching
from worldline.shrink.steps import Sending, ShrunkStep
from worldline.worlds.remembered import RememberedEvent
from worldline.worlds.remembering import RememberingWorld

Spelling: TypeAlias = int | Frozen
"""The number of an event that both sides know; else its key."""

Fresh: TypeAlias = tuple[Spelling, Choices, Sending | None, int]
"""A step that is not in the best run."""

WantedPart: TypeAlias = tuple[int, int] | Fresh
"""Steps of the best run, from one place to another; or a step that is not in it."""

_NO_SENDING = -2, 0


class CannotCross(Exception):
    """An event has no spelling: a class of what it says cannot be found by its name."""


@final
class Crossing:
    """Spells runs and candidates, and reads them where the same one was forked.

    It is pickle that writes them, which runs what it is told to while it reads. That is
    safe here and nowhere else: what is read was written by the very same program, to
    memory that only the processes share that it has forked itself.

    Parameters
    ----------
    world
        Knows the events; after a fork each process has its own.
    run
        Both sides know its events.
    """

    def __init__(self, world: RememberingWorld, run: ShrunkRun) -> None:
        self._world = world
        self._shared = list(dict.fromkeys(step.known for step in run.steps))
        self._numbers = {known: number for number, known in enumerate(self._shared)}

    def spell_run(self, run: ShrunkRun) -> bytes:
        """Return the steps of a run, and where it has marks, as bytes.

        Raises
        ------
        CannotCross
            If one of its events has no spelling.
        """
        numbers, events = array("q"), list[Spelling]()
        later: dict[RememberedEvent, int] = {}
        chosen: dict[int, Choices] = {}
        for step in run.steps:
            number = self._numbers.get(step.known)
            if number is None:
                if step.known not in later:
                    later[step.known] = -1 - len(events)
                    events.append(step.known.event.key)
                number = later[step.known]
            numbers.extend((number, *(step.sending or _NO_SENDING)))
            if step.choices:
                chosen[step.place] = step.choices
        places = {mark.place for mark in run.marks}
        return _pickled((numbers.tobytes(), events, chosen, places))

    def read_run(self, spelt: bytes) -> tuple[tuple[ShrunkStep, ...], set[int]]:
        """Return the steps of a run that was spelt, and where it has marks.

        How many events a candidate costs depends on these.
        """
        raw, events, chosen, places = pickle.loads(spelt)
        later = [self._event(spelling) for spelling in events]
        numbers = array("q")
        numbers.frombytes(raw)
        triples = zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
        steps = tuple(
            ShrunkStep(
                self._shared[number] if number >= 0 else later[-1 - number],
                chosen.get(place, ()),
                None if (sender, sent) == _NO_SENDING else (sender, sent),
                place,
            )
            for place, (number, sender, sent) in enumerate(triples)
        )
        return steps, places

    def spell(
        self, candidates: Sequence[Candidate], steps: Sequence[ShrunkStep]
    ) -> bytes:
        """Return candidates as bytes that were made of the steps of the best run.

        Raises
        ------
        CannotCross
            If an event has no spelling.
        """
        return _pickled(
            [(self._parts(one.wanted, steps), *one.matching) for one in candidates]
        )

    def read(self, spelt: bytes, steps: Sequence[ShrunkStep]) -> list[Candidate]:
        """Return the candidates that were spelt."""
        return [
            Candidate(self._steps(parts, steps), Matching(*matching))
            for parts, *matching in pickle.loads(spelt)
        ]

    def _parts(
        self, wanted: Sequence[ShrunkStep], steps: Sequence[ShrunkStep]
    ) -> list[WantedPart]:
        parts: list[WantedPart] = []
        begin = end = 0
        for step in wanted:
            place = step.place
            if begin < end == place < len(steps) and steps[place] is step:
                end += 1
                continue
            if end > begin:
                parts.append((begin, end))
            if 0 <= place < len(steps) and steps[place] is step:
                begin, end = place, place + 1
            else:
                begin = end = 0
                known = self._numbers.get(step.known, step.known.event.key)
                parts.append((known, step.choices, step.sending, place))
        if end > begin:
            parts.append((begin, end))
        return parts

    def _steps(
        self, parts: Sequence[WantedPart], steps: Sequence[ShrunkStep]
    ) -> list[ShrunkStep]:
        wanted: list[ShrunkStep] = []
        for part in parts:
            if len(part) == 2:
                wanted += steps[part[0] : part[1]]
            else:
                spelling, choices, sending, place = part
                known = self._event(spelling)
                wanted.append(ShrunkStep(known, choices, sending, place))
        return wanted

    def _event(self, spelling: Spelling) -> RememberedEvent:
        if type(spelling) is int:
            return self._shared[spelling]
        return self._world.known(thaw(spelling))


def _pickled(value: object) -> bytes:
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise CannotCross(str(error)) from error
