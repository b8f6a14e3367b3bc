"""Plain data as JSON that keeps apart what JSON would merge.

None, booleans, numbers, text and lists are themselves; everything else is an object
with one key that begins with ``$``: ``{"$set": [...]}``, ``{"$node": "a"}``. A record
names its class beside its fields: ``{"$is": "Join", "joiner": {"$node": "a"}}``. An
object without such a key is a dict with text keys.

`encode` writes the frozen form of a value, so order is canonical; `decode` gives the
value back, and builds nothing but the classes of a given `ClassTable`. To show a
value no class is needed; see `json_text`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, Protocol

from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.content import Frozen
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.identity import NodeId
from worldline.model.data.time import EPOCH, Duration
from worldline.model.data.values import freeze, write_fields
from worldline.model.drawn import OneOf
from worldline.model.errors import InputError, ModelError
from worldline.model.node import NodeType
from worldline.trace.json_checks import MAX_DEPTH
from worldline.trace.json_text import Json, shorten, show, surrogates

_EXACT = 2**53
"""Ints from here on are spelt as text: other readers of JSON would round them."""


class Classes(Protocol):
    """The names that `decode` may follow; see `ClassTable`."""

    def node(self, name: str) -> NodeId: ...
    def record(self, name: str, fields: frozenset[str]) -> type: ...
    def member(self, name: str) -> Any: ...


def encode_value(value: Any) -> Json:
    """Return the JSON form of plain data."""
    return encode(freeze(value))


def encode(frozen: Frozen, depth: int = 0) -> Json:
    """Return the JSON form of the value that was frozen.

    Raises
    ------
    ModelError
        If it is nested more than `MAX_DEPTH` deep.
    """
    cls = type(frozen)
    if frozen is None:
        return None
    if cls is str:
        return _encode_text(frozen)
    if cls is int:
        return frozen if abs(frozen) < _EXACT else {"$int": hex(frozen)}
    if cls is NodeId:
        return {"$node": frozen.name}
    if cls is bytes:
        return {"$bytes": frozen.hex()}
    if depth >= MAX_DEPTH:
        raise ModelError(
            f"a value is nested more than {MAX_DEPTH} deep",
            remedy="keep linked data in a dict or a tuple instead",
        )
    # What is sealed is written as what it is known by.
    tag, *items = frozen if cls is tuple else frozen.key
    if isinstance(tag, type):
        return _encode_record(tag, items, depth)
    return _ENCODERS[tag.name](items, depth)


def _encode_text(text: str) -> Json:
    try:
        text.encode()
    except UnicodeEncodeError:
        # Two lone surrogates would come back from JSON as one character.
        return {"$text": text.encode("utf-8", "surrogatepass").hex()}
    return text


def _encode_record(cls: type, items: list[Frozen], depth: int) -> Json:
    encoded = {"$is": cls.__qualname__}
    for name, item in zip(field_names(cls), items, strict=True):
        encoded[name] = encode(item, depth + 1)
    return encoded


@functools.lru_cache(maxsize=1024)
def field_names(cls: type) -> tuple[str, ...]:
    """Return the names of the fields that freezing a record keeps, in order."""
    kind = cls.__dict__.get("__worldline_node__")
    if isinstance(kind, NodeType):
        return kind.identity
    return tuple(field.name for field in dataclasses.fields(cls))


def _encode_float(items: list[Any], depth: int) -> Json:
    value: float = items[0]
    return value if math.isfinite(value) else {"$float": repr(value)}


def _encode_dict(items: list[Frozen], depth: int) -> Json:
    keys = items[::2]
    if all(type(key) is str and key.isascii() and key[:1] != "$" for key in keys):
        values = [encode(item, depth + 1) for item in items[1::2]]
        return dict(zip(keys, values, strict=True))
    return {"$dict": _encode_pairs(items, depth)}


def _encode_pairs(items: list[Frozen], depth: int) -> list[Json]:
    flat = [encode(item, depth + 2) for item in items]
    return [[flat[i], flat[i + 1]] for i in range(0, len(flat), 2)]


def _encode_list(items: list[Frozen], depth: int) -> list[Json]:
    return [encode(item, depth + 1) for item in items]


_ENCODERS: dict[str, Callable[[list[Any], int], Json]] = {
    "bool": lambda items, depth: items[0] == 1,
    "float": _encode_float,
    "enum": lambda items, depth: {"$enum": f"{items[0].__qualname__}.{items[1]}"},
    "list": _encode_list,
    "tuple": lambda items, depth: {"$tuple": _encode_list(items, depth)},
    "set": lambda items, depth: {"$set": _encode_list(items, depth)},
    "frozenset": lambda items, depth: {"$frozenset": _encode_list(items, depth)},
    "map": lambda items, depth: {"$map": _encode_pairs(items, depth)},
    "dict": _encode_dict,
    "time": lambda items, depth: {"$time": None},
    "duration": lambda items, depth: {"$duration": None},
}


def decode(value: Json, classes: Classes) -> Any:
    """Return the value that was encoded; `value` has passed `check`.

    No code of the classes runs: fields are filled in, as when a state is thawed.

    Raises
    ------
    InputError
        If it names a node, class or member that `classes` does not have, or what
        cannot be in a set is.
    """
    if isinstance(value, list):
        return [decode(item, classes) for item in value]
    if not isinstance(value, dict):
        return value
    tag = next((key for key in value if key[:1] == "$"), None)
    try:
        if tag is None:
            pairs = {key: decode(item, classes) for key, item in value.items()}
            return CanonicalDict(pairs)
        if tag == "$is":
            return _decode_record(value, classes)
        return _DECODERS[tag](value[tag], classes)
    except (TypeError, ModelError) as error:
        raise InputError(
            f"{shorten(show(value), 60)} cannot be a value: {error}"
        ) from None


def _decode_record(value: dict[str, Json], classes: Classes) -> Any:
    names = frozenset(value) - {"$is"}
    cls = classes.record(value["$is"], names)
    if cls is OneOf:
        return _decode_draw(value, classes)
    fields = field_names(cls)
    content = [decode(value[name], classes) for name in fields]
    return write_fields(object.__new__(cls), fields, content)


def _decode_draw(value: dict[str, Json], classes: Classes) -> OneOf:
    # It is ours: unlike a user's class it can be made anew, which checks it.
    try:
        return OneOf(decode(value["options"], classes))
    except ModelError as error:
        raise InputError(f"the trace has a draw that is none: {error.what}") from None


def _items(value: list[Json], classes: Classes) -> list[Any]:
    return [decode(item, classes) for item in value]


def _pairs(value: list[Json], classes: Classes) -> dict[Any, Any]:
    return {decode(key, classes): decode(item, classes) for key, item in value}


_DECODERS: dict[str, Callable[[Json, Classes], Any]] = {
    "$node": lambda value, classes: classes.node(value),
    "$bytes": lambda value, classes: bytes.fromhex(value),
    "$text": lambda value, classes: surrogates(value),
    "$int": lambda value, classes: int(value, 16),
    "$float": lambda value, classes: float(value),
    "$enum": lambda value, classes: classes.member(value),
    "$tuple": lambda value, classes: tuple(_items(value, classes)),
    "$set": lambda value, classes: CanonicalSet(_items(value, classes)),
    "$frozenset": lambda value, classes: CanonicalFrozenset(_items(value, classes)),
    "$map": lambda value, classes: FrozenMap(_pairs(value, classes)),
    "$dict": lambda value, classes: CanonicalDict(_pairs(value, classes)),
    "$time": lambda value, classes: EPOCH,
    "$duration": lambda value, classes: Duration(),
}
