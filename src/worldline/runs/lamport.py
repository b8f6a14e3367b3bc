"""The Lamport times of a run while it happens, as its trace will have them."""

from __future__ import annotations

from typing import NamedTuple, final

from worldline.model.events import Event
from worldline.model.semantics.outcome import Outcome
from worldline.runs.senders import Senders
from worldline.trace.causality import Order, lamport_time
from worldline.worlds.world import Readable


class _Caused(NamedTuple):
    """A step, as far as its place in the order depends on it."""

    step: int
    node: str | None
    kind: str
    name: str
    peer: str | None
    sent_in: int | None


@final
class LamportClock:
    """Takes the steps of a run in order, and tells the Lamport time of each.

    Parameters
    ----------
    world
        Before the first of them: nothing is under way.
    """

    def __init__(self, world: Readable) -> None:
        self._senders = Senders(world, is_new=True)
        self._order = Order(sockets_break=world.system.faults.break_sockets)
        self._times: dict[int, int] = {}

    def tick(self, number: int, event: Event, outcome: Outcome) -> int:
        """Return the Lamport time of a step that has just happened."""
        sent_in = self._senders.find(event)
        self._senders.note(number, event, outcome)
        node, peer = event.node, event.peer
        caused = _Caused(
            number,
            None if node is None else node.name,
            event.kind.value,
            event.name,
            None if peer is None else peer.name,
            sent_in,
        )
        time = lamport_time(self._times[n] for n in self._order.add(caused))
        self._times[number] = time
        return time
