"""Wishes: steps of no run, said by where and of what kind they are, whatever they say."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias, final

from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.layout import Layout
from worldline.model.semantics.transitions import own_events
from worldline.shrink.steps import ShrunkStep
from worldline.shrink.transit import Mailing, Transit
from worldline.worlds.remembering import RememberingWorld


@final
class Wish(NamedTuple):
    """Something that is to happen at a node.

    Attributes
    ----------
    kind
        A delivery, or what a node does by itself.
    node
        The node's number.
    source
        The number of the sender of a message.
    name
        The class of the message, the name of the timer or the call; empty for any.
    last
        Whether it is the last of those that there are; else the first.
    """

    kind: Kind
    node: int
    source: int = -1
    name: str = ""
    last: bool = False


Wanted: TypeAlias = ShrunkStep | Wish
"""What is to happen at some place of a candidate."""


def wish_of(step: ShrunkStep, world: RememberingWorld) -> Wish | None:
    """Return what a step of a run was, as a wish; None for what befalls a network."""
    event, numbers = step.known.event, world.system.index
    if event.node is None or (event.kind.arrives and event.kind is not Kind.DELIVER):
        return None
    source = -1 if event.peer is None else numbers[event.peer]
    return Wish(event.kind, step.known.index, source, event.name, last=True)


def granted_mailing(
    wish: Wish, world: RememberingWorld, transit: Transit
) -> Mailing | None:
    """Return the message that is taken for a wish; None if there is none."""
    queue = transit.queue(world.channel(wish.node, wish.source))
    for mailing in reversed(queue) if wish.last else queue:
        if not wish.name or mailing[1].kind.__name__ == wish.name:
            return mailing
    return None


def granted_event(wish: Wish, world: RememberingWorld) -> Event | None:
    """Return what the node does for a wish; None if it does not."""
    cells, layout = world.cells, world.system.layout
    events = [
        event
        for event in own_events(
            world.system,
            wish.node,
            cells[layout.hidden(wish.node)],
            cells[layout.inbox(wish.node)],
            cells[Layout.BUDGET],
        )
        if event.kind is wish.kind and (not wish.name or event.name == wish.name)
    ]
    if not events:
        return None
    return events[-1 if wish.last else 0]
