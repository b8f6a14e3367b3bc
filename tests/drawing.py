"""A system whose calls draw their arguments, and whose scripts wait."""

from __future__ import annotations

from typing import Any

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Stored:
    """Tells a peer what was put on a shelf."""

    key: str
    value: int


@wl.node
class Shelf:
    """Keeps the greatest value of each key, and tells its peers."""

    held: dict[str, int] = wl.field(default_factory=dict)
    taken: tuple[wl.NodeId, ...] = ()

    @wl.call(when=lambda self, key, value: self.held.get(key, -1) < value)
    def put(self, ctx: wl.Context, key: str, value: int) -> None:
        self.held[key] = value
        for peer in ctx.nodes:
            if peer != ctx.me:
                ctx.send(peer, Stored(key, value))

    @wl.call(when=lambda self, key, by=None: key in self.held)
    def take(self, ctx: wl.Context, key: str, by: wl.NodeId | None = None) -> None:
        del self.held[key]
        self.taken += (by or ctx.me,)

    @wl.on(Stored)
    def stored(self, ctx: wl.Context, src: wl.NodeId, msg: Stored) -> None:
        self.held[msg.key] = max(msg.value, self.held.get(msg.key, -1))


def has_two(self: Shelf) -> bool:
    return len(self.held) == 2


def shelves(**options: Any) -> wl.System:
    """Two shelves: one is filled at random, the other emptied when it is full."""
    return wl.System(
        {A: Shelf(), B: Shelf()},
        workload=[
            wl.whenever(
                Shelf.put,
                key=wl.one_of("x", "y"),
                value=wl.integers(0, 1),
                nodes=[A],
                when=lambda self, key, value: (key, value) != ("y", 1),
            ),
            wl.script(
                B,
                [
                    wl.wait_until(has_two),
                    wl.invoke(Shelf.take, wl.one_of("x", "y"), by=wl.one_of(B, A)),
                    wl.invoke(Shelf.take, wl.one_of("y", "x")),
                    wl.wait_until(lambda self: len(self.taken) == 2, name="two taken"),
                ],
            ),
        ],
        **options,
    )
