"""A check of arguments against a handler's annotations, to find slips.

There is no false alarm: what an annotation means is looked up, not worked out, and
whatever is more than a class, a union of classes or a collection is taken to fit.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union
from weakref import WeakKeyDictionary

from worldline.model.drawn import OneOf
from worldline.model.errors import ModelError

_COLLECTIONS = (tuple, list, set, frozenset, dict)
_WIDER = {float: (int,), complex: (int, float), bytes: (bytearray,)}
"""What a type checker accepts for a class beside its instances."""


def bound_arguments(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: Mapping[str, Any],
    what: str,
    remedy: str,
) -> tuple[Any, ...]:
    """Return what a handler is given after ``self`` and ``ctx``, in its own order.

    Parameters
    ----------
    named
        Arguments by the names of parameters. Defaults fill what is left out before
        them.

    Raises
    ------
    ModelError
        If there are too many or too few, or one is evidently of another type.
    """
    signature = inspect.signature(function)
    try:
        _check_names(signature, named)
        bound = signature.bind(None, None, *arguments, **named)
    except TypeError as error:
        given = [*map(repr, arguments), *[f"{k}={v!r}" for k, v in named.items()]]
        raise ModelError(
            f"{what} gives ({', '.join(given)}) to "
            f"{function.__qualname__}{signature}: {error}",
            remedy=remedy,
        ) from None
    for name, value in list(bound.arguments.items())[2:]:
        parameter = signature.parameters[name]
        if parameter.kind is not parameter.VAR_POSITIONAL:
            for option in _kinds_of(value):
                check_type(function, name, option, what, remedy)
    last = max(map(list(signature.parameters).index, named), default=0)
    bound.apply_defaults()
    return tuple(bound.args[2 : max(last + 1, 2 + len(arguments))])


def _check_names(signature: inspect.Signature, names: Iterable[str]) -> None:
    """Refuse what could not be given by position, as a call gives it."""
    for name in names:
        parameter = signature.parameters.get(name)
        if parameter is None or parameter.kind is not parameter.POSITIONAL_OR_KEYWORD:
            raise TypeError(f"{name!r} is no parameter that can be given by position")


def _kinds_of(value: Any) -> Iterable[Any]:
    """Return one option of each class for what is drawn; only classes are compared."""
    if type(value) is not OneOf:
        return (value,)
    first: dict[type, Any] = {}
    for option in value.options:
        first.setdefault(type(option), option)
    return first.values()


def check_type(
    function: Callable[..., Any], name: str, value: Any, what: str, remedy: str
) -> None:
    """Compare one argument with the annotation of its parameter.

    Raises
    ------
    ModelError
        If it is evidently of another type.
    """
    annotation = getattr(function, "__annotations__", {}).get(name)
    if annotation is None or _fits(annotation, value, function):
        return
    shown = annotation if isinstance(annotation, str) else _spell(annotation)
    raise ModelError(
        f"{what} gives {value!r} to {function.__qualname__}, whose {name} is {shown}",
        remedy=remedy,
    )


def _fits(annotation: Any, value: Any, function: Any) -> bool:
    if isinstance(annotation, str):
        annotation = _looked_up(annotation, function)
    if annotation is None:
        return value is None
    origin = typing.get_origin(annotation)
    if origin is Union or origin is types.UnionType:
        return any(_fits(one, value, function) for one in typing.get_args(annotation))
    kind = annotation if origin is None else origin
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    if origin is not None and origin not in _COLLECTIONS:
        return True
    try:
        return isinstance(value, (kind, *_WIDER.get(kind, ()))) or _namesake(
            kind, value
        )
    except TypeError:
        return True  # a class that cannot be asked, as Any is in Python 3.11


def _namesake(kind: type, value: Any) -> bool:
    """Say whether a value is of a class of that name: that may be the one meant.

    A text is looked up in a module, and may mean a class inside a function.
    """
    return any(cls.__name__ == kind.__name__ for cls in type(value).__mro__)


def _looked_up(text: str, function: Any) -> Any:
    """Return what a text says that is written without ``Any`` and the like."""
    known = _meanings.get(function)
    if known is None:
        known = _meanings[function] = {}
    if text not in known:
        names = getattr(function, "__globals__", {})
        try:
            # The user's own code, as it would have been without the future import.
            known[text] = eval(text, names, {})  # noqa: S307
        except Exception:
            return Any
    return known[text]


_meanings: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""What the annotations of functions say, as handlers are asked for it in each event."""


def _spell(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)
