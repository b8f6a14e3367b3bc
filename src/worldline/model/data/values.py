"""Plain data: freeze to a canonical hashable value, thaw to a fresh one.

A *frozen* value is a hashable stand-in for plain data in which equal data are
equal, different types differ (``1`` is not ``True``), sets and dicts are in
canonical order, and nothing depends on the hash seed. Scalars stand for
themselves; everything else is a tuple whose first element is its tag.

Start with `freeze` and `thaw`; `content` orders and hashes what they give.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
import reprlib
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from worldline.model.data.content import (
    BELOW_ZERO,
    BOOL,
    DICT,
    DURATION,
    ENUM,
    FALSE,
    FLOAT,
    FROZENSET,
    LIST,
    MAP,
    SET,
    TIME,
    TRUE,
    TUPLE,
    Frozen,
    Tag,
    order_key,
)
from worldline.model.data.identity import NodeId
from worldline.model.data.memory import Memory
from worldline.model.data.time import EPOCH, Duration, Time
from worldline.model.data.unfreezable import MOST_NESTED, Unfreezable, nameless
from worldline.model.errors import ModelError

ITSELF: set[type] = {type(None), int, str, bytes, NodeId}
"""Types whose values stand for themselves. Most of what is frozen is of these, so loops
look here before they call anything."""

NATURAL = frozenset({int, str, bytes})
"""Types whose values Python itself puts in canonical order."""

_ONLY_NODES = frozenset({NodeId})

_freezers: dict[type, Callable[[Any], Frozen]] = {}
_thawers: dict[object, Callable[[tuple[Any, ...]], Any]] = {}
_ATOMS = frozenset({*ITSELF, float})
_constant: set[Tag | type] = {BOOL, FLOAT, TUPLE, FROZENSET, MAP, TIME, DURATION}
"""Tags of what never changes, if what it holds does not."""

_MOST_SHARED = 65_536
_shared: Memory[Any] = Memory(_MOST_SHARED)
"""What some frozen values thawed to."""

_frozen_by_id: dict[int, tuple[Any, Frozen]] = {}
"""Such a value, which is kept alive here, and what it was thawed from, by identity."""

_members: dict[Frozen, enum.Enum] = {}
"""The members of the enumerations met so far, by what stands for them."""


class _Nesting:
    """The depth at which `freeze` is in a value now."""

    __slots__ = ("level",)

    def __init__(self) -> None:
        self.level = 0


_nesting = _Nesting()  # to change an attribute of a class takes several times as long


def freeze(value: Any) -> Frozen:
    """Return the canonical hashable value that stands for `value`.

    Raises
    ------
    Unfreezable
        If it holds anything but plain data, or a NaN; or is nested too deep.
    """
    cls = type(value)
    if cls in ITSELF:
        return value
    freezer = _freezers.get(cls)
    if freezer is None:
        freezer = _adopt_type(value)
    if _nesting.level == MOST_NESTED:
        raise Unfreezable(value, nested=True)
    _nesting.level += 1
    try:
        return freezer(value)
    finally:
        _nesting.level -= 1


def freeze_all(values: Sequence[Any]) -> Sequence[Frozen]:
    """Freeze each of some values."""
    for value in values:
        if type(value) not in ITSELF:
            return [v if type(v) in ITSELF else freeze(v) for v in values]
    return values


def thaw_all(frozen: tuple[Frozen, ...]) -> Sequence[Any]:
    """Thaw each of some values."""
    for item in frozen:
        if type(item) is tuple:
            return [thaw(i) if type(i) is tuple else i for i in frozen]
    return frozen


def thaw(frozen: Frozen) -> Any:
    """Return a fresh value equal to the one that was frozen.

    Sets and dicts come back as canonical ones (see `canonical`); times come back as the epoch.
    """
    if type(frozen) is tuple:
        return _thawers[frozen[0]](frozen)
    return frozen


def register_type(cls: type, freezer: Callable[[Any], Frozen]) -> None:
    """Teach `freeze` the instances of `cls`."""
    _freezers[cls] = freezer


def register_sealed(cls: type) -> None:
    """Say that instances of `cls`, which are like `content.Sealed`, stand for themselves."""
    ITSELF.add(cls)


def register_tag(tag: object, thawer: Callable[[tuple[Any, ...]], Any]) -> None:
    """Teach `thaw` the tuples that begin with `tag`: a `Tag` or a record's class."""
    _thawers[tag] = thawer


def _adopt_type(value: Any) -> Callable[[Any], Frozen]:
    """Register the type of `value` at its first use, if it is plain data."""
    cls = type(value)
    if isinstance(value, enum.Enum):
        _register_enum(cls)
    elif dataclasses.is_dataclass(cls):
        _register_dataclass(cls)
    else:
        for base in (set, frozenset, dict, tuple, list):
            if isinstance(value, base) and cls.__module__ != "builtins":
                raise Unfreezable(value)
        raise Unfreezable(value)
    return _freezers[cls]


def _register_enum(cls: Any) -> None:
    # By name: the hash of a member would be computed by Python code.
    members = {name: (ENUM, cls, name) for name in cls.__members__}
    _members.update({frozen: cls[name] for name, frozen in members.items()})

    def freezer(member: Any) -> Frozen:
        known = members.get(member._name_)
        if known is None:
            raise nameless(member)
        return known

    register_type(cls, freezer)


def _register_dataclass(cls: Any) -> None:
    names = tuple(f.name for f in dataclasses.fields(cls))

    def thawer(frozen: tuple[Any, ...]) -> Any:
        fresh: Any = object.__new__(cls)
        for name, item in zip(names, thaw_all(frozen[1:]), strict=True):
            object.__setattr__(fresh, name, item)
        return fresh

    freezer = record_freezer(cls, names)
    # Instances that are equal only to themselves would tell that they are shared.
    if cls.__dataclass_params__.frozen and cls.__dataclass_params__.eq:
        register_shared(cls, freezer, thawer)
    else:
        register_type(cls, freezer)
        register_tag(cls, thawer)


def register_shared(
    cls: type,
    freezer: Callable[[Any], Frozen],
    thawer: Callable[[tuple[Any, ...]], Any],
) -> None:
    """Teach `freeze` and `thaw` a class whose instances never change.

    They are parts of very many states. So what one thaws to is remembered and shared,
    and its identity, which is known then, is enough to freeze it again.
    """
    _constant.add(cls)

    def freeze_known(value: Any) -> Frozen:
        entry = _frozen_by_id.get(id(value))
        return freezer(value) if entry is None else entry[1]

    register_type(cls, freeze_known)
    register_tag(cls, lambda frozen: thaw_shared(frozen, thawer))


def thaw_shared(frozen: Frozen, thawer: Callable[[tuple[Any, ...]], Any] = thaw) -> Any:
    """Return a value equal to the one that was frozen, shared if nobody can change it."""
    if type(frozen) is not tuple:
        return frozen
    shared = _shared.get(frozen)
    if shared is None:
        shared = thawer(frozen)
        if is_constant(frozen):
            if len(_frozen_by_id) >= _MOST_SHARED:
                _frozen_by_id.clear()
            _frozen_by_id[id(shared)] = (shared, frozen)
            _shared.put(frozen, shared)
    return shared


def thaw_constant(frozen: Frozen, otherwise: Any) -> Any:
    """Return what a frozen value thaws to, shared, or `otherwise` if that can change."""
    if type(frozen) is not tuple:
        return frozen
    if frozen[0] is ENUM:
        return thaw(frozen)
    if frozen[0] not in _constant:
        return otherwise
    shared = _shared.get(frozen)
    if shared is None:
        shared = thaw_shared(frozen) if is_constant(frozen) else otherwise
    return shared


def is_constant(frozen: Frozen) -> bool:
    """Say whether nothing can change what a frozen value thaws to."""
    if type(frozen) is not tuple:
        return type(frozen) in _ATOMS
    tag = frozen[0]
    return tag is ENUM or (tag in _constant and all(map(is_constant, frozen[1:])))


def record_freezer(cls: type, names: tuple[str, ...]) -> Callable[[Any], Frozen]:
    """Return what freezes an instance of `cls` to a record of these fields."""
    fields = getter(attrgetter, names)

    def freezer(value: Any) -> Frozen:
        try:
            return (cls, *freeze_all(fields(value)))
        except Unfreezable as error:
            pairs = zip(names, fields(value), strict=True)
            raise error.inside(value, cls, pairs) from None

    return freezer


def getter(
    get: Callable[..., Callable[[Any], Any]], names: tuple[str, ...]
) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that gets these attributes or items, always as a tuple."""
    if len(names) > 1:
        return get(*names)
    if not names:
        return lambda value: ()
    one = get(*names)
    return lambda value: (one(value),)


def write_fields(record: Any, names: Iterable[str], content: Iterable[Any]) -> Any:
    """Write fields of a record, even of one that is frozen; return it."""
    for name, item in zip(names, content, strict=True):
        object.__setattr__(record, name, item)
    return record


def freeze_field(cls: type, values: dict[str, Any], name: str) -> Frozen:
    """Freeze one field; an error names the class and the path to the culprit."""
    item = values[name]
    try:
        return freeze(item)
    except Unfreezable as error:
        raise error.inside(values, cls, [(name, item)]) from None


def _freeze_float(value: float) -> Frozen:
    if math.isnan(value):
        raise Unfreezable(value)
    if not value and math.copysign(1.0, value) < 0:
        return BELOW_ZERO
    return (FLOAT, value)


def freeze_set(tag: Tag, values: Iterable[Any]) -> Frozen:
    """Freeze the elements of a set, in canonical order, behind `tag`."""
    return (tag, *sort([v if type(v) in ITSELF else freeze(v) for v in values]))


def sort(frozen: list[Frozen]) -> list[Frozen]:
    """Put frozen values in canonical order, in place."""
    if len(frozen) > 1:
        frozen.sort(key=_ordering(frozen))
    return frozen


def _ordering(frozen: Sequence[Frozen]) -> Callable[[Frozen], Any] | None:
    """Return the cheapest key that sorts these values as `order_key` does."""
    kinds = set(map(type, frozen))
    if kinds <= _ONLY_NODES:
        return attrgetter("index")
    return None if len(kinds) == 1 and kinds <= NATURAL else order_key


def _freeze_list(value: list[Any]) -> Frozen:
    for item in value:
        if isinstance(item, set | dict):
            kind = "set" if isinstance(item, set) else "dict"
            raise ModelError(
                f"a list holds the {kind} {reprlib.repr(item)}, "
                "whose order of iteration Worldline could not keep canonical",
                remedy="use a dict of sets, or put frozensets or tuples in the list",
            )
    return (LIST, *freeze_all(value))


def freeze_mapping(tag: Tag, items: Iterable[tuple[Any, Any]]) -> Frozen:
    """Freeze the items of a mapping, in canonical order of keys, behind `tag`."""
    pairs = [
        (
            key if type(key) in ITSELF else freeze(key),
            item if type(item) in ITSELF else freeze(item),
        )
        for key, item in items
    ]
    if len(pairs) > 1:
        order = _ordering([key for key, _ in pairs])
        pairs.sort(key=lambda pair: order(pair[0]) if order else pair[0])
    return (tag, *itertools.chain.from_iterable(pairs))


_freezers.update(
    {
        bool: lambda value: TRUE if value else FALSE,
        float: _freeze_float,
        tuple: lambda value: (TUPLE, *freeze_all(value)),
        list: _freeze_list,
        frozenset: lambda value: freeze_set(FROZENSET, value),
        set: lambda value: freeze_set(SET, value),
        dict: lambda value: freeze_mapping(DICT, value.items()),
        Time: lambda value: (TIME,),
        Duration: lambda value: (DURATION,),
    }
)
_thawers.update(
    {
        BOOL: lambda frozen: frozen[1] == 1,
        FLOAT: lambda frozen: frozen[1],
        ENUM: lambda frozen: _members.get(frozen) or frozen[1][frozen[2]],
        TUPLE: lambda frozen: tuple(thaw_all(frozen[1:])),
        LIST: lambda frozen: list(thaw_all(frozen[1:])),
        TIME: lambda frozen: EPOCH,
        DURATION: lambda frozen: Duration(),
    }
)
