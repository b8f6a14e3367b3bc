"""Which properties look at messages under way, by their code.

What is under way to a node that is down for good matters to no node: whether it is lost
need not be an event. To a property it matters, as to one that asks only when nothing is
under way.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_NAMES = frozenset({"messages", "any_message"})


def read_messages(functions: Iterable[Callable[..., Any]]) -> bool:
    """Say whether one of these functions of a view may ask it for messages.

    By the names in their code, and in that of the functions that they name: one too
    many costs states, one too few an answer.
    """
    todo: list[Any] = list(functions)
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, functools.partial):
            todo += (one.func, *one.args, *one.keywords.values())
        elif isinstance(one, types.MethodType):
            todo += (one.__func__, one.__self__)
        elif isinstance(one, types.FunctionType):
            names = frozenset().union(*(code.co_names for code in _codes(one.__code__)))
            if names & _NAMES:
                return True
            todo += _named(one, names)
        elif callable(one) and not isinstance(one, type):
            call = type(one).__call__
            todo += [call] if isinstance(call, types.FunctionType) else []
    return False


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _named(function: types.FunctionType, names: frozenset[str]) -> Iterator[Any]:
    """Yield what a function can call: what it wraps, encloses and names."""
    yield from filter(callable, function.__defaults__ or ())
    yield getattr(function, "__wrapped__", None)
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not filled yet
            continue
    for name in names:
        value = function.__globals__.get(name)
        inside = vars(value).get if isinstance(value, types.ModuleType) else None
        yield from filter(_is_users, map(inside, names) if inside else (value,))


def _is_users(value: Any) -> bool:
    """Say whether this is a function that was not written to make Worldline."""
    package, *rest = str(getattr(value, "__module__", "")).split(".")
    is_ours = package == "worldline" and rest[:1] != ["zoo"]
    return callable(value) and not is_ours
