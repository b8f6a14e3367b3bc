"""The messages under way in a candidate, with the steps that sent them.

A mailbox knows no senders' steps, since equal messages are one event; so who sent what
is followed here, in the order of sending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.message import Envelope
from worldline.model.network import Capability, carrier
from worldline.model.system import System
from worldline.shrink.matching import Rung, fingerprint
from worldline.shrink.steps import Sending
from worldline.worlds.remembered import Parcel
from worldline.worlds.remembering import RememberingWorld

Mailing: TypeAlias = tuple[Sending, Parcel]
"""A message under way, and its sending."""


@final
class Transit:
    """What is under way, pair by pair, the message that was sent first in front."""

    __slots__ = ("_queues", "_sent", "_stays", "_system")

    def __init__(self, system: System) -> None:
        self._system = system
        self._queues: dict[int, list[Mailing]] = {}  # by `Parcel.channel`
        self._sent: dict[Sending, Parcel] = {}
        members = getattr(system.network, "members", (system.network,))
        self._stays = any(Capability.HOLDS_FOR_EVER in m.capabilities for m in members)

    def copy(self) -> Transit:
        """Return another one that knows the same."""
        other = Transit.__new__(Transit)
        other._system, other._stays = self._system, self._stays
        other._queues = {pair: queue.copy() for pair, queue in self._queues.items()}
        other._sent = self._sent.copy()
        return other

    def put(self, place: int, parcels: Iterable[Parcel]) -> None:
        """Note what the step at a place has sent."""
        if self._stays:
            for number, parcel in enumerate(parcels):
                self.add((place, number), parcel)
            return
        queues, sent = self._queues, self._sent
        for number, parcel in enumerate(parcels):
            sending = place, number
            sent[sending] = parcel
            queue = queues.get(parcel.channel)
            if queue is None:
                queues[parcel.channel] = [(sending, parcel)]
            else:
                queue.append((sending, parcel))

    def add(self, sending: Sending, parcel: Parcel) -> None:
        """Note one message."""
        self._sent[sending] = parcel
        queue = self._queues.setdefault(parcel.channel, [])
        is_set = self._stays and self._is_kept(parcel.envelope)
        if not (is_set and any(other is parcel for _, other in queue)):
            queue.append((sending, parcel))

    def oldest(self, parcel: Parcel) -> Sending | None:
        """Return the first sending of a message that is under way; None if it is not."""
        for sending, other in self._queues.get(parcel.channel, ()):
            if other is parcel:
                return sending
        return None

    def take(self, parcel: Parcel, sending: Sending | None) -> None:
        """Note that a message has left the network: that of a sending, if it can be."""
        if self._stays and self._is_kept(parcel.envelope):
            return
        queue = self._queues.get(parcel.channel, [])
        if queue and queue[0][0] is sending and queue[0][1] is parcel:
            del queue[0]
        else:
            position = _place(queue, parcel, sending)
            if position is None and sending is not None:
                position = _place(queue, parcel, None)
            if position is not None:
                sending = queue.pop(position)[0]
        if sending is not None:
            self._sent.pop(sending, None)

    def double(self, parcel: Parcel, sending: Sending | None) -> None:
        """Note that a message is under way once more."""
        mailing = sending or (-1, -1), parcel
        self._queues.setdefault(parcel.channel, []).insert(0, mailing)

    def look_again(self, world: RememberingWorld) -> None:
        """Forget what a fault has lost: of equal messages the oldest ones."""
        layout = world.system.layout
        left: Counter[Parcel] = Counter()
        for index in range(len(world.system.ids)):
            envelopes = world.cells[layout.inbox(index)].envelopes()
            left.update(world.parcel(index, envelope) for envelope in envelopes)
        for queue in self._queues.values():
            kept: list[Mailing] = []
            for mailing in reversed(queue):
                if left[mailing[1]]:
                    left[mailing[1]] -= 1
                    kept.append(mailing)
                else:
                    self._sent.pop(mailing[0], None)
            queue[:] = reversed(kept)

    def queue(self, channel: int) -> Sequence[Mailing]:
        """Return what is under way between two nodes."""
        return self._queues.get(channel, ())

    def find(
        self, rung: Rung, wanted: Parcel, sending: Sending | None
    ) -> Mailing | None:
        """Return the message that is taken for another, on one rung of the ladder."""
        kind = wanted.kind
        if rung is Rung.CAUSE:
            parcel = self._sent.get(sending) if sending is not None else None
            if parcel is None or parcel.to != wanted.to or parcel.kind is not kind:
                return None
            return sending, parcel  # type: ignore[return-value]
        queue: Any = self._queues.get(wanted.channel, ())
        if rung is Rung.CONTENT:
            for mailing in queue:
                if mailing[1] is wanted:
                    return mailing  # type: ignore[no-any-return]
            return None
        shape = _shape(wanted) if rung is Rung.FINGERPRINT else None
        part = wanted.envelope.part
        for mailing in queue if rung is Rung.TYPE_FIRST else reversed(queue):
            other = mailing[1]
            is_alike = other.kind is kind and other.envelope.part == part
            if is_alike and (shape is None or _shape(other) == shape):
                return mailing  # type: ignore[no-any-return]
        return None

    def _is_kept(self, envelope: Envelope) -> bool:
        network = carrier(self._system.network, envelope.part, type(envelope.message))
        return Capability.HOLDS_FOR_EVER in network.capabilities


def _shape(parcel: Parcel) -> Frozen:
    """Return the fingerprint of a message, worked out once."""
    if parcel.shape is None:
        parcel.shape = fingerprint(parcel.envelope)
    return parcel.shape


def _place(
    queue: Sequence[Mailing], parcel: Parcel, sending: Sending | None
) -> int | None:
    """Return where in a queue a message is: that of a sending, if one is given."""
    for position, (sent, other) in enumerate(queue):
        if other is parcel and (sending is None or sent == sending):
            return position
    return None
