"""One node of a Chord ring: joining, the ring, failures, fingers.

A bug is a condition such as ``"cb3" in self.bugs``; without it stands the published
fix, or ours where none was published.
"""

from __future__ import annotations

import enum

import worldline as wl
from worldline.zoo.chord.messages import (
    FindPred,
    FindPredReply,
    GetPred,
    GetPredReply,
    UpdatePred,
)
from worldline.zoo.chord.ring import (
    Address,
    distance,
    is_between,
    is_owned,
    key_of,
)

JOIN_TIMEOUT, STABILIZE_PERIOD, FIX_PERIOD = 2.0, 0.5, 1.0
"""Seconds; they count where time does."""

PATIENCE = 8
"""How often the founder asks for a place before it takes the ring to be gone."""


class State(enum.Enum):
    """How far a node has come since it started."""

    INIT = "init"
    JOINING = "joining"
    JOINED = "joined"


@wl.node
class Chord:
    """A node of the ring.

    Attributes
    ----------
    me, key, bits
        This node, where it stands, and how many bits keys have.
    keep
        How many successors it keeps.
    is_founder, has_founded
        Whether it is the one that begins the ring, and whether it has done so.
    contacts, asked
        Those whom it asks for its place, and how often the founder has.
    predecessor, successors
        Who comes before it, if it knows, and who after it, the nearest first; itself
        where it is alone.
    fingers
        By number i, the first node 2^i keys on or later, as far as it knows; empty
        where none are kept.
    next_finger
        The number of the one to look up next.
    find_queue
        Requests to join that came before it had joined itself.
    estimate
        About how many nodes there are, for the application.
    """

    me: wl.NodeId
    key: int
    bits: int
    keep: int = 2
    bugs: frozenset[str] = frozenset()
    is_founder: bool = False
    has_founded: bool = wl.durable(default=False)
    fingers: list[Address | None] = wl.field(default_factory=list)

    state: State = State.INIT
    contacts: tuple[wl.NodeId, ...] = ()
    asked: int = 0
    predecessor: Address | None = None
    successors: list[Address] = wl.field(default_factory=list)
    next_finger: int = 0
    find_queue: list[FindPred] = wl.field(default_factory=list)
    estimate: int = wl.ignored(default=1)

    # ------------------------------------------------------------------------ joining

    @wl.call
    def join(self, ctx: wl.Context, contacts: tuple[wl.NodeId, ...]) -> None:
        """Find a place in the ring that `contacts` are in, or will be."""
        self.contacts = tuple(node for node in contacts if node != self.me)
        if self.is_founder and not self.has_founded:
            self._found(ctx)
        else:
            self._ask(ctx)

    def _found(self, ctx: wl.Context) -> None:
        """Be a ring alone."""
        self.has_founded = self.is_founder
        self.predecessor, self.successors = self.me, [self.me]
        self._enter(ctx)

    @wl.timer(when=lambda self: self.state is State.JOINING)
    def ask_again(self, ctx: wl.Context) -> None:
        """Ask once more; somebody else, perhaps."""
        self._ask(ctx)

    def _ask(self, ctx: wl.Context) -> None:
        if not self.contacts or self.asked == PATIENCE:
            self._found(ctx)
            return
        self.asked += self.is_founder
        self.state = State.JOINING
        ctx.send(ctx.choose(self.contacts), FindPred(self.key, self.me))
        ctx.set_timer(Chord.ask_again, after=JOIN_TIMEOUT)

    @wl.on(FindPred)
    def find_pred(self, ctx: wl.Context, src: wl.NodeId, msg: FindPred) -> None:
        """Answer, or pass on; who has not joined keeps what joiners want."""
        if self.state is State.JOINED:
            self._find(ctx, msg)
        elif msg.key == key_of(msg.who) and (
            msg not in self.find_queue or "cb3" in self.bugs
        ):
            self.find_queue.append(msg)

    @wl.on(FindPredReply)
    def found_pred(self, ctx: wl.Context, src: wl.NodeId, msg: FindPredReply) -> None:
        """Take the place behind `src`, or a finger."""
        if self.state is State.JOINED:
            self._take_finger(msg.key, msg.successors[0])
        elif self.state is State.JOINING and msg.key == self.key:
            self.predecessor = src
            others = [node for node in msg.successors if node != self.me]
            self.successors = others[: self.keep] or [src]
            # To this node itself, where `src` takes it for its successor already.
            self._tell(ctx, msg.successors[0], UpdatePred())
            self._enter(ctx)

    def _enter(self, ctx: wl.Context) -> None:
        """Be in the ring, and turn to those who wait."""
        self.state = State.JOINED
        self.asked = 0
        ctx.cancel_timer(Chord.ask_again)
        ctx.set_timer(Chord.stabilize, after=STABILIZE_PERIOD)
        if self.fingers:
            ctx.set_timer(Chord.fix_fingers, after=FIX_PERIOD)
        for request in self.find_queue:
            ctx.send(self.me, request)
        self.find_queue = []

    def _find(self, ctx: wl.Context, request: FindPred) -> None:
        first = self.successors[0]
        if not is_owned(request.key, self.key, key_of(first), self.bits):
            self._tell(ctx, self._hop_to(request.key), request)
        elif request.who == self.me:
            self._take_finger(request.key, first)
        else:
            reply = FindPredReply(request.key, tuple(self.successors))
            ctx.send(request.who, reply)

    def _hop_to(self, key: int) -> Address:
        """Return the last node before a key that this one knows."""
        known = [self.successors[0], *self.fingers]
        if "wids2" not in self.bugs:
            known = [node for node in known if node is not None]
        ahead = [
            distance(self.key, key_of(node), self.bits)  # type: ignore[arg-type]
            for node in known
        ]
        reach = distance(self.key, key, self.bits)
        _, place = max((far, -i) for i, far in enumerate(ahead) if 0 < far < reach)
        return known[-place]  # type: ignore[return-value]

    def _tell(self, ctx: wl.Context, to: Address, message: object) -> None:
        """Send; at an address that is none there is nobody, not even to refuse."""
        if not isinstance(to, int):
            ctx.send(to, message)

    # ----------------------------------------------------------------------- the ring

    @wl.timer(when=lambda self: self.state is State.JOINED)
    def stabilize(self, ctx: wl.Context) -> None:
        """Ask the successor whether it still is, and for those after it."""
        ctx.set_timer(Chord.stabilize, after=STABILIZE_PERIOD)
        self._estimate()
        if self.successors[0] != self.me:
            self._tell(ctx, self.successors[0], GetPred())

    def _estimate(self) -> None:
        """Work out how many nodes there are if all stand as far apart as these."""
        others = [node for node in self.successors if node != self.me]
        if others or "wids1" in self.bugs:
            gap = distance(self.key, key_of(self.successors[-1]), self.bits)
            self.estimate = (len(others) << self.bits) // gap

    @wl.on(GetPred, when=lambda self, src, msg: self.state is State.JOINED)
    def get_pred(self, ctx: wl.Context, src: wl.NodeId, msg: GetPred) -> None:
        ctx.send(src, GetPredReply(self.predecessor, tuple(self.successors)))

    @wl.on(
        GetPredReply,
        when=lambda self, src, msg: (
            self.state is State.JOINED and src == self.successors[0]
        ),
    )
    def got_pred(self, ctx: wl.Context, src: wl.NodeId, msg: GetPredReply) -> None:
        """Learn of a nearer successor, and ask it in turn; else be its predecessor."""
        between = msg.predecessor
        nearer = between is not None and self._is_between(between, self.me, src)
        later = [n for n in msg.successors if self._is_between(n, src, self.me)]
        if "wids3" in self.bugs:
            later = [key_of(node) for node in later]
        first = [between, src] if between is not None and nearer else [src]
        self.successors = list(dict.fromkeys([*first, *later]))[: self.keep]
        if "cb2" not in self.bugs:
            self._precede(ctx)
        if nearer:
            # At once, so that nodes that join together find their order together.
            self._tell(ctx, self.successors[0], GetPred())
        elif between != self.me:
            self._tell(ctx, src, UpdatePred())

    @wl.on(UpdatePred, when=lambda self, src, msg: self.state is State.JOINED)
    def update_pred(self, ctx: wl.Context, src: wl.NodeId, msg: UpdatePred) -> None:
        """Take `src` for the predecessor, if it is nearer, and for a successor."""
        known = self.predecessor
        if known is None or self._is_between(src, known, self.me):
            self.predecessor = src
            if "cb1" not in self.bugs:
                self._precede(ctx)
        others = [node for node in [*self.successors, src] if node != self.me]
        if others:
            # Not by a set: a hash and an address may stand at the same key.
            ahead = {n: distance(self.key, key_of(n), self.bits) for n in others}
            self.successors = sorted(ahead, key=ahead.__getitem__)[: self.keep]

    def _precede(self, ctx: wl.Context) -> None:
        """Let no successor stand between the predecessor and this node.

        Who has become the predecessor so is asked something: only from those with whom
        there is a connection a node hears that they have failed.
        """
        for node in self.successors:
            known = self.predecessor
            if known is not None and self._is_between(node, known, self.me):
                self.predecessor = node
                self._tell(ctx, node, GetPred())

    def _is_between(self, node: Address, start: Address, end: Address) -> bool:
        return is_between(key_of(node), key_of(start), key_of(end), self.bits)

    @wl.neighbours
    def known_of(self) -> list[wl.NodeId]:
        """Return the nodes beside this one in the ring, and those across it."""
        known = [self.predecessor, *self.successors, *self.fingers]
        return [node for node in known if isinstance(node, wl.NodeId)]

    # ----------------------------------------------------------------------- failures

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Take a lost connection for a lost node, and forget it."""
        if self.predecessor == peer:
            self.predecessor = None
        self.fingers = [None if node == peer else node for node in self.fingers]
        self.successors = [node for node in self.successors if node != peer]
        if self.state is State.JOINED and not self.successors:
            self._find_successor(ctx)

    def _find_successor(self, ctx: wl.Context) -> None:
        """Go on with the next node that is known, or ask for a place again."""
        known = [self.predecessor, *self.fingers]
        others = [node for node in known if node is not None and node != self.me]
        if others:
            ahead = [distance(self.key, key_of(node), self.bits) for node in others]
            self.successors = [others[ahead.index(min(ahead))]]
        else:
            self.predecessor = None
            self._ask(ctx)

    # ------------------------------------------------------------------------ fingers

    @wl.timer(when=lambda self: self.state is State.JOINED)
    def fix_fingers(self, ctx: wl.Context) -> None:
        """Look up one finger."""
        ctx.set_timer(Chord.fix_fingers, after=FIX_PERIOD)
        self._find(ctx, FindPred(self.start_of(self.next_finger), self.me))

    def start_of(self, number: int) -> int:
        """Return the key at which a finger begins."""
        return (self.key + (1 << number)) % (1 << self.bits)

    def _take_finger(self, key: int, node: Address) -> None:
        """Take the node at or behind a key that was looked up, for all that it suits."""
        number = self.next_finger
        if key != self.start_of(number):
            return
        self.fingers[number] = node
        self.next_finger = (number + 1) % self.bits
        if "wids4" in self.bugs:
            return
        reach = distance(key, key_of(node), self.bits)
        for other in range(self.bits):
            gap = distance(key, self.start_of(other), self.bits)
            if gap <= reach or self._is_better(node, other):
                self.fingers[other] = node
            if gap <= reach and other == self.next_finger:
                self.next_finger = (other + 1) % self.bits

    def _is_better(self, node: Address, number: int) -> bool:
        """Say whether a node comes earlier than the finger, from where that begins."""
        known = self.fingers[number]
        if known is None:
            return True
        start = self.start_of(number)
        end = distance(start, key_of(known), self.bits)
        if not end and "wids5" in self.bugs:
            end = 1 << self.bits
        return distance(start, key_of(node), self.bits) < end
