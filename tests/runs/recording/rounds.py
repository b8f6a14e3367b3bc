"""A small system to record: each node greets the next now and then, and counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import worldline as wl

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Greet:
    number: int


@wl.node
class Counting:
    peer: wl.NodeId
    greeted: int = 0
    kept: int = wl.durable(default=0)
    seen: int = wl.ignored(default=0)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Counting.greet, after=1.0)

    @wl.timer
    def greet(self, ctx: wl.Context) -> None:
        ctx.send(self.peer, Greet(reply(self.kept)))
        ctx.set_timer(Counting.greet, after=1.0)

    @wl.on(Greet)
    def greeting(self, ctx: wl.Context, src: wl.NodeId, msg: Greet) -> None:
        self.greeted += 1
        self.seen += 1
        self.kept = max(self.kept, msg.number)
        fail(self.kept)

    @wl.call
    def ask(self, ctx: wl.Context, words: str) -> None:
        self.kept += ctx.choose(options)

    @wl.transport_error
    def broken(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.greeted -= 1


def plus_one(number: int) -> int:
    return number + 1


def nothing(number: int) -> None:
    pass


options = [1, 2]
"""Those of a call; others are those of another version of the program."""

reply: Callable[[int], int] = plus_one
"""Another one is another version of the program."""

fail: Callable[[int], None] = nothing
"""The same."""


@wl.safety
def few_at_a(view: wl.View) -> bool:
    return bool(view[A].kept < 9)


@wl.safety
def few_at_b(view: wl.View) -> bool:
    return bool(view[B].kept < 900)


def few_at_c() -> wl.Property:
    """One of a node of which the journal may be missing."""

    @wl.safety
    def few_at_c(view: wl.View) -> bool:
        return bool(view[C].kept < 9)

    return few_at_c


@wl.safety
def few_everywhere(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].kept < 9)


@wl.sometimes
def b_greets(view: wl.View) -> bool:
    return bool(view[B].greeted > 2)


def system(network: Any = None, **options: Any) -> wl.System:
    """Three nodes in a ring."""
    options.setdefault("properties", [few_at_a, few_at_b, b_greets])
    return wl.System(
        nodes={A: Counting(B), B: Counting(C), C: Counting(A)},
        network=network or wl.datagrams(),
        name="rounds",
        **options,
    )
