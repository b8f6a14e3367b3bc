"""A runtime with companions over the direct world: random runs of which all is known."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import worldline as wl
from worldline.model.data.values import freeze
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.link import HALF, OPEN
from worldline.model.semantics.hidden import Hidden, PendingTimer
from worldline.worlds.companions import Companion
from worldline.worlds.direct import DirectWorld

BEGINS = frozenset({Kind.START, Kind.RESET, Kind.RESTART})
HANDLED = BEGINS | {Kind.DELIVER, Kind.TIMER, Kind.CALL, Kind.TRANSPORT_ERROR}
TAKEN = {Kind.DELIVER, Kind.DROP, Kind.REFUSE}


@dataclass(eq=False)
class Flying:
    """A message that is under way, or was."""

    src: int
    dst: int
    envelope: Envelope
    life: int
    numbers: dict[int, int]
    sent: int
    copy_of: Flying | None = None
    taken: int | None = None
    lost: bool = False

    @property
    def first(self) -> Flying:
        return self if self.copy_of is None else self.copy_of


@dataclass
class Happened:
    """An event of a run: where, and which event sent what it delivers."""

    event: Event
    choices: tuple[int, ...]
    index: int | None
    cause: int | None = None
    boot: bool = False


class Standing:
    """One life of a node, as companions see it."""

    def __init__(self, walk: Walk, index: int, incarnation: int) -> None:
        self._walk, self._index = walk, index
        self.me = walk.system.ids[index]
        self.incarnation = incarnation
        self.lamport = 0
        self.is_up = True

    @property
    def node(self) -> Any:
        return self._walk.world.nodes[self._index]

    @property
    def now(self) -> float:
        return self._walk.now

    @property
    def _hidden(self) -> Hidden:
        world = self._walk.world
        hidden: Hidden = world.cells[world.system.layout.hidden(self._index)]
        return hidden

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        return self._hidden.timers

    @property
    def sequence(self) -> int:
        return self._hidden.counter

    @property
    def positions(self) -> Sequence[int]:
        return self._hidden.positions

    def waiting(self) -> Sequence[tuple[wl.NodeId, str, Any]]:
        return ()

    def life_of(self, peer: wl.NodeId) -> int | None:
        walk = self._walk
        to = walk.system.index[peer]
        if to == self._index:
            return None
        return walk.connected.get((self._index, to))

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        return self._walk.later(seconds, self, action)

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        raise NotImplementedError

    def checkpoint(self) -> bytes:
        return b""

    def tell(self, peer: wl.NodeId, companion: str, body: bytes) -> None:
        self._walk.tell(self._index, self._walk.system.index[peer], body)


class Walk:
    """A random run.

    Parameters
    ----------
    hard
        Whether of four letters one is lost, and others come twice, or much later.
    """

    def __init__(
        self,
        system: wl.System,
        companion: Companion,
        seed: int,
        *,
        pace: float = 0.1,
        called: Callable[[Walk], None] = lambda walk: None,
        hard: bool = False,
    ) -> None:
        self.system, self.companion = system, companion
        self._hard = hard
        self.random = Random(seed)
        self.pace = pace
        self.world = DirectWorld(system)
        self.now = 0.0
        self.besides: list[Standing | None] = [None] * len(system.ids)
        self.lives = [0] * len(system.ids)
        self.history: list[Happened] = []
        self.flying: dict[tuple[int, int], list[Flying]] = {}
        self.messages: list[Flying] = []
        self.connected: dict[tuple[int, int], int] = {}
        self.errors = 0
        self._due: list[tuple[float, int, Standing | None, Callable[[], None]]] = []
        self._count = itertools.count()
        self._called = called
        for event in self.world.boot_events():
            self._happen(event, boot=True)

    # ---------------------------------------------------------------- for companions

    def later(
        self, seconds: float, beside: Standing | None, action: Callable[[], None]
    ) -> Callable[[], None]:
        is_off = False

        def act() -> None:
            if not is_off and (beside is None or beside.is_up):
                action()

        def call_off() -> None:
            nonlocal is_off
            is_off = True

        entry = (self.now + seconds, next(self._count), beside, act)
        heapq.heappush(self._due, entry)
        return call_off

    def tell(self, src: int, dst: int, body: bytes) -> None:
        if not self._hard:
            self._carry(src, dst, body, loss=0.02, delay=0.15)
            return
        for _ in range(self.random.choice([1, 1, 2, 3])):
            delay = self.random.choice([0.05, 0.15, 1.0])
            self._carry(src, dst, body, loss=0.25, delay=delay)

    def _carry(
        self, src: int, dst: int, body: bytes, *, loss: float, delay: float
    ) -> None:
        if self.is_connected(src, dst) is False or self.random.random() < loss:
            return
        slow = self.random.expovariate(1 / delay)
        me = self.system.ids[src]

        def arrive() -> None:
            beside = self.besides[dst]
            if beside is not None and beside.is_up and self.is_connected(src, dst):
                self.companion.heard(beside, me, body)

        self.later(slow, None, arrive)

    def is_connected(self, src: int, dst: int) -> bool:
        if not self.has_connections:
            return True
        return (src, dst) in self.connected

    @property
    def has_connections(self) -> bool:
        return wl.Capability.DISCONNECT in self.system.network.capabilities

    # --------------------------------------------------------------------- to drive it

    @property
    def place(self) -> int:
        """How many events have happened."""
        return len(self.history)

    def step(self) -> None:
        until = self.now + self.random.expovariate(1 / self.pace)
        while self._due and self._due[0][0] <= until:
            time, _, _, act = heapq.heappop(self._due)
            self.now = max(self.now, time)
            act()
            self._called(self)
        self.now = until
        events = self.world.enabled()
        weights = [_WEIGHTS.get(event.kind, 1.0) for event in events]
        (event,) = self.random.choices(events, weights)
        self._happen(event)

    def _happen(self, event: Event, *, boot: bool = False) -> None:
        companion, ids = self.companion, self.system.index
        index = None if event.node is None else ids[event.node]
        what = Happened(event, (), index, boot=boot)
        if event.kind is Kind.CRASH and index is not None:
            self._end(index)
        if event.kind in BEGINS and index is not None:
            self._end(index)
            self.lives[index] += 1
            beside = self.besides[index] = Standing(self, index, self.lives[index])
            companion.joined(beside)
        flying = self._taken(event, index)
        if event.kind is Kind.DELIVER and flying is not None and index is not None:
            what.cause = flying.sent
            beside = self._beside(index)
            companion.noticed(
                beside, self.system.ids[flying.src], flying.life, flying.numbers
            )
            self._called(self)
        is_handled = event.kind in HANDLED and index is not None
        if is_handled and index is not None:
            companion.gate(self._beside(index), event)
            self._called(self)
        outcome = self.world.step(
            event,
            source=lambda n, weights: self.random.randrange(n),
        )
        assert outcome.failure is None, outcome.failure
        what.choices = outcome.choices
        self.history.append(what)
        if flying is not None:
            self._take(flying, event)
        if is_handled and index is not None:
            self._send(index, outcome.sends)
        self._settle()
        if is_handled and index is not None:
            companion.seen(self._beside(index), event)
            self._called(self)

    # ------------------------------------------------------------------------ inside

    def _beside(self, index: int) -> Standing:
        beside = self.besides[index]
        assert beside is not None
        return beside

    def _end(self, index: int) -> None:
        beside = self.besides[index]
        if beside is not None:
            beside.is_up = False

    def _taken(self, event: Event, index: int | None) -> Flying | None:
        if event.envelope is None or event.peer is None or index is None:
            return None
        pair = (self.system.index[event.peer], index)
        same = [f for f in self.flying[pair] if f.envelope == event.envelope]
        return same[0]

    def _take(self, flying: Flying, event: Event) -> None:
        queue = self.flying[flying.src, flying.dst]
        at = len(self.history) - 1
        if event.kind is Kind.DUPLICATE:
            copy = Flying(
                flying.src,
                flying.dst,
                flying.envelope,
                flying.life,
                flying.numbers,
                flying.sent,
                flying.first,
            )
            self.messages.append(copy)
            queue.insert(queue.index(flying), copy)
            return
        if event.kind in TAKEN and flying in queue:
            queue.remove(flying)
            flying.taken = at if event.kind is Kind.DELIVER else None
            flying.lost = event.kind is not Kind.DELIVER

    def _send(self, index: int, sends: Sequence[Any]) -> None:
        for sent in sends:
            if not sent.taken:
                continue
            dst, part, message = sent.dst, sent.part, sent.message
            numbers = self.companion.extensions(self._beside(index), dst, part, message)
            to, me = self.system.index[dst], self.system.ids[index]
            envelope = Envelope(me, part, message, freeze(message))
            flying = Flying(
                index,
                to,
                envelope,
                self.lives[index],
                numbers or {},
                len(self.history) - 1,
            )
            self.messages.append(flying)
            self.flying.setdefault((index, to), []).append(flying)

    def _settle(self) -> None:
        """Note which messages have gone with their connections, and which are open."""
        layout = self.system.layout
        for (src, dst), queue in self.flying.items():
            inbox = self.world.cells[layout.inbox(dst)]
            left = inbox.holds(self.system.ids[src])
            if isinstance(self.system.network, wl.Networks):
                left = len(
                    [e for e in inbox.envelopes() if e.src == self.system.ids[src]]
                )
                gone = self._gone_of_mixed(inbox, src, queue)
            else:
                gone = queue[: len(queue) - left]
            for one in gone:
                one.lost = True
                queue.remove(one)
        if not self.has_connections:
            return
        for index in range(len(self.system.ids)):
            links = self.world.cells[layout.inbox(index)].connections()
            for peer, link in links.items():
                pair = (index, self.system.index[peer])
                if link.mine in (OPEN, HALF):
                    self.connected.setdefault(pair, self.lives[pair[1]])
                else:
                    self.connected.pop(pair, None)

    def _gone_of_mixed(self, inbox: Any, src: int, queue: list[Flying]) -> list[Flying]:
        there = [e for e in inbox.envelopes() if e.src == self.system.ids[src]]
        gone = []
        for one in reversed(queue):  # those that were sent last are there still
            if one.envelope in there:
                there.remove(one.envelope)
            else:
                gone.append(one)
        return gone


_WEIGHTS = {
    Kind.DELIVER: 12.0,
    Kind.TRANSPORT_ERROR: 6.0,
    Kind.REFUSE: 4.0,
    Kind.TIMER: 4.0,
    Kind.RESET: 0.12,
    Kind.CRASH: 0.15,
    Kind.RESTART: 4.0,
    Kind.DISCONNECT: 0.25,
    Kind.DROP: 0.4,
    Kind.DUPLICATE: 0.4,
    Kind.PARTITION: 0.2,
    Kind.HEAL: 2.0,
}
