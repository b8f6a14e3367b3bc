"""Small random changes to what is wanted of a run."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias, final

from worldline.model.kinds import Kind
from worldline.shrink.steps import ShrunkStep
from worldline.shrink.wishes import Wanted, Wish, wish_of
from worldline.worlds.remembering import RememberingWorld

RandomChange: TypeAlias = Callable[[list[Wanted], int], None]
"""Changes what is wanted, at a place of it."""

_HOW_OFTEN = (("_wish", 20), ("_rename", 10), ("_leave_out", 31), ("_move", 28))
"""The changes and their weights; what is left of a hundred repeats a step."""

_WISHED = (Kind.DELIVER,) * 14 + (Kind.TIMER,) * 3 + (Kind.CALL,) * 2 + (Kind.START,)
"""Kinds of events that are wished for, as often as they stand here."""

_RECHOSEN = 0.4
"""How often an event with choices takes another option, where it is changed at all."""

_MOST_OPTIONS = 4
"""Options that are tried; where there are fewer, the first one stands for the others."""


@final
class RandomChanges:
    """Leaves out, moves, repeats, wishes for and renames steps.

    To wish brings in what the run does not have; to rename lets two nodes change their
    parts, for a while or from some place on: what one of them has done, the other may
    do as well.

    Parameters
    ----------
    seed
        The same changes come for the same number.
    """

    def __init__(self, world: RememberingWorld, seed: int) -> None:
        self.rng = random.Random(seed)
        self._world = world
        self._nodes = len(world.system.ids)
        self._changes: list[RandomChange] = []
        for name, weight in _HOW_OFTEN:
            self._changes += [getattr(self, name)] * weight
        self._changes += [self._repeat] * (100 - len(self._changes))

    def change(self, wanted: list[Wanted]) -> None:
        """Change something, or nothing if there are not two steps."""
        if len(wanted) < 2:
            return
        place = self.rng.randrange(len(wanted))
        step = wanted[place]
        if type(step) is ShrunkStep and step.choices and self.rng.random() < _RECHOSEN:
            wanted[place] = self._rechosen(step)
        else:
            self.rng.choice(self._changes)(wanted, place)

    def _rechosen(self, step: ShrunkStep) -> ShrunkStep:
        options = list(step.choices)
        changed = self.rng.randrange(len(options))
        options[changed] = self.rng.randrange(_MOST_OPTIONS)
        return ShrunkStep(step.known, tuple(options), step.sending, step.place)

    def _leave_out(self, wanted: list[Wanted], place: int) -> None:
        some = self.rng.choice((1, 1, 1, 2, 3, 5, len(wanted) // 8))
        del wanted[place : place + some]

    def _move(self, wanted: list[Wanted], place: int) -> None:
        moved = wanted.pop(place)
        near = max(0, place - 12) if self.rng.random() < 0.7 else 0
        wanted.insert(self.rng.randint(near, min(len(wanted), place + 4)), moved)

    def _repeat(self, wanted: list[Wanted], place: int) -> None:
        wanted.insert(self.rng.randint(0, len(wanted)), wanted[place])

    def _wish(self, wanted: list[Wanted], place: int) -> None:
        rng = self.rng
        new: list[Wanted] = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            kind = rng.choice(_WISHED)
            source = rng.randrange(self._nodes) if kind is Kind.DELIVER else -1
            last = rng.random() < 0.5
            new.append(Wish(kind, rng.randrange(self._nodes), source, last=last))
        replaced = rng.choice((0, 0, 1, len(new)))
        wanted[place : place + replaced] = new

    def _rename(self, wanted: list[Wanted], place: int) -> None:
        if self._nodes < 2:
            return
        rng = self.rng
        one, other = rng.sample(range(self._nodes), 2)
        names = {one: other, other: one}
        end = len(wanted)
        if rng.random() < 0.5:
            end = min(end, place + rng.randint(1, 12))
        for at in range(place, end):
            step = wanted[at]
            wish = step if type(step) is Wish else wish_of(step, self._world)
            if wish is not None and (wish.node in names or wish.source in names):
                wanted[at] = wish._replace(
                    node=names.get(wish.node, wish.node),
                    source=names.get(wish.source, wish.source),
                )
