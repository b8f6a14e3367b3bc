"""Substitutes for an event that a node refuses: things that networks do by themselves.

On streams a message is lost and the connection with its sender breaks; where that is not
open, the sender hears of it as of a connection that is refused. A datagram is dropped
where messages can be lost. A timer or a call is put off, as is any other message: then
nothing happens. None of it draws on the budgets of faults.
"""

from __future__ import annotations

from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network import Capability, Mailbox, carrier
from worldline.model.network.datagrams import concerning
from worldline.model.system import System


def all_instead_of(system: System, event: Event) -> tuple[Event, ...]:
    """Return all that may happen instead of an event: of these, one in each state."""
    node, peer, envelope = event.node, event.peer, event.envelope
    if event.kind is not Kind.DELIVER or node is None or peer is None or node == peer:
        return ()
    assert envelope is not None
    network = carrier(system.network, event.part, type(envelope.message))
    if Capability.DISCONNECT in network.capabilities:
        first, second = sorted((node, peer), key=lambda one: system.index[one])
        broken = Event(Kind.DISCONNECT, first, peer=second)
        return broken, concerning(Kind.REFUSE, node, envelope)
    if Capability.DROP in network.capabilities:
        return (concerning(Kind.DROP, node, envelope),)
    return ()


def instead_of(system: System, event: Event, inbox: Mailbox) -> Event | None:
    """Return what happens instead of an event; None if nothing does.

    Parameters
    ----------
    inbox
        The mailbox of its node, in the present state.
    """
    for one in all_instead_of(system, event):
        if fits(one, event, inbox):
            return one
    return None


def fits(one: Event, event: Event, inbox: Mailbox) -> bool:
    """Say whether it is this that happens instead of an event, of all that may."""
    if one.kind is Kind.DROP:
        return True
    return (one.kind is Kind.DISCONNECT) is (event.peer in inbox.breakable())
