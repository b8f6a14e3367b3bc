"""Checked reading of records from JSON: every key, every type, every range.

A *check* takes a parsed value and its path, and returns what it stands for or raises
`Malformed`. The checks of a record's fields are those that its dataclass declares
with `checked`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from worldline.trace.json_checks import Malformed, check
from worldline.trace.json_text import Json, shorten

Check: TypeAlias = Callable[[Json, str], Any]

T = TypeVar("T")

_LARGEST = 2**53
_CHECK, _KEY = "check", "key"


def checked(
    by: Check, *, key: str | None = None, default: Any = dataclasses.MISSING
) -> Any:
    """Declare a dataclass field with its check, and its key if that is no name.

    One with a default may be missing from a file: older ones do not have it.
    """
    return dataclasses.field(default=default, metadata={_CHECK: by, _KEY: key})


def load(cls: type[T], value: Json, path: str = "") -> T:
    """Return the record that `value` spells.

    Raises
    ------
    Malformed
        If a key is missing or unknown, or a value is not what its check expects.
    """
    if not isinstance(value, dict):
        raise _unexpected(path, "an object", value)
    checks = _checks(cast(Any, cls))
    for key in value:
        if key not in checks:
            raise Malformed(path, f"unknown key {shorten(repr(key), 40)}")
    found = {}
    optional_names = _with_default(cast(Any, cls))
    for key, (name, by) in checks.items():
        if key not in value:
            if name in optional_names:
                continue
            raise Malformed(path, f"the key {key!r} is missing")
        found[name] = by(value[key], f"{path}.{key}" if path else key)
    return cls(**found)


@functools.cache
def _checks(cls: Any) -> dict[str, tuple[str, Check]]:
    return {
        _key(field): (field.name, field.metadata[_CHECK])
        for field in dataclasses.fields(cls)
    }


@functools.cache
def _with_default(cls: Any) -> frozenset[str]:
    return frozenset(
        field.name
        for field in dataclasses.fields(cls)
        if field.default is not dataclasses.MISSING
    )


def shallow(record: Any) -> dict[str, Any]:
    """Return the keys and values of a record; records inside it stay as they are."""
    return {key: getattr(record, name) for key, name in _plan(cast(Any, type(record)))}


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


def _key(field: dataclasses.Field[Any]) -> str:
    return field.metadata[_KEY] or field.name


def _unexpected(path: str, what: str, got: Json) -> Malformed:
    return Malformed(path, f"expected {what}, got {shorten(repr(got), 60)}")


def text(value: Json, path: str) -> str:
    """Accept text."""
    if not isinstance(value, str):
        raise _unexpected(path, "text", value)
    return value


def flag(value: Json, path: str) -> bool:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise _unexpected(path, "true or false", value)
    return value


def whole(low: int = 0) -> Check:
    """Accept an int of at least `low`."""

    def by(value: Json, path: str) -> int:
        if type(value) is not int or not low <= value <= _LARGEST:
            raise _unexpected(path, f"an int of at least {low}", value)
        return value

    return by


def seconds(value: Json, path: str) -> float:
    """Accept a delay: a number that is finite and not negative."""
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise _unexpected(path, "a number of seconds", value)
    delay: float = value
    return delay


def one_of(*words: str) -> Check:
    """Accept one of some words."""

    def by(value: Json, path: str) -> str:
        if not isinstance(value, str) or value not in words:
            raise _unexpected(path, f"one of {', '.join(words)}", value)
        return value

    return by


def optional(inner: Check) -> Check:
    """Accept null, or what `inner` accepts."""
    return lambda value, path: None if value is None else inner(value, path)


def many(inner: Check) -> Check:
    """Accept a list of what `inner` accepts; it becomes a tuple."""

    def by(value: Json, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _unexpected(path, "a list", value)
        return tuple(inner(item, f"{path}[{i}]") for i, item in enumerate(value))

    return by


def pair(inner: Check) -> Check:
    """Accept a list of two."""

    def by(value: Json, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != 2:
            raise _unexpected(path, "a list of two", value)
        return tuple(inner(item, f"{path}[{i}]") for i, item in enumerate(value))

    return by


def mapping(inner: Check) -> Check:
    """Accept an object whose values `inner` accepts, with any keys."""

    def by(value: Json, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _unexpected(path, "an object", value)
        return {key: inner(item, f"{path}.{key}") for key, item in value.items()}

    return by


def nested(cls: type[Any]) -> Check:
    """Accept the record of a dataclass."""
    return lambda value, path: load(cls, value, path)


def data(value: Json, path: str) -> Json:
    """Accept an encoded value."""
    return check(value, path)
