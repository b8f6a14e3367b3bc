"""The messages under way in a candidate, with the steps that sent them.

A mailbox knows no senders' steps, since equal messages are one event; so who sent what
is followed here, in the order of sending.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.message import Envelope
from worldline.model.network import Capability, carrier
from worldline.model.system import System
from worldline.shrink.matching import Rung, fingerprint
from worldline.shrink.steps import Sending
from worldline.worlds.remembered import Parcel
from worldline.worlds.remembering import RememberingWorld

Mailing: TypeAlias = tuple[Sending, Envelope]
"""A message under way, and its sending."""

Channel: TypeAlias = tuple[int, NodeId]
"""The index of the receiver, and the sender."""


@final
class Transit:
    """What is under way, pair by pair, the message that was sent first in front."""

    __slots__ = ("_queues", "_sent", "_stays", "_system")

    def __init__(self, system: System) -> None:
        self._system = system
        self._queues: dict[Channel, list[Mailing]] = {}
        self._sent: dict[Sending, Parcel] = {}
        members = getattr(system.network, "members", (system.network,))
        self._stays = any(Capability.HOLDS_FOR_EVER in m.capabilities for m in members)

    def copy(self) -> Transit:
        """Return another one that knows the same."""
        other = Transit(self._system)
        other._queues = {pair: queue.copy() for pair, queue in self._queues.items()}
        other._sent = self._sent.copy()
        return other

    def put(self, place: int, parcels: Iterable[Parcel]) -> None:
        """Note what the step at a place has sent."""
        for number, parcel in enumerate(parcels):
            self.add((place, number), parcel)

    def add(self, sending: Sending, parcel: Parcel) -> None:
        """Note one message."""
        self._sent[sending] = parcel
        queue = self._queues.setdefault((parcel.to, parcel.envelope.src), [])
        is_set = self._stays and self._is_kept(parcel.envelope)
        if not (is_set and any(other == parcel.envelope for _, other in queue)):
            queue.append((sending, parcel.envelope))

    def take(self, to: int, envelope: Envelope, sending: Sending | None) -> None:
        """Note that a message has left the network: that of a sending, if it can be."""
        if self._stays and self._is_kept(envelope):
            return
        queue = self._queues.get((to, envelope.src), [])
        if sending is not None and (sending, envelope) in queue:
            queue.remove((sending, envelope))
        else:
            for position, (sent, other) in enumerate(queue):
                if other == envelope:
                    sending = sent
                    del queue[position]
                    break
        if sending is not None:
            self._sent.pop(sending, None)

    def double(self, to: int, envelope: Envelope, sending: Sending | None) -> None:
        """Note that a message is under way once more."""
        mailing = sending or (-1, -1), envelope
        self._queues.setdefault((to, envelope.src), []).insert(0, mailing)

    def look_again(self, world: RememberingWorld) -> None:
        """Forget what a fault has lost: of equal messages the oldest ones."""
        layout = world.system.layout
        for pair, queue in self._queues.items():
            mailbox = world.cells[layout.inbox(pair[0])]
            left = Counter(e for e in mailbox.envelopes() if e.src == pair[1])
            kept: list[Mailing] = []
            for mailing in reversed(queue):
                if left[mailing[1]]:
                    left[mailing[1]] -= 1
                    kept.append(mailing)
                else:
                    self._sent.pop(mailing[0], None)
            queue[:] = reversed(kept)

    def queue(self, to: int, src: NodeId) -> list[Mailing]:
        """Return what is under way between two nodes; not to be changed."""
        return self._queues.get((to, src), [])

    def find(
        self, rung: Rung, to: int, wanted: Envelope, sending: Sending | None
    ) -> Mailing | None:
        """Return the message that is taken for another, on one rung of the ladder."""
        if rung is Rung.CAUSE:
            parcel = self._sent.get(sending) if sending is not None else None
            if parcel is None or sending is None or parcel.to != to:
                return None
            is_alike = type(parcel.envelope.message) is type(wanted.message)
            return (sending, parcel.envelope) if is_alike else None
        queue: Any = self._queues.get((to, wanted.src), ())
        if rung is Rung.CONTENT:
            return next((mailing for mailing in queue if mailing[1] == wanted), None)
        if rung in (Rung.FINGERPRINT, Rung.TYPE_LAST):
            queue = reversed(queue)
        kind, part = type(wanted.message), wanted.part
        alike = (
            mailing
            for mailing in queue
            if type(mailing[1].message) is kind and mailing[1].part == part
        )
        if rung is Rung.FINGERPRINT:
            shape = fingerprint(wanted)
            alike = (mailing for mailing in alike if fingerprint(mailing[1]) == shape)
        return next(alike, None)

    def _is_kept(self, envelope: Envelope) -> bool:
        network = carrier(self._system.network, envelope.part, type(envelope.message))
        return Capability.HOLDS_FOR_EVER in network.capabilities
