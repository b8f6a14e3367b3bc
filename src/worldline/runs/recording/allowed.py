"""A test whether the declared network allows a recorded run, and the events on it.

A recording says what nodes saw. On the declared network other things have to happen as
well for that to be possible: a message is lost, a connection breaks. They are put in here,
as late as they can be, until something happened that the network cannot do.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, final

from worldline.model.events import LOST, UNREACHABLE, Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network import (
    Capability,
    Mailbox,
    Network,
    Networks,
    carrier,
)
from worldline.model.network.datagrams import Datagrams, concerning
from worldline.model.semantics.hidden import Hidden, Status
from worldline.model.system import System

Happen = Callable[[Event, str | None], None]
"""Lets an event happen that is put in; in the place of a refused message, it is told why."""

Leave = Callable[[], object]
"""Takes note of what is under way, before that is not known here any more."""

_ALL = frozenset({Capability.DROP, Capability.DUPLICATE})


@final
class Allowed:
    """The declared network along a recorded run.

    Parameters
    ----------
    system
        The system as it is declared; see `System.under_recording`.
    hidden
        Whether each node is up, by index.
    happen
        Is told what is put in, before what it makes possible.
    leave
        Is called before the network can not do what comes, or nobody knows.

    Attributes
    ----------
    reason
        The first thing that the network cannot do; empty if it can do all.
    unknown
        Why nobody knows whether it can do what comes; empty if somebody does.
    mail
        The mailboxes of the declared network; None if they are not needed, as on a network
        that can do anything with any message.
    """

    def __init__(
        self, system: System, hidden: Sequence[Hidden], happen: Happen, leave: Leave
    ) -> None:
        self._system = system
        self._hidden = hidden
        self._happen = happen
        self._leave = leave
        self._abilities: dict[tuple[str, type], frozenset[Capability]] = {}
        self._doomed: defaultdict[int, Counter[Envelope]] = defaultdict(Counter)
        self._refused: dict[tuple[int, int], tuple[Envelope, str]] = {}
        self.reason = self.unknown = ""
        self.mail: list[Mailbox] | None = None
        network = system.network
        self._is_mixed = isinstance(network, Networks)
        able = network.capabilities
        if not (
            isinstance(network, Datagrams)
            and able >= _ALL
            and Capability.ORDERED not in able
        ):
            ids = system.ids
            self.mail = [network.mailbox(node, ids) for node in ids]

    def give_up(self, why: str) -> None:
        """Judge nothing from here on, where it is not known how the network was."""
        if not self.reason:
            if self.mail is not None:
                self._leave()
            self.unknown = self.unknown or why
        self.mail = None

    def begin_amid(self) -> None:
        """Begin in the midst of a run: how its connections were, nobody knows."""
        if self.mail is not None:
            self.give_up("it begins at checkpoints, and not with the first message")

    def send(self, me: int, to: int, envelope: Envelope, *, taken: bool) -> None:
        """Take a message that was sent, or refused."""
        if self.mail is None or self.reason:
            return
        buffer = self._system.network.buffer
        if self._is_mixed:
            buffer = self._carrier(envelope).buffer
        if buffer is not None:
            under_way = self.mail[to].holds(self._system.ids[me])
            if taken is (under_way >= buffer):
                where = f"{self._system.ids[me]} to {self._system.ids[to]}"
                said = "was taken" if taken else "was refused"
                self._refute(
                    f"a message from {where} {said}, with {under_way} under way and room "
                    f"for {buffer}"
                )
                return
        if taken:
            self.mail[to].put(envelope)

    def lose(self, to: int, envelope: Envelope) -> bool:
        """Note that a message is never received; say whether it is lost now."""
        able, mail = self._able(envelope), None if self.reason else self.mail
        if mail is None:
            return Capability.DROP in able
        if Capability.DROP in able and Capability.ORDERED not in able:
            mail[to].take(envelope)
            return True
        self._doomed[to][envelope] += 1
        return False

    def refuse(self, to: int, envelope: Envelope, why: str) -> None:
        """Note that a message was refused with its connection, which breaks of that."""
        self._refused[to, self._system.index[envelope.src]] = envelope, why

    def overdue(self) -> list[tuple[int, Envelope]]:
        """Return what should be lost now, as the network says no more when it is."""
        return [
            (to, envelope)
            for to, doomed in self._doomed.items()
            for envelope in doomed.elements()
            if Capability.DROP in self._able(envelope)
        ]

    def double(self, envelope: Envelope, to: int) -> None:
        """Note that a message is doubled before it arrives."""
        if self.reason:
            return
        if Capability.DUPLICATE not in self._able(envelope):
            self._refute(f"a message from {envelope.src} arrives twice")
        elif self.mail is not None and self._make_ready(to, envelope):
            self._apply(concerning(Kind.DUPLICATE, self._system.ids[to], envelope))

    def deliver(self, to: int, delivery: Event) -> None:
        """Let a message arrive, and what it takes for that."""
        if self.mail is None or self.reason:
            return
        envelope = delivery.envelope
        assert envelope is not None, "a message arrives in one"
        if self._make_ready(to, envelope):
            self._apply(delivery)

    def breaks(self, index: int, peer: int) -> bool | None:
        """Say whether a node can hear of a broken connection though its peer is up.

        None if that decides nothing here any more.
        """
        if self.mail is None or self.reason:
            return None
        link = self.mail[index].connection(self._system.ids[peer])
        is_refused = (peer, index) in self._refused
        return link is not None and (link.error_here or link.is_whole() or is_refused)

    def error(self, index: int, peer: int, name: str) -> str:
        """Let a node hear of a broken connection; return the name of the error."""
        if self.mail is None or self.reason:
            return name
        me, other = self._system.ids[index], self._system.ids[peer]
        link = self.mail[index].connection(other)
        if link is None:
            self._refute(f"{me} hears of a connection, which there is none")
            return name
        if not link.error_here and self._refuses(index, peer):
            name = UNREACHABLE
        elif link.error_here or self._break(index, peer, whole=link.is_whole()):
            name = LOST
        else:
            self._refute(
                f"the connection of {me} and {other} broke before a message had gone "
                "through"
            )
            return name
        self._apply(Event(Kind.TRANSPORT_ERROR, me, name=name, peer=other))
        return name

    def crash(self, index: int) -> None:
        """Let a node stop."""
        for pair in [pair for pair in self._refused if index in pair]:
            del self._refused[pair]
        if self.mail is not None and not self.reason:
            self._apply(Event(Kind.CRASH, self._system.ids[index]))

    def restart(self, index: int) -> None:
        """Let be refused what came while a node was down, before it starts again."""
        if self.mail is None or self.reason or not self._system.loses_when_down:
            return
        doomed, box = self._doomed[index], self.mail[index]
        while True:
            refused = next(
                (
                    event
                    for event in box.arrivals(up=False, returns=True)
                    if event.envelope is not None and _take(doomed, event.envelope)
                ),
                None,
            )
            if refused is None:
                return
            self._put_in(refused)

    # ------------------------------------------------------------------------ inside

    def _refute(self, reason: str) -> None:
        """Note what the network cannot do."""
        self._leave()
        self.reason = reason

    def _put_in(self, event: Event, steer: str | None = None) -> None:
        """Let happen what has to; whoever looks then sees what has become of it."""
        self._apply(event)
        self._happen(event, steer)

    def _break(self, index: int, peer: int, *, whole: bool) -> bool:
        """Let a connection break of which a node hears; say whether it can.

        One that is not open does where the peer has refused the first message on it.
        """
        refused = self._refused.pop((index, peer), None) if whole else None
        refused = self._refused.pop((peer, index), refused)
        ids = self._system.ids
        why = None if refused is None else refused[1]
        if whole:
            first, second = sorted((index, peer))
            self._put_in(Event(Kind.DISCONNECT, ids[first], peer=ids[second]), why)
            return True
        assert self.mail is not None
        if refused is None or not self.mail[peer].is_ready(refused[0]):
            return False
        self._put_in(concerning(Kind.REFUSE, ids[peer], refused[0]), why)
        return True

    def _refuses(self, index: int, peer: int) -> bool:
        """Say whether a node is not there to take the messages from another."""
        assert self.mail is not None
        if self._hidden[peer].status is Status.UP:
            return False
        return self.mail[peer].holds(self._system.ids[index]) > 0

    def _make_ready(self, to: int, envelope: Envelope) -> bool:
        """Lose what is before a message, so that it can arrive; say whether it can."""
        assert self.mail is not None
        box = self.mail[to]
        if not box.is_ready(envelope):
            self._lose_before(to, envelope)
            if not box.is_ready(envelope):
                self._refute(self._why_not(to, envelope))
                return False
        return True

    def _lose_before(self, to: int, envelope: Envelope) -> None:
        """Lose the messages before one, of those that nobody ever receives."""
        assert self.mail is not None
        doomed = self._doomed[to]
        able = self._able(envelope)
        if Capability.DROP not in able:
            return
        while not self.mail[to].is_ready(envelope):
            heads = self.mail[to].befallen(Kind.DROP)
            head = next((one for one in heads if one.src == envelope.src), None)
            if head is None or not _take(doomed, head):
                return
            lost = concerning(Kind.DROP, self._system.ids[to], head)
            self._put_in(lost)

    def _why_not(self, to: int, envelope: Envelope) -> str:
        assert self.mail is not None
        what = f"a message from {envelope.src} arrives at {self._system.ids[to]}"
        link = self.mail[to].connection(envelope.src)
        if link is not None and (link.error_here or link.error_there):
            return f"{what} after their connection has broken"
        if all(one is not envelope for one in self.mail[to].envelopes()):
            return f"{what} that was lost with their connection"
        return f"{what} before another that was sent earlier"

    def _apply(self, event: Event) -> None:
        assert self.mail is not None
        for node, operation in self._operations(event):
            box = self.mail[self._system.index[node]]
            getattr(box, operation[0])(*operation[1:])

    def _operations(self, event: Event) -> list[Any]:
        return self._system.network.operations(event, self._system.ids)

    def _able(self, envelope: Envelope) -> frozenset[Capability]:
        key = envelope.part, type(envelope.message)
        able = self._abilities.get(key)
        if able is None:
            able = self._abilities[key] = self._carrier(envelope).capabilities
        return able

    def _carrier(self, envelope: Envelope) -> Network:
        return carrier(self._system.network, envelope.part, type(envelope.message))


def _take(doomed: Counter[Envelope], envelope: Envelope) -> bool:
    """Take one off those that nobody receives, if it is one; equal ones are alike."""
    count = doomed[envelope]
    if count > 1:
        doomed[envelope] = count - 1
    else:
        del doomed[envelope]
    return count > 0
