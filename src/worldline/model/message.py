"""Messages: frozen dataclasses that can travel and be stored."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import re
from collections.abc import Callable
from typing import (
    Any,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    overload,
)

from worldline.model.data.changing import sort_of
from worldline.model.data.constant import register_constant
from worldline.model.data.content import DICT, LIST, SET, Frozen, Sealed, Tag
from worldline.model.data.identity import NodeId
from worldline.model.data.immutable import mutable
from worldline.model.data.settling import AS_THEY_ARE, as_it_is, register_settler
from worldline.model.data.values import (
    freeze,
    record_freezer,
    register_sealed,
    register_shared,
    thaw,
    thaw_all,
)
from worldline.model.drawn import OneOf
from worldline.model.errors import ModelError
from worldline.model.fields import is_node, refuse_node
from worldline.model.quick_init import give_quick_init, settled_field
from worldline.model.usercode.user_errors import spelt

C = TypeVar("C")

_MUTABLE = re.compile(r"\b(list|set|dict|List|Set|Dict|bytearray|deque|defaultdict)\b")
_MUTABLE_TAGS = frozenset({LIST, SET, DICT})
_ONLY_SETTLES = "__worldline_only_settles__"
_REMEDY = "use a tuple, a frozenset or wl.FrozenMap: a message is shared, never copied"


DeclaredSize: TypeAlias = float | Callable[[Any], float]
"""Bytes of every message of a class, or what says how many a message has."""


@overload
@dataclass_transform(frozen_default=True)
def message(cls: type[C]) -> type[C]: ...
@overload
@dataclass_transform(frozen_default=True)
def message(*, size: DeclaredSize) -> Callable[[type[C]], type[C]]: ...
def message(cls: type[Any] | None = None, *, size: DeclaredSize | None = None) -> Any:
    """Make a class a message: a frozen dataclass of immutable plain data.

    Parameters
    ----------
    size
        Bytes that a message has on a link whose capacity is limited, as a number or as a
        pure function of the message, such as of a block that stands for data which are
        not in the model. By default those of its canonical encoding.

    Raises
    ------
    ModelError
        If a field is annotated with a mutable type, or has a mutable default; or if the
        size is none.

    Examples
    --------
    >>> @message
    ... class Join:
    ...     joiner: str
    >>> Join("a")
    Join(joiner='a')
    """
    if cls is None:
        return lambda decorated: _sized(message(decorated), size)
    for name, annotation in inspect.get_annotations(cls).items():
        text = annotation if isinstance(annotation, str) else _spell(annotation)
        mutable = _MUTABLE.search(text)
        if mutable:
            raise ModelError(
                f"message {cls.__name__}: field {name!r} is a {mutable.group()}",
                remedy=_REMEDY,
            )
    is_simple = "__init__" not in vars(cls) and _does_nothing(cls)
    _settle_when_made(cls)
    try:
        made = dataclasses.dataclass(frozen=True)(cls)
    except (TypeError, ValueError) as error:
        remedy = _REMEDY
        if str(error).startswith("non-default argument"):
            remedy = "put the fields that have a default behind all others"
        raise ModelError(f"message {cls.__name__}: {error}", remedy=remedy) from error
    if is_simple:
        give_quick_init(made)
    _register(made)
    return made


def _sized(cls: type[Any], size: Any) -> type[Any]:
    is_number = isinstance(size, int | float) and not isinstance(size, bool)
    if not (callable(size) or (is_number and 0 <= size < math.inf)):
        raise ModelError(
            f"message {cls.__name__}: its size is {spelt(size)}",
            remedy="give a number of bytes, or a function of the message: "
            "@wl.message(size=lambda block: block.bytes)",
        )
    cls.__worldline_size__ = staticmethod(size) if callable(size) else size
    return cls


def _does_nothing(cls: type[Any]) -> bool:
    """Say whether a class has no `__post_init__` but that of a message without one."""
    then = getattr(cls, "__post_init__", None)
    return then is None or hasattr(then, _ONLY_SETTLES)


def _settle_when_made(cls: type[Any]) -> None:
    """Let instances hold canonical collections only, before anybody reads them."""
    is_simple = _does_nothing(cls)
    then: Callable[..., None] | None = getattr(cls, "__post_init__", None)

    def __post_init__(self: Any, *init_only: Any) -> None:
        if then is not None:
            then(self, *init_only)
        fields = self.__dict__
        if AS_THEY_ARE.issuperset(map(type, fields.values())):
            return  # as most are
        for name, value in fields.items():
            fields[name] = settled_field(self, name, value)

    if is_simple:
        setattr(__post_init__, _ONLY_SETTLES, True)
    cls.__post_init__ = __post_init__


def is_message(value: object) -> bool:
    """Say whether `value` is an instance of a message class."""
    return hasattr(type(value), "__worldline_message__")


def is_message_class(value: object) -> bool:
    """Say whether `value` is a message class itself."""
    return isinstance(value, type) and hasattr(value, "__worldline_message__")


def _spell(annotation: Any) -> str:
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return annotation.__name__
    return str(annotation)


def _register(cls: type[Any]) -> None:
    names = tuple(field.name for field in dataclasses.fields(cls))
    cls.__worldline_message__ = names
    cls.__worldline_size__ = getattr(cls, "__worldline_size__", None)

    freeze_fields = record_freezer(cls, names)

    def freezer(value: Any) -> Frozen:
        frozen: tuple[Any, ...] = freeze_fields(value)
        if tuple in map(type, frozen):
            for name, item in zip(names, frozen[1:], strict=True):
                if type(item) is tuple:
                    _refuse_mutable(cls, name, item)
        return frozen

    def thawer(frozen: tuple[Any, ...]) -> Any:
        fresh = object.__new__(cls)
        fresh.__dict__.update(zip(names, thaw_all(frozen[1:]), strict=True))
        return fresh

    register_shared(cls, freezer, thawer)
    register_settler(cls, as_it_is)
    register_constant(cls)


def _refuse_mutable(cls: type, name: str, frozen: tuple[Any, ...]) -> None:
    tag = frozen[0]
    if type(tag) is Tag:
        if tag in _MUTABLE_TAGS:
            raise mutable(tag, _field(cls, name), "a message")
    elif is_node(tag):
        refuse_node(_field(cls, name), tag)
    elif tag is OneOf:
        raise ModelError(
            f"{_field(cls, name)} holds {thaw(frozen)!r}, which only a call of the "
            "workload draws from",
            remedy="let the handler choose: ctx.choose([...])",
        )
    elif sort_of(tag) is not None:
        raise mutable(tag, _field(cls, name), "a message")
    for item in frozen[1:]:
        if type(item) is tuple:
            _refuse_mutable(cls, name, item)


def _field(cls: type, name: str) -> str:
    return f"message {cls.__name__}: field {name!r}"


class Envelope(Sealed):
    """A message on its way: who sent it, from which part, and what it says.

    Two envelopes are equal when their sources, parts and contents are; a network
    cannot tell them apart, so delivering either is one event.

    Parameters
    ----------
    frozen
        The frozen message.
    """

    __slots__ = ("message", "part", "src")

    def __init__(self, src: NodeId, part: str, message: Any, frozen: Frozen) -> None:
        self.src = src
        self.part = part
        self.message = message
        super().__init__((Envelope, src, part, frozen))

    def __repr__(self) -> str:
        return f"{spelt(self.message)} from {self.src}"


def _sealed(name: str, envelope: Any) -> Any:
    """Freeze the message of an open envelope; return an attribute that this has then."""
    frozen = freeze(envelope.message)
    envelope.__class__ = Envelope
    envelope.__init__(envelope.src, envelope.part, envelope.message, frozen)
    return getattr(envelope, name)


class OpenEnvelope(Envelope):
    """An envelope whose message is frozen once somebody asks for its key.

    A node that is deployed compares none, and to freeze takes longer than many a
    handler. Once it has its key it is an `Envelope` like any other. What is there then is
    a property of this class: one with a `__getattr__` finds all of its attributes more
    slowly.
    """

    __slots__ = ()

    def __init__(self, src: NodeId, part: str, message: Any) -> None:
        self.src = src
        self.part = part
        self.message = message


for _name in Sealed.__slots__:
    setattr(OpenEnvelope, _name, property(functools.partial(_sealed, _name)))

register_sealed(Envelope)
register_sealed(OpenEnvelope)
