"""Checked reading of records from JSON: every key, every type, every range.

A *check* takes a parsed value, and returns what it stands for or raises `Malformed`. The checks of a record's fields are those that its dataclass declares
with `checked`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection
from typing import Any, TypeAlias, TypeVar, cast

from worldline.trace.json_checks import Malformed, check
from worldline.trace.json_text import Json, shorten

FieldCheck: TypeAlias = Callable[[Json], Any]

T = TypeVar("T")

_LARGEST = 2**53
_CHECK, _KEY, _LATER = "check", "key", "later"


def checked(by: FieldCheck, *, key: str | None = None, later: bool = False) -> Any:
    """Declare a dataclass field with its check.

    Parameters
    ----------
    key
        Its key, if that is not its name.
    later
        Whether it came later than others: it is None where the key is missing, and
        the key is left out where it is None, so that older records stay as they are.
    """
    metadata = {_CHECK: by, _KEY: key, _LATER: later}
    if later:
        return dataclasses.field(default=None, metadata=metadata)
    return dataclasses.field(metadata=metadata)


def load(cls: type[T], value: Json) -> T:
    """Return the record that `value` spells.

    Raises
    ------
    Malformed
        If a key is missing or unknown, or a value is not what its check expects.
    """
    if not isinstance(value, dict):
        raise _unexpected("an object", value)
    checks = _checks(cast(Any, cls))
    for key in value:
        if key not in checks:
            raise Malformed("", f"unknown key {shorten(repr(key), 40)}")
    fields = {}
    for key, (name, by) in checks.items():
        if key not in value:
            if key in _later(cast(Any, cls)):
                continue
            raise Malformed("", f"the key {key!r} is missing")
        fields[name] = _at(key, by, value[key])
    return cls(**fields)


@functools.cache
def _checks(cls: Any) -> dict[str, tuple[str, FieldCheck]]:
    return {
        _key(field): (field.name, field.metadata[_CHECK])
        for field in dataclasses.fields(cls)
    }


def shallow(record: Any) -> dict[str, Any]:
    """Return the keys and values of a record; records inside it stay as they are."""
    cls = cast(Any, type(record))
    fields = {key: getattr(record, name) for key, name in _plan(cls)}
    for key in _later(cls):
        if fields[key] is None:
            del fields[key]
    return fields


def dump(value: Any) -> Json:
    """Return a record, and all in it, as what `json.loads` would give for its line."""
    if dataclasses.is_dataclass(value):
        return {key: dump(item) for key, item in shallow(value).items()}
    if isinstance(value, dict):
        return {key: dump(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [dump(item) for item in value]
    return value


@functools.cache
def _plan(cls: Any) -> tuple[tuple[str, str], ...]:
    return tuple((_key(field), field.name) for field in dataclasses.fields(cls))


@functools.cache
def _later(cls: Any) -> tuple[str, ...]:
    return tuple(_key(f) for f in dataclasses.fields(cls) if f.metadata[_LATER])


def _key(field: dataclasses.Field[Any]) -> str:
    return field.metadata[_KEY] or field.name


def _unexpected(what: str, got: Json) -> Malformed:
    return Malformed("", f"expected {what}, got {shorten(repr(got), 60)}")


def _at(key: str | int, by: FieldCheck, value: Json) -> Any:
    """Check what is under a key, or at a position."""
    try:
        return by(value)
    except Malformed as error:
        raise error.under(key) from None


def text(value: Json) -> str:
    """Accept text."""
    if not isinstance(value, str):
        raise _unexpected("text", value)
    return value


def flag(value: Json) -> bool:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise _unexpected("true or false", value)
    return value


def whole(low: int = 0) -> FieldCheck:
    """Accept an int of at least `low`."""

    def by(value: Json) -> int:
        if type(value) is not int or not low <= value <= _LARGEST:
            raise _unexpected(f"an int of at least {low}", value)
        return value

    return by


def seconds(value: Json) -> float:
    """Accept a delay: a number that is finite and not negative."""
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise _unexpected("a number of seconds", value)
    delay: float = value
    return delay


def one_of(*words: str) -> FieldCheck:
    """Accept one of some words."""
    return among(words)


def among(words: Collection[str]) -> FieldCheck:
    """Accept one of those words that there are when a value is checked."""

    def by(value: Json) -> str:
        if not isinstance(value, str) or value not in words:
            raise _unexpected(f"one of {', '.join(words)}", value)
        return value

    return by


def optional(inner: FieldCheck) -> FieldCheck:
    """Accept null, or what `inner` accepts."""
    return lambda value: None if value is None else inner(value)


def many(inner: FieldCheck) -> FieldCheck:
    """Accept a list of what `inner` accepts; it becomes a tuple."""

    def by(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _unexpected("a list", value)
        return tuple(_at(i, inner, item) for i, item in enumerate(value))

    return by


def pair(inner: FieldCheck) -> FieldCheck:
    """Accept a list of two."""

    def by(value: Json) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != 2:
            raise _unexpected("a list of two", value)
        return tuple(_at(i, inner, item) for i, item in enumerate(value))

    return by


def mapping(inner: FieldCheck) -> FieldCheck:
    """Accept an object whose values `inner` accepts, with any keys."""

    def by(value: Json) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _unexpected("an object", value)
        return {key: _at(key, inner, item) for key, item in value.items()}

    return by


def nested(cls: type[Any]) -> FieldCheck:
    """Accept the record of a dataclass."""
    return lambda value: load(cls, value)


def data(value: Json) -> Json:
    """Accept an encoded value."""
    return check(value)
