"""Messages and calls held back until their guards hold, and a node's spectators."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol, final

from worldline.deploy.state import StateCopy
from worldline.model.data.identity import NodeId
from worldline.model.data.immutable import immutable
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError, UsageError, WorldlineError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.node import NodeType
from worldline.model.usercode.user_errors import spelt

SWEEP_S = 0.01
"""Seconds between two times that all calls are tried which wait, at least."""

SHARE = 25
"""So many times the time that it takes to try them lies between one time and the next."""


class NodeFailed(WorldlineError):
    """A handler of a deployed node failed, and the node has stopped."""


def stopped(node: NodeId, *, has_begun: bool = True) -> UsageError:
    """Return the error for who waits for a node that is no more, or not yet."""
    if not has_begun:
        return UsageError(f"{node} has not begun", remedy="await host.start() first")
    return UsageError(
        f"{node} has stopped", remedy="ask host.is_up(node), or start it again"
    )


async def within(answer: asyncio.Future[Any], timeout: float | None, what: str) -> Any:
    """Wait for something for so many seconds.

    Raises
    ------
    TimeoutError
        If it takes longer; it says what.
    """
    if timeout is None:
        return await answer
    try:
        return await asyncio.wait_for(answer, timeout)
    except TimeoutError:
        raise TimeoutError(f"{what} did not come about within {timeout:g} s") from None


def checked_call(
    kind: NodeType, handler: Callable[..., Any] | str, arguments: tuple[Any, ...]
) -> tuple[str, tuple[Any, ...]]:
    """Return the name and the arguments of a call that nodes of a class have.

    Raises
    ------
    UsageError
        If there is no such call, it does not take the arguments, or one can be changed.
    """
    name = handler if isinstance(handler, str) else handler.__name__
    known = kind.calls.get(name)
    if known is None:
        raise UsageError(
            f"{kind.cls.__name__} has no call {spelt(name)}",
            remedy=f"its calls are {', '.join(kind.calls) or 'none'}",
        )
    given: tuple[Any, ...] = thaw(freeze(arguments))
    if not known.accepts(given):
        raise UsageError(
            f"{kind.cls.__name__}.{name} does not take {spelt(arguments)}",
            remedy="give what its parameters are annotated with",
        )
    try:
        for argument in given:
            immutable(argument, f"what {kind.cls.__name__}.{name} is given", "it")
    except ModelError as error:
        raise UsageError(error.what, remedy=error.remedy) from None
    return name, given


class Keeper(Protocol):
    """The life at which something waits."""

    me: NodeId
    kind: NodeType
    node: Any
    is_up: bool

    def call(self, event: Event, answer: asyncio.Future[Any]) -> bool:
        """Take a call, if its guards are true; say whether they are."""

    def try_again(self, which: int, event: Event) -> bool:
        """Take a message that waited, by its place; say whether it was its time."""


_Call = tuple[Event, "asyncio.Future[Any]"]


@final
class KeptBack:
    """What waits at a node until something has happened there.

    After each event the oldest message that waits is tried, and the
    oldest call of each handler; all of them every hundredth of a second. What a companion
    has put off rests until its time has come.

    Attributes
    ----------
    is_idle
        Whether nothing waits, so that nobody has to look. Kept, though it follows from what
        waits, as it is asked after each event.
    """

    def __init__(self, life: Keeper) -> None:
        self._life = life
        self._messages: list[tuple[bytes, Event]] = []
        self._calls: dict[str, deque[_Call]] = {}
        self._watches: list[tuple[Callable[[Any], bool], asyncio.Future[None]]] = []
        self._resting: set[int] = set()
        self._put_off: set[asyncio.Future[Any]] = set()
        self._made: dict[asyncio.Future[Any], Callable[[], None]] = {}
        self._is_looking = False
        self.is_idle = True
        self._sweep: asyncio.TimerHandle | None = None

    def packets(self) -> Iterator[bytes]:
        """Yield the packets of the messages that wait, the oldest first."""
        for packet, _ in self._messages:
            yield packet

    def messages(self) -> list[tuple[NodeId, str, Any]]:
        """Return them: from whom, to which part, what."""
        envelopes = [event.envelope for _, event in self._messages]
        return [(e.src, e.part, e.message) for e in envelopes if e is not None]

    def keep(self, packet: bytes, event: Event) -> None:
        """Keep a message whose guard is false, or that rests."""
        self.is_idle = False
        self._messages.append((packet, event))

    def rest(self, seconds: float, event: Event) -> None:
        """Let a message that is kept, or will be, not come again for so long."""
        self._resting.add(id(event))
        asyncio.get_running_loop().call_later(seconds, self._wake, event)

    def call(
        self,
        name: str,
        arguments: tuple[Any, ...],
        made: Callable[[], None] | None = None,
    ) -> asyncio.Future[Any]:
        """Make a call, now or once its guards are true; return what will have its answer.

        Parameters
        ----------
        made
            Is called once its handler has returned, before anything else happens.
        """
        event = Event(Kind.CALL, self._life.me, name=name, payload=arguments)
        answer = asyncio.get_running_loop().create_future()
        if made is not None:
            self._made[answer] = made
            answer.add_done_callback(lambda done: self._made.pop(done, None))
        self.make(event, answer)
        return answer

    def was_made(self, answer: asyncio.Future[Any]) -> None:
        """Tell whoever wants to know it that a call has been made."""
        if self._made and (made := self._made.pop(answer, None)) is not None:
            made()

    def put_off(
        self, seconds: float, event: Event, answer: asyncio.Future[Any]
    ) -> None:
        """Make a call after so many seconds."""
        self._put_off.add(answer)
        asyncio.get_running_loop().call_later(seconds, self._make_now, event, answer)

    def make(self, event: Event, answer: asyncio.Future[Any]) -> None:
        """Make a call, now or once its guards are true."""
        if answer.done():
            return  # nobody waits any more
        if event.name in self._calls or not self._life.call(event, answer):
            self.is_idle = False
            self._calls.setdefault(event.name, deque()).append((event, answer))
            self._plan_sweep()

    def until(self, predicate: Callable[[Any], bool]) -> asyncio.Future[None]:
        """Return what is done once a predicate is true of the node's state."""
        done = asyncio.get_running_loop().create_future()
        self.is_idle = False
        self._watches.append((predicate, done))
        self._watch()
        return done

    def look(self) -> None:
        """Let happen what waited and can happen now."""
        if self._is_looking or self.is_idle:
            return  # what happens here looks again
        self._is_looking = True
        try:
            self._watch()
            if self._messages or self._calls:
                while self._life.is_up and (self._retry() or self._make_next()):
                    self._watch()
        finally:
            self._is_looking = False
            self.is_idle = not (self._messages or self._calls or self._watches)

    def give_up(self) -> None:
        """Tell who waits that the node is no more."""
        calls = [answer for waiting in self._calls.values() for _, answer in waiting]
        watches = (done for _, done in self._watches)
        for future in [*calls, *self._put_off, *watches]:
            if not future.done():
                future.set_exception(stopped(self._life.me))
                future.exception()  # perhaps nobody waits any more
        self._calls.clear()
        self._put_off.clear()
        self._watches.clear()
        if self._sweep is not None:
            self._sweep.cancel()

    # ------------------------------------------------------------------------ inside

    def _wake(self, event: Event) -> None:
        self._resting.discard(id(event))
        if self._life.is_up:
            self.look()

    def _make_now(self, event: Event, answer: asyncio.Future[Any]) -> None:
        self._put_off.discard(answer)
        self.make(event, answer)

    def _retry(self) -> bool:
        for which, (_, event) in enumerate(self._messages):
            if id(event) in self._resting:
                continue
            if self._life.try_again(which, event):
                del self._messages[which]
                return True
        return False

    def _make_next(self) -> bool:
        """Make the oldest call of a handler that can be made; say whether there was one."""
        for name, waiting in self._calls.items():
            event, answer = waiting[0]
            if answer.done() or self._life.call(event, answer):
                waiting.popleft()
                if not waiting:
                    del self._calls[name]
                return True
        return False

    def _plan_sweep(self, took: float = 0.0) -> None:
        if self._sweep is None and self._calls:
            after = max(SWEEP_S, SHARE * took)
            self._sweep = asyncio.get_running_loop().call_later(after, self._try_all)

    def _try_all(self) -> None:
        """Try all calls that wait: the guard of one may depend on what it is given."""
        self._sweep = None
        began = time.thread_time()
        self._is_looking = True  # or what happens here would make the same calls again
        try:
            for name in list(self._calls):
                self._try_each(name, self._calls[name])
                if not self._life.is_up:
                    return  # who waits has been told
        finally:
            self._is_looking = False
        self.look()
        self._plan_sweep(time.thread_time() - began)

    def _try_each(self, name: str, waiting: deque[_Call]) -> None:
        for _ in range(len(waiting)):
            event, answer = waiting[0]
            if answer.done():
                waiting.popleft()
            elif not self._life.call(event, answer):
                waiting.rotate(-1)
            elif self._life.is_up:
                waiting.popleft()
                self._watch()
            else:
                return
        if not waiting:
            del self._calls[name]

    def _watch(self) -> None:
        if not self._watches:
            return
        state = StateCopy(self._life.kind, self._life.node)
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
