"""All nodes of a recorded run in one process: every event again, compared as it happens.

What a node received comes from the node that sent it, and is compared with what arrived;
only of a node without a journal it comes from the receiver.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

from worldline.model.data.settling import settled
from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope, OpenEnvelope
from worldline.model.network.datagrams import concerning
from worldline.model.semantics.hidden import PendingTimer, Status
from worldline.runs.recording.comparing import (
    Unlike,
    are_alike,
    compare_counters,
    compare_fields,
    holder_of,
    shown,
)
from worldline.runs.recording.happenings import (
    CHECKPOINT,
    GAP,
    NO_NOTES,
    Happening,
    Notes,
)
from worldline.runs.recording.letters import Letter
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.survey import SendName
from worldline.runs.recording.timers import RecordedTimers, check_timers, compare_timers
from worldline.trace.journal.checkpoints import NodeCheckpoint
from worldline.trace.journal.frames import NamedFrame
from worldline.trace.journal.records import ENDED
from worldline.worlds.companions import Instead
from worldline.worlds.dry_run import DryRuns, is_noop


@final
class Rerunning:
    """What the journals say, one after the other.

    Parameters
    ----------
    steps
        Lets it happen.
    digest_of
        Returns the digest of a message, which a journal has in the place of a large one.
    unknown
        The indices of the nodes of which nobody knows the state; it changes.
    expected
        Those of the nodes that have to begin before there are steps.
    """

    def __init__(
        self,
        steps: Stepping,
        digest_of: Callable[[str, Any], bytes],
        unknown: set[int],
        expected: Iterable[int] = (),
    ) -> None:
        self._steps = steps
        self._digest_of = digest_of
        self._dying: set[int] = set()
        self._system = steps.system
        self.unknown: set[int] = set()
        for index in unknown:
            self._forget(index)
        self._expected = set(expected)
        self._world = steps.world
        self._left: dict[int, float] = {}
        self._since = [0] * len(self._system.ids)
        self._timers = RecordedTimers()
        self._dry_runs = DryRuns(self._system) if steps.ignores_noops else None

    def take(self, one: Happening) -> None:
        """Let the next thing happen.

        Raises
        ------
        Unlike
            If it goes otherwise; nothing can happen after that.
        """
        steps, index, kind = self._steps, one.node, one.kind
        steps.lamport = one.lamport
        if self._left and kind is not Kind.CRASH:
            self._outlive()
        if kind is CHECKPOINT:
            self._checkpoint(index, one.what)
        elif kind is GAP:
            self._forget(index)
        elif index in self.unknown and kind is not Kind.START:
            return
        elif one.notes.fate in _UNDONE:
            self._refused(one)
        else:
            _OF[kind](self, index, one.what, one.notes)

    @property
    def has_begun(self) -> bool:
        """Whether all nodes have begun."""
        return not self._expected

    def end(self) -> None:
        """Let stop what did, and of which something was still under way."""
        for index in sorted(self._dying):
            self._die(index)

    # ------------------------------------------------------------ what the journals say

    def _start(self, index: int, what: Any, notes: Notes) -> None:
        world, me = self._world, self._system.ids[index]
        hidden = world.hidden[index]
        self._left.pop(index, None)
        if hidden.status is Status.UP:  # it left, and came back
            self._die(index)
        if hidden.status is Status.DOWN:
            self._steps.allowed.restart(index)
            self._steps.lose_for(index)
        self._steps.incarnations[index] = what.incarnation
        if index in self.unknown:
            self._take_over(index, what.durable or {}, what.counter)
            self._know(index, self._steps.lamport - 1)
        elif what.durable is not None:
            node = self._world.nodes[index]
            compare_fields(self._system.types[index], node, what.durable)
            compare_counters(what.counter, hidden.counter)
        kind = Kind.START if hidden.status is Status.NEW else Kind.RESTART
        self._steps.run(index, Event(kind, me), notes)

    def _take_over(self, index: int, fields: Mapping[str, Any], counter: int) -> None:
        """Give a node of which nothing was known the fields that were written down."""
        node = self._world.nodes[index]
        for path, value in fields.items():
            values, name = holder_of(node, path)
            values[name] = settled(value)
        self._world.hidden[index].counter = counter

    def _deliver(self, index: int, frame: Any, notes: Notes) -> None:
        steps, allowed = self._steps, self._steps.allowed
        name: SendName = frame[:4]
        letter, me = steps.letters.get(name), self._system.ids[index]
        if letter is None:
            envelope = self._unsent(name, frame)
            if envelope is None:
                self._cannot_know(index, frame)
                return
            allowed.give_up(f"nothing says that {envelope.src} sent what arrives")
            event = concerning(Kind.DELIVER, me, envelope)
        else:
            self._compare(letter, index, frame)
            event = concerning(Kind.DELIVER, me, letter.envelope)
            if notes in _SILENT and self._is_noop(index, event):
                # Which is no event, and leaves the message where it is.
                letter.left = max(1, letter.left - 1)
                return
            self._take_off(letter, name, index)
            allowed.deliver(index, event)
        steps.run(index, event, notes)
        if self._dying:
            self._let_die(frame.sender)

    def _is_noop(self, index: int, event: Event) -> bool:
        """Say whether a delivery is none, since it would change nothing."""
        if self._dry_runs is None:
            return False
        node = self._world.nodes[index]
        environment = functools.partial(self._world.look_up, index)
        return is_noop(self._dry_runs, index, node, event, environment)

    def _compare(self, letter: Letter, index: int, frame: Any) -> None:
        """Compare a message that was received with what was sent."""
        envelope = letter.envelope
        sent = envelope.message
        if letter.index != index or envelope.part != frame.part:
            to = f"{shown(sent)} to {self._system.ids[letter.index]}"
            raise Unlike("the message", _told(frame), f"its sender sends {to}")
        if type(frame) is NamedFrame:
            if self._digest_of(envelope.part, sent) != frame.digest:
                then = f"one of {frame.size:,} bytes with another content"
                raise Unlike("the message", then, shown(sent))
        elif not are_alike(sent, frame.message):
            raise Unlike("the message", shown(frame.message), shown(sent))

    def _take_off(self, letter: Letter, name: SendName, index: int) -> None:
        """Take a message off its way, and let it be doubled before."""
        steps, envelope = self._steps, letter.envelope
        if not letter.is_doubled:
            letter.is_doubled = True
            node = self._system.ids[index]
            for _ in range(letter.left - 1):
                steps.allowed.double(envelope, index)
                steps.happen(index, concerning(Kind.DUPLICATE, node, envelope))
        letter.left -= 1
        if not letter.left:
            del steps.letters[name]

    def _cannot_know(self, index: int, frame: NamedFrame) -> None:
        """Know no more of a node that received what only its sender could tell."""
        self._forget(index)
        src = self._system.ids[frame.sender]
        self._steps.allowed.give_up(f"nothing says what {src} sent")

    def _unsent(self, name: SendName, frame: Any) -> Envelope | None:
        """Return a message that its sender has not sent, as far as anybody knows.

        None if nobody knows, either, what it says.
        """
        sender, lamport = frame.sender, frame.lamport
        src = self._system.ids[sender]
        if sender not in self.unknown and lamport > self._since[sender]:
            instead = self._steps.vanished(name)
            instead = instead or f"{src} has no event of Lamport time {lamport}"
            then = f"{_told(frame)} from {src}"
            raise Unlike("the message", then, instead)
        if type(frame) is NamedFrame:
            return None
        return OpenEnvelope(src, frame.part, frame.message)

    def _timer(self, index: int, what: Any, notes: Notes) -> None:
        timer = self._timers.fired(what, self._world.hidden[index].timers)
        del self._world.hidden[index].timers[timer]
        self._world.touched.add(self._system.layout.hidden(index))
        me, part = self._system.ids[index], timer.part
        event = Event(Kind.TIMER, me, part=part, name=timer.name, payload=timer.payload)
        self._steps.run(index, event, notes)

    def _call(self, index: int, what: Any, notes: Notes) -> None:
        arguments = settled(tuple(what.arguments))
        handler = self._system.types[index].called.get(what.name)
        if handler is None or not handler.accepts(arguments):
            kind = self._system.types[index].cls.__name__
            then = f"{what.name}{shown(arguments)}"
            raise Unlike("the call", then, f"{kind} has none such")
        me = self._system.ids[index]
        event = Event(Kind.CALL, me, name=what.name, payload=arguments)
        self._steps.run(index, event, notes)

    def _error(self, index: int, what: Any, notes: Notes) -> None:
        if not 0 <= what.peer < len(self._system.ids):
            raise Unlike("the error", f"of node {what.peer}", "there is none such")
        # Who is dying still sends to others; who has left is missed where it has to be.
        is_dying, is_left = what.peer in self._dying, what.peer in self._left
        breaks = self._steps.allowed.breaks(index, what.peer)
        if (is_dying and not breaks) or (is_left and breaks is False):
            self._die(what.peer)
        name = LOST if what.kind == LOST else UNREACHABLE
        name = self._steps.allowed.error(index, what.peer, name)
        me, peer = self._system.ids[index], self._system.ids[what.peer]
        event = Event(Kind.TRANSPORT_ERROR, me, name=name, peer=peer)
        self._steps.run(index, event, notes)

    def _crash(self, index: int, what: Any, notes: Notes) -> None:
        if what:
            # It said that it leaves. At the end of a run all do, within moments, so that is
            # no fault until somebody misses it, or others have gone on for long.
            self._left[index] = self._steps.now
            return
        if self._steps.needs(index):
            self._dying.add(index)
        else:
            self._die(index)

    def _outlive(self) -> None:
        """Let be down who has left, where others have gone on: it is not the end of all."""
        for index, at in [*self._left.items()]:
            if self._steps.now - at > _GONE_S and index not in self.unknown:
                del self._left[index]
                self._crash(index, "", NO_NOTES)

    def _die(self, index: int) -> None:
        """Let a node stop."""
        self._dying.discard(index)
        self._left.pop(index, None)
        if self._world.hidden[index].status is not Status.UP:
            return  # its start ended it
        self._steps.allowed.crash(index)
        self._steps.happen(index, Event(Kind.CRASH, self._system.ids[index]))
        self._steps.lose_for(index)

    def _let_die(self, sender: int) -> None:
        """Let a node stop of which the last message has arrived."""
        if sender in self._dying and not self._steps.needs(sender):
            self._die(sender)

    def _refused(self, one: Happening) -> None:
        """Let an event not happen that its host blocked, or undid: nothing of it is left.

        A message is lost. A timer stays set, a call waits, of an error nobody hears; on
        a connection that breaks instead there are errors of their own. A start that ends
        its node is as if it had not been.
        """
        index = one.node
        if one.kind is Kind.START and one.notes.how == ENDED:
            self._left.pop(index, None)
            if self._world.hidden[index].status is Status.UP:
                self._die(index)
        elif one.kind is Kind.START:
            raise Unlike("what became of it", one.notes.fate, "a start always happens")
        if one.kind is Kind.TIMER:
            timers = self._world.hidden[index].timers
            timer = self._timers.fired(one.what, timers)
            timers[timer] = timers.pop(timer)  # it is set again
        elif one.kind is Kind.DELIVER:
            self._lose(index, one.what, one.notes)

    def _lose(self, index: int, frame: Any, notes: Notes) -> None:
        steps, me = self._steps, self._system.ids[index]
        name: SendName = frame[:4]
        letter = steps.letters.get(name)
        if letter is None:
            self._unsent(name, frame)
            return
        self._compare(letter, index, frame)
        self._take_off(letter, name, index)
        envelope, why = letter.envelope, f"a companion {_UNDONE[notes.fate]} it"
        if notes.how == ENDED:
            why = "its node ended instead"
        steps.drops += 1
        if steps.allowed.lose(index, envelope):
            steps.happen(index, concerning(Kind.DROP, me, envelope), why)
        elif notes.how == Instead.BROKEN.value:
            steps.allowed.refuse(index, envelope, why)
        self._let_die(frame.sender)

    def _checkpoint(self, index: int, what: NodeCheckpoint) -> None:
        """Compare the state of a node with what was saved, or take it over."""
        saved, hidden = what, self._world.hidden[index]
        wanted = {self._timers.of(one): one.left for one in saved.timers}
        if index in self.unknown:
            self._resume(index, saved, wanted)
            return
        kind, node = self._system.types[index], self._world.nodes[index]
        compare_fields(kind, node, saved.fields)
        compare_counters(saved.counter, hidden.counter)
        compare_timers(wanted, hidden.timers)

    def _resume(
        self, index: int, saved: NodeCheckpoint, timers: dict[PendingTimer, float]
    ) -> None:
        """Let a node go on from its state, of which nobody knows how it came about."""
        hidden = self._world.hidden[index]
        self._take_over(index, saved.fields, saved.counter)
        check_timers(self._system.types[index], timers)
        hidden.timers, hidden.status = timers, Status.UP
        self._dying.discard(index)
        self._steps.incarnations[index] = saved.incarnation
        self._know(index, self._steps.lamport)

    def _forget(self, index: int) -> None:
        """Note that nothing is known of a node from here on."""
        self.unknown.add(index)
        self._dying.discard(index)
        if self._steps.allowed.mail is not None:
            node = self._system.ids[index]
            self._steps.allowed.give_up(f"nothing tells what {node} received")
        self._steps.lost.setdefault(index, self._steps.steps)

    def _know(self, index: int, lamport: int) -> None:
        """Note that the state of a node is known after a Lamport time."""
        self.unknown.discard(index)
        self._steps.lost.pop(index, None)
        self._expected.discard(index)
        self._since[index] = lamport
        layout = self._system.layout
        self._world.touched.update((layout.local(index), layout.hidden(index)))
        self._steps.jump(index)


_UNDONE = {"blocked": "blocked", "undone": "undid"}
"""What becomes of an event that a companion refuses, and what that has done."""

_GONE_S = 5.0
"""For how long others go on behind who has left until it is down, if nobody misses it before."""

_SILENT = (NO_NOTES, NO_NOTES._replace(fate="unhandled"))
"""What is said of a message that may have changed nothing."""

_OF: Mapping[Any, Callable[[Rerunning, int, Any, Notes], None]] = {
    Kind.START: Rerunning._start,
    Kind.DELIVER: Rerunning._deliver,
    Kind.TIMER: Rerunning._timer,
    Kind.CALL: Rerunning._call,
    Kind.TRANSPORT_ERROR: Rerunning._error,
    Kind.CRASH: Rerunning._crash,
}
"""What lets happen what a journal says."""


def _told(frame: Any) -> str:
    if type(frame) is NamedFrame:
        return f"one of {frame.size:,} bytes"
    return shown(frame.message)
