"""Sets that iterate in an order on request, as plain ones might under any hash seed.

A plain set of strings iterates in one order or another by the interpreter's hash seed.
Few seeds show few of these orders, and a process for each takes long; so functions are
run with these sets in place of plain ones, in orders that do not depend on the seed of
this process: canonical order, the reverse of it, others in which each of a few elements
comes first and last once, and some without pattern.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from pathlib import PurePath
from types import FrameType
from typing import Any, final

from worldline.engine.interner import splitmix
from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet, in_order
from worldline.model.data.content import FROZENSET, SET, fingerprint
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import register_settler
from worldline.model.data.values import freeze, freeze_set, register_type
from worldline.model.errors import ModelError
from worldline.model.usercode.activity import activity

ORDERS = range(10)
"""Canonical order, its reverse, turned by one to five elements, and without pattern."""

_LAST_TURN = 6

SetSite = str
"""A line that looked at an order: file name, line and function."""


@final
class Scrambling:
    """The order in which sets iterate now, and who has looked.

    Attributes
    ----------
    order
        One of `ORDERS`.
    only
        If not None, the only site to which the order is shown; others see the first.
    sites
        The sites that have looked at an order, or at a hash or an address.
    """

    order = 0
    only: SetSite | None = None
    sites: dict[SetSite, None] = {}  # noqa: RUF012 - there is one, as there is one order


def _site() -> SetSite:
    """Return the line of user's code that is asking, past our own frames."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(
        ("worldline.model", "worldline.worlds")
    ):
        frame = frame.f_back
    if frame is None:
        return "nowhere"
    code = frame.f_code
    while code.co_name.startswith("<") and code.co_name != "<lambda>":
        # A comprehension is said to be where the function is that it stands in.
        frame = frame.f_back
        if frame is None:
            break
        code = frame.f_code
    name = PurePath(code.co_filename).name
    return f"{name}:{frame.f_lineno} in {code.co_name}" if frame else name


def _shown() -> int:
    """Note who looks, and return the order that is shown to them."""
    site = _site()
    Scrambling.sites[site] = None
    if Scrambling.only is not None and site != Scrambling.only:
        return 0
    return Scrambling.order


_FIXED = frozenset({int, bool, float, NodeId})
"""Types whose hashes are the same in every process."""


def is_fixed(value: Any) -> bool:
    """Say whether a value's hash is the same in every process."""
    kind = type(value)
    if kind in _FIXED:
        return True
    if isinstance(value, tuple | frozenset):
        return all(map(is_fixed, value))
    if dataclasses.is_dataclass(kind) and kind.__dataclass_params__.eq:  # type: ignore[attr-defined]
        return all(is_fixed(getattr(value, f.name)) for f in dataclasses.fields(kind))
    return False


def _arranged(values: list[Any]) -> list[Any]:
    if len(values) < 2 or all(map(is_fixed, values)):
        return values
    before = activity.stop
    try:
        arranged = in_order(values)
    except (ModelError, TypeError):
        activity.stop = before  # it is not the user's error
        return values
    order = _shown()
    if order == 1:
        arranged.reverse()
    elif order <= _LAST_TURN:
        turn = max(order - 1, 0) % len(arranged)
        arranged = arranged[turn:] + arranged[:turn]
    else:
        arranged.sort(key=lambda value: splitmix(fingerprint(freeze(value)) ^ order))
    return arranged


class _Like(type):
    """The type of a stand-in for a built-in type, of which it says all it is asked."""

    stands_for: type

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.stands_for)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.stands_for)


def _operator(base: type, name: str, defers: type) -> Callable[..., Any]:
    plain = getattr(base, name)

    def operator(self: Any, *others: Any) -> Any:
        # As with a plain set on the left: a canonical one on the right decides.
        if name[:2] == "__" and type(others[0]) is defers:
            return NotImplemented
        made = plain(self, *others)
        return made if made is NotImplemented else scrambled(made)

    return operator


_OPERATORS = (
    *("__or__", "__and__", "__sub__", "__xor__"),
    *("__ror__", "__rand__", "__rsub__", "__rxor__"),
    *("union", "intersection", "difference", "symmetric_difference", "copy"),
)


@final
class ScrambledSet(set[Any], metaclass=_Like):
    """A set that iterates, pops and prints in the order on request."""

    __slots__ = ()
    stands_for = set

    def __iter__(self) -> Iterator[Any]:
        return iter(_arranged(list(set.__iter__(self))))

    def __repr__(self) -> str:
        return "{" + ", ".join(map(repr, self)) + "}" if len(self) else "set()"

    def pop(self) -> Any:
        if not len(self):
            return set.pop(self)
        first = next(iter(self))
        self.remove(first)
        return first


@final
class ScrambledFrozenset(frozenset[Any], metaclass=_Like):
    """A frozenset that iterates and prints in the order on request."""

    __slots__ = ()
    stands_for = frozenset

    def __iter__(self) -> Iterator[Any]:
        return iter(_arranged(list(frozenset.__iter__(self))))

    def __repr__(self) -> str:
        inside = "{" + ", ".join(map(repr, self)) + "}" if len(self) else ""
        return f"frozenset({inside})"


for _name in _OPERATORS:
    setattr(ScrambledSet, _name, _operator(set, _name, CanonicalSet))
    setattr(ScrambledFrozenset, _name, _operator(frozenset, _name, CanonicalFrozenset))


def scrambled(value: Any) -> Any:
    """Return a plain set or frozenset as one that is not; anything else as it is."""
    kind = type(value)
    if kind is set:
        return ScrambledSet(value)
    return ScrambledFrozenset(value) if kind is frozenset else value


def scrambled_hash(value: Any) -> int:
    """Stand in for ``hash``: what depends on the hash seed is another number each time.

    Not inside ``__hash__``: what was put into a dict before must be found again.
    """
    plain = hash(value)
    if is_fixed(value) or sys._getframe(1).f_code.co_name == "__hash__":
        return plain
    return plain ^ (_shown() * 0x5DEECE66D1)


def scrambled_id(value: Any) -> int:
    """Stand in for ``id``, of which each process has its own."""
    return id(value) ^ (_shown() * 0x5DEECE66D0)


STAND_INS: dict[str, Any] = {
    "set": ScrambledSet,
    "frozenset": ScrambledFrozenset,
    "hash": scrambled_hash,
    "id": scrambled_id,
}
"""What stands for the built-ins of these names."""

register_type(ScrambledSet, lambda value: freeze_set(SET, set.__iter__(value)))
register_type(
    ScrambledFrozenset,
    lambda value: freeze_set(FROZENSET, frozenset.__iter__(value)),
)
register_settler(ScrambledSet, CanonicalSet)
register_settler(ScrambledFrozenset, CanonicalFrozenset)
