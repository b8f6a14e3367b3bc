"""One node of an Overcast: joining, locking, probing, moving, and failures.

What the fix of ov1 adds is guarded by ``"ov1" not in self.bugs``.

Why there are no loops. A node moves to its grandparent or to a brother, while it holds
the locks of its parent and of its new one. The parent grants its lock only if the mover
is its kid and the grandparent its own parent, a brother only if it has the parent that
the mover names; neither moves until it is unlocked. So a way up from the new parent to
the mover would lead through the old parent, and would have been a loop before. Who has
no parent joins from the root downwards, from parent to kid, and is taken in only by a
node whose own parent has sent it.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.overcast._messages import (
    Join,
    JoinReply,
    Lock,
    LockDenied,
    LockGranted,
    Probe,
    ProbeReply,
    Refused,
    Remove,
    ReOrg,
    Unlock,
)
from worldline.zoo.overcast._states import Stage, State

REORGANISATION_PERIOD, RETRY_TIMEOUT, PROBE_TIMEOUT = 10.0, 5.0, 5.0
"""Seconds; they count where time does."""

STAYING, MOVING = 3.0, 2.0
"""How often a random walk lets a node stay and move: MaceMC's two times in five."""


@wl.node
class Overcast:
    """A node of the tree; the root is its own papa.

    Attributes
    ----------
    probes
        How many messages are timed on the way to each possible parent.
    reorganisations
        How often the root will still begin one.
    kids
        The attempt of each kid at which it was taken in.
    attempt
        The number of the latest attempt to find a place or a better one.
    locks
        The nodes that this one has asked to be locked.
    awaited
        How many answers each node owes before the next stage begins.
    locked_by
        The nodes for which this one stays where it is.
    unsent
        What the send buffer had no room for and has to be sent later.
    asked_at, took
        When the probes left, and how long the last answer of each node took. While
        checking nobody looks at them.
    """

    me: wl.NodeId
    root: wl.NodeId
    max_kids: int = 2
    probes: int = 1
    reorganisations: int = 1
    bugs: tuple[str, ...] = ()
    state: State = State.INIT
    papa: wl.NodeId | None = None
    kids: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    attempt: int = 0
    stage: Stage = Stage.IDLE
    locks: set[wl.NodeId] = wl.field(default_factory=set)
    awaited: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    locked_by: set[wl.NodeId] = wl.field(default_factory=set)
    unsent: set[tuple[wl.NodeId, Remove | Unlock]] = wl.field(default_factory=set)
    asked_at: wl.Time | None = wl.ignored(default=None)
    took: dict[wl.NodeId, wl.Duration] = wl.ignored(default_factory=dict)

    # -------------------------------------------------------------------- joining

    @wl.call
    def join_overlay(self, ctx: wl.Context) -> None:
        if self.me == self.root:
            self.state, self.papa = State.JOINED, self.me
            if self.reorganisations:
                ctx.set_timer(Overcast.reorganise, after=REORGANISATION_PERIOD)
        else:
            self._seek(ctx)

    def _seek(self, ctx: wl.Context) -> None:
        self.state, self.attempt = State.JOINING, ctx.sequence()
        self._ask(ctx)

    def _ask(self, ctx: wl.Context) -> None:
        """Ask for a place anywhere, but not while locked."""
        if not self.locked_by:
            ctx.send(self.root, Join(self.me, self.attempt))
        ctx.set_timer(Overcast.retry, after=RETRY_TIMEOUT)

    @wl.timer(when=lambda self: self.state is State.JOINING)
    def retry(self, ctx: wl.Context) -> None:
        self._ask(ctx)

    @wl.on(Join)
    def receive_join(self, ctx: wl.Context, src: wl.NodeId, msg: Join) -> None:
        """Take a joiner in, or send it on; who hears nothing asks again."""
        joined = self.state is State.JOINED
        has_room = msg.joiner in self.kids or len(self.kids) < self.max_kids
        if msg.moves:
            if joined and has_room and src in self.locked_by:
                self._accept(ctx, src, msg.attempt)
            else:
                ctx.send(src, Refused(msg.attempt))
        elif joined and (self.me == self.root or src == self.papa):
            if has_room:
                self._accept(ctx, msg.joiner, msg.attempt)
            else:
                ctx.send(ctx.choose(list(self.kids)), msg)

    def _accept(self, ctx: wl.Context, joiner: wl.NodeId, attempt: int) -> None:
        if ctx.send(joiner, JoinReply(attempt)):
            self.kids[joiner] = attempt

    @wl.on(JoinReply)
    def receive_reply(self, ctx: wl.Context, src: wl.NodeId, msg: JoinReply) -> None:
        current, old = msg.attempt == self.attempt, self.papa
        if current and self.state is State.JOINING:
            self.state, self.papa = State.JOINED, src
            ctx.cancel_timer(Overcast.retry)
        elif current and self.stage is Stage.MOVING and old is not None:
            self.papa = src
            self._insist(ctx, old, Remove(msg.attempt))
            self._release(ctx)
        elif src != self.papa:
            self._insist(ctx, src, Remove(msg.attempt))

    @wl.on(Remove)
    def remove(self, ctx: wl.Context, src: wl.NodeId, msg: Remove) -> None:
        if self.kids.get(src, msg.attempt + 1) <= msg.attempt:
            del self.kids[src]

    # -------------------------------------------------------------- reorganisation

    @wl.timer
    def reorganise(self, ctx: wl.Context) -> None:
        """Begin a reorganisation; at the root alone."""
        self.reorganisations -= 1
        if self.reorganisations:
            ctx.set_timer(Overcast.reorganise, after=REORGANISATION_PERIOD)
        self._tell_kids(ctx)

    @wl.on(ReOrg, when=lambda self, src, msg: src == self.papa)
    def consider_moving(self, ctx: wl.Context, src: wl.NodeId, msg: ReOrg) -> None:
        """Lock whoever is to be probed: the parent, for comparison, and the places."""
        self._tell_kids(ctx)
        others = {msg.gramps, *msg.brothers, src} - {self.me}
        if others == {src} or self.stage is not Stage.IDLE:
            return
        if self.locked_by or self.unsent:
            return
        self.attempt = ctx.sequence()
        self._enter(Stage.LOCKING, others, 1)
        if "ov1" not in self.bugs:
            ctx.set_timer(Overcast.give_up, after=PROBE_TIMEOUT)
        request = Lock(self.attempt, src, msg.gramps)
        self.locks = {other for other in others if ctx.send(other, request)}
        self._need(ctx, taken=self.locks == others)

    def _tell_kids(self, ctx: wl.Context) -> None:
        if self.papa is not None:
            for kid in self.kids:
                ctx.send(kid, ReOrg(self.papa, tuple(self.kids)))

    def _enter(self, stage: Stage, others: set[wl.NodeId], answers: int) -> None:
        self.stage = stage
        self.awaited = dict.fromkeys(others, answers)

    # ------------------------------------------------------------ locks and probes

    @wl.on(Lock)
    def receive_lock(self, ctx: wl.Context, src: wl.NodeId, msg: Lock) -> None:
        free = self.state is State.JOINED and self.stage is Stage.IDLE
        if not (free and self._is_near(src, msg)):
            ctx.send(src, LockDenied(msg.attempt))
        elif ctx.send(src, LockGranted(msg.attempt)):
            self.locked_by.add(src)

    def _is_near(self, src: wl.NodeId, msg: Lock) -> bool:
        """Say whether this is the parent, grandparent or brother that `src` means."""
        if self.me == msg.papa:
            return src in self.kids and self.papa == msg.gramps
        return self.me == msg.gramps or self.papa == msg.papa

    @wl.on(Unlock)
    def unlock(self, ctx: wl.Context, src: wl.NodeId, msg: Unlock) -> None:
        self.locked_by.discard(src)

    @wl.on(LockDenied, when=lambda self, src, msg: msg.attempt == self.attempt)
    def denied(self, ctx: wl.Context, src: wl.NodeId, msg: LockDenied) -> None:
        if self.stage is Stage.LOCKING:
            self.locks.discard(src)
            self._release(ctx)

    @wl.on(LockGranted, when=lambda self, src, msg: msg.attempt == self.attempt)
    def granted(self, ctx: wl.Context, src: wl.NodeId, msg: LockGranted) -> None:
        if self.stage is Stage.LOCKING and self._has_all_answers(src):
            self._enter(Stage.PROBING, self.locks, self.probes)
            self.asked_at = ctx.now()
            probe, others = Probe(self.attempt), list(self.locks) * self.probes
            self._need(ctx, taken=all(ctx.send(other, probe) for other in others))

    @wl.on(Probe)
    def receive_probe(self, ctx: wl.Context, src: wl.NodeId, msg: Probe) -> None:
        ctx.send(src, ProbeReply(msg.attempt))

    @wl.on(ProbeReply, when=lambda self, src, msg: msg.attempt == self.attempt)
    def measure(self, ctx: wl.Context, src: wl.NodeId, msg: ProbeReply) -> None:
        if self.stage is not Stage.PROBING:
            return
        if self.asked_at is not None:
            self.took[src] = ctx.now() - self.asked_at
        if self._has_all_answers(src):
            self._decide(ctx)

    def _has_all_answers(self, src: wl.NodeId) -> bool:
        """Count an answer; say whether it was the last."""
        self.awaited[src] -= 1
        if not self.awaited[src]:
            del self.awaited[src]
        return not self.awaited

    def _decide(self, ctx: wl.Context) -> None:
        """Stay or move: a choice, since the times of the probes are not looked at."""
        places = sorted(self.locks - {self.papa})
        weights = [STAYING, *[MOVING / len(places)] * len(places)]
        place = ctx.choose([None, *places], weights)
        ctx.log("stays" if place is None else f"moves under {place}")
        if place is None:
            self._release(ctx)
        else:
            self._enter(Stage.MOVING, {place}, 1)
            request = Join(self.me, self.attempt, moves=True)
            self._need(ctx, taken=ctx.send(place, request))

    @wl.on(Refused, when=lambda self, src, msg: msg.attempt == self.attempt)
    def receive_refusal(self, ctx: wl.Context, src: wl.NodeId, msg: Refused) -> None:
        if self.stage is Stage.MOVING:
            self._release(ctx)

    def _need(self, ctx: wl.Context, *, taken: bool) -> None:
        """Go on only if the send buffer has taken what the next stage waits for."""
        if not taken and "ov1" not in self.bugs:
            self._release(ctx)

    def _release(self, ctx: wl.Context) -> None:
        """Stop looking for a better place, and let everybody else do so."""
        for other in self.locks:
            self._insist(ctx, other, Unlock())
        self.stage = Stage.IDLE
        self.locks.clear()
        self.awaited.clear()
        ctx.cancel_timer(Overcast.give_up)

    # --------------------------------------------------------------------- failures

    @wl.timer(when=lambda self: self.stage is not Stage.IDLE)
    def give_up(self, ctx: wl.Context) -> None:
        self._release(ctx)

    def _insist(self, ctx: wl.Context, other: wl.NodeId, msg: Remove | Unlock) -> None:
        """Send now or, if there is no room in the buffer, later."""
        forgets = isinstance(msg, Unlock) and "ov1" in self.bugs
        if not (ctx.send(other, msg) or forgets):
            self.unsent.add((other, msg))
            ctx.set_timer(Overcast.resend, after=RETRY_TIMEOUT)

    @wl.timer
    def resend(self, ctx: wl.Context) -> None:
        waiting = list(self.unsent)
        self.unsent.clear()
        for other, msg in waiting:
            self._insist(ctx, other, msg)

    @wl.transport_error
    def error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        """Take a lost connection for a lost node."""
        self.kids.pop(peer, None)
        self.unsent = {item for item in self.unsent if item[0] != peer}
        if "ov1" not in self.bugs:
            self.locked_by.discard(peer)
            if peer in self.locks:
                self.locks.discard(peer)
                self._release(ctx)
        if peer == self.papa:
            self.papa = None
            self._seek(ctx)
