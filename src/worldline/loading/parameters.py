"""Parameters of a system function, given as text and typed by its annotations.

`bind` turns ``{"size": "3"}`` into the keyword arguments of
``def system(size: int = 5)``; `describe` says which parameters there are. Knows
nothing of where the function came from; see `loader`.
"""

from __future__ import annotations

import enum
import inspect
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union

from worldline.model.errors import UsageError
from worldline.model.usercode.user_errors import shorten

_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,4000}")
"""As anybody writes an int: no underscores, no digits of other scripts, no essay."""
_COLLECTIONS: dict[Any, Callable[[Any], Any]] = {
    tuple: tuple,
    list: list,
    set: set,
    frozenset: frozenset,
}
_KEYWORD = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def bind(function: Callable[..., Any], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the keyword arguments that `given` means to `function`.

    Parameters
    ----------
    function
        Its annotations give the types: int, float, bool, str, an enum, `Literal`,
        homogeneous collections of those (elements are separated by commas), and
        unions with None.
    given
        Parameters as text, by name.

    Raises
    ------
    UsageError
        If a parameter is unknown, missing or not of its type; the message lists
        what there is.
    """
    keywords = _keywords(function)
    hints = _hints(function, keywords)
    for name in given:
        if name not in keywords:
            unknown = UsageError(
                f"unknown parameter {shorten(repr(name))}",
                remedy=_listing(keywords, hints),
            )
            unknown.parameter = name
            raise unknown
    for name, parameter in keywords.items():
        if parameter.default is parameter.empty and name not in given:
            raise UsageError(
                f"parameter {name!r} is missing",
                remedy=f"give it with -p {name}={_spell(hints[name])}",
            )
    return {name: _read(name, text, hints[name]) for name, text in given.items()}


def describe(function: Callable[..., Any]) -> list[str]:
    """Return ``name: type = default`` for every parameter, in order of declaration."""
    keywords = _keywords(function)
    hints = _hints(function, keywords)
    return [_describe(keywords[name], hints[name]) for name in keywords]


def _keywords(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p for p in parameters if p.kind in _KEYWORD}


def _hints(
    function: Callable[..., Any], keywords: Mapping[str, inspect.Parameter]
) -> dict[str, Any]:
    """Return the type of each parameter; one without annotation has its default's."""
    try:
        declared = typing.get_type_hints(function)
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        raise UsageError(
            f"the annotations of {name} cannot be evaluated "
            f"({type(error).__name__}: {error})",
            remedy="import the names they use outside of `if TYPE_CHECKING:`",
        ) from error
    return {name: declared.get(name, _implied(p)) for name, p in keywords.items()}


def _implied(parameter: inspect.Parameter) -> Any:
    kind = type(parameter.default)
    return kind if kind in (bool, int, float) else str


def _listing(
    keywords: Mapping[str, inspect.Parameter], hints: Mapping[str, Any]
) -> str:
    if not keywords:
        return "this system takes no parameters"
    return "known are " + "; ".join(_describe(p, hints[n]) for n, p in keywords.items())


def _describe(parameter: inspect.Parameter, hint: Any) -> str:
    text = f"{parameter.name}: {_spell(hint)}"
    if parameter.default is parameter.empty:
        return text
    default = parameter.default
    shown = default.name if isinstance(default, enum.Enum) else repr(default)
    return f"{text} = {shown}"


def _spell(hint: Any) -> str:
    """Write a type as a user would."""
    if hint is type(None):
        return "none"
    if isinstance(hint, enum.EnumMeta):
        return "|".join(hint.__members__)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return "|".join(map(str, inner))
    if origin in (Union, types.UnionType):
        return "|".join(map(_spell, inner))
    if origin in _COLLECTIONS:
        return f"{_spell(inner[0])},..."
    return str(getattr(hint, "__name__", hint))


def _read(name: str, text: str, hint: Any) -> Any:
    try:
        return _parse(text, hint)
    except ValueError:
        raise UsageError(
            f"parameter {name}={shorten(repr(text))} is wrong",
            remedy=f"expected {_expected(hint)}",
        ) from None
    except TypeError:
        raise UsageError(
            f"parameter {name!r} has the type {_spell(hint)}, "
            "which cannot be written as text",
            remedy=(
                "annotate it with int, float, bool, str, an enum, Literal, "
                "or tuple[...] or None of those"
            ),
        ) from None


def _expected(hint: Any) -> str:
    names = {
        int: "an int",
        float: "a finite number",
        bool: "true or false",
        str: "text",
        type(None): "none",
    }
    if hint in names:
        return names[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_expected, inner))
    if origin in _COLLECTIONS:
        return f"{_spell(inner[0])} values separated by commas"
    return f"one of {_spell(hint)}"


def _parse(text: str, hint: Any) -> Any:
    """Return the value of type `hint` that `text` writes.

    Raises
    ------
    ValueError
        If it writes none.
    TypeError
        If values of this type cannot be written.
    """
    if isinstance(hint, enum.EnumMeta):
        return _parse_member(text, hint)
    if isinstance(hint, type) and typing.get_origin(hint) is None:
        return _parse_scalar(text, hint)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return _parse_option(text, {str(option): option for option in inner})
    if origin in (Union, types.UnionType):
        return _parse_union(text, inner)
    make = _COLLECTIONS.get(origin)
    uniform = len(inner) == 1 or (origin is tuple and inner[1:] == (...,))
    if make is None or not uniform:
        raise TypeError(hint)
    items = [item.strip() for item in text.split(",")] if text.strip() else []
    return make(_parse(item, inner[0]) for item in items)


def _parse_scalar(text: str, kind: type) -> Any:
    word = text.strip().lower()
    if kind is str:
        return text
    if kind is bool:
        if word in _YES | _NO:
            return word in _YES
        raise ValueError(text)
    if kind is type(None):
        if word == "none":
            return None
        raise ValueError(text)
    if kind is int:
        if _WHOLE.fullmatch(text.strip()) is None:
            raise ValueError(text)
        return int(text)
    if kind is float:
        value = float(text)
        if math.isfinite(value):
            return value
        raise ValueError(text)
    raise TypeError(kind)


def _parse_member(text: str, kind: enum.EnumMeta) -> Any:
    by_value = {str(member.value): member for member in kind}  # type: ignore[var-annotated]
    return _parse_option(text, by_value | dict(kind.__members__))


def _parse_option(text: str, options: Mapping[str, Any]) -> Any:
    if text not in options:
        raise ValueError(text)
    return options[text]


def _parse_union(text: str, members: tuple[Any, ...]) -> Any:
    """Try the members, None first: ``none`` is a valid str too."""
    for member in sorted(members, key=lambda hint: hint is not type(None)):
        try:
            return _parse(text, member)
        except ValueError:
            continue
    raise ValueError(text)
