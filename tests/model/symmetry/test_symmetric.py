"""Declaring symmetric nodes: what data gives away is refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

import worldline as wl
from worldline.model.data.identity import without_order

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Note:
    text: str = ""


@wl.node
class Inner:
    rank: int = 0


@wl.ignores(Note)
@wl.node
class Node:
    peers: Any = None
    rank: int = 0
    noise: int = wl.ignored(default=0)

    @wl.call
    def poke(self, ctx: wl.Context, other: wl.NodeId | None) -> None:
        self.rank += 1

    @wl.call(when=lambda self: self.rank < 2)
    def stop(self, ctx: wl.Context) -> None:
        self.rank = 2


@wl.node
class Other:
    rank: int = 0


@wl.node
class Stacked:
    inner: Inner = wl.part()


def system(nodes: dict[wl.NodeId, Any] | None = None, **options: Any) -> wl.System:
    options.setdefault("symmetry", [wl.symmetric([A, B])])
    return wl.System(nodes or {A: Node(), B: Node(), C: Node(rank=1)}, **options)


def poke(target: wl.NodeId | None) -> Any:
    return wl.invoke(Node.poke, target)


RIGHT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "each other": {"nodes": {A: Node(B), B: Node(A)}},
    "a set": {"nodes": {A: Node({A, B}), B: Node({A, B})}},
    "mentioned elsewhere as a set": {
        "nodes": {A: Node(), B: Node(), C: Node({A: 1, B: 1})}
    },
    "scripts": {
        "workload": [
            wl.script(A, [poke(B), poke(C)]),
            wl.script(C, [Node.stop]),
            wl.script(B, [poke(A), poke(C)]),
        ]
    },
    "whenever": {"workload": [wl.whenever(poke(A)), wl.whenever(poke(B))]},
    "guards of equal code": {
        "workload": [
            wl.whenever(Node.stop, nodes=[node], when=lambda self: self.rank < 1)
            for node in (A, B)
        ]
    },
    "faults": {"faults": wl.Faults(resets=1, nodes=(B, A))},
    "cuts": {"faults": wl.Faults(partitions=1, cuts=((A,), (A, C), (C,)))},
    "all cuts": {"faults": wl.Faults(partitions=1)},
    "ids instead of a group": {"symmetry": [[A, B]]},
    "groups of one": {"symmetry": [[A], [B], [C]]},
    "prologue": {
        "prologue": [wl.events.reset(A)],
        "faults": wl.Faults(resets=1),
    },
}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a field": (
        {"nodes": {A: Node(rank=1), B: Node()}},
        r"Node.rank of b is 0; with a and b exchanged it would be 1",
    ),
    "an ignored field": (
        {"nodes": {A: Node(noise=1), B: Node()}},
        "Node.noise of b is 0",
    ),
    "a field of a part": (
        {"nodes": {A: Stacked(Inner(1)), B: Stacked(Inner())}},
        "Stacked.inner.rank of b is 0",
    ),
    "a class": ({"nodes": {A: Node(), B: Other()}}, "class of b is Other"),
    "a list of ids": (
        {"nodes": {A: Node(), B: Node(), C: Node((A, B))}},
        r"Node.peers of c is \(a, b\); with a and b exchanged it would be \(b, a\)",
    ),
    "a name": ({"nodes": {A: Node("a"), B: Node("b")}}, "Node.peers of b is 'b'"),
    "a script": (
        {"workload": [wl.script(A, [poke(B)]), wl.script(B, [poke(B)])]},
        r"workload of b is poke\(b\) .*exchanged it would be poke\(a\)",
    ),
    "no script": ({"workload": [wl.script(A, [poke(None)])]}, "workload of b is empty"),
    "on_reset": (
        {
            "workload": [
                wl.script(A, [Node.stop]),
                wl.script(B, [Node.stop], on_reset="continue"),
            ]
        },
        r"stop\(\) \(continue on a reset\)",
    ),
    "whenever": (
        {"workload": [wl.whenever(Node.stop, nodes=[A])]},
        r"called at any time on b is nothing; .* it would be stop\(\)",
    ),
    "guards": (
        {
            "workload": [
                wl.whenever(Node.stop, nodes=[A], when=lambda self: self.rank < 1),
                wl.whenever(Node.stop, nodes=[B]),
            ]
        },
        "called at any time on b",
    ),
    "faults": ({"faults": wl.Faults(resets=1, nodes=(A, C))}, r"Faults\(nodes"),
    "cuts": (
        {"faults": wl.Faults(partitions=1, cuts=((A,), (C,)))},
        r"no split \[b\] beside \[a\]",
    ),
    "the same cut twice": (
        {"faults": wl.Faults(partitions=1, cuts=((A, B), (C,)))},
        "one split of the network twice",
    ),
    "a node twice": ({"symmetry": [[A, B], [B, C]]}, "names b twice"),
    "no node": ({"symmetry": [[A, wl.ids("x")[0]]]}, "names x, which is no node"),
}


@pytest.mark.parametrize("options", RIGHT.values(), ids=RIGHT)
def test_what_is_symmetric_is_accepted(options: dict[str, Any]) -> None:
    assert all(len(group) > 1 for group in system(**options).symmetry)


@pytest.mark.parametrize(("options", "text"), WRONG.values(), ids=WRONG)
def test_what_is_not_is_refused_and_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(wl.ModelError, match=text):
        system(**options)


def test_members_are_kept_in_order_of_declaration() -> None:
    assert system(symmetry=[wl.symmetric([B, A])]).symmetry == ((A, B),)


def test_only_comparisons_that_depend_on_names_are_refused() -> None:
    d, e = wl.ids("d", "e")
    with without_order([(A, C), (d, e)]):
        assert A <= A
        assert A >= A
        assert not A < A
        assert d > B
        assert d > A
        assert e > C
        assert sorted([(2, A), (1, C)]) == [(1, C), (2, A)]
        for one, other in ((A, C), (C, A), (A, B), (B, C), (d, e)):
            for compare in ("__lt__", "__le__", "__gt__", "__ge__"):
                with pytest.raises(wl.Asymmetry, match="comes first"):
                    getattr(one, compare)(other)
    assert A < C
