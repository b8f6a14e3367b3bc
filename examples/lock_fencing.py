"""A lock service with leases, and a store that fences off whoever is late.

A client that has the lock may be slow: its lease ends, another gets the lock, and then the
first one goes on. No lease helps against that. So each lease has a token, larger than all
before, which the client shows to the store with whatever it does there; the store refuses
tokens smaller than the largest that it has seen. Each client adds one to a number.
"""

from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "no-fence",  # the store ignores tokens
    "reads-unfenced",  # the store looks at tokens of writes only
    "tokens-in-memory",  # a lock service that starts again counts from 0
    "fence-in-memory",  # a store that starts again takes any token
    "token-per-release",  # a lease that ends by itself leaves the token as it is
]

LOCKS, STORE, ANN, BOB = wl.ids("locks", "store", "ann", "bob")


@wl.message
class Acquire:
    pass


@wl.message
class Granted:
    token: int


@wl.message
class Release:
    token: int


@wl.message
class Read:
    token: int


@wl.message
class Value:
    token: int
    value: int


@wl.message
class Write:
    token: int
    value: int


@wl.message
class Refused:
    token: int


@wl.message
class Written:
    token: int


@wl.node
class LockService:
    bug: Bug
    holder: wl.NodeId | None = None
    waiting: list[wl.NodeId] = wl.field(default_factory=list)
    token: int = 1
    stored_token: int = wl.durable(default=1)

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        # Nobody knows who has the lock: whoever it is, its token is too small from now on.
        if self.bug != "tokens-in-memory":
            self.next_token()

    @wl.on(Acquire)
    def acquire(self, ctx: wl.Context, src: wl.NodeId, msg: Acquire) -> None:
        if src != self.holder and src not in self.waiting:
            self.waiting.append(src)
        self.grant(ctx)

    @wl.on(Release, when=lambda self, src, msg: src == self.holder)
    def release(self, ctx: wl.Context, src: wl.NodeId, msg: Release) -> None:
        if msg.token == self.token:
            ctx.cancel_timer(LockService.expire)
            self.free(ctx)

    @wl.timer
    def expire(self, ctx: wl.Context) -> None:
        self.free(ctx, by_itself=True)

    def free(self, ctx: wl.Context, *, by_itself: bool = False) -> None:
        self.holder = None
        if not (by_itself and self.bug == "token-per-release"):
            self.next_token()
        self.grant(ctx)

    def grant(self, ctx: wl.Context) -> None:
        if self.holder is None and self.waiting:
            self.holder = self.waiting.pop(0)
            ctx.send(self.holder, Granted(self.token))
            ctx.set_timer(LockService.expire, after=10.0)

    def next_token(self) -> None:
        if self.bug == "tokens-in-memory":
            self.token += 1
        else:
            self.stored_token += 1
            self.token = self.stored_token


@wl.node
class Store:
    bug: Bug
    value: int = wl.durable(default=0)
    fence: int = wl.durable(default=0)
    written: int = wl.durable(default=0)
    """How often a write was taken."""

    @wl.start
    def recover(self, ctx: wl.Context) -> None:
        if self.bug == "fence-in-memory":
            self.fence = 0

    @wl.on(Read)
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Read) -> None:
        if self.lets_in(msg.token, is_write=False):
            ctx.send(src, Value(msg.token, self.value))
        else:
            ctx.send(src, Refused(msg.token))

    @wl.on(Write)
    def write(self, ctx: wl.Context, src: wl.NodeId, msg: Write) -> None:
        if self.lets_in(msg.token, is_write=True):
            self.value = msg.value
            self.written += 1
            ctx.send(src, Written(msg.token))
        else:
            ctx.send(src, Refused(msg.token))

    def lets_in(self, token: int, *, is_write: bool) -> bool:
        if self.bug == "no-fence" or (self.bug == "reads-unfenced" and not is_write):
            return True
        if token < self.fence:
            return False
        self.fence = token
        return True


@wl.node
class Client:
    token: int | None = None
    """That of the lease that it works under."""

    @wl.call
    def increment(self, ctx: wl.Context) -> None:
        ctx.send(LOCKS, Acquire())

    @wl.on(Granted)
    def granted(self, ctx: wl.Context, src: wl.NodeId, msg: Granted) -> None:
        self.token = msg.token
        ctx.send(STORE, Read(msg.token))

    @wl.on(Value, when=lambda self, src, msg: msg.token == self.token)
    def value(self, ctx: wl.Context, src: wl.NodeId, msg: Value) -> None:
        ctx.send(STORE, Write(msg.token, msg.value + 1))

    @wl.on(Written, when=lambda self, src, msg: msg.token == self.token)
    def written(self, ctx: wl.Context, src: wl.NodeId, msg: Written) -> None:
        self.token = None
        ctx.send(LOCKS, Release(msg.token))

    @wl.on(Refused, when=lambda self, src, msg: msg.token == self.token)
    def refused(self, ctx: wl.Context, src: wl.NodeId, msg: Refused) -> None:
        self.token = None  # the application hears that nothing was added


@wl.safety
def no_update_is_lost(view: wl.View) -> bool:
    """The number is as large as the number of additions."""
    return bool(view[STORE].value == view[STORE].written)


@wl.sometimes
def two_clients_believe_to_have_the_lock(view: wl.View) -> bool:
    """It is not the lock that prevents lost updates."""
    return view[ANN].token is not None and view[BOB].token is not None


@wl.sometimes
def both_are_done(view: wl.View) -> bool:
    return bool(view[STORE].value == 2)


def system(bug: Bug = "none", resets: int = 1) -> wl.System:
    """Return two clients that share a lock and a store; one of the two may start again."""
    return wl.System(
        {LOCKS: LockService(bug), STORE: Store(bug), ANN: Client(), BOB: Client()},
        name="lock-fencing",
        workload=[
            wl.script(client, [wl.invoke(Client.increment)]) for client in (ANN, BOB)
        ],
        faults=wl.Faults(resets=resets, nodes=[LOCKS, STORE]),
        properties=[
            no_update_is_lost,
            two_clients_believe_to_have_the_lock,
            both_are_done,
        ],
    )
