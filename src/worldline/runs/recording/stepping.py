"""The steps of a recorded run: each happens in one process, and is reported.

Handlers are run by the code of all worlds, in the clocked world, whose events are those of
a schedule of the direct one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, final

from worldline.model.data.content import Frozen
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Mailbox, recorded
from worldline.model.network.datagrams import concerning
from worldline.model.network.recorded import RecordedMail
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.hidden import Status
from worldline.model.system import System
from worldline.runs.recording.allowed import Allowed
from worldline.runs.recording.comparing import (
    Unlike,
    compare_changes,
    compare_counters,
    compare_results,
)
from worldline.runs.recording.door import RecordedDoor
from worldline.runs.recording.happenings import NO_NOTES, Notes
from worldline.runs.recording.letters import Letter, Letters
from worldline.runs.recording.steps import Listener, RunStep, new_step
from worldline.runs.recording.survey import Receipts, SendName
from worldline.trace.journal.frames import NamedFrame
from worldline.trace.journal.lasting import Lasting, lasting_paths
from worldline.worlds.clocked import ClockedWorld


@final
class Stepping:
    """A recorded run, step by step.

    Parameters
    ----------
    system
        As it is declared.
    receipts
        What was received, by node and incarnation of the sender.
    missing
        The names of the nodes that have no journal, or one with gaps.
    silent
        How many nodes there are of which nothing says how they began.
    is_begun
        Whether the run is known from its start on.
    listener
        Is told of each step, once the run has begun.

    Attributes
    ----------
    system
        The system on the network of recorded runs.
    world
        The present state.
    ignores_noops
        Whether a delivery that changes nothing is none.
    letters
        What is under way.
    allowed
        The declared network.
    now, lamport
        Seconds since the run began, and the Lamport time of the present event.
    incarnations
        Which life each node has.
    is_begun
        Whether all nodes have begun, so that there are steps.
    doomed
        What the last event sent and nobody receives, as long as it is not lost.
    steps, drops
        The number of the last step; messages that nobody received, or took.
    lost, has_lost
        The step after which nothing is known of a node, by index; and whether something
        was ever not known.
    unallowed
        The step with which the declared network no longer allowed the run, or with which
        that was no longer known; None if it does.
    """

    def __init__(
        self,
        system: System,
        receipts: Mapping[tuple[int, int], Receipts],
        listener: Listener,
        *,
        missing: tuple[str, ...] = (),
        silent: int = 0,
        is_begun: bool = True,
    ) -> None:
        network = recorded(of=system.network, missing=missing)
        self.system = system.under_recording(network)
        self._network = network
        self.ignores_noops = system.ignore_noops
        self.letters = Letters()
        self.world = ClockedWorld(self.system, RecordedDoor, self._fill)
        door = self.world.door
        assert isinstance(door, RecordedDoor)
        self._door = door
        declared = system.under_recording()
        self.doomed: list[tuple[int, Envelope]] = []
        self.allowed = Allowed(
            declared, self.world.hidden, self._put_in, self.world.keep_mail
        )
        nodes = len(system.ids)
        self.incarnations = [0] * nodes
        self.now, self.lamport = 0.0, 0
        self.is_begun = is_begun
        if not is_begun:
            self.allowed.begin_amid()
        boots = system.boot == "before" and is_begun
        self.steps = silent - nodes if boots else 0
        self.drops = 0
        self.lost: dict[int, int] = {}
        self.has_lost = False
        self.unallowed: int | None = None
        self._receipts = receipts
        self._listener = listener
        self._vanished: dict[tuple[int, int, int], str] = {}
        self._lasting: dict[int, Lasting] = {}
        self._lasts = [any(lasting_paths(kind)) for kind in system.types]
        self._is_observed = bool(system.observers)
        self._first = system.layout.first

    def run(self, index: int, event: Event, notes: Notes) -> None:
        """Let an event of the journals happen, which runs a handler.

        Raises
        ------
        Unlike
            If it goes otherwise.
        """
        world, door = self.world, self._door
        door.tell(notes)
        clock = self.now if notes.clock is None else notes.clock
        before: Frozen = None
        if notes.failed is not None:
            before = self.system.types[index].freeze(world.nodes[index])
        lasting = self._lasting_of(index) if self._lasts[index] else None
        result = self._perform(index, event, clock)
        compare_results(notes.fate, notes.failed, result)
        if type(result) is Failure:
            self._undo(index, before)
            self._told(event, result)
            return
        if door.unlike or tuple(door.choices) != notes.choices:
            now = door.unlike or str(list(door.choices))
            raise Unlike("the choices", str(list(notes.choices)), now)
        if lasting is not None:
            recorded = notes.delta or {}, notes.patches
            kind, node = self.system.types[index], world.nodes[index]
            compare_changes(kind, node, recorded, lasting.changed())
        if notes.delta is not None:
            compare_counters(notes.counter, world.hidden[index].counter)
        if door.timers:
            self._set_timers(index)
        lost = self._send(index) if door.sends else []
        if (index, self.incarnations[index]) in self._receipts:
            self._note_vanished(index)
        self.doomed += lost
        self.drops += len(lost)
        self._told(event, result)
        while self.doomed and self.steps >= 0:  # else some have not started yet
            self._lose(*self.doomed.pop(0))

    def happen(self, index: int, event: Event, steer: str | None = None) -> None:
        """Let something happen that no handler takes: a fault.

        Parameters
        ----------
        steer
            Why it happens in the place of a message that was refused.
        """
        self._door.tell(NO_NOTES)
        result = self.world.happen(event, index, self.now)
        self._told(event, result, steer)

    def begin(self) -> None:
        """Count steps from here on: all nodes have begun."""
        self.is_begun, self.steps, self.drops = True, 0, 0
        self._listener.jumped()

    def receive_early(self, name: SendName, to: int, frame: Any) -> None:
        """Take what was under way when its sender began."""
        sender, incarnation, lamport, place = name
        times = self._receipts[sender, incarnation].of(lamport, place)
        if type(frame) is NamedFrame:
            return  # only its sender knew what it says
        src = self.system.ids[sender]
        envelope = OpenEnvelope(src, frame.part, frame.message)
        self.letters[name] = Letter(to, envelope, times)
        self.world.post(to, envelope)

    def jump(self, index: int) -> None:
        """Tell that a node has another state, of which no step says how it came about."""
        self._lasting.pop(index, None)
        lost = [one for one in self.doomed if self.allowed.lose(*one)]
        self.doomed = []
        if self.world.keeps_mail:
            for to, envelope in lost:
                self.world.mailbox(to).take(envelope)
            for envelope in self._left_to(index):
                self.world.mailbox(index).take(envelope)
        if self.is_begun:
            self._listener.jumped()

    def needs(self, index: int) -> bool:
        """Say whether a node sent what arrives later, and only as long as it lives."""
        return any(map(self._network.connects_for, self.letters.of(index)))

    def lose_for(self, index: int) -> None:
        """Let be lost what is under way to a node that is down, and never received.

        As long as the declared network allows the run, that says when.
        """
        is_over = bool(self.allowed.reason or self.allowed.unknown)
        if is_over and self.world.keeps_mail:
            me = self.system.ids[index]
            for envelope in self._left_to(index):
                self.happen(index, concerning(Kind.REFUSE, me, envelope))

    def vanished(self, name: SendName) -> str | None:
        """Return what an event sends now that sent a message; None if nobody knows."""
        return self._vanished.get(name[:3])

    # ------------------------------------------------------------------------ inside

    def _fill(self, mail: list[Mailbox]) -> None:
        """Put what is under way into mailboxes."""
        declared = self.allowed.mail
        if declared is None:  # on that network a message is lost at once, or arrives
            for to, envelope in (*self.letters.envelopes(), *self.doomed):
                mail[to].put(envelope)
            return
        for box, inside in zip(mail, declared, strict=True):
            box.restore((RecordedMail, inside.freeze()))

    def _left_to(self, index: int) -> list[Envelope]:
        """Return what is under way to a node and never received there."""
        left = Counter(self.world.mailbox(index).envelopes())
        left.subtract(one for to, one in self.letters.envelopes() if to == index)
        return [*left.elements()]

    def _lasting_of(self, index: int) -> Lasting:
        """Return what knows how the fields of a node change that outlive a life."""
        node = self.world.nodes[index]
        lasting = self._lasting.get(index)
        if lasting is None:
            kind = self.system.types[index]
            lasting = self._lasting[index] = Lasting(kind, node, {*lasting_paths(kind)})
        return lasting

    def _perform(self, index: int, event: Event, clock: float) -> Result | Failure:
        world, kind, local = (
            self.world,
            self.system.types[index],
            self._first + 3 * index,
        )
        world.touched.update((local, local + 1))  # fields and hidden state
        if not (event.part or self._is_observed):
            if event.kind is Kind.DELIVER:
                handler = kind.plain_on.get(type(event.payload))
                if handler is not None:
                    if world.keeps_mail:
                        world.apply(event)
                    arguments = event.peer, event.payload
                    return world.run(index, handler, arguments, clock)
            elif event.kind is Kind.TIMER:
                handler = kind.plain_timers.get(event.name)
                if handler is not None:
                    given = (event.payload,) if handler.mark.takes_payload else ()
                    return world.run(index, handler, given, clock)
        return world.happen(event, index, clock)

    def _undo(self, index: int, before: Frozen) -> None:
        """Put a node back to where it was before its handler failed."""
        world, kind = self.world, self.system.types[index]
        world.failure = None
        node = kind.thaw(before, self.system.prototypes[index])
        world.nodes[index].__dict__.update(node.__dict__)
        self._lasting.pop(index, None)

    def _told(
        self, event: Event, result: Result | Failure, steer: str | None = None
    ) -> None:
        """Tell of a step that has happened."""
        if not self.is_begun:
            self.world.touched.clear()
            return
        self.steps += 1
        allowed = self.allowed
        if self.unallowed is None and (allowed.reason or allowed.unknown):
            self.unallowed = max(1, self.steps)
            self.doomed += allowed.overdue()
        door, now, lamport = self._door, self.now, self.lamport
        choices, answers = tuple(door.choices), tuple(door.answers)
        step = new_step(
            RunStep, (self.steps, event, choices, now, lamport, result, answers, steer)
        )
        self._listener.stepped(step)

    def _put_in(self, event: Event, steer: str | None) -> None:
        """Let something happen that the declared network needs."""
        index = 0 if event.node is None else self.system.index[event.node]
        self.happen(index, event, steer)

    def _set_timers(self, index: int) -> None:
        timers = self.world.hidden[index].timers
        self.world.touched.add(self.system.layout.hidden(index))
        for timer, after in self._door.timers:
            if timers:  # one that is set again comes last
                timers.pop(timer, None)
            if after is not None:
                timers[timer] = after

    def _send(self, index: int) -> list[tuple[int, Envelope]]:
        """Send what a handler has sent; return what nobody ever receives."""
        world, system, allowed = self.world, self.system, self.allowed
        me, life = system.ids[index], self.incarnations[index]
        receipts = self._receipts.get((index, life))
        lost: list[tuple[int, Envelope]] = []
        for place, (dst, part, message, taken) in enumerate(self._door.sends):
            to = system.index[dst]
            envelope = OpenEnvelope(me, part, message)
            allowed.send(index, to, envelope, taken=taken)
            if not taken:
                continue
            if world.keeps_mail:
                world.post(to, envelope)
            times = 0 if receipts is None else receipts.of(self.lamport, place)
            if times:
                name = index, life, self.lamport, place
                self.letters[name] = Letter(to, envelope, times)
            else:
                lost.append((to, envelope))
        return lost

    def _note_vanished(self, index: int) -> None:
        """Note an event that sends less now than was received of it."""
        life = self.incarnations[index]
        left = self._receipts[index, life].left_of(self.lamport)
        if left:
            sends = self._door.sends
            said = ", ".join(f"{message!r} to {dst}" for dst, _, message, _ in sends)
            what = f"its event of Lamport time {self.lamport} sends {said or 'nothing'}"
            self._vanished[index, life, self.lamport] = what

    def _lose(self, to: int, envelope: Envelope) -> None:
        """Let a message be lost that nobody ever receives."""
        if not self.allowed.lose(to, envelope):
            return
        is_down = self.world.hidden[to].status is Status.DOWN
        kind = Kind.REFUSE if is_down else Kind.DROP
        self.happen(to, concerning(kind, self.system.ids[to], envelope))
