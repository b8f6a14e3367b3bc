"""A life of a deployed node as the companions beside it see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.worlds.companions import Companion

if TYPE_CHECKING:
    from worldline.deploy.executing import NodeExecution
    from worldline.deploy.keeping import KeptBack
    from worldline.deploy.saving import Saving
    from worldline.deploy.wire import Wire


class Accompanied(Protocol):
    """The life beside which companions stand."""

    system: System
    me: NodeId
    incarnation: int
    node: Any
    execution: NodeExecution
    kept: KeptBack
    saving: Saving
    is_up: bool

    def end(self, why: BaseException) -> None:
        """End, since a companion has failed, or what it has asked of the user's."""


@final
class BesideLife:
    """What companions may know and do of a life; see `Beside`.

    Parameters
    ----------
    positions
        Says where the scripts of the node stand.
    """

    def __init__(
        self,
        life: Accompanied,
        wire: Wire,
        companions: Sequence[Companion],
        positions: Callable[[NodeId], Sequence[int]],
    ) -> None:
        self._life, self._wire, self._companions = life, wire, companions
        self._positions = positions
        self._ids, self._index = life.system.ids, life.system.index
        self._loop = asyncio.get_running_loop()
        self.me, self.incarnation, self.node = life.me, life.incarnation, life.node

    @property
    def lamport(self) -> int:
        """The Lamport time of its last event."""
        return self._life.execution.lamport

    @property
    def now(self) -> float:
        """Seconds by the clock of its loop."""
        return self._loop.time()

    @property
    def timers(self) -> Mapping[PendingTimer, float]:
        """The timers that are set, each with its delay."""
        pending = self._life.execution.door.pending
        return {timer: after for timer, (_, after) in pending.items()}

    @property
    def sequence(self) -> int:
        """How many numbers of its sequence it has used up."""
        return self._life.execution.door.counter

    @property
    def positions(self) -> Sequence[int]:
        """How many calls of each script it has made; none if nobody makes them."""
        return self._positions(self.me)

    def waiting(self) -> Sequence[tuple[NodeId, str, Any]]:
        """Return the messages that came and wait for a guard."""
        return self._life.kept.messages()

    def life_of(self, peer: NodeId) -> int | None:
        """Return the life of a peer with which a connection is open; None without one."""
        return self._wire.life_of(self._index[peer])

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Let something be done after so many seconds, if this life lasts until then."""
        handle = self._loop.call_later(seconds, self._do, action)
        return handle.cancel

    def call_soon(self, name: str, *arguments: Any) -> Callable[[], bool]:
        """Make a call of the node, once what happens now is over, if this life lasts."""
        answer = self._loop.create_future()
        event = Event(Kind.CALL, self.me, name=name, payload=arguments)
        self.later(0.0, partial(self._life.kept.make, event, answer))
        return answer.cancel

    def checkpoint(self) -> bytes:
        """Return the whole state; write it into the journal, if that costs little."""
        return self._life.saving.take()

    def tell(self, peer: NodeId, companion: str, body: bytes) -> None:
        """Send a control frame to the companion of that name beside a peer."""
        self._wire.control(self._index[peer], companion, body)

    # ------------------------------------------------------ what companions are told

    def begin(self) -> None:
        """Tell companions that the life begins."""
        for companion in self._companions:
            companion.joined(self)

    def heard(self, peer: int, name: str, body: bytes) -> None:
        """Hand a control frame to the companion that it is for."""
        for companion in self._companions:
            if companion.name == name:
                companion.heard(self, self._ids[peer], body)

    def _do(self, action: Callable[[], None]) -> None:
        if not self._life.is_up:
            return
        try:
            action()
        except BaseException as error:  # of a user's function that a companion asks
            self._life.end(error)
