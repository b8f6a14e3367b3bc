"""All nodes of a recorded run in one process: every event again, compared as it happens.

What a node received comes from the node that sent it, and is compared with what arrived;
only of a node without a journal it comes from the receiver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from worldline.model.data.settling import settled
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network import Capability
from worldline.model.network.datagrams import concerning
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.runs.recording.comparing import (
    Unlike,
    are_alike,
    compare_fields,
    shown,
)
from worldline.runs.recording.happenings import CHECKPOINT, GAP, Happening, Notes
from worldline.runs.recording.letters import Letter
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.survey import SendName
from worldline.trace.journal.checkpoints import NodeCheckpoint


@final
class Rerunning:
    """What the journals say, one after the other.

    Parameters
    ----------
    steps
        Lets it happen.

    Attributes
    ----------
    unknown
        The indices of the nodes of which nobody knows the state.
    """

    def __init__(self, steps: Stepping) -> None:
        self._steps = steps
        self._system = steps.system
        self._world = steps.world
        self.unknown = set(range(len(self._system.ids)))
        network = self._system.network
        self._connects = Capability.DISCONNECT in network.capabilities
        self._dying: set[int] = set()
        self._since = [0] * len(self._system.ids)
        self._timers: dict[tuple[str, str], PendingTimer] = {}

    def take(self, one: Happening) -> None:
        """Let the next thing happen.

        Raises
        ------
        Unlike
            If it goes otherwise; nothing can happen after that.
        """
        steps, index, kind = self._steps, one.node, one.kind
        steps.lamport = one.lamport
        if kind is CHECKPOINT:
            self._checkpoint(index, one.what)
        elif kind is GAP:
            self.unknown.add(index)
        elif index in self.unknown and kind is not Kind.START:
            return
        elif one.notes.fate in ("blocked", "undone"):
            self._blocked(one)
        else:
            _OF[kind](self, index, one.what, one.notes)

    # ------------------------------------------------------------ what the journals say

    def _start(self, index: int, what: Any, notes: Notes) -> None:
        world, me = self._world, self._system.ids[index]
        hidden = world.hidden[index]
        if hidden.status is Status.UP:  # it left, and came back
            self._die(index)
        if hidden.status is Status.DOWN:
            self._steps.allowed.restart(index)
        self._steps.incarnations[index] = what.incarnation
        if what.durable is not None:
            self._load(index, what)
        self._know(index, self._steps.lamport - 1)
        kind = Kind.START if hidden.status is Status.NEW else Kind.RESTART
        self._steps.run(index, Event(kind, me), notes)

    def _load(self, index: int, what: Any) -> None:
        """Compare the durable fields with those that were loaded, or take them over."""
        hidden, node = self._world.hidden[index], self._world.nodes[index]
        if index in self.unknown:
            for path, value in what.durable.items():
                _put(node, path, value)
            hidden.counter = what.counter
            return
        compare_fields(self._system.types[index], node, what.durable)
        if what.counter != hidden.counter:
            stood = str(hidden.counter)
            raise Unlike("the sequence counter", str(what.counter), stood)

    def _deliver(self, index: int, frame: Any, notes: Notes) -> None:
        steps, allowed = self._steps, self._steps.allowed
        name = SendName(frame.sender, frame.incarnation, frame.lamport, frame.place)
        letter = steps.letters.get(name)
        if letter is None:
            envelope = self._unsent(name, frame)
            allowed.reason = (
                allowed.reason or f"nobody knows that {envelope.src} sent it"
            )
        else:
            envelope = self._sent(letter, name, index, frame)
            allowed.deliver(index, envelope)
        event = concerning(Kind.DELIVER, self._system.ids[index], envelope)
        steps.run(index, event, notes)
        if frame.sender in self._dying and not steps.letters.sent[frame.sender]:
            self._die(frame.sender)

    def _sent(self, letter: Letter, name: SendName, index: int, frame: Any) -> Envelope:
        """Take a message that was sent off its way."""
        steps, envelope = self._steps, letter.envelope
        sent = envelope.message
        if letter.index != index or envelope.part != frame.part:
            to = f"{shown(sent)} to {self._system.ids[letter.index]}"
            raise Unlike("the message", shown(frame.message), f"its sender sends {to}")
        if not are_alike(sent, frame.message):
            raise Unlike("the message", shown(frame.message), shown(sent))
        if not letter.is_doubled:
            letter.is_doubled = True
            node = self._system.ids[index]
            for _ in range(letter.left - 1):
                steps.allowed.double(envelope, index)
                steps.happen(index, concerning(Kind.DUPLICATE, node, envelope))
        letter.left -= 1
        if not letter.left:
            steps.letters.take(name)
        return envelope

    def _unsent(self, name: SendName, frame: Any) -> Envelope:
        """Return a message that its sender has not sent, as far as anybody knows."""
        src = self._system.ids[name.sender]
        if name.sender not in self.unknown and name.lamport > self._since[name.sender]:
            instead = self._steps.vanished(name)
            instead = instead or f"{src} has no event of Lamport time {name.lamport}"
            then = f"{shown(frame.message)} from {src}"
            raise Unlike("the message", then, instead)
        return OpenEnvelope(src, frame.part, frame.message)

    def _timer(self, index: int, what: Any, notes: Notes) -> None:
        timer = self._timer_of(what)
        timers = self._world.hidden[index].timers
        if timer not in timers:
            pending = ", ".join(map(repr, timers)) or "none"
            raise Unlike("the timer", f"{timer!r} fired", f"those set are: {pending}")
        del timers[timer]
        self._world.touched.add(self._system.layout.hidden(index))
        me, part = self._system.ids[index], timer.part
        event = Event(Kind.TIMER, me, part=part, name=timer.name, payload=timer.payload)
        self._steps.run(index, event, notes)

    def _call(self, index: int, what: Any, notes: Notes) -> None:
        arguments = settled(tuple(what.arguments))
        handler = self._system.types[index].calls.get(what.name)
        if handler is None or not handler.accepts(arguments):
            kind = self._system.types[index].cls.__name__
            then = f"{what.name}{shown(arguments)}"
            raise Unlike("the call", then, f"{kind} has none such")
        me = self._system.ids[index]
        event = Event(Kind.CALL, me, name=what.name, payload=arguments)
        self._steps.run(index, event, notes)

    def _error(self, index: int, what: Any, notes: Notes) -> None:
        if what.peer in self._dying:
            self._die(what.peer)
        name = LOST if what.kind == LOST else UNREACHABLE
        name = self._steps.allowed.error(index, what.peer, name)
        me, peer = self._system.ids[index], self._system.ids[what.peer]
        event = Event(Kind.TRANSPORT_ERROR, me, name=name, peer=peer)
        self._steps.run(index, event, notes)

    def _crash(self, index: int, what: Any, notes: Notes) -> None:
        if what:  # it said that it leaves, which is no fault while others go on
            return
        if self._connects and self._steps.letters.sent[index]:
            # On a connection what it sent arrives only as long as it lives.
            self._dying.add(index)
        else:
            self._die(index)

    def _die(self, index: int) -> None:
        """Let a node stop."""
        self._dying.discard(index)
        self._steps.allowed.crash(index)
        self._steps.happen(index, Event(Kind.CRASH, self._system.ids[index]))

    def _blocked(self, one: Happening) -> None:
        """Let an event be refused that its host refused, or undid."""
        index, me = one.node, self._system.ids[one.node]
        if one.kind is Kind.DELIVER:
            frame = one.what
            name = SendName(frame.sender, frame.incarnation, frame.lamport, frame.place)
            letter = self._steps.letters.get(name)
            if letter is not None:
                envelope = self._sent(letter, name, index, frame)
                self._steps.allowed.lose(index, envelope)
                self._steps.happen(index, concerning(Kind.DROP, me, envelope))

    def _checkpoint(self, index: int, what: NodeCheckpoint) -> None:
        """Compare the state of a node with what was saved, or take it over."""
        saved, hidden = what, self._world.hidden[index]
        node = self._world.nodes[index]
        if index in self.unknown:
            for path, value in saved.fields.items():
                _put(node, path, value)
            hidden.timers = {self._timer_of(one): one[3] for one in saved.timers}
            hidden.counter = saved.counter
            hidden.status = Status.UP
            self._steps.incarnations[index] = saved.incarnation
            self._know(index, self._steps.lamport)
            return
        compare_fields(self._system.types[index], node, saved.fields)
        wanted = {self._timer_of(one) for one in saved.timers}
        if wanted != set(hidden.timers):
            now = ", ".join(map(repr, hidden.timers)) or "none"
            then = ", ".join(map(repr, wanted)) or "none"
            raise Unlike("the timers that are set", then, now)

    def _timer_of(self, what: Any) -> PendingTimer:
        part, name, payload = what[:3]
        if payload is not None:
            return PendingTimer(part, name, payload)
        timer = self._timers.get((part, name))
        if timer is None:
            timer = self._timers[part, name] = PendingTimer(part, name, None)
        return timer

    def _know(self, index: int, lamport: int) -> None:
        """Note that the state of a node is known after a Lamport time."""
        if index in self.unknown:
            self.unknown.discard(index)
            self._since[index] = lamport


def _put(node: Any, path: str, value: Any) -> None:
    *parts, name = path.split(".")
    for part in parts:
        node = node.__dict__[part]
    node.__dict__[name] = settled(value)


_OF: Mapping[Any, Callable[[Rerunning, int, Any, Notes], None]] = {
    Kind.START: Rerunning._start,
    Kind.DELIVER: Rerunning._deliver,
    Kind.TIMER: Rerunning._timer,
    Kind.CALL: Rerunning._call,
    Kind.TRANSPORT_ERROR: Rerunning._error,
    Kind.CRASH: Rerunning._crash,
}
"""What lets happen what a journal says."""
