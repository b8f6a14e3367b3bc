"""One node of a BitVault: its replicas, its index, and what keeps the two in step.

A bug is a condition such as ``"wids2" not in self.bugs``: what it guards is the fix.

Why it stabilises. A holder of replicas tells each node which of them it owns: the whole
list, again and again until the answer says that the latest list has been taken by the
latest incarnation. So once views have become equal, an owner's index is what the
holders have, whatever was lost, late, doubled or forgotten before. An owner takes one
step at a time for each object, a copy or a deletion, by its index alone, and goes on when
the index shows that the step is done; a holder deletes only for who it takes for the owner
and has told of the replica. Two owners of different views can delete more than each of
them means to, but not the same holder's; the next step copies again.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias, final

import worldline as wl
from worldline.zoo.bitvault.membership import Membership
from worldline.zoo.bitvault.messages import (
    DeleteReplica,
    IndexMove,
    IndexPublish,
    IndexPublished,
    MoveRequest,
    RepairRequest,
    Stored,
    StoreReplica,
)
from worldline.zoo.bitvault.ring import owner_of, share_of

TEND, BALANCE, AUDIT, GRACE = 5.0, 10.0, 600.0, 2.0
"""Seconds between two looks at the index, at the load, and at everything; and from when
a replica is stored elsewhere until the first load balancing deletes its source."""

TRIES = 3
"""How often a copy is asked for before another target is chosen."""

Told: TypeAlias = tuple[int, frozenset[str]]
"""A number and a list of objects."""


@final
@dataclass(frozen=True, slots=True)
class Change:
    """A step that the owner of an object waits for: a copy or a deletion.

    Attributes
    ----------
    node
        Where the new replica is to be, or the one to be deleted is.
    copies
        Whether it is a copy.
    source
        Whose replica is to be deleted after the copy: that of a move.
    tries
        How often the copy was asked for.
    """

    node: wl.NodeId
    copies: bool
    source: wl.NodeId | None = None
    tries: int = 1


@wl.node
class BitVault:
    """A node that stores replicas and owns a range of ids.

    Attributes
    ----------
    degree
        How many replicas each object is to have.
    replicas
        The objects of which this node has one, on its disk.
    index
        Who has replicas of an object, for those that the holders take this node to own.
    told
        What each node has taken last of this one's lists, and in which incarnation.
    offered
        The number and the objects of the last list that each node was sent.
    heard
        The number of the last list that was taken from each node.
    changes
        What this node, as the owner, is waiting for.
    inserted
        The objects that clients have inserted here.
    """

    me: wl.NodeId
    members: Membership = wl.part()
    degree: int = 3
    tempo: float = 1.0
    bugs: tuple[str, ...] = ()
    replicas: set[str] = wl.durable(default_factory=set)
    index: dict[str, frozenset[wl.NodeId]] = wl.field(default_factory=dict)
    told: dict[wl.NodeId, Told] = wl.field(default_factory=dict)
    offered: dict[wl.NodeId, Told] = wl.field(default_factory=dict)
    heard: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    changes: dict[str, Change] = wl.field(default_factory=dict)
    inserted: frozenset[str] = wl.ghost(default=frozenset())

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        """Tell the owners what is on the disk; the index has to come from others."""
        self._stores(ctx)
        for timer, period in ((BitVault.tend, TEND), (BitVault.balance, BALANCE)):
            ctx.set_timer(timer, after=self.tempo * period * share_of(self.me))
        ctx.set_timer(BitVault.audit, after=self.tempo * AUDIT)

    @wl.call
    def insert(self, ctx: wl.Context, key: str) -> None:
        """Store an object; its owner will see that it has too few replicas."""
        self.inserted = self.inserted | {key}
        self.replicas.add(key)
        self._stores(ctx)

    def owner(self, key: str) -> wl.NodeId:
        """Return who owns an object, as this node sees it."""
        return owner_of(key, self.members.up())

    def _stores(self, ctx: wl.Context) -> None:
        """Say how many replicas there are now, and to the owners, which."""
        self.members.load = len(self.replicas)
        self._publish(ctx)

    # -------------------------------------------------------------- index, at holders

    @wl.upcall
    def view_changed(
        self, ctx: wl.Context, was_up: AbstractSet[wl.NodeId], reborn: bool
    ) -> None:
        """Forget what the dead had, and tell new owners of the replicas here."""
        up = set(self.members.up())
        for node in was_up - up:
            self.told.pop(node, None)
            self.offered.pop(node, None)
            self._record(node, frozenset())
        if reborn:  # who took this node for dead has forgotten its list
            self.told.clear()
        self._publish(ctx)

    def _publish(self, ctx: wl.Context) -> None:
        """Send its list to each node that has not taken the one of now."""
        circle = self.members.up()
        lists: dict[wl.NodeId, set[str]] = {node: set() for node in circle}
        for key in self.replicas:
            lists[owner_of(key, circle)].add(key)
        for node, keys in lists.items():
            if not self._knows(node, keys):
                # From now on it may have this list or the last: neither is known.
                self.told.pop(node, None)
                number, objects = ctx.sequence(), frozenset(keys)
                self.offered[node] = number, objects
                mine = self.members.incarnation
                ctx.send(node, IndexPublish(mine, number, objects))

    def _knows(self, node: wl.NodeId, keys: AbstractSet[str]) -> bool:
        """Say whether a node has taken this list, and not forgotten it since."""
        if node not in self.told:
            return False
        incarnation, objects = self.told[node]
        is_same = incarnation == self.members.members[node][0]
        return objects == keys and (is_same or "wids2" in self.bugs)

    @wl.on(IndexPublished)
    def published(self, ctx: wl.Context, src: wl.NodeId, msg: IndexPublished) -> None:
        number, objects = self.offered.get(src, (0, frozenset()))
        if number == msg.number:
            self.told[src] = msg.incarnation, objects

    @wl.timer
    def audit(self, ctx: wl.Context) -> None:
        """Tell all owners again: what no other routine has noticed ends here."""
        self.told.clear()
        self._publish(ctx)
        ctx.set_timer(BitVault.audit, after=self.tempo * AUDIT)

    # --------------------------------------------------------------- index, at owners

    @wl.on(IndexPublish)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: IndexPublish) -> None:
        self.members.meet(ctx.part("members"), src, msg.incarnation)
        is_late = msg.number < self.heard.get(src, 0)
        if is_late or src not in self.members.up():
            return  # a list that is no more, or of one that will say so again, alive
        self.heard[src] = msg.number
        # Before its first heart-beat a node knows nothing of what it owns.
        if self.members.loads or "wids3" not in self.bugs:
            self._record(src, msg.objects)
        ctx.send(src, IndexPublished(self.members.incarnation, msg.number))

    def _record(self, holder: wl.NodeId, objects: frozenset[str]) -> None:
        for key in {*self.index, *objects}:
            others = self.index.get(key, frozenset()) - {holder}
            self._note(key, others | {holder} if key in objects else others)

    def _note(self, key: str, holders: frozenset[wl.NodeId]) -> None:
        if holders:
            self.index[key] = holders
        else:
            self.index.pop(key, None)

    @wl.timer
    def tend(self, ctx: wl.Context) -> None:
        """Tell again what was not answered; repair, and remove extra replicas."""
        self._publish(ctx)
        circle = self.members.up()
        owned = [key for key in self.index if owner_of(key, circle) == self.me]
        self.changes = {key: c for key, c in self.changes.items() if key in owned}
        for key in owned:
            self._look_after(ctx, key, circle)
        ctx.set_timer(BitVault.tend, after=self.tempo * TEND)

    def _look_after(self, ctx: wl.Context, key: str, up: list[wl.NodeId]) -> None:
        holders, change = self.index[key], self.changes.pop(key, None)
        extra = len(holders) - self.degree
        if change is not None and change.copies and change.node not in holders:
            if change.node in up and change.tries < TRIES:
                self._copy(ctx, key, change.node, change.source, change.tries + 1)
                return
        elif change is not None and extra > 0:
            victim = change.source if change.copies else change.node
            if victim is not None and victim in holders:
                self._delete(ctx, key, victim)
                return
        spare = [node for node in up if node not in holders]
        if extra < 0 and spare:
            self._copy(ctx, key, ctx.choose(spare))
        elif extra > 0:
            self._delete(ctx, key, ctx.choose(sorted(holders)))

    def _copy(
        self,
        ctx: wl.Context,
        key: str,
        to: wl.NodeId,
        source: wl.NodeId | None = None,
        tries: int = 1,
    ) -> None:
        self.changes[key] = Change(to, copies=True, source=source, tries=tries)
        ctx.send(ctx.choose(sorted(self.index[key])), RepairRequest(key, to))

    def _delete(self, ctx: wl.Context, key: str, victim: wl.NodeId) -> None:
        self.changes[key] = Change(victim, copies=False)
        ctx.send(victim, DeleteReplica(key))

    # ----------------------------------------------------------------------- replicas

    @wl.on(RepairRequest)
    def repair(self, ctx: wl.Context, src: wl.NodeId, msg: RepairRequest) -> None:
        if msg.key in self.replicas:
            self._send_replica(ctx, msg.target, msg.key)

    @wl.on(StoreReplica)
    def store(self, ctx: wl.Context, src: wl.NodeId, msg: StoreReplica) -> None:
        self._store(ctx, src, msg.key, moved=msg.moved)

    def _send_replica(
        self, ctx: wl.Context, to: wl.NodeId, key: str, *, moved: bool = False
    ) -> None:
        ctx.send(to, StoreReplica(key, moved))

    def _store(self, ctx: wl.Context, src: wl.NodeId, key: str, *, moved: bool) -> None:
        if key in self.replicas:
            return
        self.replicas.add(key)
        self._stores(ctx)
        if moved:
            ctx.send(src, Stored(key))

    def _remove(self, ctx: wl.Context, key: str) -> None:
        self.replicas.remove(key)
        self._stores(ctx)

    @wl.on(DeleteReplica)
    def delete(self, ctx: wl.Context, src: wl.NodeId, msg: DeleteReplica) -> None:
        _, objects = self.told.get(src, (0, frozenset()))
        has_told = msg.key in objects and src == self.owner(msg.key)
        if msg.key in self.replicas and has_told:
            self._remove(ctx, msg.key)

    # ------------------------------------------------------------------ load balancing

    @wl.timer
    def balance(self, ctx: wl.Context) -> None:
        """Move a replica to the neighbour who has fewest, if that makes a difference."""
        loads = self.members.loads
        peers = [node for node in self.members.near() if node in loads]
        target = min(peers, key=lambda node: loads[node], default=self.me)
        if self.replicas and peers and loads[target] + 2 <= len(self.replicas):
            key = ctx.choose(sorted(self.replicas))
            if "wids1" in self.bugs:
                self._send_replica(ctx, target, key, moved=True)
            else:
                ctx.send(self.owner(key), MoveRequest(key, target))
        ctx.set_timer(BitVault.balance, after=self.tempo * BALANCE)

    @wl.on(MoveRequest)
    def move(self, ctx: wl.Context, src: wl.NodeId, msg: MoveRequest) -> None:
        """Copy first, and delete the source when the copy is in the index."""
        key, up = msg.key, self.members.up()
        holders = self.index.get(key, frozenset())
        is_mine = owner_of(key, up) == self.me and key not in self.changes
        is_needed = src in holders and msg.target in up and msg.target not in holders
        if is_mine and is_needed and len(holders) == self.degree:
            self._copy(ctx, key, msg.target, source=src)

    @wl.on(Stored)
    def stored(self, ctx: wl.Context, src: wl.NodeId, msg: Stored) -> None:
        """The first load balancing: it deletes the source by itself."""
        ctx.set_timer(BitVault.discard, (msg.key, src), after=self.tempo * GRACE)

    @wl.timer
    def discard(self, ctx: wl.Context, moved: tuple[str, wl.NodeId]) -> None:
        """Delete a replica that is at another node now, and have the index say so."""
        key, target = moved
        if key in self.replicas:
            ctx.send(self.owner(key), IndexMove(key, target))
            self._remove(ctx, key)

    @wl.on(IndexMove)
    def moved(self, ctx: wl.Context, src: wl.NodeId, msg: IndexMove) -> None:
        holders = self.index.get(msg.key, frozenset())
        self._note(msg.key, (holders - {src}) | {msg.target})
