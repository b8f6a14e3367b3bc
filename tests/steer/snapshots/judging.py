"""Judges snapshots by all that is known of the run in which they were taken (D76)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.steer.snapshots.simulating import SimulatedRun
from tests.steer.snapshots.states import state_of
from tests.steer.snapshots.walking import Flying, Happened, Walk

import worldline as wl
from worldline.model.events import LOST, Event
from worldline.model.kinds import Kind
from worldline.model.system import System
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld


class Judge:
    """Judges the snapshots of a run."""

    def __init__(self, system: System, options: GatherOptions | None = None) -> None:
        self.system = system
        self.taken: list[NeighbourhoodSnapshot] = []
        self.cuts: dict[tuple[int, int, int], int] = {}
        self.sorts: Counter[str] = Counter()
        self.snapshots = Snapshots(system, options, self.taken.append)
        self.walk: Walk | SimulatedRun
        self._noted: list[Any] = [None] * len(system.ids)

    @classmethod
    def walked(
        cls,
        system: System,
        seed: int,
        options: GatherOptions | None = None,
        *,
        pace: float = 0.1,
        hard: bool = False,
    ) -> Judge:
        judge = cls(system, options)
        judge.walk = Walk(
            system, judge.snapshots, seed, pace=pace, called=judge.note, hard=hard
        )
        return judge

    @classmethod
    def simulated(
        cls,
        system: System,
        seed: int,
        conditions: Conditions,
        options: GatherOptions | None = None,
    ) -> Judge:
        judge = cls(system, options)
        judge.walk = SimulatedRun(system, judge.snapshots, conditions, seed, judge.note)
        return judge

    def note(self, walk: Walk | SimulatedRun) -> None:
        """Note before which event each checkpoint was taken."""
        for node, keeper in self.snapshots._keepers.items():
            index = self.system.index[node]
            for kept in reversed(keeper._log._kept):
                if kept is self._noted[index]:
                    break
                key = (index, kept.record.life, kept.record.number)
                self.cuts.setdefault(key, walk.place)
            self._noted[index] = keeper._log.last

    def run(self, steps: int, until: float = 1e9) -> int:
        """Run so many steps; judge what was gathered; return how many that were."""
        judged = 0
        for _ in range(steps):
            if isinstance(self.walk, Walk):
                self.walk.step()
            elif not self.walk.step(until):
                break
            for snapshot in self.taken:
                self.judge(snapshot)
                judged += 1
            self.taken.clear()
        return judged

    # ------------------------------------------------------------------------ judging

    def judge(self, snapshot: NeighbourhoodSnapshot) -> None:
        cuts = {
            index: self.cuts[index, record.life, record.number]
            for index, record in snapshot.members.items()
        }
        state = state_of(self.system, snapshot).snapshot
        included = self._closed(cuts)
        self._check_channels(snapshot, cuts, state)
        world = self._replayed(included)
        layout, again = self.system.layout, world.snapshot()
        for index in snapshot.members:
            for column in (layout.local(index), layout.hidden(index)):
                assert again[column] == state[column], (index, snapshot)

    def _closed(self, cuts: dict[int, int]) -> list[int]:
        """Return the events before the cut, and those of others that precede them."""
        history = self.walk.history
        until = dict(cuts)
        todo = list(cuts)
        while todo:
            index = todo.pop()
            for place in range(until[index]):
                what = history[place]
                if what.index != index or what.cause is None:
                    continue
                src = history[what.cause].index
                assert src is not None
                if src in cuts:
                    assert what.cause < cuts[src], "received and not sent"
                elif until.get(src, 0) <= what.cause:
                    until[src] = what.cause + 1
                    todo.append(src)
        return [
            place
            for place, what in enumerate(history)
            if what.boot
            or (what.index is not None and place < until.get(what.index, 0))
        ]

    def _replayed(self, included: list[int]) -> DirectWorld:
        world = DirectWorld(self.system)
        for place in included:
            what = self.walk.history[place]
            if what.event.kind in (Kind.DISCONNECT, Kind.PARTITION, Kind.HEAL):
                continue
            self._again(world, what)
        return world

    def _again(self, world: DirectWorld, what: Happened) -> None:
        event = what.event
        if event.kind is Kind.DROP and not self._is_in_order:
            return  # perhaps of an equal message that is sent after the cut
        if event.kind is Kind.RESET and event.payload:
            inbox = world.cells[self.system.layout.inbox(what.index or 0)]
            deaf = tuple(p for p in inbox.silent_peers() if p in event.payload)
            event = Event(Kind.RESET, event.node, payload=deaf)
        if world.is_enabled(event, charge=False):
            world.step(event, what.choices, charge=False)
        elif event.kind is Kind.TRANSPORT_ERROR:
            self._fail(world, event, what.choices)
        elif event.kind not in (Kind.REFUSE, Kind.DROP, Kind.DUPLICATE):
            raise AssertionError(f"{event!r} cannot happen again")

    def _fail(self, world: DirectWorld, event: Event, choices: Any) -> None:
        """Let a connection break, whose end is not among what happens again."""
        me, peer = event.node, event.peer
        assert me is not None
        assert peer is not None
        lost = Event(Kind.TRANSPORT_ERROR, me, name=LOST, peer=peer)
        if world.is_enabled(lost):
            world.step(lost, choices, charge=False)
            return
        link = world.cells[self.system.layout.inbox(self.system.index[me])].connection(
            peer
        )
        other = world.cells[
            self.system.layout.inbox(self.system.index[peer])
        ].connection(me)
        if link.is_whole():
            self.sorts["broken"] += 1
            link.disconnect()
            other.disconnect()
        else:  # a connection that nobody took
            self.sorts["refused"] += 1
            link.error_here = True
            other.error_there = True
        world.step(lost, choices, charge=False)

    def _check_channels(
        self, snapshot: NeighbourhoodSnapshot, cuts: dict[int, int], state: Any
    ) -> None:
        layout = self.system.layout
        sent: dict[tuple[int, int], list[Flying]] = {}
        received = set()
        for one in self.walk.messages:
            if one.src not in cuts or one.dst not in cuts or one.sent >= cuts[one.src]:
                continue
            if one.taken is not None and one.taken < cuts[one.dst]:
                received.add(one.first)
            if one.copy_of is None:
                sent.setdefault((one.src, one.dst), []).append(one)
        for dst in cuts:
            inbox: Any = self.system.cell(layout.inbox(dst))
            inbox.restore(state[layout.inbox(dst)])
            for src in cuts:
                there = [e for e in inbox.envelopes() if e.src == self.system.ids[src]]
                possible = [
                    one
                    for one in sent.get((src, dst), [])
                    if one not in received
                    and one.life == snapshot.members[src].life
                    and not self._has_died(one, cuts[src])
                ]
                self._check_channel(there, possible, cuts[dst])

    def _has_died(self, one: Flying, cut: int) -> bool:
        """Say whether the sender has lost the connection since, before the cut."""
        src, dst = self.system.ids[one.src], self.system.ids[one.dst]
        connected = self.snapshots._setting.carriers.is_on_connection(
            one.envelope.part, one.envelope.message
        )
        return connected and any(
            what.event.kind is Kind.TRANSPORT_ERROR
            and (what.event.node, what.event.peer) == (src, dst)
            for what in self.walk.history[one.sent + 1 : cut]
        )

    def _check_channel(
        self, there: list[Any], possible: list[Flying], cut: int
    ) -> None:
        """Check that all is there that came later, and nothing that was not sent."""
        left = Counter(there)
        # Of equal ones, those that came later are under way before those that were lost.
        for one in sorted(possible, key=lambda one: one.taken is None):
            later = one.taken is not None
            if left[one.envelope]:
                left[one.envelope] -= 1
                self.sorts["under way"] += 1
            elif later:
                raise AssertionError(f"{one} came later, and is not under way")
        assert not +left, "under way and not sent"
        if self._is_in_order:
            places = iter([one.envelope for one in possible])
            assert all(each in places for each in there), "out of order"

    @property
    def _is_in_order(self) -> bool:
        network = self.system.network
        is_mixed = isinstance(network, wl.Networks)
        return wl.Capability.ORDERED in network.capabilities and not is_mixed
