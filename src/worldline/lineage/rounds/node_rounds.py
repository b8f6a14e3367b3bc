"""Rounds from any state, node by node: what a node did once is never run again.

Within a round nodes do not hear of each other: what one sends arrives in the next. So
a round is a product: each node goes from its own part of the state, and what of its
mail was not lost, to another part. These steps are remembered, and for each the
smallest losses that lead to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod
from typing import Any, final

from worldline.injection.scope import Crash, CrashSemantics, Loss, Scope
from worldline.injection.stepper import Injection
from worldline.injection.subject import CoverPoint, Pulse
from worldline.lineage.rounds.crash_status import (
    BACK,
    DOWN,
    FRESH,
    MUTE,
    CrashStatus,
    is_down,
)
from worldline.lineage.rounds.parts import Core, Incoming, NodeRound, Out, RoundParts
from worldline.lineage.rounds.promises import CALLS
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.rounds.turns import NodeTurn, NodeTurns

_AT_ONCE = 10_000
"""How many combinations are made before the first is returned."""


@final
class Nodewise:
    """The rounds of a system without connections or observers.

    Parameters
    ----------
    subject
        The system and the question.
    """

    def __init__(self, subject: RoundsSubject) -> None:
        self._scope = subject.scope
        self.cases: Sequence[CoverPoint] = subject.cases
        self._count = len(subject.scope.nodes)
        self._parts = RoundParts(subject.system, subject.scope)
        self._turns = NodeTurns(subject, self._parts)
        self._choices: dict[Any, list[tuple[int, Injection]]] = {}
        self._at = (0, False)

    @property
    def scope(self) -> Scope:
        """The question."""
        return self._scope

    @property
    def executions(self) -> int:
        """How many turns of nodes were run."""
        return self._turns.executions

    def first(self) -> tuple[int, ...]:
        """Return the state before round 1."""
        return self._turns.first

    def after(
        self,
        state: Any,
        round_: int,
        *,
        every: bool,
        room: int | None,
        pulse: Pulse = lambda: None,
    ) -> Iterator[tuple[tuple[int, ...], Injection]]:
        """Return the states that a round can lead to."""
        self._turns.pulse = pulse
        if self._at != (round_, every):
            self._at = (round_, every)
            self._choices.clear()
        nodes = [self._parts.nodes[number] for number in state]
        incoming = [self._incoming(nodes, index) for index in range(self._count)]
        fresh = [i for i, node in enumerate(nodes) if node[1] == FRESH]
        left = self._scope.crashes - (self._count - len(fresh))
        able = [i for i in fresh if self._scope.nodes[i] in self._scope.may_crash]
        for size in range(min(left, len(able)) + 1):
            for crashing in combinations(able, size):
                choices = [
                    self._become(i, state[i], incoming[i], crashes=i in crashing)
                    for i in range(self._count)
                ]
                yield from _product(choices, room)

    def breaks(self, state: Any, round_: int) -> bool:
        """Say whether a handler failed, or a property does not hold."""
        return self._parts.breaks([self._parts.nodes[n] for n in state], round_)

    def met(self, state: Any, round_: int) -> set[str]:
        """Return what has happened of what must happen sometimes."""
        nodes = [self._parts.nodes[number] for number in state]
        if round_ == 0:
            # What a node sent at its start is under way, though it belongs to round 1.
            nodes = [
                (core, crash_status, (*out, *boot))
                for (core, crash_status, out), boot in zip(
                    nodes, self._turns.boot, strict=True
                )
            ]
        met = self._parts.met(nodes)
        return met | {CALLS} if self._turns.called else met

    def _become(
        self, index: int, number: int, incoming: Incoming, *, crashes: bool
    ) -> list[tuple[int, Injection]]:
        """Return what can become of a node in the present round."""
        key = index, number, incoming, crashes
        choices = self._choices.get(key)
        if choices is None:
            round_ = self._at[0]
            core, crash_status, _ = self._parts.nodes[number]
            becoming: Iterator[tuple[int, Injection]]
            if crashes:
                becoming = self._crashing(index, core, incoming)
            elif is_down(crash_status, round_):
                becoming = iter([(self._lie(index, core, crash_status, incoming), ())])
            else:
                becoming = self._living(index, core, crash_status, incoming)
            choices = self._choices[key] = list(becoming)
        return choices

    def _living(
        self, index: int, core: int, crash_status: CrashStatus, incoming: Incoming
    ) -> Iterator[tuple[int, Injection]]:
        again = crash_status[0] == DOWN
        for (after, out), lost in self._ways(index, core, incoming, again=again):
            now = BACK if again else crash_status
            if now == MUTE:
                out = _silenced(out, {index})
            yield self._parts.node(after, now, out), self._losses(index, lost)

    def _crashing(
        self, index: int, core: int, incoming: Incoming
    ) -> Iterator[tuple[int, Injection]]:
        round_, name = self._at[0], self._scope.nodes[index]
        if self._scope.semantics is CrashSemantics.MUTE:
            for (after, out), lost in self._ways(index, core, incoming, again=False):
                silent = self._parts.node(after, MUTE, _silenced(out, {index}))
                yield silent, (*self._losses(index, lost), Crash(round_, name))
            return
        ends: list[int | None] = [None]
        if self._scope.recovery:
            ends += range(round_ + 1, self._scope.eot + 1)
        sent = self._turns.boot[index] if round_ == 1 else ()
        if self._turns.loses:
            sent = _silenced(sent, {index})
        for until in ends:
            crash_status = DOWN, until or 0
            lying = self._lie(index, core, crash_status, incoming, sent)
            yield lying, (Crash(round_, name, until),)
            if self._scope.semantics is CrashSemantics.PARTIAL:
                yield from self._last_round(index, core, incoming, until)

    def _last_round(
        self, index: int, core: int, incoming: Incoming, until: int | None
    ) -> Iterator[tuple[int, Injection]]:
        """Return what a node can leave that crashes in the middle of its round."""
        round_, names = self._at[0], self._scope.nodes
        others = [i for i in range(self._count) if i != index]
        for (after, out), lost in self._ways(index, core, incoming, again=False):
            written = {dst for dst, _, arrives in out if arrives and dst != index}
            reached = [
                some
                for size in range(1, len(written) + 1)
                for some in combinations(sorted(written), size)
            ]
            # To have had that round, and to reach nobody.
            reached += [(other,) for other in others if other not in written][:1]
            for some in reached:
                crash = Crash(
                    round_, names[index], until, tuple(names[i] for i in some)
                )
                left = _silenced(out, {index, *some})
                lying = self._lie(index, after, (DOWN, until or 0), (), left)
                yield lying, (*self._losses(index, lost), crash)

    def _losses(self, index: int, lost: tuple[int, ...]) -> Injection:
        names = self._scope.nodes
        return tuple(Loss(self._at[0] - 1, names[src], names[index]) for src in lost)

    def _lie(
        self,
        index: int,
        core: int,
        crash_status: CrashStatus,
        incoming: Incoming,
        out: Out = (),
    ) -> int:
        """Return the node as it lies: its timers gone, and what arrives lost.

        What a partition that a prologue left holds back does not arrive.
        """
        old = self._parts.cores[core]
        mails = old.kept + tuple((s, one) for s, some in incoming for one in some)
        kept = tuple(mail for mail in mails if self._turns.holds(mail[0], index))
        lying = Core(
            old.local, self._parts.stop(index, old.hidden), (), kept, old.failed
        )
        return self._parts.node(self._parts.core(lying), crash_status, out)

    def _incoming(self, nodes: list[NodeRound], index: int) -> Incoming:
        return tuple(
            (src, envelopes)
            for src, (_, _, out) in enumerate(nodes)
            for dst, envelopes, arrives in out
            if dst == index and arrives
        )

    def _ways(
        self, index: int, core: int, incoming: Incoming, *, again: bool
    ) -> list[tuple[NodeTurn, tuple[int, ...]]]:
        round_, every = self._at
        return self._turns.ways(index, core, incoming, round_, again=again, every=every)


def _silenced(out: Out, reached: set[int]) -> Out:
    """Return what was sent when only these still get it."""
    return tuple((dst, some, arrives and dst in reached) for dst, some, arrives in out)


def _product(
    choices: list[list[tuple[int, Injection]]], room: int | None
) -> Iterator[tuple[tuple[int, ...], Injection]]:
    """Return all combinations with at most so many faults."""
    if prod(map(len, choices)) > _AT_ONCE:
        for number, faults in choices[0]:
            left = None if room is None else room - len(faults)
            if left is None or left >= 0:
                for state, more in _product(choices[1:], left):
                    yield (number, *state), (*faults, *more)
        return
    products: list[tuple[tuple[int, ...], Injection]] = [((), ())]
    for options in choices:
        products = [
            ((*state, number), (*faults, *more))
            for state, faults in products
            for number, more in options
            if room is None or len(faults) + len(more) <= room
        ]
    yield from products
