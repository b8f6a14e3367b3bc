"""Runs by the clock of which all is known that a judge of snapshots has to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.steer.snapshots.walking import Flying, Happened

import worldline as wl
from worldline.model.data.values import freeze
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.steer.snapshots.channels import SENT
from worldline.worlds.companions import Beside, Companion, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.simulation import Simulation


class Watching(Companion):
    """Stands before another companion, and notes what it is told."""

    def __init__(self, run: SimulatedRun, inner: Companion) -> None:
        self._run, self._inner, self.name = run, inner, inner.name

    def joined(self, beside: Beside) -> None:
        self._inner.joined(beside)
        self._run.called()

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        answer = self._inner.gate(beside, event)
        self._run.called()
        return answer

    def seen(self, beside: Beside, event: Event) -> None:
        self._run.has_happened = True
        self._inner.seen(beside, event)
        self._run.called()

    def extensions(
        self, beside: Beside, peer: wl.NodeId, part: str, message: Any
    ) -> dict[int, int] | None:
        numbers = self._inner.extensions(beside, peer, part, message) or {}
        self._run.note_sent(beside, peer, part, message, numbers)
        return numbers

    def noticed(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self._inner.noticed(beside, peer, life, numbers)
        self._run.called()
        self._run.note_taken(beside, peer, life, numbers)

    def heard(self, beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        self._inner.heard(beside, peer, body)
        self._run.called()


class SimulatedRun:
    """A run by the clock with a companion, like a `Walk`."""

    def __init__(
        self,
        system: wl.System,
        companion: Companion,
        conditions: Conditions,
        seed: int,
        note: Callable[[Any], None],
    ) -> None:
        self.system = system
        self.history: list[Happened] = []
        self.messages: list[Flying] = []
        self.has_happened = False
        self._note = note
        self._sent: dict[tuple[int, int, int, int], Flying] = {}
        self._cause: int | None = None
        self._run = Simulation(
            system, conditions, seed, companions=[Watching(self, companion)]
        )

    @property
    def place(self) -> int:
        """How many events have happened, the one included that is just over."""
        return len(self.history) + self.has_happened

    def called(self) -> None:
        self._note(self)

    def step(self, until: float) -> bool:
        event = self._run.next(until)
        if event is None:
            return False
        self.called()  # companions may have done something by themselves before it
        index = None if event.node is None else self.system.index[event.node]
        choices = self._run.outcome().choices
        what = Happened(event, choices, index, boot=event.kind is Kind.START)
        if event.kind is Kind.DELIVER:
            what.cause = self._cause
        self.history.append(what)
        self.has_happened, self._cause = False, None
        return True

    def note_sent(
        self,
        beside: Beside,
        peer: wl.NodeId,
        part: str,
        message: Any,
        numbers: dict[int, int],
    ) -> None:
        src, dst = self.system.index[beside.me], self.system.index[peer]
        envelope = Envelope(beside.me, part, message, freeze(message))
        life = beside.incarnation
        one = Flying(src, dst, envelope, life, numbers, len(self.history))
        self.messages.append(one)
        self._sent[src, dst, life, numbers[SENT]] = one

    def note_taken(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        src, dst = self.system.index[peer], self.system.index[beside.me]
        one = self._sent[src, dst, life, numbers[SENT]]
        self._cause = one.sent
        if one.taken is None:
            one.taken = len(self.history)
