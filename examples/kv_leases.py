"""A replicated store whose primary reads without asking, as long as it has a lease.

Replicas promise to follow nobody else for some seconds; whom a majority follows writes back
what it was told, and serves. A write is done when a majority has it; a read is answered at
once, for nobody else writes meanwhile. All this is about time: run it by a clock (`simulate`).
"""

from typing import Literal, TypeAlias

import worldline as wl

Bug: TypeAlias = Literal[
    "none",
    "reads-anyway",  # a primary whose lease has ended goes on reading
    "promise-in-memory",  # a replica that starts again has forgotten whom it follows
    "no-write-back",  # a new primary keeps to what it has itself
    "acks-early",  # a write is done when the primary has it
]
Item: TypeAlias = tuple[tuple[int, int], str]
"""The epoch of a primary and the number of its write, of which the larger is newer."""
Operation: TypeAlias = tuple[str, str | None]
"""A key, and what to write there; None to read."""

NOTHING: Item = ((0, 0), "")
LEASE, PATIENCE = 2.0, 0.4
REPLICAS = wl.ids("r1", "r2", "r3")
ANN, BOB = wl.ids("ann", "bob")


@wl.message
class Ask:
    epoch: int
    round: int


@wl.message
class Promise:
    round: int
    items: wl.FrozenMap[str, Item]


@wl.message
class Replicate:
    epoch: int
    number: int
    items: wl.FrozenMap[str, Item]


@wl.message
class Stored:
    number: int


@wl.message
class Request:
    number: int
    key: str
    value: str | None


@wl.message
class Answer:
    number: int
    value: str


Write: TypeAlias = tuple[wl.NodeId, Request]


@wl.node
class Replica:
    bug: Bug
    items: dict[str, Item] = wl.durable(default_factory=dict)
    """By key; by the name of a client, the number of its last write."""
    epoch: int = wl.durable(default=0)
    promised: wl.NodeId | None = wl.durable(default=None)
    follows: wl.NodeId | None = None
    serves: bool = False
    round: int = -1
    """Of its asking; -1 if a majority has answered, that is, one other replica."""
    asked_at: wl.Time | None = None
    leased_at: wl.Time | None = None
    pending: dict[int, Write | None] = wl.field(default_factory=dict)
    """What no majority has yet, by number; None for what is written back."""

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if self.promised is not None and self.bug != "promise-in-memory":
            self.follow(ctx, self.promised)
        ctx.set_timer(Replica.campaign, after=0.1 * ctx.random(8))

    def follow(self, ctx: wl.Context, node: wl.NodeId) -> None:
        self.follows = self.promised = node
        ctx.set_timer(Replica.lapse, after=LEASE)

    @wl.timer
    def lapse(self, ctx: wl.Context) -> None:
        self.follows = None

    @wl.timer
    def campaign(self, ctx: wl.Context) -> None:
        ctx.set_timer(Replica.campaign, after=0.4 + 0.1 * ctx.random(4))
        if self.follows not in (None, ctx.me):
            return
        if not self.serves:
            if self.follows == ctx.me:
                self.follows = None  # it was not elected: others shall have a chance
                return
            self.epoch += 1
            self.follow(ctx, ctx.me)
        self.round, self.asked_at = ctx.sequence(), ctx.now()
        for peer in REPLICAS:
            if peer != ctx.me:
                ctx.send(peer, Ask(self.epoch, self.round))

    @wl.on(Ask)
    def ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        is_renewal = msg.epoch == self.epoch and self.promised == src
        if self.follows in (None, src) and (msg.epoch > self.epoch or is_renewal):
            self.epoch, self.serves, self.round = msg.epoch, False, -1
            self.follow(ctx, src)
            ctx.send(src, Promise(msg.round, wl.FrozenMap(self.items)))

    @wl.on(Promise, when=lambda self, src, msg: msg.round == self.round)
    def promise(self, ctx: wl.Context, src: wl.NodeId, msg: Promise) -> None:
        self.round, self.leased_at = -1, self.asked_at
        self.follow(ctx, ctx.me)
        if self.bug != "no-write-back":
            self.merge(msg.items)
        if not self.serves:
            self.serves, self.pending = True, {}
            self.replicate(ctx, None)

    @wl.on(Request, when=lambda self, src, msg: self.serves)
    def request(self, ctx: wl.Context, src: wl.NodeId, msg: Request) -> None:
        is_leased = self.leased_at is not None and ctx.now() - self.leased_at < LEASE
        if msg.value is not None:
            if msg.number > int(self.items.get(src.name, NOTHING)[1] or -1):
                self.replicate(ctx, (src, msg))
                if self.bug == "acks-early":
                    ctx.send(src, Answer(msg.number, msg.value))
            elif not self.pending:
                ctx.send(src, Answer(msg.number, msg.value))
        elif not self.pending and (is_leased or self.bug == "reads-anyway"):
            ctx.send(src, Answer(msg.number, self.items.get(msg.key, NOTHING)[1]))

    def replicate(self, ctx: wl.Context, write: Write | None) -> None:
        number = ctx.sequence()
        if write is not None:
            client, request = write
            version = (self.epoch, number)
            self.items[request.key] = (version, request.value or "")
            self.items[client.name] = (version, str(request.number))
        self.pending[number] = write
        for peer in REPLICAS:
            if peer != ctx.me:
                items = wl.FrozenMap(self.items)
                ctx.send(peer, Replicate(self.epoch, number, items))

    @wl.on(Replicate)
    def store(self, ctx: wl.Context, src: wl.NodeId, msg: Replicate) -> None:
        if msg.epoch >= self.epoch:
            self.merge(msg.items)
            ctx.send(src, Stored(msg.number))

    @wl.on(Stored, when=lambda self, src, msg: msg.number in self.pending)
    def stored(self, ctx: wl.Context, src: wl.NodeId, msg: Stored) -> None:
        write = self.pending.pop(msg.number)
        if write is not None and self.bug != "acks-early":
            client, request = write
            ctx.send(client, Answer(request.number, request.value or ""))

    def merge(self, items: wl.FrozenMap[str, Item]) -> None:
        for key, item in items.items():
            self.items[key] = max(item, self.items.get(key, item))


@wl.node
class Client:
    waits: Request | None = None
    number: int = -1
    at: int = 0

    @wl.call(when=lambda self, key, writes: self.waits is None)
    def use(self, ctx: wl.Context, key: str, writes: bool) -> None:
        number = ctx.sequence()
        self.request(ctx, Request(number, key, f"{ctx.me}{number}" if writes else None))

    def request(self, ctx: wl.Context, request: Request) -> None:
        self.waits, self.number = request, request.number
        ctx.send(REPLICAS[self.at], request)
        ctx.set_timer(Client.ask_another, after=PATIENCE)

    @wl.timer(when=lambda self: self.waits is not None)
    def ask_another(self, ctx: wl.Context) -> None:
        self.at = (self.at + 1) % len(REPLICAS)
        if self.waits is not None:
            self.request(ctx, self.waits)

    @wl.on(Answer, when=lambda self, src, msg: msg.number == self.number)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Answer) -> None:
        self.waits, self.number = None, -1


class Store:
    """What clients take it for: one map, from keys to values."""

    initial: wl.FrozenMap[str, str] = wl.FrozenMap()

    def apply(
        self, state: wl.FrozenMap[str, str], operation: Operation
    ) -> tuple[wl.FrozenMap[str, str], str]:
        key, value = operation
        if value is None:
            return state, state.get(key, "")
        return wl.FrozenMap({**state, key: value}), value


def invoked(step: wl.Step) -> list[tuple[wl.NodeId, Operation]]:
    sends = step.sends if step.event.kind is wl.Kind.CALL else ()
    return [(s.src, (s.message.key, s.message.value)) for s in sends]


def answered(step: wl.Step) -> list[tuple[wl.NodeId | None, str]]:
    event, is_taken = step.event, step.handled and step.event.kind is wl.Kind.DELIVER
    is_answer = is_taken and isinstance(event.payload, Answer)
    return [(step.node, event.payload.value)] if is_answer else []


HISTORY = wl.histories.linearizable(Store(), invoke=invoked, respond=answered)


@wl.safety
def linearizable(view: wl.View) -> bool:
    return view.verdict("history")


def system(bug: Bug = "none") -> wl.System:
    """Return three replicas, and two clients; one of them writes, too."""
    keys = wl.one_of("x", "y")
    return wl.System(
        {**{r: Replica(bug) for r in REPLICAS}, ANN: Client(), BOB: Client()},
        name="kv-leases",
        workload=[
            wl.whenever(Client.use, key=keys, writes=False, nodes=[ANN, BOB]),
            wl.whenever(Client.use, key=keys, writes=True, nodes=[BOB]),
        ],
        observers=[HISTORY],
        properties=[linearizable],
    )
