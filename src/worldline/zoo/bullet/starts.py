"""States from which a search begins: those of the paper's scenario and of its variants.

Each is reached by a legal schedule from the initial state, as a deployed system would
have come to it. The paper tells one scenario, without names; there are a source, a node
A that downloads from it, and B, which downloads from A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl
from worldline.zoo.bullet.messages import PeerAck, PeerReq, Request
from worldline.zoo.bullet.protocol import Bullet

Names: TypeAlias = Mapping[str, wl.NodeId]
Patterns: TypeAlias = list[wl.events.Pattern]


@dataclass(frozen=True)
class Start:
    """A start state; the file has two blocks, and one message fits a send buffer.

    Attributes
    ----------
    contacts
        The nodes by name, the source first, and whom each downloads from.
    prologue
        How the state is reached from the initial one.
    """

    contacts: Mapping[str, tuple[str, ...]]
    prologue: Callable[[Names], Patterns] = lambda names: []


BLOCKS, WINDOW, BUFFER = 2, 1, 1
"""In all start states."""


def _asks_source(n: Names) -> Patterns:
    """A has the source for its sender, and has requested its first block.

    Whomever else it wants for a sender has not heard of it yet.
    """
    return [
        wl.events.call(n["a"], Bullet.download),
        wl.events.deliver(n["source"], PeerReq, n["a"]),
        wl.events.deliver(n["a"], PeerAck, n["source"]),
    ]


def _has_a_receiver(n: Names) -> Patterns:
    """B is A's receiver, of whom it knows that it has nothing yet.

    A's first block is under way.
    """
    return [
        wl.events.call(n["b"], Bullet.download),
        wl.events.deliver(n["a"], PeerReq, n["b"]),
        wl.events.deliver(n["b"], PeerAck, n["a"]),
        *_asks_source(n),
        wl.events.deliver(n["source"], Request, n["a"]),
    ]


_CHAIN = {"source": (), "a": ("source",), "b": ("a",)}

STARTS = {
    "cb1": Start(_CHAIN, _has_a_receiver),
    "cb2": Start(_CHAIN, _has_a_receiver),
    "cb3": Start({**_CHAIN, "a": ("source", "b")}, _asks_source),
}
"""By bug. For `cb3`, A and B want each other for senders, so that A's own words to B fill
the buffer when B asks it."""
