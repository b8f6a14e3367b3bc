"""Plain data as MessagePack that says of itself what it is.

None, booleans, ints of 64 bits, floats, text and bytes are themselves; all else is an
array that begins with the number of its kind: ``[SET, 1, 2]``. What is decoded is
checked as a stranger's; of classes the vocabulary's are made, with no code of theirs run.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from typing import Any, final

from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.identity import NodeId
from worldline.model.data.immutable import mutable
from worldline.model.data.time import Duration, Time
from worldline.model.data.unfreezable import MOST_NESTED, nameless
from worldline.model.errors import ModelError
from worldline.model.fields import is_node
from worldline.trace.journal.vocabulary import Vocabulary
from worldline.trace.json_checks import Malformed

TUPLE, LIST, SET, FROZENSET, DICT, MAP = range(6)
NODE, ENUM, RECORD, INT, TEXT, TIME, DURATION = range(6, 13)

_LEAST, _MOST = -(2**63), 2**63 - 1
_LONGEST_INT = 1 << 16
"""Bytes of an int."""


@final
class Values:
    """The spelling of a system's plain data.

    Parameters
    ----------
    vocabulary
        The classes and nodes of which values are made.
    constant
        Whether only what nobody can change is spelt and read, as messages have it.
    """

    def __init__(self, vocabulary: Vocabulary, *, constant: bool = False) -> None:
        self._vocabulary = vocabulary
        self._constant = constant
        self._number = vocabulary.number
        self._collections: dict[type, int] = {
            tuple: TUPLE,
            list: LIST,
            set: SET,
            CanonicalSet: SET,
            frozenset: FROZENSET,
            CanonicalFrozenset: FROZENSET,
        }
        self._makers: dict[int, Callable[[list[Any]], Any]] = {
            TUPLE: tuple,
            LIST: _list,
            SET: CanonicalSet,
            FROZENSET: CanonicalFrozenset,
            DICT: lambda items: CanonicalDict(_pairs(items)),
            MAP: lambda items: FrozenMap(_pairs(items)),
        }
        if constant:
            for number in (LIST, SET, DICT):
                del self._makers[number]

    def spell(self, value: Any, depth: int = 0) -> Any:
        """Return what stands for a value.

        Raises
        ------
        ModelError
            If it is no plain data, or its class is not known to be the system's.
        """
        kind = type(value)
        if value is None or kind is bool or kind is bytes:
            return value
        if kind is int:
            return value if _LEAST <= value <= _MOST else _spell_int(value)
        if kind is str:
            return _spell_text(value)
        if kind is float:
            if math.isnan(value):
                raise ModelError("a value is NaN", remedy="use None")
            return value
        if kind is NodeId:
            return [NODE, self._numbered(value)]
        if depth >= MOST_NESTED:
            raise ModelError(
                f"a value is nested more than {MOST_NESTED} deep",
                remedy="keep linked data in a dict or a tuple instead",
            )
        number = self._collections.get(kind)
        if number is not None:
            if number not in self._makers:
                raise _changeable(kind)
            return [number, *[self.spell(item, depth + 1) for item in value]]
        return self._spell_other(kind, value, depth + 1)

    def _spell_other(self, kind: type, value: Any, depth: int) -> Any:
        if kind in (dict, CanonicalDict, FrozenMap):
            number = MAP if kind is FrozenMap else DICT
            if number not in self._makers:
                raise _changeable(kind)
            flat = [each for pair in value.items() for each in pair]
            return [number, *[self.spell(item, depth) for item in flat]]
        if kind is Time or kind is Duration:
            return [TIME if kind is Time else DURATION, float(value.seconds)]
        number = self._numbered(kind)
        if issubclass(kind, enum.Enum):
            members = self._vocabulary.members[number]
            if value not in members:
                raise nameless(value)
            return [ENUM, number, members.index(value)]
        names = self._vocabulary.fields[number]
        fields = [self.spell(getattr(value, name), depth) for name in names]
        return [RECORD, number, *fields]

    def _numbered(self, what: Any) -> int:
        number = self._number.get(what)
        if number is None:
            name = what.__qualname__ if isinstance(what, type) else f"node {what}"
            raise ModelError(
                f"a value holds {name}, which the system does not name",
                remedy="annotate the field that holds it with its class",
            )
        return number

    def read(self, spelt: Any, depth: int = 0) -> Any:
        """Return the value that something from outside stands for.

        Raises
        ------
        Malformed
            If it stands for none.
        """
        kind = type(spelt)
        if spelt is None or kind in (bool, int, str, bytes):
            return spelt
        if kind is float and not math.isnan(spelt):
            return spelt
        if kind is not list or not spelt:
            raise Malformed("", f"{kind.__name__} is no value")
        number, *items = spelt
        if depth >= MOST_NESTED:
            raise Malformed("", f"nested more than {MOST_NESTED} deep")
        if type(number) is not int:
            raise Malformed("", "a value without its kind")
        make = self._makers.get(number)
        if make is None:
            return self._read_other(number, items, depth + 1)
        try:
            return make([self.read(item, depth + 1) for item in items])
        except (TypeError, ModelError) as error:
            raise Malformed("", f"no member or key: {error}") from None

    def _read_other(self, number: int, items: list[Any], depth: int) -> Any:
        if number == RECORD and items:
            return self._read_record(items, depth)
        if number == ENUM and len(items) == 2:
            of, which = items
            enums = self._vocabulary.members
            if _is_index(of, enums) and _is_index(which, enums[of]):
                return enums[of][which]
        elif len(items) == 1:
            (item,) = items
            if number == NODE and (node := self._vocabulary.node(item)) is not None:
                return node
            if number == INT and type(item) is bytes and len(item) <= _LONGEST_INT:
                return int.from_bytes(item, "big", signed=True)
            if number == TEXT and type(item) is bytes:
                return _read_text(item)
            if number in (TIME, DURATION) and is_seconds(item):
                return Time(item) if number == TIME else Duration(item)
        raise Malformed("", "a value of an unknown kind")

    def _read_record(self, items: list[Any], depth: int) -> Any:
        of, *fields = items
        records = self._vocabulary.records
        if not _is_index(of, records) or is_node(records[of]):
            raise Malformed("", "a class that the system does not have")
        params: Any = records[of].__dataclass_params__
        if self._constant and not params.frozen:
            raise Malformed("", "what can be changed, where nothing can")
        names = self._vocabulary.fields[of]
        if len(fields) != len(names):
            raise Malformed("", f"{records[of].__qualname__} with {len(fields)} fields")
        fresh = object.__new__(records[of])
        for name, item in zip(names, fields, strict=True):
            object.__setattr__(fresh, name, self.read(item, depth))
        return fresh


def is_seconds(value: Any) -> bool:
    """Say whether something from outside is a finite float."""
    return type(value) is float and math.isfinite(value)


def _changeable(kind: type) -> ModelError:
    return mutable(kind, "a message", "it")


def _is_index(number: Any, of: tuple[Any, ...]) -> bool:
    # Python would take -1 for the last one.
    return type(number) is int and 0 <= number < len(of)


def _list(items: list[Any]) -> list[Any]:
    if any(isinstance(item, set | dict) for item in items):
        raise Malformed("", "a list that holds what no list can")
    return items


def _pairs(items: list[Any]) -> dict[Any, Any]:
    if len(items) % 2:
        raise Malformed("", "a key without a value")
    return dict(zip(items[::2], items[1::2], strict=True))


def _spell_int(value: int) -> list[Any]:
    size = value.bit_length() // 8 + 1
    if size > _LONGEST_INT:
        raise ModelError(
            f"a value is an int of {size} bytes",
            remedy=f"the longest have {_LONGEST_INT}; keep bytes instead",
        )
    return [INT, value.to_bytes(size, "big", signed=True)]


def _spell_text(text: str) -> Any:
    try:
        text.encode()
    except UnicodeEncodeError:
        return [TEXT, text.encode("utf-8", "surrogatepass")]
    return text


def _read_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Malformed("", f"no text: {error}") from None
