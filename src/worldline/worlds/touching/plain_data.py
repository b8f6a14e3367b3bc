"""Plain data: values for which operators call no code of the user's."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from itertools import chain
from types import FunctionType
from typing import Any

from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.identity import NodeId

_PLAIN: frozenset[type] = frozenset({type(None), bool, int, float, str, bytes, NodeId})
_PYTHONS = frozenset({"builtins", "enum"})
_NAMING = frozenset({"__hash__", "__init__", "__new__", "__repr__", "__str__"})


def is_plain_data(value: Any) -> bool:
    """Say whether operators call no code of the user's for a value of a field."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if issubclass(kind, enum.Enum):
        of_user = [one for one in kind.__mro__ if one.__module__ not in _PYTHONS]
        return not any(map(_has_operators, of_user))
    held: Iterable[Any] = ()
    if kind in (tuple, list):
        held = value
    elif kind is CanonicalSet:
        held = set.__iter__(value)
    elif kind in (frozenset, CanonicalFrozenset):
        held = frozenset.__iter__(value)
    elif kind is CanonicalDict:
        held = chain(dict.keys(value), dict.values(value))
    else:
        return False
    return all(map(is_plain_data, held))


def _has_operators(cls: type) -> bool:
    methods = [name for name, one in vars(cls).items() if type(one) is FunctionType]
    return any(name.startswith("__") and name not in _NAMING for name in methods)
