"""Rounds from any state, node by node: what a node did once is never run again.

Within a round nodes do not hear of each other: what one sends arrives in the next. So
a round is a product: each node goes from its own part of the state, and what of its
mail was not lost, to another part. These steps are remembered, and for each the
smallest losses that lead to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias, final

from worldline.engine.decisions import Decision
from worldline.model.errors import UsageError
from worldline.model.hidden import Alarm
from worldline.model.injection.scope import Crash, CrashSemantics, Loss, Scope
from worldline.model.injection.stepper import Injection
from worldline.model.layout import ColumnKind
from worldline.model.message import Letter
from worldline.worlds.rounds.plan import Plan
from worldline.worlds.rounds.promises import due, stopped
from worldline.worlds.rounds.scheduler import Mail, RoundWorld
from worldline.worlds.rounds.subject import RoundsSubject
from worldline.worlds.tabulated import TabulatedWorld

Out: TypeAlias = tuple[tuple[int, tuple[Letter, ...], bool], ...]
"""What a node sent in a round: to whom, what, and whether it can still arrive."""

Incoming: TypeAlias = tuple[tuple[int, tuple[Letter, ...]], ...]
"""By sender, what may arrive at a node in a round."""

Step: TypeAlias = tuple[int, Out]
"""A node's core after its turn, and what it sent."""

FRESH, MUTE, BACK = (0, 0), (1, 0), (2, 0)
DOWN = 3
"""How a node fares: it never crashed, fell silent, started again; or (DOWN, until)."""


@final
@dataclass(frozen=True, slots=True)
class Core:
    """What of a node's state its next turn depends on, beside its mail.

    Attributes
    ----------
    local, hidden
        Interned values of its columns.
    timers
        The pending ones in the order of setting, and in how many rounds they are due.
    kept
        What it was offered and did not take yet, with the senders.
    failed
        Whether its last handler failed.
    """

    local: int
    hidden: int
    timers: tuple[tuple[Alarm, int], ...]
    kept: tuple[tuple[int, Letter], ...]
    failed: bool = False


@final
class Nodewise:
    """The rounds of a system without connections or observers.

    Parameters
    ----------
    subject
        The system and the question.
    """

    def __init__(self, subject: RoundsSubject) -> None:
        self.executions = 0
        self._scope = subject.scope
        self._system = system = subject.system
        self._tables = TabulatedWorld(system)
        self._decide = {
            known.name: self._tables.decision(known) for known in system.properties
        }
        self._scratch = RoundWorld(system, Plan(self._scope), length=subject.length)
        layout, self._count = system.layout, len(system.ids)
        self._empty = [
            self._scratch.world.cells[layout.inbox(i)].freeze()
            for i in range(self._count)
        ]
        self._cores: list[Core] = []
        self._core_ids: dict[Core, int] = {}
        self._nodes: list[tuple[int, tuple[int, int], Out]] = []
        self._node_ids: dict[tuple[int, tuple[int, int], Out], int] = {}
        self._steps: dict[Any, Step] = {}
        self._options: dict[Any, list[tuple[Step, tuple[int, ...]]]] = {}
        self._level: dict[Any, list[tuple[int, Injection]]] = {}
        self._at = (0, False)
        self._stopped: dict[tuple[int, int], int] = {}
        self._first, self._boot = self._begin(subject)

    @property
    def scope(self) -> Scope:
        """The question."""
        return self._scope

    def first(self) -> tuple[int, ...]:
        """Return the state before round 1."""
        return self._first

    def after(
        self, state: Any, round_: int, *, every: bool, room: int | None
    ) -> Iterator[tuple[tuple[int, ...], Injection]]:
        """Return the states that a round can lead to."""
        if self._at != (round_, every):
            self._at = (round_, every)
            self._level.clear()
        nodes = [self._nodes[number] for number in state]
        incoming = [self._incoming(nodes, index) for index in range(self._count)]
        fresh = [i for i, node in enumerate(nodes) if node[1] == FRESH]
        left = self._scope.crashes - (self._count - len(fresh))
        for size in range(min(left, len(fresh)) + 1):
            for crashing in combinations(fresh, size):
                choices = [
                    self._choices(i, state[i], incoming[i], crashes=i in crashing)
                    for i in range(self._count)
                ]
                yield from _product(choices, room)

    def breaks(self, state: Any, round_: int) -> bool:
        """Say whether a handler failed, or a property does not hold."""
        nodes = [self._nodes[number] for number in state]
        if any(self._cores[node[0]].failed for node in nodes):
            return True
        row = _Row(self._system.layout.columns, lambda c: self._value(nodes, c))
        decisions: list[Decision] = [
            self._decide[known.name]
            for known in due(self._system, self._scope, round_)
        ]
        # A decision asks a row for the columns it needs, and for nothing else.
        return not all(decision(row) for decision in decisions)  # type: ignore[arg-type]

    # ------------------------------------------------------------ one node, one round

    def _choices(
        self, index: int, number: int, incoming: Incoming, *, crashes: bool
    ) -> list[tuple[int, Injection]]:
        """Return what can become of a node in the present round."""
        key = index, number, incoming, crashes
        known = self._level.get(key)
        if known is None:
            round_ = self._at[0]
            core, fares, _ = self._nodes[number]
            found: Iterator[tuple[int, Injection]]
            if crashes:
                found = self._crashing(index, core, incoming)
            elif fares[0] == DOWN and fares[1] != round_:
                found = iter([(self._lie(index, core, fares, incoming), ())])
            else:
                found = self._living(index, core, fares, incoming)
            known = self._level[key] = list(found)
        return known

    def _living(
        self, index: int, core: int, fares: tuple[int, int], incoming: Incoming
    ) -> Iterator[tuple[int, Injection]]:
        again = fares[0] == DOWN
        for (after, out), lost in self._turns(index, core, incoming, again=again):
            now = BACK if again else fares
            if now == MUTE:
                out = _silenced(out, {index})
            yield self._node(after, now, out), self._losses(index, lost)

    def _crashing(
        self, index: int, core: int, incoming: Incoming
    ) -> Iterator[tuple[int, Injection]]:
        round_, name = self._at[0], self._scope.nodes[index]
        if self._scope.semantics is CrashSemantics.MUTE:
            for (after, out), lost in self._turns(index, core, incoming, again=False):
                silent = self._node(after, MUTE, _silenced(out, {index}))
                yield silent, (*self._losses(index, lost), Crash(round_, name))
            return
        ends: list[int | None] = [None]
        if self._scope.recovery:
            ends += range(round_ + 1, self._scope.eot + 1)
        sent = _silenced(self._boot[index], set()) if round_ == 1 else ()
        for until in ends:
            fares = DOWN, until or 0
            lying = self._lie(index, core, fares, incoming, sent)
            yield lying, (Crash(round_, name, until),)
            if self._scope.semantics is CrashSemantics.PARTIAL:
                yield from self._last_round(index, core, incoming, until)

    def _last_round(
        self, index: int, core: int, incoming: Incoming, until: int | None
    ) -> Iterator[tuple[int, Injection]]:
        """Return what a node can leave that crashes in the middle of its round."""
        round_, names = self._at[0], self._scope.nodes
        others = [i for i in range(self._count) if i != index]
        for (after, out), lost in self._turns(index, core, incoming, again=False):
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
                left = _silenced(out, set(some))
                lying = self._lie(index, after, (DOWN, until or 0), (), left)
                yield lying, (*self._losses(index, lost), crash)

    def _losses(self, index: int, lost: tuple[int, ...]) -> Injection:
        names = self._scope.nodes
        return tuple(Loss(self._at[0] - 1, names[src], names[index]) for src in lost)

    def _lie(
        self,
        index: int,
        core: int,
        fares: tuple[int, int],
        incoming: Incoming,
        out: Out = (),
    ) -> int:
        """Return the node as it lies: its timers gone, and what arrives lost."""
        old = self._cores[core]
        kept: tuple[tuple[int, Letter], ...] = ()
        if not self._scratch.loses:
            kept = old.kept + tuple((s, one) for s, some in incoming for one in some)
        lying = Core(old.local, self._stop(index, old.hidden), (), kept, old.failed)
        return self._node(self._core(lying), fares, out)

    def _turns(
        self, index: int, core: int, incoming: Incoming, *, again: bool
    ) -> list[tuple[Step, tuple[int, ...]]]:
        """Return each way a node's turn can go, with smallest sets of senders to lose."""
        round_, every = self._at
        loses = self._scope.may_lose(round_ - 1)
        key = index, core, incoming, loses, again, round_ == 1, every
        known = self._options.get(key)
        if known is not None:
            return known
        able = [src for src, _ in incoming if src != index] if loses else []
        found: dict[Step, list[tuple[int, ...]]] = {}
        for size in range(len(able) + 1):
            for lost in combinations(able, size):
                arriving = tuple(i for i in incoming if i[0] not in lost)
                step = self._step(index, core, arriving, again=again)
                smaller = found.setdefault(step, [])
                if not smaller or (
                    every and not any(set(one) <= set(lost) for one in smaller)
                ):
                    smaller.append(lost)
        known = [(step, lost) for step, sets in found.items() for lost in sets]
        self._options[key] = known
        return known

    def _step(self, index: int, core: int, arriving: Incoming, *, again: bool) -> Step:
        """Let a node have its turn, unless it is known how it goes."""
        round_ = self._at[0]
        key = index, core, arriving, again, round_ == 1
        known = self._steps.get(key)
        if known is None:
            self.executions += 1
            boot = self._boot[index] if round_ == 1 else ()
            known = self._steps[key] = self._run(
                index, self._cores[core], arriving, boot, again=again
            )
        return known

    def _run(
        self, index: int, core: Core, arriving: Incoming, boot: Out, *, again: bool
    ) -> Step:
        rounds, round_ = self._scratch, self._at[0]
        world, system = rounds.world, self._system
        self._place(index, core, arriving)
        rounds.now, world.door.clock = round_, round_ * rounds.length
        name = self._scope.nodes[index]
        rounds.plan.crashes = {index: Crash(0, name, round_)} if again else {}
        rounds.turn(index)
        if world.door.clock_read:
            raise UsageError(
                f"{system.types[index].cls.__name__} reads the time, so no two of its "
                "rounds are alike",
                remedy="use timers, or another engine",
            )
        out: dict[int, list[Letter]] = {dst: list(some) for dst, some, _ in boot}
        for mail in rounds.sent:
            if mail.round == round_:
                out.setdefault(mail.dst, []).append(mail.letter)
        after = self._lift(index, round_)
        for waiting in rounds.under_way:
            waiting[index] = []
        for dst in out:
            rounds.under_way[index][dst] = []
            world.cells[system.layout.inbox(dst)].restore(self._empty[dst])
        world.cells[system.layout.inbox(index)].restore(self._empty[index])
        rounds.sent.clear()
        rounds.run.clear()
        world.failure = None
        return after, tuple((dst, tuple(some), True) for dst, some in sorted(out.items()))

    def _place(self, index: int, core: Core, arriving: Incoming) -> None:
        rounds, layout, round_ = self._scratch, self._system.layout, self._at[0]
        world, interners = rounds.world, self._tables.tables.interners
        local, hidden = layout.local(index), layout.hidden(index)
        node = self._system.types[index].thaw(
            interners[local].values[core.local], self._system.prototypes[index]
        )
        world.nodes[index] = node
        world.contexts[index].bind(node)
        world.cells[hidden].restore(interners[hidden].values[core.hidden])
        rounds.timers[index] = {
            alarm: round_ - 1 + left for alarm, left in core.timers
        }
        inbox = world.cells[layout.inbox(index)]
        mails = list(core.kept)
        mails += [(src, letter) for src, some in arriving for letter in some]
        for src, letter in mails:
            inbox.put(letter)
            rounds.post(Mail(letter, src, index, round_ - 1, silenced=False))

    def _lift(self, index: int, round_: int) -> int:
        """Return the core of a node as the scratch world has it after a round."""
        rounds, layout = self._scratch, self._system.layout
        interners = self._tables.tables.interners
        local, hidden = layout.local(index), layout.hidden(index)
        kept = [
            (src, mail.letter)
            for src, waiting in enumerate(rounds.under_way)
            for mail in waiting[index]
            if mail.round < round_
        ]
        return self._core(
            Core(
                interners[local].intern(
                    self._system.types[index].freeze(rounds.world.nodes[index])
                ),
                interners[hidden].intern(rounds.world.cells[hidden].freeze()),
                tuple(
                    (alarm, max(0, at - round_))
                    for alarm, at in rounds.timers[index].items()
                ),
                tuple(kept),
                rounds.world.failure is not None,
            )
        )

    # ----------------------------------------------------------------------- states

    def _begin(self, subject: RoundsSubject) -> tuple[tuple[int, ...], list[Out]]:
        """Return the first state, and what each node sent at its start, in round 1."""
        rounds = self._scratch
        rounds.begin()
        sent: list[list[dict[int, list[Letter]]]] = [
            [{} for _ in range(self._count)] for _ in range(2)
        ]
        for mail in rounds.sent:
            sent[mail.round][mail.src].setdefault(mail.dst, []).append(mail.letter)
        before, boot = (
            [
                tuple((dst, tuple(some), True) for dst, some in sorted(of.items()))
                for of in sent[number]
            ]
            for number in range(2)
        )
        cores = [self._lift(index, 0) for index in range(self._count)]
        first = tuple(
            self._node(core, FRESH, out)
            for core, out in zip(cores, before, strict=True)
        )
        for index in range(self._count):
            inbox = rounds.world.cells[self._system.layout.inbox(index)]
            inbox.restore(self._empty[index])
            for waiting in rounds.under_way:
                waiting[index] = []
        rounds.sent.clear()
        return first, boot

    def _core(self, core: Core) -> int:
        known = self._core_ids.setdefault(core, len(self._cores))
        if known == len(self._cores):
            self._cores.append(core)
        return known

    def _node(self, core: int, fares: tuple[int, int], out: Out) -> int:
        node = core, fares, out
        known = self._node_ids.setdefault(node, len(self._nodes))
        if known == len(self._nodes):
            self._nodes.append(node)
        return known

    def _incoming(
        self, nodes: list[tuple[int, tuple[int, int], Out]], index: int
    ) -> Incoming:
        return tuple(
            (src, letters)
            for src, (_, _, out) in enumerate(nodes)
            for dst, letters, arrives in out
            if dst == index and arrives
        )

    def _stop(self, index: int, hidden: int) -> int:
        """Return what a crash makes of what a node owns beside its fields."""
        known = self._stopped.get((index, hidden))
        if known is None:
            column = self._system.layout.hidden(index)
            interner = self._tables.tables.interners[column]
            frozen = stopped(self._system, column, interner.values[hidden]).freeze()
            known = self._stopped[index, hidden] = interner.intern(frozen)
        return known

    def _value(self, nodes: list[tuple[int, tuple[int, int], Out]], column: int) -> int:
        """Return the interned value of a column in a state."""
        spec = self._system.layout.columns[column]
        interner = self._tables.tables.interners[column]
        if spec.kind is ColumnKind.LOCAL:
            return self._cores[nodes[spec.index][0]].local
        if spec.kind is ColumnKind.HIDDEN:
            core, fares, _ = nodes[spec.index]
            hidden = self._cores[core].hidden
            return self._stop(spec.index, hidden) if fares == MUTE else hidden
        cell: Any = self._system.cell(column)
        if spec.kind is ColumnKind.INBOX:
            for src, (_, _, out) in enumerate(nodes):
                for kept_from, letter in self._cores[nodes[spec.index][0]].kept:
                    if kept_from == src:
                        cell.put(letter)
                for dst, letters, _ in out:
                    if dst == spec.index:
                        for letter in letters:
                            cell.put(letter)
        return interner.intern(cell.freeze())


def _silenced(out: Out, reached: set[int]) -> Out:
    """Return what was sent when only these still get it."""
    return tuple((dst, some, arrives and dst in reached) for dst, some, arrives in out)


def _product(
    choices: list[list[tuple[int, Injection]]], room: int | None
) -> Iterator[tuple[tuple[int, ...], Injection]]:
    """Return all combinations with at most so many faults."""
    found: list[tuple[tuple[int, ...], Injection]] = [((), ())]
    for options in choices:
        found = [
            ((*state, number), (*faults, *more))
            for state, faults in found
            for number, more in options
            if room is None or len(faults) + len(more) <= room
        ]
    yield from found


@final
class _Row:
    """A row of columns, each worked out when it is asked for."""

    __slots__ = ("_columns", "_value")

    def __init__(self, columns: list[Any], value: Callable[[int], int]) -> None:
        self._columns = columns
        self._value = value

    def __getitem__(self, column: int) -> int:
        return self._value(column)
