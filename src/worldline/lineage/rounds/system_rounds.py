"""Rounds from any state, all nodes together: for connections and observers.

On streams two nodes can learn of each other within a round, and an observer sees all
steps in their order. So a round is played as a whole, by the scheduler itself, from
what the state is made of: slower than node by node, and for every system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, TypeAlias, final

from worldline.injection.scope import Crash, CrashSemantics, Fault, Loss, Scope
from worldline.injection.stepper import Injection
from worldline.injection.subject import CoverPoint, Pulse
from worldline.lineage.rounds.cones import crashes_of
from worldline.lineage.rounds.crash_status import (
    BACK,
    DOWN,
    FRESH,
    MUTE,
    CrashStatus,
    after_crash,
)
from worldline.lineage.rounds.plan import FaultPlan
from worldline.lineage.rounds.promises import CALLS, Judge, due, witnesses
from worldline.lineage.rounds.scheduler import Mail, RoundWorld
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.semantics.hidden import PendingTimer
from worldline.worlds.world import Snapshot

Waiting: TypeAlias = tuple[tuple[int, int, Envelope, int, bool], ...]
"""What is under way: from, to, the message, for how many rounds, and if it is lost."""

Timers: TypeAlias = tuple[tuple[tuple[PendingTimer, int], ...], ...]
"""For each node its timers in the order of setting, and in how many rounds they are due."""

SystemState: TypeAlias = tuple[Snapshot, Waiting, Timers, tuple[CrashStatus, ...], bool]
"""A state; at last whether a handler failed."""


@final
class Roundwise:
    """The rounds of any system.

    Parameters
    ----------
    subject
        The system and the question.
    """

    def __init__(self, subject: RoundsSubject) -> None:
        self.executions = 0
        self._pulse: Pulse = lambda: None
        self._scope = subject.scope
        self.cases: Sequence[CoverPoint] = subject.cases
        self._system = subject.system
        self._rounds = RoundWorld(
            subject.system, FaultPlan(subject.scope), length=subject.length
        )
        self._count = len(subject.system.ids)
        self._rounds.begin()
        self._first = self._lift(0, (FRESH,) * self._count)

    @property
    def scope(self) -> Scope:
        """The question."""
        return self._scope

    def first(self) -> SystemState:
        """Return the state before round 1."""
        return self._first

    def after(
        self,
        state: Any,
        round_: int,
        *,
        every: bool,
        room: int | None,
        pulse: Pulse = lambda: None,
    ) -> Iterator[tuple[SystemState, Injection]]:
        """Return the states that a round can lead to, by every injection."""
        self._pulse = pulse
        for crashes in self._crashes(state, round_, room):
            left = None if room is None else room - len(crashes)
            arriving: list[tuple[Loss, ...]] = []
            if not self._rounds.breaks:
                arriving = self._losable(state, round_, crashes)
            for losses in _some(arriving, left):
                faults = (*losses, *crashes)
                yield self._play(state, round_, faults), faults
            if self._rounds.breaks:
                yield from self._broken(state, round_, crashes, left)

    def breaks(self, state: Any, round_: int) -> bool:
        """Say whether a handler failed, or a property does not hold."""
        if state[-1]:
            return True
        judge = self._judge(state, round_)
        wanted = due(self._system, self._scope, round_)
        return not all(judge.holds(one) for one in wanted)

    def met(self, state: Any, round_: int) -> set[str]:
        """Return what has happened of what must happen sometimes."""
        met = {CALLS} if self._rounds.called else set()
        if state[-1]:
            return met
        judge = self._judge(state, round_)
        return met | {one.name for one in witnesses(self._system) if judge.holds(one)}

    def _judge(self, state: SystemState, round_: int) -> Judge:
        self._restore(state, round_ + 1, self._plan(state[3], ()))
        self._rounds.now = round_
        return Judge(self._rounds)

    def _crashes(
        self, state: SystemState, round_: int, room: int | None
    ) -> Iterator[tuple[Fault, ...]]:
        """Return all sets of crashes in a round."""
        crash_statuses = state[3]
        fresh = [i for i, one in enumerate(crash_statuses) if one == FRESH]
        left = self._scope.crashes - (self._count - len(fresh))
        most = left if room is None else min(left, room)
        able = [i for i in fresh if self._scope.nodes[i] in self._scope.may_crash]
        for size in range(min(most, len(able)) + 1):
            for chosen in combinations(able, size):
                names = [self._scope.nodes[i] for i in chosen]
                yield from product(
                    *[crashes_of(self._scope, name, round_) for name in names]
                )

    def _losable(
        self, state: SystemState, round_: int, crashes: tuple[Fault, ...]
    ) -> list[tuple[Loss, ...]]:
        """Return what may be lost of what would arrive in a round."""
        if not self._scope.may_lose(round_ - 1):
            return []
        names = self._scope.nodes
        muted = self._scope.semantics is CrashSemantics.MUTE
        falling = {
            crash.node
            for crash in crashes
            if isinstance(crash, Crash) and not (muted or crash.reaches)
        }
        pairs = {
            (src, dst)
            for src, dst, _, age, lost in state[1]
            if age == 0 and src != dst and not lost and names[dst] not in falling
        }
        return [
            (Loss(round_ - 1, names[src], names[dst]),) for src, dst in sorted(pairs)
        ]

    def _broken(
        self,
        state: SystemState,
        round_: int,
        crashes: tuple[Fault, ...],
        room: int | None,
    ) -> Iterator[tuple[SystemState, Injection]]:
        """Return the states after breaking connections at the end of a round."""
        if not self._scope.may_lose(round_):
            return
        self._play(state, round_, crashes)
        rounds, names = self._rounds, self._scope.nodes
        options: list[tuple[Loss, ...]] = []
        for one, other in combinations(range(self._count), 2):
            ids = self._system.ids
            event = Event(Kind.DISCONNECT, ids[one], peer=ids[other])
            if rounds.world.failure is None and rounds.world.is_enabled(event):
                used = [
                    Loss(round_, names[src], names[dst])
                    for src, dst in ((one, other), (other, one))
                    if any(m.round == round_ for m in rounds.under_way[src][dst])
                ]
                if used:
                    options.append(tuple(used))
        for losses in _some(options, room):
            if losses:
                faults = (*losses, *crashes)
                yield self._play(state, round_, faults), faults

    def _play(
        self, state: SystemState, round_: int, faults: tuple[Fault, ...]
    ) -> SystemState:
        self._pulse()
        self.executions += 1
        plan = self._plan(state[3], faults)
        self._restore(state, round_, plan)
        self._rounds.play(round_)
        self._rounds.run.clear()
        if self._rounds.world.door.clock_read:
            raise UsageError(
                f"{self._system.name} reads the time, so no two of its rounds are alike",
                remedy="use timers, or another engine",
            )
        crash_statuses = list(state[3])
        for index, (kind, until) in enumerate(crash_statuses):
            if kind == DOWN and until == round_:
                crash_statuses[index] = BACK
        for fault in faults:
            if isinstance(fault, Crash):
                index = self._scope.nodes.index(fault.node)
                crash_statuses[index] = after_crash(self._scope.semantics, fault)
        return self._lift(round_, tuple(crash_statuses))

    def _plan(
        self, crash_statuses: tuple[CrashStatus, ...], faults: tuple[Fault, ...]
    ) -> FaultPlan:
        """Return a plan of what is injected now, and of the crashes of old."""
        old = [
            Crash(0, name, until or None)
            for name, (kind, until) in zip(
                self._scope.nodes, crash_statuses, strict=True
            )
            if kind == DOWN or (kind, until) == MUTE
        ]
        return FaultPlan(self._scope, frozenset((*old, *faults)))

    def _restore(self, state: SystemState, round_: int, plan: FaultPlan) -> None:
        """Go to a state, before a round."""
        snapshot, waiting, pending, _, _ = state
        rounds = self._rounds
        rounds.plan = plan
        rounds.world.restore(snapshot)
        rounds.sent.clear()
        for of in rounds.under_way:
            for mails in of:
                mails.clear()
        for src, dst, envelope, age, lost in waiting:
            sent = round_ - 1 - age
            # What was sent at the start, before anything could be injected.
            late = age < 0 and src != dst
            lost = lost or (late and plan.silences(sent, src, self._scope.nodes[dst]))
            rounds.post(Mail(envelope, src, dst, sent, silenced=lost))
        for index, timers in enumerate(pending):
            rounds.timers[index] = {timer: round_ - 1 + left for timer, left in timers}

    def _lift(
        self, round_: int, crash_statuses: tuple[CrashStatus, ...]
    ) -> SystemState:
        """Return the state after a round."""
        rounds = self._rounds
        waiting = tuple(
            (src, dst, mail.envelope, min(round_ - mail.round, 1), mail.silenced)
            for src, of in enumerate(rounds.under_way)
            for dst, mails in enumerate(of)
            for mail in mails
        )
        pending = tuple(
            tuple((timer, max(0, at - round_)) for timer, at in timers.items())
            for timers in rounds.timers
        )
        failed = rounds.world.failure is not None
        return rounds.world.snapshot(), waiting, pending, crash_statuses, failed


def _some(
    options: list[tuple[Loss, ...]], most: int | None
) -> Iterator[tuple[Fault, ...]]:
    """Return all sets with at most one loss of each option."""
    for size in range(
        len(options) + 1 if most is None else min(len(options), most) + 1
    ):
        for chosen in combinations(options, size):
            yield from product(*chosen)
