"""What is kept back at a node: messages and calls that wait for guards, and who looks on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, final

from worldline.deploy.state import NodeState
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.execute import make_context, waits

if TYPE_CHECKING:
    from worldline.deploy.life import Life


def stopped(node: NodeId) -> UsageError:
    """Return the error for who waits for a node that is no more."""
    return UsageError(
        f"{node} has stopped", remedy="ask host.is_up(node), or start it again"
    )


@final
class KeptBack:
    """What waits at a node until something has happened there.

    False if nothing does.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._messages: list[tuple[bytes, Event]] = []
        self._calls: list[tuple[Event, asyncio.Future[Any]]] = []
        self._watches: list[tuple[Callable[[Any], bool], asyncio.Future[None]]] = []
        self._is_looking = False

    def __bool__(self) -> bool:
        return bool(self._messages or self._calls or self._watches)

    def packets(self) -> Iterator[bytes]:
        """Yield the packets of the messages that wait, the oldest first."""
        for packet, _ in self._messages:
            yield packet

    def keep(self, packet: bytes, event: Event) -> None:
        """Keep a message whose guard is false."""
        self._messages.append((packet, event))

    def call(self, name: str, arguments: tuple[Any, ...]) -> asyncio.Future[Any]:
        """Make a call, now or once its guards are true; return what will have its answer."""
        event = Event(Kind.CALL, self._life.me, name=name, payload=arguments)
        answer = asyncio.get_running_loop().create_future()
        if not self and not self._life.is_guarded(event):
            self._life.call(event, answer)
        else:
            self.make(event, answer)
        return answer

    def make(self, event: Event, answer: asyncio.Future[Any]) -> None:
        """Make a call once its guards are true."""
        self._calls.append((event, answer))
        self.look()

    def until(self, predicate: Callable[[Any], bool]) -> asyncio.Future[None]:
        """Return what is done once a predicate is true of the node's state."""
        done = asyncio.get_running_loop().create_future()
        self._watches.append((predicate, done))
        self._watch()
        return done

    def look(self) -> None:
        """Let happen what waited and can happen now."""
        if self._is_looking or not self:
            return  # what happens here looks again
        self._is_looking = True
        try:
            while self._life.is_up and (self._retry() or self._make_call()):
                pass
            self._watch()
        finally:
            self._is_looking = False

    def give_up(self) -> None:
        """Tell who waits that the node is no more."""
        waiting = [*(one for _, one in self._calls), *(one for _, one in self._watches)]
        for future in waiting:
            if not future.done():
                future.set_exception(stopped(self._life.me))
                future.exception()  # perhaps nobody waits any more
        self._calls.clear()
        self._watches.clear()

    # ------------------------------------------------------------------------ inside

    def _can(self, event: Event) -> bool:
        life = self._life
        context = make_context(life.system, life.index, life.door)
        context.bind(life.node)
        return not waits(life.system, life.index, life.node, context, event)

    def _retry(self) -> bool:
        for which, (_, event) in enumerate(self._messages):
            if self._can(event):
                del self._messages[which]
                self._life.try_again(which, event)
                return True
        return False

    def _make_call(self) -> bool:
        for number, (event, answer) in enumerate(self._calls):
            if answer.done():  # nobody waits any more
                del self._calls[number]
                return True
            if self._can(event):
                del self._calls[number]
                self._life.call(event, answer)
                return True
        return False

    def _watch(self) -> None:
        state = NodeState(self._life.kind, self._life.node)
        left = []
        for predicate, done in self._watches:
            if done.done():
                continue
            try:
                if predicate(state):
                    done.set_result(None)
                else:
                    left.append((predicate, done))
            except Exception as error:
                done.set_exception(error)
        self._watches = left
