"""The door of handlers that run again: what they ask is answered as it was then."""

from __future__ import annotations

from typing import final

from worldline.model.data.identity import NodeId
from worldline.runs.recording.happenings import NO_NOTES, Notes
from worldline.worlds.clocked import ClockedDoor, ClockedWorld


@final
class RecordedDoor(ClockedDoor):
    """Answers from the notes on an event.

    Attributes
    ----------
    notes
        Those on the present event.
    unlike
        What a handler asked that it did not ask then; empty if nothing.
    answers
        Of each send that could be refused, how many choices had been made before it, and
        whether it was refused.
    """

    notes: Notes = NO_NOTES
    unlike = ""

    def __init__(self, world: ClockedWorld) -> None:
        super().__init__(world)
        self.answers: list[tuple[int, bool]] = []

    def tell(self, notes: Notes) -> None:
        """Take the notes on the event that comes next."""
        self.notes = notes
        self.unlike = ""
        self.answers = []

    def pick(self, count: int, weights: tuple[float, ...] | None) -> int:
        given, place = self.notes.choices, len(self.choices)
        if place >= len(given):
            self.unlike = self.unlike or f"a choice out of {count} more"
            return 0
        taken = given[place]
        if not 0 <= taken < count:
            self.unlike = self.unlike or f"a choice out of {count}, not of {taken + 1}"
            return 0
        return taken

    def is_full(self, dst: NodeId, taken: int) -> bool:
        is_refused = len(self.sends) in self.notes.refused
        self.answers.append((len(self.choices), is_refused))
        return is_refused
