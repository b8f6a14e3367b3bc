"""The `__init__` of messages that are nothing but their parameters, written for speed.

A message is made for each send. What `dataclasses` writes for a frozen class stores
each parameter by a call, and calls `__post_init__`, which goes over all of them again to
settle them. Here each is settled as it is stored, and an int or a text is only looked at.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from worldline.model.data.immutable import immutable
from worldline.model.data.settling import AS_THEY_ARE, COLLECTIONS, met, settled
from worldline.model.data.values import ITSELF
from worldline.model.fields import is_node, refuse_node


def settled_field(message: Any, name: str, value: Any) -> Any:
    """Return what a message holds in a field, settled.

    Raises
    ------
    ModelError
        If it can be changed.
    """
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    # As `settled_for_good` does, in fewer calls: a message is made for each send.
    places = met.places
    fresh = settled(value)
    if met.places != places or kind in COLLECTIONS:
        what = f"message {type(message).__name__}: field {name!r}"
        if is_node(kind):
            refuse_node(what, kind)
        immutable(value, what, "a message")
    return fresh


_SPACE: dict[str, Any] = {
    "_worldline_kind": type,
    "_worldline_itself": ITSELF,
    "_worldline_settled": settled_field,
    "_worldline_put": object.__setattr__,
}


def give_quick_init(cls: type[Any]) -> None:
    """Let a frozen dataclass settle its parameters as it stores them, if they are plain.

    They are if each field is one, and has no factory: what `dataclasses` wrote stays
    otherwise. Signature, annotations and defaults stay in any case.

    Parameters
    ----------
    cls
        Whose `__init__` `dataclasses` wrote, and whose `__post_init__`, if it has one,
        does nothing but to settle fields.
    """
    written: Any = cls.__init__
    fields = dataclasses.fields(cls)
    code, names = written.__code__, tuple(field.name for field in fields)
    is_plain = (
        code.co_varnames[1 : code.co_argcount] == names
        and not code.co_kwonlyargcount
        and cls.__dictoffset__ != 0
        and all(field.default_factory is dataclasses.MISSING for field in fields)
    )
    if not is_plain:
        return
    lines = [f"def __init__(_worldline_self, {', '.join(names)}):"]
    for name in names:
        lines += (
            f" if _worldline_kind({name}) not in _worldline_itself:",
            f"  {name} = _worldline_settled(_worldline_self, {name!r}, {name})",
            f" _worldline_put(_worldline_self, {name!r}, {name})",
        )
    space = dict(_SPACE)
    # The names of fields, which Python has accepted as such.
    exec("\n".join([*lines, " return None"]), space)  # noqa: S102
    made = space["__init__"]
    made.__defaults__ = written.__defaults__
    made.__annotations__ = written.__annotations__
    made.__qualname__ = written.__qualname__
    made.__module__ = written.__module__
    cls.__init__ = made
