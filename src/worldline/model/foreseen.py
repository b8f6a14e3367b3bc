"""A failure that a node foresees, as its handler is told of it.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: a protocol could be told of a
predicted inconsistency, and react by a policy of its own; the paper leaves that out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

from worldline.model.data.identity import NodeId

Action: TypeAlias = Literal["reported", "filter", "unhelpful", "elsewhere"]
"""What was done: nothing but to say so; a filter; nothing, as none helps; nothing, as
another node would have to do it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A failure that may come, as the node is told that foresees it.

    Attributes
    ----------
    property
        What fails: a safety property, or how a handler does.
    steps
        How many steps it is away.
    action
        What was done about it: ``reported``, nothing, as the mode is ``predict``;
        ``filter``, what leads there is refused; ``unhelpful``, nothing, as no filter
        avoids it; ``elsewhere``, nothing here, as no step of this node can be refused.
    kind, part, name
        Of the first of these steps that runs a handler of this node: the kind of the
        event by its name, which is ``deliver``, ``timer``, ``call``, ``transport_error``,
        ``start``, ``reset`` or ``restart``; the part that it belongs to; and the message's
        class, the timer's, the call's or the error's name. The kind is None if there is
        no such step.
    peer
        The sender of that message, or whom that error is about.
    """

    property: str
    steps: int
    action: Action
    kind: str | None = None
    part: str = ""
    name: str = ""
    peer: NodeId | None = None
