"""The marks that decorators leave on handlers: what wakes them, and under which guard.

Whether a method can be a handler of its kind is checked when it is marked.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from worldline.model.errors import ModelError
from worldline.model.usercode.user_functions import check_function, takes

GuardFunction = Callable[..., bool]

MARK = "__worldline_handler__"


class HandlerKind(enum.Enum):
    """The kind of a handler: what wakes it, and the signature it must have."""

    START = "(self, ctx)"
    ON = "(self, ctx, src, msg)"
    TIMER = "(self, ctx) or (self, ctx, payload)"
    CALL = "(self, ctx, ...)"
    ON_PREDICTION = "(self, ctx, prediction)"
    TRANSPORT_ERROR = "(self, ctx, peer)"
    UPCALL = "(self, ctx, ...) "


_ARITY = {
    HandlerKind.START: (2, 2),
    HandlerKind.ON: (4, 4),
    HandlerKind.TIMER: (2, 3),
    HandlerKind.CALL: (2, None),
    HandlerKind.ON_PREDICTION: (3, 3),
    HandlerKind.TRANSPORT_ERROR: (3, 3),
    HandlerKind.UPCALL: (2, None),
}


@dataclass(frozen=True, slots=True)
class HandlerMark:
    """The mark that a decorator leaves on a method."""

    kind: HandlerKind
    message: type | None
    when: GuardFunction | None
    takes_payload: bool


def mark_of(function: Any) -> HandlerMark | None:
    """Return the mark on a function or bound method, or None."""
    left: HandlerMark | None = getattr(function, MARK, None)
    return left


def mark(
    function: Any,
    kind: HandlerKind,
    *,
    message: type | None = None,
    when: GuardFunction | None = None,
) -> Any:
    """Mark a method as a handler of a kind, and return it.

    Raises
    ------
    ModelError
        If it cannot be one.
    """
    name = getattr(function, "__qualname__", f"the {kind.name.lower()} handler")
    if isinstance(function, staticmethod | classmethod):
        raise ModelError(
            f"the {kind.name.lower()} handler {name} is a {type(function).__name__}",
            remedy=f"take that away: a handler is a method, {kind.value.strip()}",
        )
    check_function(function, name, like=f"def handler{kind.value.strip()}")
    count = _count_parameters(function)
    low, high = _ARITY[kind]
    if count is not None and (count < low or (high is not None and count > high)):
        raise ModelError(
            f"{function.__qualname__}{inspect.signature(function)} "
            f"cannot be a @wl.{kind.name.lower()} handler",
            remedy=f"write def {function.__name__}{kind.value.strip()}",
        )
    if when is not None:
        _check_guard(when, f"the guard of {name}", function, kind, count)
    before = getattr(function, "__dict__", {}).get(MARK)
    if before is not None:
        raise ModelError(
            f"{name} is two handlers: @wl.{before.kind.name.lower()} and "
            f"@wl.{kind.name.lower()}",
            remedy="write a method for each, which both call a third",
        )
    made = HandlerMark(kind, message, when, takes_payload=count == 3)
    setattr(function, MARK, made)
    return function


def _check_guard(
    when: Any, what: str, handler: Any, kind: HandlerKind, count: int | None
) -> None:
    """Check a guard: it gets what its handler gets, but for the context."""
    if kind is HandlerKind.ON:
        check_function(when, what, arguments=3, like="lambda self, src, msg: ...")
    elif kind is HandlerKind.TIMER and count == 3:
        check_function(when, what, arguments=2, like="lambda self, payload: ...")
    elif kind is HandlerKind.TIMER:
        check_function(when, what, arguments=1, like="lambda self: ...")
    elif kind is HandlerKind.ON_PREDICTION:
        check_function(when, what, arguments=2, like="lambda self, prediction: ...")
    elif count is None:
        check_function(when, what, like="lambda self, ...: ...")
    else:
        given = list(inspect.signature(handler).parameters.values())[2:count]
        names = ", ".join(["self", *(parameter.name for parameter in given)])
        # Arguments with defaults may be left out, by a guard as well.
        needed = sum(p.default is p.empty for p in given)
        fits = any(takes(when, 1 + n) for n in range(needed, len(given) + 1))
        arguments = None if fits else 1 + len(given)
        check_function(when, what, arguments=arguments, like=f"lambda {names}: ...")


def _count_parameters(function: Any) -> int | None:
    """Count positional parameters; None where the handler takes any number."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    )
