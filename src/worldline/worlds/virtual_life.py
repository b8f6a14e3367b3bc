"""A life of a node in a run by the clock, as companions see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, final

from worldline.model.data.content import TUPLE, canonical_bytes
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import Hidden, PendingTimer
from worldline.worlds.agenda import Agenda
from worldline.worlds.clocked import ClockedWorld
from worldline.worlds.undoing import Before


@final
class LaterAction:
    """Something that a companion wants to be done later, in a life of a node.

    Attributes
    ----------
    action
        None once it was called off.
    """

    __slots__ = ("action", "life")

    def __init__(self, life: VirtualLife, action: Callable[[], None]) -> None:
        self.life = life
        self.action: Callable[[], None] | None = action

    def call_off(self) -> None:
        """Let it not be done."""
        self.action = None

    def do(self) -> None:
        """Do it, if its life lasts and nobody has called it off."""
        action, self.action = self.action, None
        if action is not None and self.life.is_up:
            action()


@final
class CallSoon:
    """A call that a companion wants a node to make, in a life of it.

    Attributes
    ----------
    is_over
        Whether it was made, or called off.
    """

    __slots__ = ("event", "is_over", "life")

    def __init__(self, life: VirtualLife, event: Event) -> None:
        self.life, self.event = life, event
        self.is_over = False

    @property
    def is_due(self) -> bool:
        """Whether it is to be made still."""
        return self.life.is_up and not self.is_over

    def call_off(self) -> bool:
        """Let it not be made; say whether it was to be made still."""
        was_due, self.is_over = self.is_due, True
        return was_due


class Among(Protocol):
    """What a life has to know of others."""

    def life_of(self, index: int, peer: int) -> int | None:
        """Return the life of a peer with which a connection is open."""

    def tell(self, life: VirtualLife, to: int, companion: str, body: bytes) -> None:
        """Send a control frame."""


@final
class VirtualLife:
    """A life of a node, from a start, reset or restart on.

    At the start of a life that follows a reset or a crash its node object has the fields
    of the one before still; the start handler finds them reset.

    Attributes
    ----------
    me, index, incarnation
        Which node, its index, and which of its lives.
    lamport
        The Lamport time of its last event. It goes on where that of the last life ended.
    is_up
        Whether it lasts.
    before
        What its fields were before the present event, where companions may undo that.
    """

    __slots__ = (
        "_agenda",
        "_among",
        "_world",
        "before",
        "incarnation",
        "index",
        "is_up",
        "lamport",
        "me",
    )

    def __init__(
        self,
        index: int,
        before: VirtualLife | None,
        world: ClockedWorld,
        agenda: Agenda,
        among: Among,
    ) -> None:
        self._world, self._agenda, self._among = world, agenda, among
        self.me, self.index = world.system.ids[index], index
        self.incarnation: int = 1 if before is None else before.incarnation + 1
        self.lamport: int = 0 if before is None else before.lamport
        self.is_up = True
        self.before: Before | None = None

    @property
    def node(self) -> Any:
        """The node object."""
        return self._world.nodes[self.index]

    @property
    def now(self) -> float:
        """Seconds since the run began."""
        return self._agenda.now

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        """The timers that are set, in order, each with its delay."""
        return {timer: float(after) for timer, after in self._hidden.timers.items()}

    @property
    def sequence(self) -> int:
        """How many numbers of its sequence it has used up."""
        return self._hidden.counter

    @property
    def positions(self) -> Sequence[int]:
        """How many calls of each script it has made."""
        return self._hidden.positions

    @property
    def _hidden(self) -> Hidden:
        return self._world.hidden[self.index]

    def waiting(self) -> Sequence[tuple[NodeId, str, Any]]:
        """Return nothing: what waits for a guard is under way still."""
        return ()

    def life_of(self, peer: NodeId) -> int | None:
        """Return the life of a peer with which a connection is open; None without one."""
        return self._among.life_of(self.index, self._world.system.index[peer])

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Let something be done after so many seconds, if this life lasts until then."""
        if not 0 <= seconds < math.inf:
            raise ModelError(
                f"a companion at {self.me} wants something to be done in {seconds} s",
                remedy="give a number of seconds from 0 on",
            )
        planned = LaterAction(self, action)
        self._agenda.note(self._agenda.now + seconds, self.index, planned)
        return planned.call_off

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        """Make a call of the node, once what happens now is over, if this life lasts."""
        event = Event(Kind.CALL, self.me, name=name, payload=arguments)
        planned = CallSoon(self, event)
        self._agenda.note(self._agenda.now, self.index, planned)
        return planned.call_off

    def checkpoint(self) -> bytes:
        """Return the state of the node and its hidden state, in canonical form."""
        kind = self._world.system.types[self.index]
        return canonical_bytes((TUPLE, kind.freeze(self.node), self._hidden.freeze()))

    def tell(self, peer: NodeId, companion: str, body: bytes) -> None:
        """Send a control frame to the companion of that name beside a peer."""
        if self.is_up:
            self._among.tell(self, self._world.system.index[peer], companion, body)
