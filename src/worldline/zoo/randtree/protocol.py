"""One node of a RandTree: state, application calls, message handlers, timers.

A bug is a condition such as ``"rt10" not in self.bugs``: what it guards is the
published fix. Bugs that share a missing line share the condition.

Two rules tie the fields together:

* a node is its own root exactly if it has no parent, and so whenever it is joining;
* a node has siblings only while its parent is the root.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

import worldline as wl
from worldline.zoo.randtree.messages import (
    Join,
    JoinReply,
    Lasting,
    NewRoot,
    Probe,
    ProbeJoin,
    Rejoin,
    Remove,
    Status,
    UpdateSiblings,
)

JOIN_TIMEOUT, RECOVERY_PERIOD = 5.0, 600.0
"""Seconds; they count where time does."""


class State(enum.Enum):
    """How far a node has come since it started."""

    INIT = "init"
    JOINING = "joining"
    JOINED = "joined"


def following(circle: set[wl.NodeId], node: wl.NodeId | None) -> wl.NodeId | None:
    """Return who comes after `node` in a circle; itself if nobody is there."""
    later = [other for other in circle if node is None or other > node]
    return min(later or circle, default=node)


@wl.node
class RandTree:
    """A node of the tree.

    Attributes
    ----------
    me
        This node's address; the smallest address is to be the root.
    root
        The root as far as this node knows.
    peers
        The nodes it knows of and tries to be in one tree with.
    bootstrap, last_probed
        The peers that it asked last for a place, and for their root.
    attempt
        The number of the latest attempt to join, from when it left its last parent.
    unsent
        What a send buffer had no room for and who is still to be told.
    misforced
        Whether a root force ever came to a node with another root than itself.
    """

    me: wl.NodeId
    root: wl.NodeId
    max_children: int = 2
    bugs: tuple[str, ...] = ()
    state: State = State.INIT
    parent: wl.NodeId | None = None
    children: set[wl.NodeId] = wl.field(default_factory=set)
    siblings: set[wl.NodeId] = wl.field(default_factory=set)
    peers: set[wl.NodeId] = wl.field(default_factory=set)
    bootstrap: wl.NodeId | None = None
    attempt: int = 0
    last_probed: wl.NodeId | None = None
    unsent: set[tuple[wl.NodeId, Lasting]] = wl.field(default_factory=set)
    misforced: bool = wl.ghost(default=False)

    # ------------------------------------------------------------ the application

    @wl.start
    def mace_init(self, ctx: wl.Context) -> None:
        """Be ready to receive; nothing is sent before `join_overlay`."""
        self.root = self.me

    @wl.call
    def join_overlay(self, ctx: wl.Context, peers: tuple[wl.NodeId, ...]) -> None:
        """Become part of the tree that `peers` are in, or will be."""
        was_alone = not self.peers
        self.peers |= {peer for peer in peers if peer != self.me}
        if self.state is State.INIT:
            self.state = State.JOINED
        if was_alone and (self.peers or "cb7" not in self.bugs):
            ctx.set_timer(RandTree.recovery, after=self.recovery_period())
        if was_alone and self.peers and self.is_root():
            self._seek(ctx, min(self.peers))

    def recovery_period(self) -> float:
        """Return how many seconds pass between two probes."""
        return RECOVERY_PERIOD

    def get_parent(self) -> wl.NodeId | None:
        """Return the parent; the root's is itself."""
        return self.me if self.is_root() and "rt2" not in self.bugs else self.parent

    def is_root(self) -> bool:
        """Say whether this node takes itself for the root."""
        return self.root == self.me

    @wl.neighbours(hops=2)
    def relatives(self) -> list[wl.NodeId | None]:
        """Return those above and beside this node, and its children.

        With theirs: a root refuses what would harm a child only if it knows that child's
        children, of which one may come to it next.
        """
        return [self.parent, self.root, *self.children, *self.siblings]

    # -------------------------------------------------------------------- joining

    @wl.on(Join, when=lambda self, src, msg: self.state is not State.INIT)
    def receive_join(self, ctx: wl.Context, src: wl.NodeId, msg: Join) -> None:
        joiner, attempt = msg.joiner, msg.attempt
        granted = src == self.parent and msg.redirected_by == self.root
        if not self.is_root() and joiner != self.root and not granted:
            ctx.send(self.root, Join(joiner, attempt))
        elif joiner == self.root:
            ctx.send(joiner, JoinReply(Status.LOOP_ERROR, attempt, joiner))
        elif self.is_root() and joiner < self.me:
            ctx.send(joiner, JoinReply(Status.ROOT_FORCE, attempt, joiner))
            self.children.discard(joiner)
            self._seek(ctx, joiner, bug="rt1")
        elif joiner in self.children:
            # Who has been reset asks again; MaceMC's RandTree had no second answer.
            if "rt13" not in self.bugs:
                self._accept(ctx, joiner, attempt)
        elif len(self.children) < self.max_children:
            self._accept(ctx, joiner, attempt)
        else:
            child = ctx.choose(list(self.children))
            ctx.send(child, Join(joiner, attempt, redirected_by=self.root))

    def _accept(self, ctx: wl.Context, joiner: wl.NodeId, attempt: int) -> None:
        """Answer a child; also one that is known, for it may have been reset."""
        others = self.children - {joiner} if self.is_root() else ()
        reply = JoinReply(Status.ACCEPTED, attempt, self.root, frozenset(others))
        if not ctx.send(joiner, reply):
            return
        self.children.add(joiner)
        if "cb4" not in self.bugs:
            self.siblings.discard(joiner)
        if self.is_root():
            self._settle(ctx)
            self._update_siblings(ctx, others)

    @wl.on(JoinReply)
    def receive_reply(self, ctx: wl.Context, src: wl.NodeId, msg: JoinReply) -> None:
        accepted = msg.status is Status.ACCEPTED
        awaited = self.state is State.JOINING and msg.attempt == self.attempt
        if awaited and accepted:
            self.parent = src
            self.siblings = set(msg.siblings - {self.me})
            if "cb3" not in self.bugs:
                self._disown(ctx, self.siblings)
            self._disown(ctx, [src])
            self._believe(ctx, msg.root)
            self._settle(ctx)
        elif awaited:
            if msg.status is Status.ROOT_FORCE and msg.root != self.root:
                self.misforced = True
            self._settle(ctx)
        elif accepted and src != self.parent and self._declines():
            self._leave(ctx, src)

    def _declines(self) -> bool:
        """Say whether the node tells who takes it for a child, though it is not."""
        return self.state is not State.INIT or "rt13" not in self.bugs

    @wl.timer(when=lambda self: self.state is State.JOINING)
    def join(self, ctx: wl.Context) -> None:
        """Ask the next peer that is not a child, or be the root if there is none."""
        if "rt15" not in self.bugs:
            self.root = self.me
        peer = following(self.peers, self.bootstrap)
        # Comes round to where it began only if the node asked last is a peer.
        while peer in self.children and peer != self.bootstrap:
            peer = following(self.peers, peer)
        if peer is None or peer in self.children:
            self._settle(ctx)
        else:
            self._ask(ctx, peer)

    def _seek(self, ctx: wl.Context, target: wl.NodeId, bug: str = "") -> None:
        """Look for a parent, at `target` first; `bug` forgets to make it a peer."""
        self._begin_attempt(ctx)
        if bug not in self.bugs:
            self.peers.add(target)
        self._disown(ctx, [target])
        self._ask(ctx, target)

    def _ask(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.bootstrap = peer
        ctx.send(peer, Join(self.me, self.attempt))
        ctx.set_timer(RandTree.join, after=JOIN_TIMEOUT)

    def _begin_attempt(self, ctx: wl.Context) -> None:
        if self.state is not State.JOINING:
            self.state = State.JOINING
            self.attempt = ctx.sequence()

    def _settle(self, ctx: wl.Context) -> None:
        self.state = State.JOINED
        ctx.cancel_timer(RandTree.join)

    # ------------------------------------------------------- children and siblings

    @wl.on(
        Remove,
        when=lambda self, src, msg: (
            self.state is State.JOINED or "rt10" not in self.bugs
        ),
    )
    def remove(self, ctx: wl.Context, src: wl.NodeId, msg: Remove) -> None:
        if src in self.children:
            self._lose_child(ctx, src)
            self._tell(ctx, src, Rejoin())

    @wl.on(Rejoin, when=lambda self, src, msg: src == self.parent)
    def rejoin(self, ctx: wl.Context, src: wl.NodeId, msg: Rejoin) -> None:
        target = self.root
        self.siblings.clear()
        self._promote(ctx)
        self._seek(ctx, target, bug="rt9")

    @wl.on(UpdateSiblings, when=lambda self, src, msg: src == self.parent)
    def hear_of_siblings(
        self, ctx: wl.Context, src: wl.NodeId, msg: UpdateSiblings
    ) -> None:
        self.root = msg.root
        self.siblings = set(msg.siblings - {self.me})
        if not {"cb1", "cb2"} & set(self.bugs):
            self._disown(ctx, self.siblings)

    def _lose_child(self, ctx: wl.Context, child: wl.NodeId) -> None:
        if child in self.children:
            self.children.discard(child)
            if self.is_root():
                self._update_siblings(ctx, self.children)

    def _disown(self, ctx: wl.Context, others: Iterable[wl.NodeId]) -> None:
        """Drop children who are known to be elsewhere, and tell them, to be sure."""
        for child in self.children & set(others):
            self.children.discard(child)
            self._tell(ctx, child, Rejoin())

    def _leave(self, ctx: wl.Context, other: wl.NodeId) -> None:
        """Tell a node that it is not the parent."""
        if "rt12" in self.bugs:
            ctx.send(other, Remove())
        else:
            self._tell(ctx, other, Remove())

    def _tell(self, ctx: wl.Context, other: wl.NodeId, message: Lasting) -> None:
        """Send now; if there is no room, say later how things stand then."""
        if not ctx.send(other, message):
            self.unsent.add((other, message))

    def _catch_up(self, ctx: wl.Context) -> None:
        """Tell what there was no room for, as far as it is still true."""
        waiting = list(self.unsent)
        self.unsent.clear()
        for other, message in waiting:
            if isinstance(message, NewRoot | UpdateSiblings):
                current = {other} & self.children
                if self.is_root():
                    self._update_siblings(ctx, current)
                else:
                    self._announce(ctx, current)
                continue
            moot = {self.parent} if isinstance(message, Remove) else self.children
            if other not in moot:
                self._tell(ctx, other, message)

    def _update_siblings(self, ctx: wl.Context, children: Iterable[wl.NodeId]) -> None:
        """Tell children who the others are; the root does."""
        for child in children:
            others = frozenset(self.children - {child})
            self._tell(ctx, child, UpdateSiblings(self.root, others))

    # -------------------------------------------------------------- the root changes

    @wl.on(
        NewRoot,
        when=lambda self, src, msg: (
            self.state is State.JOINED and (src == self.parent or "rt4" in self.bugs)
        ),
    )
    def hear_of_root(self, ctx: wl.Context, src: wl.NodeId, msg: NewRoot) -> None:
        if msg.root != src and "cb6" not in self.bugs:
            self.siblings.clear()
        if msg.root != self.me:
            self._believe(ctx, msg.root)
        elif src == self.parent:
            self._leave(ctx, src)
            self._promote(ctx)

    def _believe(self, ctx: wl.Context, root: wl.NodeId) -> None:
        """Take a root, and tell the children."""
        self.root = root
        if "cb5" not in self.bugs:
            self._disown(ctx, [root])
        self._announce(ctx, self.children)

    def _announce(self, ctx: wl.Context, children: Iterable[wl.NodeId]) -> None:
        """Tell children which root to believe in."""
        for child in children:
            self._tell(ctx, child, NewRoot(self.root))

    def _promote(self, ctx: wl.Context) -> None:
        """Be the root of those below, for the time being at least."""
        self.parent = None
        self._believe(ctx, self.me)
        if len(self.children) > 1:
            self._update_siblings(ctx, self.children)

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Take a lost connection for a lost node."""
        self.unsent = {item for item in self.unsent if item[0] != peer}
        self._lose_child(ctx, peer)
        if peer == self.parent and peer == self.root:
            self._lose_root(ctx)
        elif peer == self.parent:
            self._lose_parent(ctx)

    def _lose_root(self, ctx: wl.Context) -> None:
        """Join the smallest sibling; who is that, looks for the real root instead."""
        heir = min(self.siblings | {self.me})
        if "cb4" not in self.bugs:
            self.siblings.clear()
        self.parent = None
        if heir == self.me or not {"rt15", "rt16"} & set(self.bugs):
            self._promote(ctx)
        if heir != self.me:
            self._seek(ctx, heir, bug="rt7")
        else:
            self._begin_attempt(ctx)
            ctx.set_timer(RandTree.join, after=JOIN_TIMEOUT)

    def _lose_parent(self, ctx: wl.Context) -> None:
        """Join again at the root."""
        root = self.root
        self.parent = None
        if not {"rt15", "rt17"} & set(self.bugs):
            self._promote(ctx)
        self._seek(ctx, root, bug="rt8")

    # ------------------------------------------------------------------ merging trees

    @wl.timer(when=lambda self: self.state is State.JOINED or "rt3" not in self.bugs)
    def recovery(self, ctx: wl.Context) -> None:
        """Ask one peer, of those not known to be in this tree, for its root."""
        ctx.set_timer(RandTree.recovery, after=self.recovery_period())
        self._catch_up(ctx)
        strangers = self.peers - self.children - {self.parent, self.root}
        peer = following(strangers, self.last_probed) if strangers else None
        if peer is not None and self.state is State.JOINED:
            self.last_probed = peer
            ctx.send(peer, Probe(self.root))

    @wl.on(
        Probe,
        when=lambda self, src, msg: self.state is not State.INIT or "rt11" in self.bugs,
    )
    def receive_probe(self, ctx: wl.Context, src: wl.NodeId, msg: Probe) -> None:
        if self.root < msg.root:
            ctx.send(msg.root, ProbeJoin(self.root))
        elif self.root > msg.root and self.is_root():
            self._seek(ctx, msg.root, bug="rt5")
        elif self.root > msg.root:
            ctx.send(self.root, ProbeJoin(msg.root))

    @wl.on(
        ProbeJoin,
        when=lambda self, src, msg: self.state is not State.INIT or "rt14" in self.bugs,
    )
    def receive_probe_join(
        self, ctx: wl.Context, src: wl.NodeId, msg: ProbeJoin
    ) -> None:
        if self.is_root() and msg.root < self.me:
            self._seek(ctx, msg.root, bug="rt6")
