"""Companions: what stands beside nodes that run, sees their events and may refuse them.

The same stand beside deployed nodes, and in a run by the clock beside those of a simulation.

A companion is asked before an event (`gate`) and after it, when nothing that the handler
did has left yet (`vet`). What it blocks or undoes is recorded, with what happened
instead, so that a recording replays with it. Companions of one name talk to
each other in control frames, of which nodes know nothing and clocks are not moved.

To ask one before and after each event, by the node and the event, costs more than many an
event. One that says what it attends to in a life (`Attention`) is asked no more than that: of
plain messages, it takes the numbers beside them, and is asked about those that have
changed what it looks at. All other events it sees as every companion does.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from worldline.model.arguments import named
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.trace.journal.frames import Extensions


class Instead(enum.Enum):
    """The substitute for an event that is blocked or undone."""

    CONSUMED = "consumed"
    """A message is lost, an error is not heard of."""

    BROKEN = "broken"
    """A message is lost, and the connection with its sender breaks."""

    PUT_OFF = "put off"
    """A timer is set again, for a second or its delay if that is less; a call waits, and a
    datagram comes again after a second."""


class Effects(Protocol):
    """The effects of a handler, as long as none of them has left.

    Attributes
    ----------
    sends
        To whom, from which part, what, and whether the buffer took it.
    timers
        Those that were set, with their delays, or cancelled with None.
    written
        The names of the node's fields that it has changed, of a part its own; None
        if not looked at.
    """

    @property
    def sends(self) -> Sequence[tuple[NodeId, str, Any, bool]]: ...
    @property
    def timers(self) -> Sequence[tuple[PendingTimer, float | None]]: ...
    @property
    def written(self) -> Collection[str] | None: ...


Vet: TypeAlias = Callable[[NodeId, Any, Effects, Series], tuple[Event, Instead] | None]
"""Says what is to happen instead of a message that was handled, as `Companion.vet` does:
from whom, the message, what its handler has done, and the series in which it ran. The event,
which is undone then, with what happens instead; None to keep it."""


VetAgain: TypeAlias = Mapping[Collection[str], Callable[[Series], bool]]
"""By the fields that a message has written, what may be asked instead of a `Vet` if it has
set and cancelled no timer: in the series, whether it is kept. If not, the `Vet` has to be
asked."""


SendEntry: TypeAlias = tuple[Any, str, Any, bool]
"""A message that is sent: to whom, from which part, what, and whether the buffer took it."""


ToldPeers: TypeAlias = dict[
    int, tuple[Callable[[SendEntry], None], Callable[[], int | None]]
]
"""By index, nodes that need not be told again what stands beside messages: of each, what
takes those that are sent to it, and what returns the number that stands beside the next one;
None if nothing does."""


class Arrivals(Protocol):
    """Counts of what comes to a node."""

    received: int


@dataclass(slots=True)
class _NoArrivals:
    received: int = 0


NO_ARRIVALS: Arrivals = _NoArrivals()
"""The counts of a node to which nothing comes."""


class Attention:
    """The attention of a companion to the plain events of one life of a node.

    Attributes
    ----------
    is_gated
        Whether the next event is to be seen as a whole, by `gate`, `vet` and `seen`.
    is_due
        Whether `passed` is to be called though nothing has been written.
    now
        The time of the node when its present turn began.
    news
        The fields, by name, of whose changes `passed` is to be told; None for all.
    vet
        Is asked about events, where the companion vets any.
    again
        What may be asked instead, of messages.
    reads
        The fields, by name, about whose changes `vet` is to be asked; None for all.
    looks_at_timers
        Whether it is asked about an event that has set or cancelled a timer, too.
    quiet
        The index of the node of which messages with nothing beside them need no `came`; -1
        of nobody. How many they are is known from `arrivals`.
    sender, life, following
        Nor does the message of a node, in one of its lives, beside which stands the number
        `following`, which the runtime raises by one then; -1 if there is none.
    arrivals
        Says how many messages have come, the present one with them.
    told
        The nodes to which messages need no `beside`, as long as they are there.
    """

    __slots__ = (
        *("arrivals", "following", "is_due", "is_gated", "life", "looks_at_timers"),
        *("again", "news", "now", "quiet", "reads", "sender", "told", "vet"),
    )

    def __init__(self) -> None:
        self.is_gated, self.is_due, self.now = True, False, 0.0
        self.quiet = self.sender = self.following = -1
        self.life, self.arrivals = 0, NO_ARRIVALS
        self.told: ToldPeers = {}
        self.vet: Vet | None = None
        self.again: VetAgain = {}
        self.reads: frozenset[str] | None = None
        self.news: frozenset[str] | None = None
        self.looks_at_timers = True

    def begin(self, now: float) -> None:
        """Begin to take messages at a time."""
        self.now = now

    def came(self, peer: int, life: int, beside: Extensions | None) -> None:
        """Take note of a message that came from a node of an index; see `noticed`."""

    def beside(self, to: int, part: str, message: Any) -> Extensions | None:
        """Return the numbers beside a message to a node of an index; see `extensions`."""
        return None

    def passed(self) -> None:
        """Take note that events were handled whose effects have left; see `seen`."""
        self.is_due = False


class Beside(Protocol):
    """The node that a companion stands beside, as the companion sees it."""

    @property
    def me(self) -> NodeId:
        """The id of the node."""

    @property
    def incarnation(self) -> int:
        """The number of its life, from 1 on."""

    @property
    def lamport(self) -> int:
        """The Lamport time of its last event."""

    @property
    def node(self) -> Any:
        """The node object; to be read only."""

    @property
    def now(self) -> float:
        """Seconds by a clock that never goes back: its own, or that of the simulation."""

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        """The timers that are set, in order, each with its delay; to be read only."""

    @property
    def sequence(self) -> int:
        """How many numbers of its sequence it has used up."""

    @property
    def positions(self) -> Sequence[int]:
        """How many calls of each script of the declared workload it has made."""

    def waiting(self) -> Sequence[tuple[NodeId, str, Any]]:
        """Return the messages that came and wait for a guard: from whom, part, message."""

    def life_of(self, peer: NodeId) -> int | None:
        """Return the life of a peer with which a connection is open; None without one."""

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call `action` after some seconds, if this life lasts until then.

        Returns
        -------
        callable
            Calls it off; once it is done or called off, that changes nothing.
        """

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        """Make a call of the node, once what happens now is over, if this life lasts.

        It is an event as others are, with a gate; while its guard is false it waits.

        Returns
        -------
        callable
            Calls it off, and says whether it was to be made still.
        """

    def checkpoint(self) -> bytes:
        """Return the whole state of the node; where there is a journal, write it there.

        Before an event or between two of them; not in `vet`, where the state is that of an
        event that may not be.
        """

    def tell(self, peer: NodeId, companion: str, body: bytes) -> None:
        """Send a control frame to the companion of that name beside a peer.

        It may be lost, as a message may; on streams it goes over the connection, and is
        lost without one.
        """


class Companion:
    """The base of companions: it does nothing, and others override what they need.

    Attributes
    ----------
    name
        By which it is found by those of other nodes.
    vets
        Whether `vet` is to be asked, for which the state before each event is kept.
    """

    name = ""
    vets = False

    def fits(self, system: System) -> None:
        """Refuse a system whose nodes it cannot stand beside.

        Raises
        ------
        UsageError
            If it was made for another one.
        """

    def joined(self, beside: Beside) -> None:
        """Take note that a life of a node begins, before its start handler runs."""

    def attention(self, beside: Beside) -> Attention | None:
        """Return what it attends to in a life that has begun; None for each event.

        A host asks for it where no other companion looks at events.
        """
        return None

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        """Return what is to happen instead of an event; None to let it happen."""
        return None

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        """Return what is to happen instead of an event that happened; None to keep it."""
        return None

    def seen(self, beside: Beside, event: Event) -> None:
        """Take note of an event whose effects have left."""

    def note(self, beside: Beside) -> str:
        """Return, in a few words, why it refused an event just now; for traces."""
        return f"refused by {self.name}" if self.name else "refused"

    def extensions(
        self, beside: Beside, peer: NodeId, part: str, message: Any
    ) -> dict[int, int] | None:
        """Return the numbers to put beside a message that is sent; None for none.

        It is asked once for each message that the network takes, in order of sending,
        when its event is settled.
        """
        return None

    def noticed(
        self, beside: Beside, peer: NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        """Take note of the numbers beside a message, before it is handled.

        Parameters
        ----------
        life
            That of the peer in which it sent the message.
        """

    def heard(self, beside: Beside, peer: NodeId, body: bytes) -> None:
        """Take a control frame from the companion of this name beside a peer."""


def fitting(companions: Sequence[Companion], system: System) -> tuple[Companion, ...]:
    """Return companions, all of which can stand beside the nodes of a system.

    Raises
    ------
    UsageError
        If one was made for another system, or is none.
    """
    for one in companions:
        if not isinstance(one, Companion):
            raise UsageError(
                f"{named(one)} is no companion",
                remedy="give companions=[...] of classes that are a wl.Companion, or what "
                "wl.steered(...) made",
            )
        one.fits(system)
    return tuple(companions)


def overriding(companions: Sequence[Companion], name: str) -> list[Companion]:
    """Return the companions that have a method of their own: the others need no call."""
    of_all = getattr(Companion, name)
    return [
        one
        for one in companions
        if getattr(getattr(one, name), "__func__", None) is not of_all
    ]
