"""The turns of single nodes, each run once and remembered.

A turn depends on the node's core and on what arrives. It is run by the scheduler, in a
world in which nothing else happens.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, TypeAlias, final

from worldline.injection.scope import Crash
from worldline.injection.subject import Pulse
from worldline.lineage.rounds.crash_status import FRESH
from worldline.lineage.rounds.parts import Core, Incoming, Out, RoundParts
from worldline.lineage.rounds.plan import FaultPlan
from worldline.lineage.rounds.scheduler import Mail, RoundWorld
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.model.errors import UsageError
from worldline.model.faults import Partition
from worldline.model.message import Envelope
from worldline.model.semantics.layout import Layout

NodeTurn: TypeAlias = tuple[int, Out]
"""A node's core after its turn, and what it sent."""


@final
class NodeTurns:
    """Runs the turns of a system's nodes.

    Parameters
    ----------
    subject
        The system and the question.
    parts
        Numbers the cores.

    Attributes
    ----------
    executions
        How many turns were run.
    pulse
        Called before each.
    loses
        Whether the network loses messages at all.
    first
        The parts of the state before round 1.
    boot
        What each node sent at its start, in round 1.
    """

    def __init__(self, subject: RoundsSubject, parts: RoundParts) -> None:
        self.executions = 0
        self.pulse: Pulse = lambda: None
        self._scope = subject.scope
        self._system = system = subject.system
        self._parts = parts
        self._world = RoundWorld(system, FaultPlan(self._scope), length=subject.length)
        self.loses = self._world.loses
        self._count = len(system.ids)
        self._empty = [
            self._world.world.cells[system.layout.inbox(i)].freeze()
            for i in range(self._count)
        ]
        self._turns: dict[Any, NodeTurn] = {}
        self._options: dict[Any, list[tuple[NodeTurn, tuple[int, ...]]]] = {}
        self.first, self.boot = self._begin()

    def holds(self, src: int, dst: int) -> bool:
        """Say whether what one node sends another is held back, always."""
        partition: Partition = self._world.world.cells[Layout.PARTITION]
        return partition.separates(self._system.ids[src], self._system.ids[dst])

    @property
    def called(self) -> bool:
        """Whether the workload made a call in any turn."""
        return self._world.called

    def ways(
        self,
        index: int,
        core: int,
        incoming: Incoming,
        round_: int,
        *,
        again: bool,
        every: bool,
    ) -> list[tuple[NodeTurn, tuple[int, ...]]]:
        """Return each way a node's turn can go, with smallest sets of senders to lose.

        Parameters
        ----------
        again
            Whether the node starts again in this round.
        every
            Whether all smallest sets are wanted, or one with the fewest senders.
        """
        loses = self._scope.may_lose(round_ - 1)
        key = index, core, incoming, loses, again, round_ == 1, every
        options = self._options.get(key)
        if options is not None:
            return options
        able = [src for src, _ in incoming if src != index] if loses else []
        losses_to: dict[NodeTurn, list[tuple[int, ...]]] = {}
        for size in range(len(able) + 1):
            for lost in combinations(able, size):
                arriving = tuple(i for i in incoming if i[0] not in lost)
                step = self._turn(index, core, arriving, round_, again=again)
                smaller = losses_to.setdefault(step, [])
                if not smaller or (
                    every and not any(set(one) <= set(lost) for one in smaller)
                ):
                    smaller.append(lost)
        options = [(step, lost) for step, sets in losses_to.items() for lost in sets]
        self._options[key] = options
        return options

    def _turn(
        self, index: int, core: int, arriving: Incoming, round_: int, *, again: bool
    ) -> NodeTurn:
        """Let a node have its turn, unless it is known how it goes."""
        key = index, core, arriving, again, round_ == 1
        turn = self._turns.get(key)
        if turn is None:
            self.pulse()
            self.executions += 1
            boot = self.boot[index] if round_ == 1 else ()
            turn = self._turns[key] = self._run(
                index, self._parts.cores[core], arriving, boot, round_, again=again
            )
        return turn

    def _run(
        self,
        index: int,
        core: Core,
        arriving: Incoming,
        boot: Out,
        round_: int,
        *,
        again: bool,
    ) -> NodeTurn:
        rounds = self._world
        world, system = rounds.world, self._system
        self._place(index, core, arriving, round_)
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
        out: dict[int, list[Envelope]] = {dst: list(some) for dst, some, _ in boot}
        for mail in rounds.sent:
            if mail.round == round_:
                out.setdefault(mail.dst, []).append(mail.envelope)
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
        return after, tuple(
            (dst, tuple(some), True) for dst, some in sorted(out.items())
        )

    def _place(self, index: int, core: Core, arriving: Incoming, round_: int) -> None:
        rounds, layout = self._world, self._system.layout
        world, interners = rounds.world, self._parts.interners
        local, hidden = layout.local(index), layout.hidden(index)
        node = self._system.types[index].thaw(
            interners[local].values[core.local], self._system.prototypes[index]
        )
        world.nodes[index] = node
        world.contexts[index].bind(node)
        world.cells[hidden].restore(interners[hidden].values[core.hidden])
        rounds.timers[index] = {timer: round_ - 1 + left for timer, left in core.timers}
        inbox = world.cells[layout.inbox(index)]
        mails = list(core.kept)
        mails += [(src, envelope) for src, some in arriving for envelope in some]
        for src, envelope in mails:
            inbox.put(envelope)
            rounds.post(Mail(envelope, src, index, round_ - 1, silenced=False))

    def _lift(self, index: int, round_: int) -> int:
        """Return the core of a node as the scratch world has it after a round."""
        rounds, layout = self._world, self._system.layout
        interners = self._parts.interners
        local, hidden = layout.local(index), layout.hidden(index)
        kept = [
            (src, mail.envelope)
            for src, waiting in enumerate(rounds.under_way)
            for mail in waiting[index]
            if mail.round < round_
        ]
        return self._parts.core(
            Core(
                interners[local].intern(
                    self._system.types[index].freeze(rounds.world.nodes[index])
                ),
                interners[hidden].intern(rounds.world.cells[hidden].freeze()),
                tuple(
                    (timer, max(0, at - round_))
                    for timer, at in rounds.timers[index].items()
                ),
                tuple(kept),
                rounds.world.failure is not None,
            )
        )

    def _begin(self) -> tuple[tuple[int, ...], list[Out]]:
        """Return the first state, and what each node sent at its start, in round 1."""
        rounds = self._world
        rounds.begin()
        sent: list[list[dict[int, list[Envelope]]]] = [
            [{} for _ in range(self._count)] for _ in range(2)
        ]
        for mail in rounds.sent:
            sent[mail.round][mail.src].setdefault(mail.dst, []).append(mail.envelope)
        before, boot = (
            [
                tuple((dst, tuple(some), True) for dst, some in sorted(of.items()))
                for of in sent[number]
            ]
            for number in range(2)
        )
        cores = [self._lift(index, 0) for index in range(self._count)]
        first = tuple(
            self._parts.node(core, FRESH, out)
            for core, out in zip(cores, before, strict=True)
        )
        for index in range(self._count):
            inbox = rounds.world.cells[self._system.layout.inbox(index)]
            inbox.restore(self._empty[index])
            for waiting in rounds.under_way:
                waiting[index] = []
        rounds.sent.clear()
        return first, boot
