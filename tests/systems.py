"""Systems for tests: together they use all that the model offers.

`VARIANTS` names systems that random schedules are run on. `FINITE` are those whose
whole space the oracle explores within seconds.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from tests.drawing import shelves

import worldline as wl
from worldline.model.network import Network


class Mode(enum.Enum):
    IDLE = "idle"
    BUSY = "busy"


@wl.message
class Hello:
    """Asks for data."""

    names: frozenset[wl.NodeId] = frozenset()


@wl.message
class Data:
    """Carries a number and, perhaps, another message."""

    number: int
    inner: Hello | Data | None = None
    notes: wl.FrozenMap[str, int] = wl.FrozenMap()


@wl.message
class Stray:
    """Is sent, but handled by nobody."""


@wl.ignores(Stray)
@wl.node
class Worker:
    """Does a bit of everything, and fails when it has counted to seven."""

    step: int = 1
    mode: Mode = Mode.IDLE
    total: int = 0
    known: set[wl.NodeId] = wl.field(default_factory=set)
    table: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    errors: list[wl.NodeId] = wl.field(default_factory=list)
    since: wl.Time | None = None
    saved: int = wl.durable(default=0)
    heard: int = wl.ghost(default=0)
    noise: int = wl.ignored(default=0)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.known.add(ctx.me)
        self.total = self.saved
        ctx.set_timer(Worker.tick, 2, after=2.0)
        ctx.set_timer(Worker.tick, 1, after=1.0)
        ctx.set_timer(Worker.settle, after=3.0)

    @wl.call(when=lambda self, limit: self.total < limit)
    def greet(self, ctx: wl.Context, limit: int) -> None:
        self.mode = Mode.BUSY
        for peer in ctx.nodes:
            if peer != ctx.me:
                ctx.send(peer, Hello(frozenset(self.known)))

    @wl.call
    def save(self, ctx: wl.Context) -> None:
        self.saved = self.total
        ctx.log(f"saved {self.total}")

    @wl.on(Hello)
    def hello(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.noise += 1
        self.known |= msg.names
        first = ctx.send(src, Data(ctx.choose([1, 2]), msg))
        second = ctx.send(src, Data(self.total, notes=wl.FrozenMap({"first": first})))
        if not second:
            self.errors.append(src)
            ctx.set_timer(Worker.settle)
        if ctx.is_pending(Worker.settle):
            ctx.send(ctx.me, Stray())

    @wl.on(Data, when=lambda self, src, msg: self.mode is Mode.BUSY)
    def data(self, ctx: wl.Context, src: wl.NodeId, msg: Data) -> None:
        self.heard = msg.number
        self.table[src] = msg.number
        self.total = min(self.total + self.step, 7)
        if self.total == 7:
            raise OverflowError("counted to seven")
        if msg.inner is None:
            ctx.cancel_timer(Worker.tick, 1)
            ctx.send(src, Data(ctx.sequence() % 3, Data(1)))

    @wl.timer
    def tick(self, ctx: wl.Context, payload: int) -> None:
        earlier, self.since = self.since, ctx.now()
        if earlier is not None and self.since - earlier > 1.0:
            self.mode = Mode.IDLE
        if ctx.random(3) == payload:
            ctx.set_timer(Worker.tick, payload, after=float(payload))
        for peer in self.table:
            ctx.send(peer, Data(payload))

    @wl.timer(when=lambda self: self.mode is Mode.BUSY)
    def settle(self, ctx: wl.Context) -> None:
        self.mode = Mode.IDLE
        self.table.clear()

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.errors.append(peer)
        self.table.pop(peer, None)
        if len(self.errors) > 2:
            self.errors.clear()
            ctx.send(peer, Hello())


@wl.safety
def totals_are_small(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].total < 6)


def _count(value: tuple[int, int], seen: tuple[str, int]) -> tuple[int, int]:
    kind, sends = seen
    return (value[0] + (kind == "deliver")) % 5, (value[1] + sends) % 3


def counting() -> wl.Observer:
    """An observer that counts deliveries and sends, modulo something."""
    return wl.Observer(
        "counted",
        (0, 0),
        lambda step: (step.event.kind.value, len(step.sends)) if step.handled else None,
        _count,
    )


def workers(size: int = 2, **options: Any) -> wl.System:
    """Workers that greet, save and greet again."""
    nodes = wl.ids(*"abcd"[:size])
    a, b = nodes[:2]
    options.setdefault(
        "workload",
        [
            wl.script(a, [wl.invoke(Worker.greet, 3), Worker.save]),
            wl.script(b, [wl.invoke(Worker.greet, 5)], on_reset="continue"),
        ],
    )
    return wl.System(
        {node: Worker(step=1 + number % 2) for number, node in enumerate(nodes)},
        properties=[totals_are_small],
        name="workers",
        **options,
    )


def eager_workers(**options: Any) -> wl.System:
    """Workers that may call at any time that their guards allow."""
    return workers(
        workload=[
            wl.whenever(wl.invoke(Worker.greet, 4)),
            wl.whenever(Worker.save, when=lambda self: self.saved < self.total),
        ],
        **options,
    )


# --------------------------------------------------------------------- a stack of two


@wl.message
class Frame:
    """Wraps a message of the service above."""

    number: int
    body: Hello | Data


@wl.message
class Ack:
    number: int


@wl.node
class Link:
    """Sends again until it is acknowledged; delivers each frame once."""

    next: int = 0
    unacked: dict[int, tuple[wl.NodeId, Hello | Data]] = wl.field(default_factory=dict)
    seen: set[tuple[wl.NodeId, int]] = wl.field(default_factory=set)

    def route(self, ctx: wl.Context, dst: wl.NodeId, msg: Hello | Data) -> bool:
        if len(self.unacked) > 1:
            return False
        self.unacked[self.next] = (dst, msg)
        ctx.send(dst, Frame(self.next, msg))
        ctx.set_timer(Link.again, self.next)
        self.next += 1
        return True

    @wl.on(Frame)
    def frame(self, ctx: wl.Context, src: wl.NodeId, msg: Frame) -> None:
        ctx.send(src, Ack(msg.number))
        if (src, msg.number) not in self.seen:
            self.seen.add((src, msg.number))
            ctx.up("deliver", src, msg.body)

    @wl.on(Ack)
    def ack(self, ctx: wl.Context, src: wl.NodeId, msg: Ack) -> None:
        if self.unacked.pop(msg.number, None) is not None:
            ctx.cancel_timer(Link.again, msg.number)
            ctx.up("confirmed", msg.number)

    @wl.timer
    def again(self, ctx: wl.Context, number: int) -> None:
        dst, body = self.unacked[number]
        ctx.send(dst, Frame(number, body))

    @wl.transport_error
    def broken(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        ctx.up("error", peer)


@wl.node
class Application:
    """Says hello over a link, and answers with data."""

    link: Link = wl.part()
    got: list[int] = wl.field(default_factory=list)
    confirmed_: int = 0
    refused: int = 0
    failures: int = wl.durable(default=0)

    @wl.call
    def say(self, ctx: wl.Context, to: wl.NodeId) -> None:
        for _ in range(3):
            self.refused += not ctx.send(to, Hello())

    @wl.on(Hello)
    def hello(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        ctx.send(src, Data(len(self.got)))

    @wl.on(Data, when=lambda self, src, msg: len(self.got) < 2)
    def data(self, ctx: wl.Context, src: wl.NodeId, msg: Data) -> None:
        self.got.append(msg.number)

    @wl.upcall
    def confirmed(self, ctx: wl.Context, number: int) -> None:
        self.confirmed_ = (self.confirmed_ + 1) % 3

    @wl.transport_error
    def unreachable(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.failures = (self.failures + 1) % 3


def stack(**options: Any) -> wl.System:
    """Two applications over links."""
    a, b = wl.ids("a", "b")
    say = wl.invoke(Application.say, b)
    return wl.System(
        {a: Application(link=Link()), b: Application(link=Link())},
        workload=[wl.script(a, [say])],
        name="stack",
        **options,
    )


# ------------------------------------------------------------------- small and finite


@wl.message
class Ball:
    bounces: int


@wl.node
class Player:
    """Throws a ball and counts what comes back, a little."""

    caught: int = 0
    thrown: int = wl.durable(default=0)
    lost: int = 0

    @wl.call(when=lambda self, to: self.thrown < 2)
    def throw(self, ctx: wl.Context, to: wl.NodeId) -> None:
        self.thrown += 1
        ctx.send(to, Ball(ctx.choose([0, 1])))

    @wl.on(Ball)
    def catch(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.caught = min(self.caught + 1, 2)
        if msg.bounces:
            ctx.send(src, Ball(msg.bounces - 1))

    @wl.transport_error
    def fumble(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost = min(self.lost + 1, 2)


@wl.safety
def nobody_catches_two(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].caught < 2)


def players(*, both: bool = False, **options: Any) -> wl.System:
    """Two players; one throws, or both."""
    a, b = wl.ids("a", "b")
    workload = [wl.script(a, [wl.invoke(Player.throw, b)] * 2, on_reset="continue")]
    if both:
        workload.append(wl.script(b, [wl.invoke(Player.throw, a)]))
    return wl.System(
        {a: Player(), b: Player()},
        workload=workload,
        properties=[nobody_catches_two],
        name="players",
        **options,
    )


@wl.node
class Gambler:
    """Decides at boot who it is."""

    rank: int = -1
    rivals: frozenset[int] = frozenset()

    @wl.start
    def draw(self, ctx: wl.Context) -> None:
        self.rank = ctx.choose([3, 5], weights=[1.0, 2.0])
        for peer in ctx.nodes:
            if peer != ctx.me:
                ctx.send(peer, Data(self.rank))

    @wl.on(Data)
    def compare(self, ctx: wl.Context, src: wl.NodeId, msg: Data) -> None:
        self.rivals |= {msg.number}


def gamblers(**options: Any) -> wl.System:
    a, b = wl.ids("a", "b")
    return wl.System({a: Gambler(), b: Gambler()}, name="gamblers", **options)


@wl.message
class Note:
    """Is to arrive; a ball need not."""

    number: int


@wl.node
class Courier:
    """Throws a ball and sends notes, of which one may be refused."""

    balls: int = 0
    notes: tuple[int, ...] = ()
    refused: int = 0
    lost: int = 0

    @wl.call
    def post(self, ctx: wl.Context, to: wl.NodeId) -> None:
        ctx.send(to, Ball(1))
        for number in range(2):
            self.refused += not ctx.send(to, Note(number))

    @wl.on(Ball)
    def ball(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.balls = min(self.balls + 1, 2)
        if msg.bounces:
            ctx.send(src, Ball(0))

    @wl.on(Note, when=lambda self, src, msg: self.balls < 2)
    def note(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.notes += (msg.number,)

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost = min(self.lost + 1, 2)


@wl.safety
def notes_are_in_order(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].notes in ((), (0,), (0, 1)))


def couriers(network: Network, **options: Any) -> wl.System:
    """Two couriers, of which one has something to post."""
    a, b = wl.ids("a", "b")
    return wl.System(
        {a: Courier(), b: Courier()},
        network=network,
        workload=[wl.script(a, [wl.invoke(Courier.post, b)])],
        properties=[notes_are_in_order],
        name="couriers",
        **options,
    )


def _faults(**budgets: Any) -> wl.Faults:
    return wl.Faults(**budgets)


DATAGRAM_FAULTS = _faults(drops=2, duplicates=2, resets=1, crashes=1, restarts=1)
STREAM_FAULTS = _faults(connection_errors=2, resets=2, silent_resets=2)
CRASHES = _faults(crashes=2, restarts=None, resets=1, silent_resets=1)

VARIANTS: dict[str, Callable[[], wl.System]] = {
    "datagrams": lambda: workers(faults=DATAGRAM_FAULTS, observers=[counting()]),
    "three on datagrams": lambda: workers(
        3, network=wl.datagrams(loss=False), faults=_faults(duplicates=None, crashes=1)
    ),
    "fifo": lambda: workers(
        network=wl.datagrams(reordering=False), faults=DATAGRAM_FAULTS
    ),
    "streams": lambda: workers(network=wl.streams(buffer=2), faults=STREAM_FAULTS),
    "three on streams": lambda: workers(
        3, network=wl.streams(), faults=_faults(resets=1, silent_resets=3)
    ),
    "few deaf on streams": lambda: workers(
        3, network=wl.streams(), faults=_faults(resets=1, silent_resets=3, deaf=1)
    ),
    "crashes on streams": lambda: workers(network=wl.streams(buffer=1), faults=CRASHES),
    "crashes on datagrams": lambda: workers(
        3, network=wl.datagrams(loss=False), faults=_faults(crashes=2, restarts=1)
    ),
    "crashes on fifo": lambda: workers(
        3,
        network=wl.datagrams(reordering=False),
        faults=_faults(crashes=None, restarts=None, drops=1),
    ),
    "crashes behind a partition": lambda: workers(
        3,
        network=wl.datagrams(reordering=False, loss=False),
        faults=_faults(crashes=1, restarts=1, partitions=2),
    ),
    "crashes while messages wait": lambda: workers(
        unhandled="wait", faults=_faults(crashes=2, restarts=2, duplicates=1)
    ),
    "crashes on a message set": lambda: eager_workers(
        network=wl.message_set(), faults=_faults(crashes=1, restarts=1)
    ),
    "partitioned datagrams": lambda: workers(3, faults=_faults(partitions=2, drops=1)),
    "partitioned streams": lambda: workers(
        3, network=wl.streams(), faults=_faults(partitions=2, silent_resets=1)
    ),
    "severed streams": lambda: workers(
        3,
        network=wl.streams(buffer=None),
        faults=_faults(partitions=None, break_sockets=True, resets=1),
    ),
    "message set": lambda: eager_workers(network=wl.message_set()),
    "waiting": lambda: workers(unhandled="wait", network=wl.streams(buffer=3)),
    "waiting on fifo": lambda: workers(
        unhandled="wait", network=wl.datagrams(reordering=False)
    ),
    "unhandled is an error": lambda: workers(unhandled="error"),
    "boot by events": lambda: workers(
        boot="events", network=wl.streams(), faults=_faults(resets=2)
    ),
    "timed": lambda: workers(timed=True, faults=_faults(resets=1)),
    "no-ops left out": lambda: eager_workers(ignore_noops=True, observers=[counting()]),
    "stack on datagrams": lambda: stack(faults=_faults(drops=2, resets=1)),
    "stack on streams": lambda: stack(network=wl.streams(buffer=2), faults=CRASHES),
    "players on streams": lambda: players(
        both=True,
        network=wl.streams(),
        faults=_faults(connection_errors=2, resets=3, silent_resets=3, crashes=1),
    ),
    "datagrams beside streams": lambda: workers(
        network=wl.networks({Data: wl.datagrams()}, otherwise=wl.streams(buffer=1)),
        faults=_faults(drops=1, duplicates=1, connection_errors=1, silent_resets=1),
    ),
    "three on queues beside a bag": lambda: workers(
        3,
        network=wl.networks(
            {(Hello, Stray): wl.datagrams(duplication=False, reordering=False)},
            otherwise=wl.datagrams(loss=False),
        ),
        faults=_faults(drops=2, duplicates=2, crashes=2, restarts=1, partitions=1),
    ),
    "crashes on streams beside a message set": lambda: eager_workers(
        network=wl.networks({Hello: wl.message_set()}, otherwise=wl.streams(buffer=2)),
        faults=_faults(crashes=2, restarts=1, resets=1),
    ),
    "severed streams beside datagrams": lambda: workers(
        3,
        network=wl.networks({Data: wl.streams(buffer=2)}, otherwise=wl.datagrams()),
        faults=_faults(partitions=None, break_sockets=True, resets=1, drops=1),
    ),
    "stack on streams beside datagrams": lambda: stack(
        network=wl.networks({Ack: wl.datagrams()}, otherwise=wl.streams(buffer=2)),
        faults=_faults(crashes=2, restarts=None, drops=1, silent_resets=1),
    ),
    "gamblers": lambda: gamblers(faults=_faults(resets=1, crashes=1, restarts=1)),
    "shelves": lambda: shelves(faults=_faults(resets=1, drops=1)),
}

KINDS = [
    "datagrams",
    "fifo",
    "few deaf on streams",
    "crashes on streams",
    "crashes while messages wait",
    "partitioned datagrams",
    "severed streams",
    "message set",
    "unhandled is an error",
    "boot by events",
    "timed",
    "no-ops left out",
    "stack on datagrams",
    "datagrams beside streams",
    "gamblers",
    "shelves",
]
"""Variants that have among them every network, fault and option at least once."""

FINITE: dict[str, Callable[[], wl.System]] = {
    "players on datagrams": lambda: players(faults=_faults(drops=1, duplicates=1)),
    "players with resets": lambda: players(faults=_faults(resets=1)),
    "players on fifo": lambda: players(
        network=wl.datagrams(reordering=False), faults=_faults(drops=1, crashes=1)
    ),
    "players on streams": lambda: players(
        network=wl.streams(buffer=1), faults=_faults(connection_errors=1, resets=1)
    ),
    "silent resets": lambda: players(
        both=True, network=wl.streams(), faults=_faults(silent_resets=1)
    ),
    "crashes on streams": lambda: players(
        network=wl.streams(), faults=_faults(crashes=1, restarts=1)
    ),
    "crashes on datagrams": lambda: players(
        network=wl.datagrams(loss=False), faults=_faults(crashes=2, restarts=1)
    ),
    "crashes on fifo": lambda: players(
        network=wl.datagrams(reordering=False),
        faults=_faults(crashes=1, restarts=1, drops=1),
    ),
    "crashes behind a partition": lambda: players(
        faults=_faults(crashes=1, restarts=None, partitions=1)
    ),
    "crashes for good": lambda: players(faults=_faults(crashes=2)),
    "partitions": lambda: players(
        network=wl.streams(), faults=_faults(partitions=1, break_sockets=True)
    ),
    "players on a message set": lambda: players(network=wl.message_set()),
    "players without no-ops": lambda: players(ignore_noops=True),
    "couriers by streams and datagrams": lambda: couriers(
        wl.networks({Note: wl.streams(buffer=1)}, otherwise=wl.datagrams()),
        faults=_faults(drops=1, duplicates=1, resets=1),
    ),
    "couriers with silent resets": lambda: couriers(
        wl.networks({Ball: wl.datagrams()}, otherwise=wl.streams()),
        faults=_faults(silent_resets=1, connection_errors=1),
    ),
    "couriers with crashes": lambda: couriers(
        wl.networks(
            {Ball: wl.datagrams(reordering=False), Note: wl.streams(buffer=1)},
            otherwise=wl.message_set(),
        ),
        faults=_faults(crashes=1, restarts=1, drops=1, partitions=1),
    ),
    "couriers by a message set and datagrams": lambda: couriers(
        wl.networks({Ball: wl.message_set()}, otherwise=wl.datagrams(loss=False)),
        faults=_faults(crashes=1, restarts=1, duplicates=1),
    ),
    "gamblers": lambda: gamblers(faults=_faults(resets=1)),
    "gamblers booting": lambda: gamblers(boot="events"),
    "shelves": shelves,
    "shelves with resets": lambda: shelves(
        network=wl.datagrams(reordering=False), faults=_faults(resets=1)
    ),
}
