"""States from which a search begins: those of the scenarios that the papers tell.

Each is reached by a legal schedule from the initial state, so that what is found from
there is a run of the system. CrystalBall finds its bugs in the same way, from a state
that a deployed system has come to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import worldline as wl
from worldline.zoo.randtree.messages import Join, JoinReply, NewRoot, UpdateSiblings
from worldline.zoo.randtree.protocol import RandTree

Names: TypeAlias = Mapping[str, wl.NodeId]
Patterns: TypeAlias = list[wl.events.Pattern]


@dataclass(frozen=True)
class Start:
    """A start state.

    Attributes
    ----------
    contacts
        The nodes by name, in order of address, and whom each passes to
        `RandTree.join_overlay`.
    prologue
        How the state is reached from the initial one.
    max_children
        How many children a node may have, if the scenario depends on it.
    """

    contacts: Mapping[str, tuple[str, ...]]
    prologue: Callable[[Names], Patterns] = lambda names: []
    max_children: int | None = None


def joined_by(contacts: str, size: int) -> dict[str, tuple[str, ...]]:
    """Return whom each of `size` nodes knows: the ``first``, in a ``ring``, or ``all``."""
    names = [f"n{number}" for number in range(size)]
    if contacts == "first":
        return dict.fromkeys(names, (names[0],))
    if contacts == "ring":
        return dict(zip(names, [(n,) for n in names[1:] + names[:1]], strict=True))
    return {name: tuple(names) for name in names}


def _joins(node: wl.NodeId) -> Patterns:
    """Let a node join, and everything settle."""
    return [wl.events.call(node, RandTree.join_overlay), wl.events.settle()]


def _two_roots(n: Names) -> Patterns:
    """n2 is a child of n1, because n0 came late and is the root of itself."""
    late = wl.events.timer(n["n2"], RandTree.join)
    return [
        *_joins(n["n1"]),
        *_joins(n["n2"]),
        late,
        wl.events.settle(),
        *_joins(n["n0"]),
    ]


def _below_its_peer(n: Names) -> Patterns:
    """R is the root of A and D, and B is under A, which had asked B for a place."""
    again = [
        wl.events.call(n["b"], RandTree.join_overlay),
        wl.events.deliver(n["r"], Join, n["b"], choices=[1]),
        wl.events.settle(),
    ]
    first = [*_joins(n["r"]), *_joins(n["b"]), *_joins(n["a"])]
    return [
        *first,
        wl.events.reset(n["b"]),
        wl.events.settle(),
        *_joins(n["d"]),
        *again,
    ]


def _chain(n: Names) -> Patterns:
    """P is under R, N under P, and B under N, which had asked B for a place.

    B was reset after it had passed N's Join on, and so lost its own place to N.
    """
    return [
        *_joins(n["r"]),
        *_joins(n["p"]),
        *_joins(n["b"]),
        wl.events.call(n["n"], RandTree.join_overlay),
        wl.events.deliver(n["b"], Join, n["n"]),
        wl.events.deliver(n["r"], Join, n["b"]),
        wl.events.reset(n["b"]),
        wl.events.transport_error(n["p"], n["b"]),
        wl.events.settle(),
        *_joins(n["b"]),
    ]


def _root_above(n: Names) -> Patterns:
    """CrystalBall, figure 2: n13 joined n9; then n1 joined n9 and became the root."""
    return [*_joins(n["n9"]), *_joins(n["n13"]), *_joins(n["n1"])]


def _handed_over(n: Names) -> Patterns:
    """A was the root with the child B; R joined A, and A made it the root."""
    late = wl.events.timer(n["b"], RandTree.join)
    return [
        *_joins(n["a"]),
        *_joins(n["b"]),
        late,
        wl.events.settle(),
        *_joins(n["r"]),
    ]


def _below_child(n: Names) -> Patterns:
    """R is the root of A and C, and B is under A."""
    to_a = [
        wl.events.call(n["b"], RandTree.join_overlay),
        wl.events.deliver(n["r"], Join, n["b"], choices=[1]),
        wl.events.settle(),
    ]
    return [*_joins(n["r"]), *_joins(n["c"]), *_joins(n["a"]), *to_a]


def _moved_below_sibling(n: Names) -> Patterns:
    """R is the root of A and C; B was under A and now, after a reset, is under C.

    A has not noticed the reset.
    """
    to_c = [
        wl.events.reset(n["b"], deaf=[n["a"]]),
        wl.events.transport_error(n["r"], n["b"]),
        wl.events.call(n["b"], RandTree.join_overlay),
        wl.events.deliver(n["r"], Join, n["b"], choices=[0]),
        wl.events.settle(),
    ]
    return [*_below_child(n), *to_c]


def _two_children(n: Names) -> Patterns:
    """R is the root of A and C."""
    return [*_joins(n["r"]), *_joins(n["c"]), *_joins(n["a"])]


def _failed_over(n: Names) -> Patterns:
    """CrystalBall, figure 10: n61 is the root of n65 and n69, and above n5 and n9.

    That a smaller node is below a larger one takes a root that failed: n1 was above
    n61, n65 and n69, with n5 under n61 and n9 under n69. When it crashed, the smallest
    of its children took over.
    """
    placed = [step for name in ("n1", "n61", "n65", "n69") for step in _joins(n[name])]
    for name, place in (("n5", 0), ("n9", 2)):
        placed += [
            wl.events.call(n[name], RandTree.join_overlay),
            wl.events.deliver(n["n61"], Join, n[name]),
            wl.events.deliver(n["n1"], Join, n["n61"], choices=[place]),
            wl.events.settle(),
        ]
    return [*placed, wl.events.crash(n["n1"]), wl.events.settle()]


def _gave_up_root(n: Names) -> Patterns:
    """A was the root of B and C; R joined A, and A made it the root."""
    joins = [_joins(n[name]) for name in ("a", "c", "b", "r")]
    return [step for steps in joins for step in steps]


def _waits(n: Names) -> Patterns:
    """B has asked A for a place, and A has yet to join itself."""
    return [wl.events.call(n["b"], RandTree.join_overlay)]


def _asked_two_roots(n: Names) -> Patterns:
    """Q and P are roots, and both have taken C in: P's answer came first."""
    return [
        wl.events.call(n["q"], RandTree.join_overlay),
        wl.events.call(n["p"], RandTree.join_overlay),
        wl.events.call(n["c"], RandTree.join_overlay),
        wl.events.deliver(n["q"], Join, n["c"]),
        wl.events.timer(n["c"], RandTree.join),
        wl.events.deliver(n["p"], Join, n["c"]),
        wl.events.deliver(n["c"], JoinReply, n["p"]),
    ]


def _below_a_root(n: Names) -> Patterns:
    """B is a child of the root C, and A has not joined yet."""
    return [*_joins(n["c"]), *_joins(n["b"])]


def _accepted_twice(n: Names) -> Patterns:
    """R and P both have N for a child, and N all whom it knows.

    R was full when N's join came through K, and sent it on to P. It had lost P when
    the same join came again, since N had waited too long for the answer. P, which has
    lost R, takes itself for the root; N is below it. K, which was reset, has looked for
    R and then for N, and P was full.
    """
    placed = [*_joins(n["r"]), *_joins(n["p"]), *_joins(n["k"])]
    placed += [
        wl.events.call(n["y"], RandTree.join_overlay),
        wl.events.deliver(n["r"], Join, n["y"], choices=[0]),
        wl.events.settle(),
    ]
    through_k = [
        wl.events.deliver(n["k"], Join, n["n"]),
        wl.events.deliver(n["r"], Join, n["k"]),
    ]
    first = [
        wl.events.call(n["n"], RandTree.join_overlay),
        *through_k,
        wl.events.deliver(n["p"], Join, n["r"]),
    ]
    second = [
        wl.events.timer(n["n"], RandTree.join),
        wl.events.disconnect(n["r"], n["p"]),
        wl.events.transport_error(n["r"], n["p"]),
        *through_k,
    ]
    below_p = [
        wl.events.deliver(n["n"], JoinReply, n["p"]),
        wl.events.transport_error(n["p"], n["r"]),
        wl.events.deliver(n["n"], NewRoot, n["p"]),
        wl.events.deliver(n["n"], UpdateSiblings, n["p"]),
    ]
    k_moves = [
        wl.events.reset(n["k"]),
        wl.events.transport_error(n["r"], n["k"]),
        wl.events.transport_error(n["n"], n["k"]),
        wl.events.call(n["k"], RandTree.join_overlay),
        wl.events.timer(n["k"], RandTree.join),
        wl.events.deliver(n["n"], Join, n["k"]),
        wl.events.deliver(n["p"], Join, n["n"], choices=[1]),
        wl.events.deliver(n["n"], Join, n["p"]),
    ]
    p_asks_r = [
        wl.events.timer(n["p"], RandTree.join),
        wl.events.deliver(n["r"], Join, n["p"]),
    ]
    return [*placed, *first, *second, *below_p, *k_moves, *p_asks_r]


_FOUR = {"r": (), "c": ("r",), "a": ("r",), "b": ("r",)}

STARTS = {
    "rt3": Start({"n0": (), "n1": (), "n2": ("n0", "n1")}),
    "rt4": Start({"r": ("q",), "q": (), "p": (), "c": ("q", "p")}, _asked_two_roots),
    "rt9": Start(
        {"r": (), "p": ("r",), "k": ("r", "n"), "y": ("r",), "n": ("k",)},
        _accepted_twice,
        max_children=2,
    ),
    "rt10": Start(
        {"r": ("q",), "q": (), "p": (), "c": ("q", "p")},
        _asked_two_roots,
        max_children=1,
    ),
    "rt12": Start(
        {"q": (), "p": (), "c": ("q", "p")}, _asked_two_roots, max_children=1
    ),
    "rt13": Start({"c": (), "b": ("c",), "a": ("b",)}, _below_a_root),
    "rt7": Start({"r": (), "d": ("r",), "a": ("b",), "b": ("r",)}, _below_its_peer),
    "rt8": Start(
        {"r": (), "p": ("r",), "n": ("b",), "b": ("r",)}, _chain, max_children=1
    ),
    "rt14": Start({"n0": (), "n1": ("n2",), "n2": ("n0", "n1")}, _two_roots),
    "cb1": Start({"n1": ("n9",), "n9": (), "n13": ("n9",)}, _root_above),
    "cb2": Start({"r": ("a",), "a": (), "b": ("r", "a")}, _handed_over),
    "cb3": Start(_FOUR, _moved_below_sibling),
    "cb3-before": Start(_FOUR, _below_child),
    "cb4": Start({"r": (), "c": ("r",), "a": ("r",)}, _two_children),
    "cb5": Start(
        {
            "n1": (),
            "n5": ("n61",),
            "n9": ("n61",),
            "n61": ("n1",),
            "n65": ("n1",),
            "n69": ("n1",),
        },
        _failed_over,
        max_children=3,
    ),
    "cb6": Start({"r": ("a",), "a": (), "b": ("c",), "c": ("a",)}, _gave_up_root),
    "cb7": Start({"b": ("a",), "a": ()}, _waits),
}
