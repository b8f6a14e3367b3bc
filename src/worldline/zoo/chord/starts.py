"""States from which a search begins: those of the scenarios that CrystalBall tells.

Each is reached by a legal schedule from the initial state, as a deployed system would
have come to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl
from worldline.zoo.chord.messages import FindPred
from worldline.zoo.chord.protocol import Chord

Names: TypeAlias = Mapping[str, wl.NodeId]
Patterns: TypeAlias = list[wl.events.Pattern]


@dataclass(frozen=True)
class Start:
    """A start state.

    Attributes
    ----------
    keys
        The nodes of the scenario by the names that they have there, and where they
        stand; the first founds the ring.
    contacts
        Those whom everybody may ask for a place.
    prologue
        How the state is reached from the initial one.
    keep
        How many successors nodes keep.
    """

    keys: Mapping[str, int]
    contacts: str
    prologue: Callable[[Names], Patterns]
    keep: int = 2


BITS = 3
"""Of the keys in all start states."""


def _joins(node: wl.NodeId) -> Patterns:
    """Let a node join by way of the first contact, and everything settle."""
    return [wl.events.call(node, Chord.join, choices=[0]), wl.events.settle()]


def _stabilizes(node: wl.NodeId) -> Patterns:
    return [wl.events.timer(node, Chord.stabilize), wl.events.settle()]


def _without_b(n: Names) -> Patterns:
    """Figure 11: A, B, C and D were a ring, then B was reset, and all know.

    C joined before A: there is no connection between the two, though A knows C from B.
    """
    ring = [
        *[wl.events.call(n["d"], Chord.join), wl.events.settle()],
        *[step for name in "bc" for step in _joins(n[name])],
        *_stabilizes(n["b"]),
        *_joins(n["a"]),
        *_stabilizes(n["d"]),
        *_stabilizes(n["a"]),
    ]
    return [*ring, wl.events.reset(n["b"]), wl.events.settle()]


def _same_replies(n: Names) -> Patterns:
    """Figure 12: C was alone and has told A and B the same."""
    return [
        wl.events.call(n["c"], Chord.join),
        wl.events.call(n["a"], Chord.join),
        wl.events.call(n["b"], Chord.join),
        wl.events.deliver(n["c"], FindPred, n["a"]),
        wl.events.deliver(n["c"], FindPred, n["b"]),
        wl.events.settle(),
    ]


def _r_is_late(n: Names) -> Patterns:
    """All but R, which is to found the ring, have asked R for a place."""
    asked = [wl.events.call(n[name], Chord.join) for name in "abc"]
    return [*asked, wl.events.settle()]


STARTS = {
    "cb1": Start({"d": 7, "a": 1, "b": 3, "c": 5}, "da", _without_b, keep=3),
    "cb2": Start({"c": 4, "a": 2, "b": 1}, "c", _same_replies),
    "cb3": Start({"r": 0, "a": 2, "b": 4, "c": 6}, "r", _r_is_late),
}
