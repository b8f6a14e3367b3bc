"""The workload of a deployed system: its calls, made at a rate as a simulation makes them.

Scripts are gone through in order, each call at a random time after the one before it has
returned. What can be made whenever its guard is true is tried at random times.
"""

from __future__ import annotations

import asyncio
import functools
import math
from array import array
from collections.abc import (
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Protocol, TypeAlias, final

from worldline.model.calls import Guard
from worldline.model.data.identity import NodeId
from worldline.model.drawn import alternatives, is_drawn, taken
from worldline.model.system import System
from worldline.model.workload import Invocation, Script
from worldline.worlds.chance import Chance

_LIVES = 2**40
"""Draws that are set aside for each life of a node, so that no two draw the same."""

_LOOK_S = 0.05
"""Seconds between two looks at which nodes are up."""

_LATE_S = 1.0
"""Calls that are later than this are not caught up with."""

_AT_ONCE = 256
"""Calls of one sort that wait for their answers at one node, at most."""

_PATIENCE_S = 1.0
"""For how long a call whose guard has become false meanwhile is kept."""

ScriptKey: TypeAlias = tuple[NodeId, int]
"""A script, by its node and its number there."""


class Driven(Protocol):
    """The nodes whose calls are made."""

    def is_up(self, node: NodeId) -> bool: ...

    def incarnation(self, node: NodeId) -> int:
        """Return which life of a node this is, or was the last."""

    def state(self, node: NodeId) -> Any: ...

    async def call(
        self,
        node: NodeId,
        name: str,
        *arguments: Any,
        timeout: float | None = None,
        made: Callable[[], None] | None = None,
    ) -> Any:
        """Make a call; let it be known in the moment in which it has been made."""

    async def until(self, node: NodeId, predicate: Callable[[Any], bool]) -> None: ...


@final
class Driver:
    """What makes the calls of the workload at some nodes.

    Parameters
    ----------
    nodes
        Those that are driven.
    rate
        Calls a second, on average: of each script, and of each call that can be made at
        any time, at each node.
    seed
        Draws times and arguments.
    positions
        At which call scripts stand that go on where they were.
    moved
        Is told when one of these goes on.
    """

    def __init__(
        self,
        system: System,
        nodes: Iterable[NodeId],
        driven: Driven,
        *,
        rate: float,
        seed: int,
        positions: Mapping[ScriptKey, int] | None = None,
        moved: Callable[[ScriptKey, int], None] = lambda script, position: None,
    ) -> None:
        self._system, self._driven, self._rate = system, driven, rate
        self._nodes, self._moved = tuple(nodes), moved
        self._chance = Chance(seed, system.ids)
        self._counts = array("Q", bytes(8 * len(system.ids)))
        self._positions = dict(positions or {})
        self._present = dict(self._positions)
        self._lives: dict[NodeId, int | None] = dict.fromkeys(self._nodes)
        self._tasks: dict[NodeId, list[asyncio.Task[None]]] = {}

    async def run(self) -> None:
        """Make calls, until this is cancelled."""
        try:
            while True:
                for node in self._nodes:
                    self._look(node)
                await asyncio.sleep(_LOOK_S)
        finally:
            for node in self._nodes:
                self._leave(node)

    def positions(self, node: NodeId) -> Sequence[int]:
        """Return how many calls of each script of a node have been made, by now.

        That may be one more than is settled: a call counts as soon as its handler has
        returned.
        """
        index = self._system.index[node]
        is_driven = self._driven.incarnation(node) == self._lives[node]
        stands = self._present if is_driven else self._positions
        return tuple(
            stands.get((node, number), 0)
            if is_driven or script.on_reset == "continue"
            else 0
            for number, script in enumerate(self._system.scripts[index])
        )

    # ------------------------------------------------------------------------ inside

    def _look(self, node: NodeId) -> None:
        """Begin to drive a life of a node that has begun; leave one that has ended."""
        driven = self._driven
        life = driven.incarnation(node) if driven.is_up(node) else None
        if life == self._lives[node]:
            for task in self._tasks.get(node, ()):
                if task.done() and not task.cancelled():
                    task.result()  # raises what is wrong with us
            return
        self._leave(node)
        self._lives[node] = life
        if life is not None:
            index = self._system.index[node]
            self._counts[index] = max(self._counts[index], _LIVES * life)
            self._tasks[node] = [*map(asyncio.ensure_future, self._work(index))]

    def _leave(self, node: NodeId) -> None:
        for task in self._tasks.pop(node, ()):
            task.cancel()

    def _work(self, index: int) -> Iterator[Coroutine[Any, Any, None]]:
        system = self._system
        for number, script in enumerate(system.scripts[index]):
            yield self._go_through(index, number, script)
        for call, when in system.whenevers[index]:
            yield self._repeat(index, call, when)

    async def _go_through(self, index: int, number: int, script: Script) -> None:
        node = self._system.ids[index]
        key, goes_on = (node, number), script.on_reset == "continue"
        position = self._positions.get(key, 0) if goes_on else 0
        present = self._present
        present[key] = position
        while position < len(script.calls):
            made = functools.partial(present.__setitem__, key, position + 1)
            await asyncio.sleep(self._pause(index))
            await self._make(index, script.calls[position], made)
            if not self._is_here(node):
                return
            position += 1
            present[key] = position
            if goes_on:
                self._positions[key] = position
                self._moved(key, position)

    async def _make(
        self, index: int, call: Invocation, made: Callable[[], None]
    ) -> None:
        """Make a call of a script once it can be, or wait for what it waits for."""
        node = self._system.ids[index]
        if call.until is not None:
            await self._wait(node, call.until)
            return
        arguments = call.arguments
        if is_drawn(arguments):
            may = self._guard(index, call, None)
            options = [*alternatives(arguments)]
            await self._wait(
                node, lambda state: any(may(state, each) for each in options)
            )
            arguments = self._draw(index, arguments)
            if not self._is_here(node) or not may(self._driven.state(node), arguments):
                return  # another one was drawn: it does nothing
        await self._call(node, call.name, arguments, None, made)

    async def _repeat(self, index: int, call: Invocation, when: Guard) -> None:
        """Make a call at random times, whenever it can be."""
        node, may = self._system.ids[index], self._guard(index, call, when)
        loop = asyncio.get_running_loop()
        waiting: set[asyncio.Task[None]] = set()
        at = loop.time()
        try:
            while True:
                at = max(at + self._pause(index), loop.time() - _LATE_S)
                await asyncio.sleep(max(0.0, at - loop.time()))
                if len(waiting) >= _AT_ONCE:
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                arguments = self._draw(index, call.arguments)
                if not self._is_here(node):
                    return
                if may(self._driven.state(node), arguments):
                    made = self._call(node, call.name, arguments, _PATIENCE_S)
                    task = asyncio.ensure_future(made)
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
        finally:
            for task in waiting:
                task.cancel()

    async def _call(
        self,
        node: NodeId,
        name: str,
        arguments: Any,
        timeout: float | None,
        made: Callable[[], None] | None = None,
    ) -> None:
        try:
            await self._driven.call(node, name, *arguments, timeout=timeout, made=made)
        except Exception:
            # The node has stopped, or its handler failed: the host says so.
            return

    async def _wait(self, node: NodeId, predicate: Callable[[Any], bool]) -> None:
        try:
            await self._driven.until(node, predicate)
        except Exception:
            return

    def _guard(
        self, index: int, call: Invocation, when: Guard
    ) -> Callable[[Any, tuple[Any, ...]], bool]:
        """Return what says whether a call can be made with some arguments."""
        own = self._system.types[index].calls[call.name].mark.when
        guards = [guard for guard in (own, when) if guard is not None]

        def may(state: Any, arguments: tuple[Any, ...]) -> bool:
            try:
                return all(guard(state, *arguments) for guard in guards)
            except Exception:
                return True  # running the handler says how it fails

        return may

    def _draw(self, index: int, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        if not is_drawn(arguments):
            return arguments
        counts = [len(getattr(each, "options", (each,))) for each in arguments]
        picks = [
            self._chance.choose(index, count, None) for count in counts if count > 1
        ]
        return taken(arguments, picks)

    def _pause(self, index: int) -> float:
        """Return the seconds until the next call of one sort."""
        count = self._counts[index]
        self._counts[index] = count + 1
        drawn = self._chance.at(Chance.CALL, index, count)
        return -math.log1p(-drawn) / self._rate

    def _is_here(self, node: NodeId) -> bool:
        """Say whether the life that is driven goes on."""
        driven = self._driven
        return driven.is_up(node) and driven.incarnation(node) == self._lives[node]
