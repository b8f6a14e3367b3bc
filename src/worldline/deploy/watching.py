"""The companions beside one life of a node, as far as they look at its events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from worldline.deploy.following import NumbersBeside
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import NodeType
from worldline.model.system import System
from worldline.trace.journal.frames import MessageFrame, numbers_of
from worldline.worlds.companions import (
    Attention,
    Beside,
    Companion,
    Effects,
    Instead,
    overriding,
)
from worldline.worlds.undoing import Before

_LOOKS = ("gate", "vet", "seen", "noticed", "extensions")
"""What a companion has of its own that looks at events or at messages."""


@final
class Watching:
    """The companions beside one life of a node.

    Attributes
    ----------
    companions
        Those that look at events or at messages.
    before
        The state before the present event, where one of them may undo it.
    attention
        What the only one of them attends to; None if it looks at each event, or there are
        others.
    """

    def __init__(
        self, system: System, kind: NodeType, node: Any, companions: Sequence[Companion]
    ) -> None:
        looking = [one for name in _LOOKS for one in overriding(companions, name)]
        self.companions = [one for one in companions if one.vets or one in looking]
        self._places, self._ids = system.index, system.ids
        self._gates = overriding(companions, "gate")
        self._sees = overriding(companions, "seen")
        self._notices = overriding(companions, "noticed")
        self._adds = overriding(companions, "extensions")
        self._vets = [one for one in companions if one.vets]
        self.before = Before(kind, node) if self._vets else None
        self.attention: Attention | None = None

    def begin(self, life: Beside) -> None:
        """Ask what is to be seen of a life; companions have been told that it begins."""
        if len(self.companions) == 1:
            self.attention = self.companions[0].attention(life)

    def came(self, life: Beside, frame: MessageFrame) -> None:
        """Let companions notice the numbers beside a message."""
        numbers, peer = numbers_of(frame.extensions), self._ids[frame.sender]
        for companion in self._notices:
            companion.noticed(life, peer, frame.incarnation, numbers)

    def gate(self, life: Beside, event: Event) -> Instead | None:
        """Return what is to happen instead of an event that is about to."""
        for companion in self._gates:
            instead = companion.gate(life, event)
            if instead is not None:
                return instead
        return None

    def vet(self, life: Beside, event: Event, effects: Effects) -> Instead | None:
        """Return what is to happen instead of an event that has happened."""
        for companion in self._vets:
            instead = companion.vet(life, event, effects)
            if instead is not None:
                return instead
        return None

    def numbers(self, life: Beside, kind: Kind) -> NumbersBeside:
        """Return what says which numbers companions put beside messages of an event."""
        if self.attention is not None:
            if kind is not Kind.DELIVER:  # it has taken the message
                self.attention.begin(life.now)
            return self.attention.beside
        ids, adds = self._ids, self._adds

        def beside(to: int, part: str, message: Any) -> dict[int, int] | None:
            numbers: dict[int, int] = {}
            for companion in adds:
                numbers |= companion.extensions(life, ids[to], part, message) or {}
            return numbers or None

        return beside

    def seen(self, life: Beside, event: Event) -> None:
        """Let companions see an event whose effects have left."""
        for companion in self._sees:
            companion.seen(life, event)
