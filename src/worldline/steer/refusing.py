"""What happens instead of an event that a node refuses, as companions say it."""

from __future__ import annotations

from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Capability, carrier
from worldline.model.system import System
from worldline.worlds.companions import Instead


def refusal_of(system: System, event: Event) -> Instead | None:
    """Return what is to happen instead of an event; None if it cannot be refused.

    It is something that the network of the system does by itself: a message is lost with
    its connection, or where messages are lost; else it comes later, as timers and calls do.
    """
    if event.kind in (Kind.TIMER, Kind.CALL):
        return Instead.PUT_OFF
    if event.kind is not Kind.DELIVER or event.peer == event.node:
        return None
    can = carrier(system.network, event.part, type(event.payload)).capabilities
    if Capability.DISCONNECT in can:
        return Instead.BROKEN
    return Instead.CONSUMED if Capability.DROP in can else Instead.PUT_OFF
