"""Verdicts remembered for classes of local states: those that answer alike.

A property reads few of a node's fields. States in which they are the same are of one
class, and of the classes of all nodes there are so few that a look at them mostly says
what the properties say, all of them at once.
"""

from __future__ import annotations

from typing import Any, final

from worldline.engine.decisions import Decision
from worldline.model.properties import Property
from worldline.worlds.remembering import RememberingWorld

_MOST = 1 << 17
"""Verdicts that are kept."""

ALL_HOLD = -1


@final
class VerdictClasses:
    """Judges some properties of the present state of a world.

    Parameters
    ----------
    world
        Whose states they are.

    Attributes
    ----------
    judged
        How many states were judged, since their classes were not met before.
    """

    def __init__(self, world: RememberingWorld, properties: list[Property]) -> None:
        self._world = world
        self._decisions: list[Decision] = [world.decision(p) for p in properties]
        kept = [at for at, cell in enumerate(world.cells) if cell is None]
        self._classes: list[tuple[int, dict[int, int]]] = [(at, {}) for at in kept]
        self._numbers: dict[Any, int] = {}
        self._asked = 0
        self.judged = 0
        self._verdicts: dict[tuple[int, ...], int] = {}

    def first_false(self) -> int:
        """Return the number of the first property that is false, or `ALL_HOLD`."""
        row = self._world.row
        try:
            # In the usual case every value was seen before.
            key = tuple([known[row[at]] for at, known in self._classes])
        except KeyError:
            key = self._key()
        verdict = self._verdicts.get(key)
        return self._judge() if verdict is None else verdict

    def _judge(self) -> int:
        self.judged += 1
        present = self._world.present
        present.reads_cells, verdict = False, ALL_HOLD
        for number, decision in enumerate(self._decisions):
            if not decision(present):  # type: ignore[arg-type]
                verdict = number
                break
        asked = sum(map(len, self._world.recall.asked.values()))
        if asked != self._asked:
            # States that answered alike so far may differ in what is asked now.
            self._asked = asked
            self._verdicts.clear()
            for _, known in self._classes:
                known.clear()
        if not present.reads_cells:
            if len(self._verdicts) >= _MOST:
                self._verdicts.clear()
            self._verdicts[self._key()] = verdict
        return verdict

    def _key(self) -> tuple[int, ...]:
        row = self._world.row
        for at, known in self._classes:
            if row[at] not in known:
                known[row[at]] = self._class_of(at, row[at])
        return tuple([known[row[at]] for at, known in self._classes])

    def _class_of(self, column: int, value: int) -> int:
        """Return the number of the class of a value: of what it answers."""
        recall = self._world.recall
        answers: list[int | None] = []
        for asked in recall.asked.get(column, ()):
            number = asked.question.answers.get(value)
            if number is None:
                number = recall.resolve(asked.question, value)
            answers.append(number)
        alone = value if None in answers else None
        return self._numbers.setdefault((column, alone, *answers), len(self._numbers))
