"""Checks of the functions that a user gives: they answer, and run to their end.

A forgotten ``return`` gives None, which Python takes for false, and a generator that
is never iterated does nothing: a system would pass for one without the bug.
"""

from __future__ import annotations

import dis
import functools
import inspect
import reprlib
import types
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from worldline.model.errors import ModelError

_GENERATOR, _COROUTINE, _STREAM = "a generator", "a coroutine", "an async generator"
_REMEDIES = {
    _GENERATOR: "take out the yield; to judge several things, return all(...)",
    _COROUTINE: "write def, not async def, and no await: what takes time is done with "
    "messages and timers",
    _STREAM: "write def, not async def, and neither await nor yield",
}
_SUSPENDED = {
    types.GeneratorType: _GENERATOR,
    types.CoroutineType: _COROUTINE,
    types.AsyncGeneratorType: _STREAM,
}


def yes_or_no(value: Any, function: Any, what: str) -> bool:
    """Return a predicate's answer.

    Parameters
    ----------
    value
        What `function` returned.
    what
        What the predicate is, for the message: ``the guard of Node.join``.

    Raises
    ------
    ModelError
        If it is no bool.
    """
    # By identity: 1 equals True, and comparing an array gives an array.
    if value is True or value is False:
        return value is True
    raise no_answer(value, function, what)


def verdict(value: Any, function: Any, what: str) -> bool:
    """Return the verdict of a predicate over states, which may consist of asserts.

    Raises
    ------
    ModelError
        If it is no bool, nor None from a function that asserts something.
    """
    if value is None and asserts(function):
        return True
    return yes_or_no(value, function, what)


def asserts(function: Any) -> bool:
    """Say whether an ``assert``, or ``raise AssertionError``, stands in a function."""
    return any(_asserts(code) for code in codes_of(function))


def codes_of(function: Any) -> Iterator[types.CodeType]:
    """Yield the code of a function, and that of what it wraps."""
    for layer in _layers(function):
        code = getattr(layer, "__code__", None)
        if isinstance(code, types.CodeType):
            yield code


OF_A_VIEW = (
    "a function of (view), such as lambda view: ...; text is for the command line alone"
)
"""How to write what ``--assume`` and its like take as an expression."""


def check_function(
    function: Any, what: str, *, arguments: int | None = None, like: str = ""
) -> None:
    """Check a function that Worldline is to call.

    Parameters
    ----------
    what
        What it is, for the message.
    arguments
        How many it gets; None if that depends.
    like
        How to write it, for the message.

    Raises
    ------
    ModelError
        If it cannot be called so, or would not run when it is.
    """
    if not callable(function):
        raise ModelError(
            f"{what} is {reprlib.repr(function)}, which is no function",
            remedy=f"write {like}" if like else "give a function",
        )
    kind = _suspending(function)
    if kind is not None:
        raise ModelError(
            f"{what} is {kind}{defined_at(function)}: to call it runs none of its body",
            remedy=_REMEDIES[kind],
        )
    if arguments is not None and not takes(function, arguments):
        raise ModelError(
            f"{what} has the parameters {inspect.signature(function)}{defined_at(function)}",
            remedy=f"write {like}",
        )


def check_ran(value: Any, what: str) -> None:
    """Check that a handler did not return something that has yet to run.

    Raises
    ------
    ModelError
        If it did, as by calling an ``async def``; `what` names the handler.
    """
    kind = _SUSPENDED.get(type(value))
    if kind is not None:
        raise ModelError(
            f"{what} returned {kind}, {value.__qualname__}, which nobody runs",
            remedy="call plain functions: a handler neither awaits nor yields",
        )


def _suspending(function: Any) -> str | None:
    for layer in (function, _call_of(function)):
        if inspect.iscoroutinefunction(layer):
            return _COROUTINE
        if inspect.isgeneratorfunction(layer):
            return _GENERATOR
        if inspect.isasyncgenfunction(layer):
            return _STREAM
    return None


def _call_of(function: Any) -> Any:
    """Return the method by which an object is called: its class's."""
    return inspect.getattr_static(type(function), "__call__", None)


def takes(function: Any, arguments: int) -> bool:
    """Say whether a function can be called with so many arguments, as far as it tells."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return True  # a builtin that does not say
    try:
        signature.bind(*[None] * arguments)
    except TypeError:
        return False
    return True


def no_answer(value: Any, function: Any, what: str) -> ModelError:
    """Return the error that a predicate's answer is no bool; see `yes_or_no`."""
    if value is None:
        remedy = (
            "return a bool in every case (a forgotten return gives None); only a "
            "predicate over states with an assert in it may return nothing"
        )
    elif type(value) in _SUSPENDED:
        remedy = "return a bool: put all(...) or any(...) around what is generated"
    elif callable(value):
        remedy = "return a bool: call it, with (...)"
    else:
        remedy = (
            "return a bool: compare it with something, or write bool(...) around it"
        )
    said = f"{what} returned {value_phrase(value)}{defined_at(function)}"
    return ModelError(said, remedy=remedy, located=True)


def value_phrase(value: Any) -> str:
    """Return a value as text, the same in every process."""
    kind = type(value).__name__
    try:
        has_address = " at 0x" in repr(value)
        text = reprlib.repr(value)
    except Exception:
        return f"an object of type {kind}"
    if value is None:
        return text
    return f"an object of type {kind}" if has_address else f"{text}, of type {kind}"


def defined_at(function: Any) -> str:
    """Return where a function is defined, to stand behind a sentence about it."""
    place = ""
    for layer in _layers(function):
        code = getattr(layer, "__code__", None)
        if isinstance(code, types.CodeType):
            place = f" ({PurePath(code.co_filename).name}:{code.co_firstlineno})"
    return place


def _layers(function: Any) -> Iterator[Any]:
    """Yield a function and what it wraps, the innermost last."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        yield function
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif isinstance(function, types.FunctionType):
            function = getattr(function, "__wrapped__", None)
        else:
            function = _call_of(function)


@functools.lru_cache(maxsize=1024)
def _asserts(code: types.CodeType) -> bool:
    if "AssertionError" in code.co_names:
        return True
    # The second is what Python 3.14 has in place of the first.
    if any(
        i.opname == "LOAD_ASSERTION_ERROR"
        or (i.opname == "LOAD_COMMON_CONSTANT" and i.argrepr == "AssertionError")
        for i in dis.get_instructions(code)
    ):
        return True
    return any(_asserts(c) for c in code.co_consts if isinstance(c, types.CodeType))
