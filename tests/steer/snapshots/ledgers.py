"""Nodes that keep books of what they send and receive, by which their snapshots are judged."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from tests.steer.snapshots.states import state_of

import worldline as wl
from worldline.model.network.mailbox import Network
from worldline.model.system import System
from worldline.steer.snapshots.records import MemberRecord, NeighbourhoodSnapshot
from worldline.steer.snapshots.taking import CheckpointTaker

IDS = wl.ids("a", "b", "c", "d", "e")


@wl.message
class Entry:
    life: int
    number: int
    load: tuple[frozenset[str], ...]


@wl.node
class Ledger:
    peers: tuple[wl.NodeId, ...]
    pace: float
    life: int = wl.durable(default=0)
    sent: dict[wl.NodeId, int] = wl.field(default_factory=dict)
    got: dict[wl.NodeId, list[tuple[int, int]]] = wl.field(default_factory=dict)
    broken: set[wl.NodeId] = wl.field(default_factory=set)
    words: set[str] = wl.field(default_factory=set)
    nest: dict[str, list[tuple[int, str]]] = wl.field(default_factory=dict)
    last: Entry | None = None
    kept: dict[str, int] = wl.durable(default_factory=dict)
    shown: set[int] = wl.ghost(default_factory=set)
    cache: int = wl.field(default=0, checkpoint=False)

    @wl.neighbours(hops=1)
    def near(self) -> tuple[wl.NodeId, ...]:
        return self.peers

    @wl.rebuild
    def fill(self) -> None:
        self.cache = len(self.words)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.life += 1
        ctx.set_timer(Ledger.tick, after=self.pace)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self._change(ctx)
        to = ctx.choose(IDS)
        for _ in range(ctx.choose([0, 1, 1, 5])):
            self._say(ctx, to)
        ctx.set_timer(Ledger.tick, after=self.pace * ctx.choose([0.1, 1, 2]))

    @wl.timer
    def other(self, ctx: wl.Context, number: int) -> None:
        self.kept["other"] = number

    @wl.on(Entry)
    def enter(self, ctx: wl.Context, src: wl.NodeId, msg: Entry) -> None:
        self.got.setdefault(src, []).append((msg.life, msg.number))
        self._change(ctx)
        if ctx.choose([False, True]):
            self._say(ctx, ctx.choose([src, *self.peers]))

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.broken.add(peer)

    def _say(self, ctx: wl.Context, to: wl.NodeId) -> None:
        self.sent[to] = number = self.sent.get(to, 0) + 1
        load = (frozenset(self.words), frozenset())[: number % 3]
        self.last = Entry(self.life, number, load)
        ctx.send(to, self.last)

    def _change(self, ctx: wl.Context) -> None:
        number = ctx.choose(range(60))
        if number < 6:
            self.words.add(f"word{number}")
        elif number < 9:
            self.words.clear()
        elif number < 14:
            self.nest.setdefault("k", []).append((number, "n"))
        elif number < 17:
            self.nest.pop("k", None)
        elif number < 20:
            ctx.set_timer(Ledger.other, number, after=0.4)
        elif number < 22:
            self.kept["k"] = number
            self.shown.add(number)
        self.cache = len(self.words)


@wl.node
class FarLedger(Ledger):
    """One that wants to know of those beside its neighbours."""

    @wl.neighbours(hops=2)
    def near(self) -> tuple[wl.NodeId, ...]:
        return self.peers[:1]


def system(network: Network, *, hops: int = 1, pace: float = 0.3) -> System:
    kind = Ledger if hops == 1 else FarLedger
    made = {
        me: kind((*(IDS[(at + 1) % 5 :]), *IDS[: (at + 1) % 5])[:3], pace)
        for at, me in enumerate(IDS)
    }
    return wl.System(made, network=network, name="ledgers")


class Auditor:
    """Judges snapshots by the books in them, and by what nodes were when they were taken."""

    def __init__(self, system: System, *, is_lossless: bool) -> None:
        self.system, self.is_lossless = system, is_lossless
        self.seen = Counter[str]()
        self._were: dict[tuple[int, int, int], Any] = {}

    def stand_over(self, patch: pytest.MonkeyPatch) -> None:
        record, auditor = CheckpointTaker.record, self

        def noted(self: CheckpointTaker, number: int) -> MemberRecord:
            made = record(self, number)
            node = self.beside.node
            were = auditor._were.setdefault((self._index, made.life, number), [])
            were.append((_plain(node), {*self.beside.timers}))
            return made

        patch.setattr(CheckpointTaker, "record", noted)

    def taken(self, snapshot: NeighbourhoodSnapshot) -> None:
        self.seen["snapshots"] += 1
        self.seen["members"] += len(snapshot.members)
        nodes: dict[int, Any] = {}
        for index, record in snapshot.members.items():
            kind, first = self.system.types[index], self.system.prototypes[index]
            nodes[index] = kind.thaw(record.local, first)
            if kind.cls in (Ledger, FarLedger):
                nodes[index].fill()
            timers = {timer for timer, _ in record.timers}
            were = self._were[index, record.life, record.number]
            assert (_plain(nodes[index]), timers) in were, (index, record.number)
        self._audit(nodes, state_of(self.system, snapshot).snapshot)

    def _audit(self, nodes: Mapping[int, Any], state: Any) -> None:
        system = self.system
        for dst, there in nodes.items():
            place = system.layout.inbox(dst)
            inbox: Any = system.cell(place)
            inbox.restore(state[place])
            under_way: dict[wl.NodeId, list[tuple[int, int]]] = {}
            for one in inbox.envelopes():
                tag = (one.message.life, one.message.number)
                under_way.setdefault(one.src, []).append(tag)
            for src, here in nodes.items():
                me, to = system.ids[src], system.ids[dst]
                sent = [(here.life, n + 1) for n in range(here.sent.get(to, 0))]
                got, flying = there.got.get(me, []), under_way.get(me, [])
                assert not [tag for tag in got if tag > (here.life, len(sent))]
                assert {*flying} <= {*sent}
                assert not {*flying} & {*got}
                assert len({*flying}) == len(flying)
                self.seen["under way"] += len(flying)
                # Who is reset forgets what it has got; with an error, some are lost.
                if here.life == there.life == 1 and (
                    me not in there.broken and to not in here.broken
                ):
                    self.seen["whole"] += 1
                    assert sorted([*got, *flying]) == sent
                    assert not self.is_lossless or [*got, *flying] == sent


def _plain(node: Any) -> str:
    return repr(copy.deepcopy(dict(vars(node))))
