"""A runtime in which nothing happens by itself: tests say what is sent, lost and late."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.steer.snapshots import chatter

import worldline as wl
from worldline.model.events import LOST, Event
from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import PendingTimer
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.letter_bytes import read
from worldline.steer.snapshots.letters import SnapshotLetter
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.worlds.companions import Companion

DELAY_S = 0.05
GREETING = chatter.Word(0)
"""What nodes that are connected have sent each other, each once."""


class Posted:
    """A life of a node."""

    def __init__(self, post: Post, index: int, incarnation: int) -> None:
        self._post, self.index, self.incarnation = post, index, incarnation
        self.me = post.system.ids[index]
        self.lamport = 0
        self.is_up = True
        self.node: Any = post.nodes[index]
        self.timers: Mapping[PendingTimer, float] = {}
        self.sequence = 0
        self.positions: Sequence[int] = ()

    @property
    def now(self) -> float:
        return self._post.now

    def waiting(self) -> Sequence[tuple[wl.NodeId, str, Any]]:
        return ()

    def life_of(self, peer: wl.NodeId) -> int | None:
        other = self._post.system.index[peer]
        pair = frozenset({self.index, other})
        return self._post.lives[other].incarnation if pair in self._post.open else None

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        return self._post.later(seconds, self, action)

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        raise NotImplementedError

    def checkpoint(self) -> bytes:
        return b""

    def tell(self, peer: wl.NodeId, companion: str, body: bytes) -> None:
        self._post.tell(self.index, self._post.system.index[peer], body)


class Post:
    """The runtime: all nodes stand ready, and letters take a while."""

    def __init__(
        self,
        system: wl.System,
        options: GatherOptions | None = None,
        *,
        nodes: Sequence[wl.NodeId] | None = None,
        connect: bool = True,
    ) -> None:
        self.system = system
        self.now = 0.0
        self.nodes = [
            kind.thaw(frozen, first)
            for kind, frozen, first in zip(
                system.types, system.initial, system.prototypes, strict=True
            )
        ]
        self.taken: list[NeighbourhoodSnapshot] = []
        self.letters: list[tuple[int, int, SnapshotLetter]] = []
        self.keep: Callable[[int, int, SnapshotLetter], bool] = (
            lambda src, dst, letter: True
        )
        self.delay: Callable[[int, int, SnapshotLetter], float] = (
            lambda src, dst, letter: DELAY_S
        )
        self.open: set[frozenset[int]] = set()
        self._due: list[tuple[float, int, Posted | None, Callable[[], None]]] = []
        self._count = itertools.count()
        self.snapshots = Snapshots(system, options, self.taken.append, nodes=nodes)
        self.companion: Companion = self.snapshots
        count = len(system.ids)
        if connect:
            self.open = {frozenset(p) for p in itertools.combinations(range(count), 2)}
        self.lives = [Posted(self, index, 1) for index in range(count)]
        for index in range(count):
            self.companion.joined(self.lives[index])
            self.happen(index, Kind.START)
        for one, other in itertools.permutations(range(count if connect else 0), 2):
            self.take(one, other, self.send(one, other, GREETING))

    def happen(self, index: int, kind: Kind = Kind.TIMER, **about: Any) -> None:
        """Let an event happen of which the handler does nothing."""
        life = self.lives[index]
        event = Event(kind, life.me, **about)
        self.companion.gate(life, event)
        self.companion.seen(life, event)

    def change(self, index: int, *, leaves: bool = True) -> None:
        """Let an event change a field; its effects leave, unless that takes a while."""
        life = self.lives[index]
        event = Event(Kind.TIMER, life.me, name="talk")
        self.companion.gate(life, event)
        life.node.seen += 1
        if leaves:
            self.companion.seen(life, event)

    def reset(self, index: int) -> None:
        """Let a new life begin."""
        self.lives[index].is_up = False
        life = self.lives[index] = Posted(
            self, index, self.lives[index].incarnation + 1
        )
        self.companion.joined(life)
        self.happen(index, Kind.RESET, payload=())

    def fail(self, index: int, peer: int) -> None:
        """Let a node hear that the connection with a peer is lost."""
        self.open.discard(frozenset({index, peer}))
        other = self.system.ids[peer]
        self.happen(index, Kind.TRANSPORT_ERROR, name=LOST, peer=other)

    def send(self, src: int, dst: int, message: Any) -> dict[int, int]:
        """Let a node send a message; return the numbers beside it."""
        me, to = self.lives[src], self.system.ids[dst]
        return self.companion.extensions(me, to, "", message) or {}

    def take(self, src: int, dst: int, numbers: dict[int, int]) -> None:
        """Let a message arrive."""
        me, peer = self.lives[dst], self.lives[src]
        self.companion.noticed(me, peer.me, peer.incarnation, numbers)
        self.happen(dst, Kind.DELIVER, peer=peer.me)

    def tell(self, src: int, dst: int, body: bytes) -> None:
        letter = read(body)
        self.letters.append((src, dst, letter))
        if not self.keep(src, dst, letter):
            return
        me = self.system.ids[src]

        def arrive() -> None:
            self.companion.heard(self.lives[dst], me, body)

        self.later(self.delay(src, dst, letter), None, arrive)

    def later(
        self, seconds: float, life: Posted | None, action: Callable[[], None]
    ) -> Callable[[], None]:
        off: list[bool] = []

        def act() -> None:
            if not off and (life is None or life.is_up):
                action()

        entry = (self.now + seconds, next(self._count), life, act)
        heapq.heappush(self._due, entry)
        return lambda: off.append(True)

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        until = self.now + seconds
        while self._due and self._due[0][0] <= until:
            self.now, _, _, act = heapq.heappop(self._due)
            act()
        self.now = until

    def sent(self, kind: type[SnapshotLetter]) -> list[Any]:
        """Return the letters of a kind that were sent so far."""
        return [letter for _, _, letter in self.letters if isinstance(letter, kind)]

    def to(self, dst: int, kind: type[SnapshotLetter] | None = None) -> list[Any]:
        """Return the letters, or those of a kind, that were sent to a node so far."""
        return [
            letter
            for _, other, letter in self.letters
            if other == dst and (kind is None or isinstance(letter, kind))
        ]
