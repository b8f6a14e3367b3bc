"""The calls between the services of a node, written down while a step happens.

Python itself tells of each call and return (`sys.setprofile`), and only while a step is
recorded: no service, context or world knows of it, so what is not recorded pays nothing.
Watched are the methods of the node classes of a system that has parts, and `Context.up`;
a call counts if it leads from one service of the node to another.
"""

from __future__ import annotations

import inspect
import opcode
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import CodeType, FrameType
from typing import Any, NamedTuple, final

from worldline.model.context import Context
from worldline.model.errors import ModelError
from worldline.model.events import Event
from worldline.model.fields import is_node
from worldline.model.node import NodeType
from worldline.model.semantics.outcome import Outcome
from worldline.model.system import System
from worldline.model.usercode.activity import activity
from worldline.trace.json_text import Json
from worldline.trace.json_values import encode_value
from worldline.trace.nested import CallRecord
from worldline.worlds.collecting import CollectingDoor
from worldline.worlds.world import World

MOST = 1_000
"""Calls that are written down of one step."""

_DEEPEST = 500
"""Calls of Python inside one another from which on none is written down."""

_FARTHEST = 850
"""Those from which on nobody looks any more.

Below `running.HEADROOM`: a recursion has to end where it ends unrecorded.
"""

_ROOM = 50
"""Calls that Python has to have left for somebody to look; calls from C count as well."""

_UP = Context.up.__code__
_RETURNS = frozenset({"RETURN_VALUE", "RETURN_CONST"})
_IN_PIECES = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""What is entered each time that it goes on: the service's, but no call of it."""

_NEVER_CALLS = frozenset(("__init__", "__repr__", "__setattr__", "__delattr__"))
"""What a node class is given, and Worldline calls itself."""


class NestedCalls(NamedTuple):
    """The calls of one step: those that are kept, and whether there were more."""

    calls: tuple[CallRecord, ...]
    more: bool


@final
@dataclass(slots=True)
class _Entered:
    """A watched call that is under way.

    Attributes
    ----------
    path
        The service that runs in it: its part, dotted.
    number
        Its place among those that are written down; None for one that is not.
    """

    frame: FrameType
    path: str
    number: int | None


@final
class CallWatch:
    """Writes down which service called which other, with what, and to what end.

    Parameters
    ----------
    world
        The world whose steps are recorded.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._methods = _methods_of(world.system)
        self._paths: dict[int, str] = {}
        self._stack: list[_Entered] = []
        self._calls: list[CallRecord] = []
        self._depth, self._more, self._ran = 0, False, False

    def step(
        self, event: Event, happen: Callable[[], Outcome]
    ) -> tuple[Outcome, NestedCalls | None]:
        """Let an event happen, and return what was called.

        Returns
        -------
        Outcome, NestedCalls or None
            None if its node has one service only, if no handler of it was seen to run, or
            one that does not return: it may call for ever, until somebody has had enough.
        """
        system, nodes = self._world.system, self._world.nodes
        index = -1 if event.node is None else system.index.get(event.node, -1)
        if index < 0 or not system.types[index].parts or not event.kind.runs_handler:
            return happen(), None
        self._paths = _paths_of(system.types[index], nodes[index])
        self._stack, self._calls = [], []
        self._depth, self._more, self._ran = 0, False, False
        before = sys.getprofile()
        sys.setprofile(self._notice)
        try:
            outcome = happen()
        finally:
            sys.setprofile(None)
            _give_back(before)
        failure = outcome.failure
        diverged = failure is not None and failure.kind == "divergence"
        if diverged or not self._ran:
            return outcome, None
        return outcome, self._taken(outcome)

    def _taken(self, outcome: Outcome) -> NestedCalls:
        # What a failed handler sent is void.
        done = len(outcome.sends), len(outcome.timers), len(outcome.log)
        self._break_off(done)
        return NestedCalls(tuple(_within(c, done) for c in self._calls), self._more)

    # ------------------------------------------------------------ what Python tells

    def _notice(self, frame: FrameType, what: str, argument: Any) -> None:
        if what == "call":
            self._depth += 1
            if frame.f_code in self._methods:
                self._enter(frame)
            if self._depth > _DEEPEST and not self._has_room():
                self._look_away()
        elif what == "return":
            self._depth -= 1
            if self._stack and self._stack[-1].frame is frame:
                self._leave(frame, argument)

    def _has_room(self) -> bool:
        """Say whether to look takes nothing from the calls that Python has left."""
        return self._depth <= _FARTHEST and _is_left(_ROOM)

    def _look_away(self) -> None:
        sys.setprofile(None)
        self._more = True
        if isinstance(activity.door, CollectingDoor):
            self._break_off(activity.door.done())

    def _break_off(self, done: tuple[int, int, int]) -> None:
        """Close the calls under way, of which nobody sees how they end."""
        while self._stack:
            entered = self._stack.pop()
            self._close(entered, done)
            if entered.number is not None:
                call = replace(self._calls[entered.number], unwatched=True)
                self._calls[entered.number] = call

    def _enter(self, frame: FrameType) -> None:
        door = activity.door
        if not isinstance(door, CollectingDoor) or activity.guarding or activity.guard:
            return  # no handler runs, or it is asked whether one may
        code, given = frame.f_code, frame.f_locals
        if code is _UP:
            self._go_up(frame, given, door)
            return
        path = self._paths.get(id(given[code.co_varnames[0]]))
        if path is None:
            return  # it is no service of the node, such as a copy
        self._ran = True
        caller = self._stack[-1] if self._stack else None
        if self._depth > _DEEPEST:
            self._more |= caller is None or caller.path != path
            return
        number = None
        if code.co_flags & _IN_PIECES:
            pass
        elif caller is not None and caller.path != path:
            method = self._methods[code]
            arguments = _arguments(code, given)
            number = self._note(door, caller.path, path, method, method, arguments)
        elif caller is not None and caller.frame.f_code is _UP:
            self._name_handler(caller, self._methods[code])
        self._stack.append(_Entered(frame, path, number))

    def _go_up(
        self, frame: FrameType, given: dict[str, Any], door: CollectingDoor
    ) -> None:
        path = self._stack[-1].path if self._stack else ""
        if self._depth > _DEEPEST:
            self._more = True
            return
        if not path:
            return  # a copy of the node runs; or nothing is above, which is an error
        above, name = path.rpartition(".")[0], str(given["name"])
        arguments = tuple(map(_spelt, given["arguments"]))
        number = self._note(door, path, above, name, "", arguments)
        self._stack.append(_Entered(frame, above, number))

    def _name_handler(self, caller: _Entered, method: str) -> None:
        """Note which method takes what is called up: the first that runs."""
        if caller.number is not None and not self._calls[caller.number].handler:
            call = self._calls[caller.number]
            self._calls[caller.number] = replace(call, handler=method)

    def _note(
        self,
        door: CollectingDoor,
        caller: str,
        callee: str,
        name: str,
        handler: str,
        arguments: tuple[Json, ...],
    ) -> int | None:
        if len(self._calls) >= MOST:
            self._more = True
            return None
        sends, timers, log = door.done()
        call = CallRecord(
            depth=1 + sum(entered.number is not None for entered in self._stack),
            caller=caller,
            callee=callee,
            name=name,
            handler=handler,
            arguments=arguments,
            returned=False,
            result=None,
            sends=(sends, sends),
            timers=(timers, timers),
            log=(log, log),
        )
        self._calls.append(call)
        return len(self._calls) - 1

    def _leave(self, frame: FrameType, result: Any) -> None:
        entered = self._stack.pop()
        door = activity.door
        if entered.number is None or not isinstance(door, CollectingDoor):
            return
        self._close(entered, door.done())
        if result is not None or _has_returned(frame):
            call = self._calls[entered.number]
            call = replace(call, returned=True, result=_spelt(result))
            self._calls[entered.number] = call

    def _close(self, entered: _Entered, done: tuple[int, int, int]) -> None:
        if entered.number is None:
            return
        call = self._calls[entered.number]
        sends, timers, log = (
            (first, max(first, end))
            for (first, _), end in zip(call.stretches, done, strict=True)
        )
        call = replace(call, sends=sends, timers=timers, log=log)
        self._calls[entered.number] = call


def watch_of(world: World) -> CallWatch | None:
    """Return what watches the calls in a world; None if no node of it has parts."""
    has_parts = any(kind.parts for kind in world.system.types)
    return CallWatch(world) if has_parts else None


def _methods_of(system: System) -> dict[CodeType, str]:
    """Return the methods that are watched, by their code."""
    methods: dict[CodeType, str] = {_UP: "up"}
    left = [kind for kind in dict.fromkeys(system.types) if kind.parts]
    while left:
        kind = left.pop()
        left += kind.parts.values()
        for name in set(dir(kind.cls)) - _NEVER_CALLS:
            function = inspect.getattr_static(kind.cls, name)
            if isinstance(function, property):
                function = function.fget
            if not inspect.isfunction(function):
                continue
            code = inspect.unwrap(function).__code__
            if code.co_argcount:
                methods[code] = name
    return methods


def _paths_of(kind: NodeType, node: Any, path: str = "") -> dict[int, str]:
    paths = {id(node): path}
    prefix = f"{path}." if path else ""
    for name, inner in kind.parts.items():
        paths |= _paths_of(inner, node.__dict__[name], prefix + name)
    return paths


def _arguments(code: CodeType, given: dict[str, Any]) -> tuple[Json, ...]:
    """Return what a method was given besides itself and its context."""
    named = code.co_argcount + code.co_kwonlyargcount
    values = [given[name] for name in code.co_varnames[1:named]]
    more = iter(code.co_varnames[named:])
    if code.co_flags & inspect.CO_VARARGS:
        values += given[next(more)]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        values += [{name: value} for name, value in given[next(more)].items()]
    return tuple(_spelt(value) for value in values if type(value) is not Context)


def _spelt(value: Any) -> Json:
    """Return a value as the file spells it; what it cannot spell, as text."""
    if not is_node(type(value)):
        stop = activity.stop
        try:
            return encode_value(value)
        except ModelError:
            activity.stop = stop  # it is no error of the handler that runs
    name = getattr(value, "__qualname__", None)  # of a function or class
    return f"<{name if isinstance(name, str) else type(value).__name__}>"


def _has_returned(frame: FrameType) -> bool:
    """Say whether a frame that ends with None has returned it, and did not raise."""
    return opcode.opname[frame.f_code.co_code[frame.f_lasti]] in _RETURNS


def _is_left(room: int) -> bool:
    """Say whether Python has room for so many calls, by its own count."""
    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(limit - room)
    except RecursionError:
        return False
    sys.setrecursionlimit(limit)
    return True


def _within(call: CallRecord, done: tuple[int, int, int]) -> CallRecord:
    """Return a call with no more than the step did, of which some may be void."""
    sends, timers, log = (
        (min(first, most), min(last, most))
        for (first, last), most in zip(call.stretches, done, strict=True)
    )
    return replace(call, sends=sends, timers=timers, log=log)


def _give_back(before: Any) -> None:
    """Let whoever profiled before go on: a function, or the profiler of `cProfile`."""
    if callable(before):
        sys.setprofile(before)
    elif before is not None:
        before.enable()
