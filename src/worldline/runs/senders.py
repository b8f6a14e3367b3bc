"""The step that sent a message: the oldest whose equal message is not yet taken."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import final

from worldline.model.absent import AbsentCell
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import Capability, Recorded, carrier
from worldline.model.semantics.outcome import Outcome
from worldline.worlds.world import Readable


@final
class Senders:
    """Follows the messages of one world.

    Parameters
    ----------
    world
        Asked, at first and after a fault, what is under way.
    is_new
        Whether nothing is yet.
    """

    def __init__(self, world: Readable, *, is_new: bool = False) -> None:
        self._world = world
        # None stands for a time before the first step.
        self._steps: dict[tuple[NodeId, Envelope], deque[int | None]] = {}
        for node, envelope in () if is_new else self._under_way():
            self._steps.setdefault((node, envelope), deque()).append(None)
        self._network = world.system.network
        self._may_flush = Capability.DISCONNECT in self._network.capabilities
        self._lost: dict[tuple[NodeId, Envelope], deque[int | None]] = {}
        """What was lost with its connection, where that may arrive all the same."""
        self._may_return = isinstance(self._network, Recorded)
        self._absent = {
            node
            for index, node in enumerate(world.system.ids)
            if isinstance(world.cells[world.system.layout.inbox(index)], AbsentCell)
        }

    def find(self, event: Event) -> int | None:
        """Return the step that sent the message that `event` is about, if any."""
        if (
            not event.kind.is_about_message
            or event.node is None
            or event.envelope is None
        ):
            return None
        key = event.node, event.envelope
        steps = self._steps.get(key) or self._lost.get(key)
        return steps[0] if steps else None

    def note(self, step: int, event: Event, outcome: Outcome) -> None:
        """Note what `event`, which has happened as `step`, sent, took and lost."""
        if event.node is not None and event.envelope is not None:
            self._take(event.kind, event.node, event.envelope)
        if event.kind.flushes and self._may_flush:
            self._forget_lost(outcome)
        for key in self._put_under_way(outcome):
            self._steps.setdefault(key, deque()).append(step)

    def _put_under_way(self, outcome: Outcome) -> Iterator[tuple[NodeId, Envelope]]:
        """Yield what was sent and is under way: to an absent node nothing ever is."""
        for sent in outcome.sends:
            if sent.taken and sent.dst not in self._absent:
                yield (
                    sent.dst,
                    Envelope(sent.src, sent.part, sent.message, freeze(sent.message)),
                )

    def _take(self, kind: Kind, node: NodeId, envelope: Envelope) -> None:
        steps = self._steps.get((node, envelope))
        if not steps and (lost := self._lost.get((node, envelope))):
            lost.popleft()
        if not steps or self._stays(envelope):
            return
        if kind.doubles_message:
            steps.appendleft(steps[0])
        elif kind.takes_message:
            steps.popleft()
            if not steps:
                del self._steps[node, envelope]

    def _stays(self, envelope: Envelope) -> bool:
        network = carrier(self._network, envelope.part, type(envelope.message))
        return Capability.HOLDS_FOR_EVER in network.capabilities

    def _forget_lost(self, outcome: Outcome) -> None:
        """Drop the entries of messages that were flushed; those just sent count not."""
        new = Counter(self._put_under_way(outcome))
        left = Counter(self._under_way())
        for key, steps in list(self._steps.items()):
            if self._stays(key[1]):
                continue  # of equal ones a set has one, however often they were sent
            while len(steps) > left[key] - new[key]:
                step = steps.popleft()
                if self._may_return:
                    self._lost.setdefault(key, deque()).append(step)
            if not steps:
                del self._steps[key]

    def _under_way(self) -> Iterator[tuple[NodeId, Envelope]]:
        system, cells = self._world.system, self._world.cells
        for index, node in enumerate(system.ids):
            for envelope in cells[system.layout.inbox(index)].envelopes():
                yield node, envelope
