"""Whether an argument is what a handler's annotation says: asked to find slips.

There is no false alarm: what an annotation means is looked up, not worked out, and
whatever is more than a class, a union of classes or a collection is taken to fit.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Union

from worldline.model.errors import ModelError

_COLLECTIONS = (tuple, list, set, frozenset, dict)
_WIDER = {float: (int,), complex: (int, float), bytes: (bytearray,)}
"""What a type checker accepts for a class beside its instances."""


def check_arguments(
    function: Callable[..., Any], arguments: tuple[Any, ...], what: str, remedy: str
) -> None:
    """Compare what a handler is given after ``self`` and ``ctx`` with its parameters.

    Raises
    ------
    ModelError
        If there are too many or too few, or one is evidently of another type.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind(None, None, *arguments)
    except TypeError as error:
        shown = ", ".join(map(repr, arguments))
        raise ModelError(
            f"{what} gives ({shown}) to {function.__qualname__}{signature}: {error}",
            remedy=remedy,
        ) from None
    for name, value in list(bound.arguments.items())[2:]:
        parameter = signature.parameters[name]
        if parameter.kind is not parameter.VAR_POSITIONAL:
            check_type(function, name, value, what, remedy)


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
    known = getattr(function, "__globals__", {})
    try:
        # The user's own code, as it would have been without the future import.
        return eval(text, known, {})  # noqa: S307
    except Exception:
        return Any


def _spell(annotation: Any) -> str:
    return getattr(annotation, "__name__", None) or str(annotation)
