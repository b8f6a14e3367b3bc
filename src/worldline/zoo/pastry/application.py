"""The application above Pastry: it joins the ring, and looks keys up there."""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.zoo.pastry.protocol import Pastry
from worldline.zoo.pastry.space import Key


@wl.message
class LookUp:
    """Tell me that you own this key."""

    key: Key


@wl.message
class Found:
    """I own this key."""

    key: Key


@wl.node
class Member:
    """An application that looks keys up.

    Attributes
    ----------
    pastry
        The ring.
    owners
        Who owns the keys that were looked up.
    touched
        How many routed messages have touched this node.
    """

    pastry: Pastry = wl.part()
    owners: dict[Key, wl.NodeId] = wl.field(default_factory=dict)
    touched: int = wl.ignored(default=0)

    @wl.call
    def join_overlay(self, ctx: wl.Context, peers: tuple[wl.NodeId, ...]) -> None:
        """Join the ring that `peers` are in."""
        self.pastry.join_overlay(ctx.part("pastry"), peers)

    @wl.call(when=lambda self, key: self.pastry.has_joined())
    def look_up(self, ctx: wl.Context, key: Key) -> None:
        """Ask who owns a key."""
        self.pastry.route_to(ctx.part("pastry"), key, LookUp(key))

    @wl.on(LookUp)
    def asked(self, ctx: wl.Context, src: wl.NodeId, msg: LookUp) -> None:
        ctx.send(src, Found(msg.key))

    @wl.on(Found)
    def found(self, ctx: wl.Context, src: wl.NodeId, msg: Found) -> None:
        self.owners[msg.key] = src

    @wl.upcall
    def forward(
        self, ctx: wl.Context, src: wl.NodeId, key: Key, hop: wl.NodeId, message: Any
    ) -> bool:
        """Count a message that touches this node, and let it pass."""
        self.touched += 1
        return True

    @wl.neighbours
    def known(self) -> list[wl.NodeId]:
        """Return the nodes beside this one in the ring."""
        return list(self.pastry.leaves())
