"""The state in which a run begins that does not begin at the start.

It has every column of a state, node by node, spelt so that no system is needed to read
it: what a connection is to both of its ends stands at each of them once.
"""

# ruff: noqa: RUF009 -- `checked` is a field specifier, not a default

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from worldline.trace.json_text import Json
from worldline.trace.schema import (
    checked,
    data,
    flag,
    many,
    mapping,
    nested,
    one_of,
    optional,
    seconds,
    text,
    whole,
)

CONNECTION = ("closed", "open", "half")
"""What an end of a connection takes it for, in the order of the numbers of a link."""

PREDICTED = "predicted"
"""Stands among a header's options, where its faults are those of a prediction."""

UNSEEN = "unseen"
"""Stands there, where of a recorded run something is missing: of which ``nodes``, each with
the step after which nothing is known of it, null where it never is; and whether
``histories`` lack events from the beginning of the trace on."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRecord:
    """A pending timer; `after` are its seconds, null where delays decide nothing."""

    part: str = checked(text)
    name: str = checked(text)
    payload: Json = checked(data)
    after: float | None = checked(optional(seconds))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message under way: who sent it, to which part."""

    src: str = checked(text)
    part: str = checked(text)
    message: Json = checked(data)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRecord:
    """A node's end of a connection: how it is, and whether an error is under way."""

    peer: str = checked(text)
    end: str = checked(one_of(*CONNECTION))
    error: bool = checked(flag)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStateRecord:
    """The state of a node.

    Attributes
    ----------
    status
        ``new``, ``up`` or ``down``.
    fields
        Those that are part of a state's identity.
    ignored
        The others, those of parts dotted; none where they have their first values.
    timers
        In the order in which they were set.
    scripts
        How many calls of each script of the node were made.
    calls
        How many each of them has; none in older files.
    sequence
        How many numbers of its sequence it has used up.
    messages
        What is under way to it; of one sender in the order in which it was sent.
    links
        Its ends of connections that are not closed, or on which an error is under way.
    """

    name: str = checked(text)
    status: str = checked(one_of("new", "up", "down"))
    fields: dict[str, Json] = checked(mapping(data))
    ignored: dict[str, Json] | None = checked(optional(mapping(data)), later=True)
    timers: tuple[PendingRecord, ...] = checked(many(nested(PendingRecord)))
    scripts: tuple[int, ...] = checked(many(whole()))
    calls: tuple[int, ...] | None = checked(optional(many(whole())), later=True)
    sequence: int = checked(whole())
    messages: tuple[MessageRecord, ...] = checked(many(nested(MessageRecord)))
    links: tuple[LinkRecord, ...] = checked(many(nested(LinkRecord)))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class StateRecord:
    """A state.

    Attributes
    ----------
    budget
        What is left of each fault's budget; null means no limit.
    cut
        How the network is split: the position among the header's cuts.
    observers
        The values of the observers, by name, but for those of which none is known.
    nodes, absent
        The nodes, in order, but for those without a value, of which the names are
        known alone.
    gauges
        The values of the gauges of the run of which it is a part, by name.
    """

    budget: dict[str, int | None] = checked(mapping(optional(whole())))
    cut: int | None = checked(optional(whole()))
    observers: dict[str, Json] = checked(mapping(data))
    nodes: tuple[NodeStateRecord, ...] = checked(many(nested(NodeStateRecord)))
    absent: tuple[str, ...] = checked(many(text))
    gauges: dict[str, Json] | None = checked(optional(mapping(data)), later=True)
