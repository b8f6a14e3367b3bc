"""Refusals open to a node: substitutes that its network may produce by itself.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: execution steering.
"""

from __future__ import annotations

from worldline.model.events import Event
from worldline.model.filters import REFUSABLE
from worldline.model.kinds import Kind
from worldline.model.network import Capability, carrier
from worldline.model.system import System
from worldline.worlds.companions import Instead


def refusal_of(system: System, event: Event) -> Instead | None:
    """Return what happens instead of an event; None if it cannot be refused."""
    if event.kind not in REFUSABLE:
        return None
    if event.kind is not Kind.DELIVER or event.peer == event.node:
        return Instead.PUT_OFF
    able = carrier(system.network, event.part, type(event.payload)).capabilities
    if Capability.DISCONNECT in able:
        return Instead.BROKEN
    return Instead.CONSUMED if Capability.DROP in able else Instead.PUT_OFF
