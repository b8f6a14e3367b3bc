"""BitVault with what is in its objects: bytes, on the disks of those who have replicas.

The rest of the package needs the names of objects alone. Here their contents travel with
the replicas, and clients retrieve them at any node: the owner knows who has one.
"""

from __future__ import annotations

import hashlib

import worldline as wl
from worldline.zoo.bitvault.messages import Content, Retrieve, StoreContent
from worldline.zoo.bitvault.protocol import BitVault


def content_of(key: str, size: int) -> bytes:
    """Return bytes that stand for the content of an object; no two are alike."""
    return hashlib.shake_128(key.encode()).digest(size)


@wl.node
class ContentVault(BitVault):
    """A node that stores contents.

    Attributes
    ----------
    contents
        Of the objects of which this node has a replica.
    retrieved
        How many bytes came of each object that a client has asked for here.
    """

    contents: dict[str, bytes] = wl.durable(default_factory=dict)
    retrieved: dict[str, int] = wl.field(default_factory=dict)

    @wl.call
    def put(self, ctx: wl.Context, key: str, content: bytes) -> None:
        """Store an object with its content."""
        self.contents[key] = content
        self.inserted = self.inserted | {key}
        self.replicas.add(key)
        self._stores(ctx)

    @wl.call
    def get(self, ctx: wl.Context, key: str) -> None:
        """Retrieve an object: from here, or from who has it."""
        if key in self.contents:
            self.retrieved[key] = len(self.contents[key])
        else:
            ctx.send(self.owner(key), Retrieve(key, self.me))

    @wl.on(Retrieve)
    def retrieve(self, ctx: wl.Context, src: wl.NodeId, msg: Retrieve) -> None:
        """Send a content, or ask one who has it."""
        holders = sorted(self.index.get(msg.key, frozenset()) - {self.me})
        if msg.key in self.contents:
            ctx.send(msg.reader, Content(msg.key, self.contents[msg.key]))
        elif holders and not msg.forwarded:
            asked = Retrieve(msg.key, msg.reader, forwarded=True)
            ctx.send(ctx.choose(holders), asked)

    @wl.on(Content)
    def receive(self, ctx: wl.Context, src: wl.NodeId, msg: Content) -> None:
        self.retrieved[msg.key] = len(msg.content)

    @wl.on(StoreContent)
    def store_content(self, ctx: wl.Context, src: wl.NodeId, msg: StoreContent) -> None:
        if msg.key not in self.contents:
            self.contents[msg.key] = msg.content
        self._store(ctx, src, msg.key, moved=msg.moved)

    def _send_replica(
        self, ctx: wl.Context, to: wl.NodeId, key: str, *, moved: bool = False
    ) -> None:
        ctx.send(to, StoreContent(key, self.contents[key], moved))

    def _remove(self, ctx: wl.Context, key: str) -> None:
        del self.contents[key]
        super()._remove(ctx, key)
