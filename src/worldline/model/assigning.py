"""What becomes of it when a field of a node is assigned or deleted."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from typing import Any

from worldline.model.data.canonical_dict import adopt
from worldline.model.data.values import ITSELF
from worldline.model.errors import ModelError
from worldline.model.fields import GhostField, Role, is_node, refuse_node, role_of
from worldline.model.usercode.activity import activity


def checked_setattr(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """Return the ``__setattr__`` of a node class, which sets its fields and nothing else."""
    names = frozenset(field.name for field in dataclasses.fields(cls))
    store = object.__setattr__
    parts = frozenset(
        f.name for f in dataclasses.fields(cls) if role_of(f) is Role.PART
    )
    own = frozenset(name for name in names if _is_plainly_set(cls, name)) - parts

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if type(value) in ITSELF and name in own:
            self.__dict__[name] = value  # as most are
            return
        if name not in names:
            raise ModelError(
                f"{cls.__name__} has no field {name!r}, so its value would be lost",
                remedy=f"declare it in the class: {name}: TYPE = DEFAULT",
            )
        if name in parts:
            # The contexts of a node know its parts until the next handler, and longer.
            if self.__dict__.get(name, value) is not value and activity.is_here():
                raise _replaced(cls, name, sys._getframe(1).f_code.co_name)
        elif type(value) not in ITSELF and is_node(type(value)):
            refuse_node(f"{cls.__name__}.{name}", type(value))
        store(self, name, adopt(value))

    return __setattr__


def _is_plainly_set(cls: type[Any], name: str) -> bool:
    """Say whether to set a field is to put it into the node's dict, and no more."""
    there = inspect.getattr_static(cls, name, None)
    return isinstance(there, GhostField) or not hasattr(there, "__set__")


def refused_delattr(cls: type[Any]) -> Callable[[Any, str], None]:
    """Return the ``__delattr__`` of a node class."""

    def __delattr__(self: Any, name: str) -> None:
        raise deleted(cls, name, f"{sys._getframe(1).f_code.co_name} deletes")

    return __delattr__


def deleted(cls: type[Any], name: str, who: str) -> ModelError:
    """Return the error for a field that has gone."""
    return ModelError(
        f"{who} the field {name!r} of {cls.__name__}: a node keeps all its fields",
        remedy="set it to None or to its default, or empty it with clear()",
    )


def _replaced(cls: type[Any], name: str, who: str) -> ModelError:
    return ModelError(
        f"{who} puts another object into the part {name!r} of {cls.__name__}, and a node "
        "keeps its parts",
        remedy="change the fields of the part instead, or call a method of it that does",
    )
