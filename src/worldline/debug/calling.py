"""The calls that an expression may make, and the attributes it may name.

All that is not listed here is refused: a list of what is dangerous would be forgotten in
one place. Nothing listed changes a value, or leads from one to code.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

from worldline.debug.allowance import Allowance
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.message import Envelope
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.view import NodeView, View

_TEXT = (
    *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum"),
    *("isalpha", "isdecimal", "isdigit", "islower", "isspace", "isupper", "lower"),
    *("lstrip", "partition", "removeprefix", "removesuffix", "rfind", "rindex"),
    *("rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip"),
    *("swapcase", "title", "upper"),
)
_SET = (
    *("copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset"),
    *("symmetric_difference", "union"),
)
_MAP = ("copy", "get", "items", "keys", "values")

_METHODS: dict[type, tuple[str, ...]] = {
    str: _TEXT,
    bytes: ("count", "endswith", "find", "hex", "index", "startswith"),
    int: ("bit_count", "bit_length"),
    float: ("is_integer",),
    list: ("copy", "count", "index"),
    tuple: ("count", "index"),
    set: _SET,
    frozenset: _SET,
    dict: _MAP,
    FrozenMap: _MAP,
}
_FIELDS: dict[type, tuple[str, ...]] = {
    Envelope: ("message", "part", "src"),
    PendingTimer: ("name", "part", "payload"),
    NodeId: ("name",),
}
_VIEW = frozenset(
    (
        *("any_message", "for_each_node", "for_each_pair", "gauge", "history"),
        *("is_finished", "is_up", "messages", "of", "timers", "verdict"),
    )
)


@final
class AllowedFunction:
    """A function that an expression may call; no value of the system is one.

    It is no record: what it has is not for expressions.

    Parameters
    ----------
    kind
        The class of Python of that name, for ``isinstance``.
    """

    __slots__ = ("kind", "name", "run")

    def __init__(
        self, name: str, run: Callable[..., Any], kind: type | None = None
    ) -> None:
        self.name = name
        self.run = run
        self.kind = kind

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.run(*given, **named)


def call(
    called: Any, given: Sequence[Any], named: dict[str, Any], allowance: Allowance
) -> Any:
    """Call what an expression may call: a function, or a class of messages or values.

    Raises
    ------
    UsageError
        If it is something else.
    """
    if isinstance(called, AllowedFunction):
        return called(*given, **named)
    is_class = isinstance(called, type)
    if is_class and (dataclasses.is_dataclass(called) or issubclass(called, enum.Enum)):
        allowance.pay_for(*given, *named.values())
        return called(*given, **named)
    raise UsageError(f"{_called(called)} cannot be called")


def attribute(value: Any, name: str, allowance: Allowance) -> Any:
    """Return what an expression means by ``value.name``.

    Raises
    ------
    UsageError
        If values of that class have no such thing for an expression.
    """
    if name.startswith("_"):
        raise UsageError(f"{name!r} is a private name, and leads behind the view")
    for kind, look in _LOOKS:
        if isinstance(value, kind):
            attribute_value = look(value, name, allowance)
            break
    else:
        attribute_value = _of_record(value, name)
    if attribute_value is _NOTHING:
        raise UsageError(f"{_called(value)} has no {name!r} for an expression")
    return attribute_value


_NOTHING = object()
"""Stands for what is not there: None may be a value."""


def _of_view(view: View, name: str, allowance: Allowance) -> Any:
    if name in ("nodes", "time"):
        return getattr(view, name)
    return AllowedFunction(name, _asked(view, name)) if name in _VIEW else _NOTHING


def _of_node(node: NodeView, name: str, allowance: Allowance) -> Any:
    member = getattr(node, name)
    return AllowedFunction(name, member) if callable(member) else member


def _of_member(member: enum.Enum, name: str, allowance: Allowance) -> Any:
    return getattr(member, name) if name in ("name", "value") else _NOTHING


def _of_enum(kind: enum.EnumMeta, name: str, allowance: Allowance) -> Any:
    return kind.__members__.get(name, _NOTHING)


def _of_ours(value: Any, name: str, allowance: Allowance) -> Any:
    return getattr(value, name) if name in _FIELDS[type(value)] else _NOTHING


def _of_plain(value: Any, name: str, allowance: Allowance) -> Any:
    kind = next(kind for kind in type(value).__mro__ if kind in _METHODS)
    if kind is str and name in ("join", "replace"):
        return AllowedFunction(name, _sized(value, name, allowance))
    if name in _METHODS[kind]:
        return AllowedFunction(name, _method(value, name, allowance))
    return _NOTHING


def _of_record(value: Any, name: str) -> Any:
    """Return a field of a message or value, or a method that its class defines."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return _NOTHING
    if name in {field.name for field in dataclasses.fields(value)}:
        return getattr(value, name)
    made = getattr(type(value), name, None)
    if not inspect.isfunction(made):
        return _NOTHING
    return AllowedFunction(name, functools.partial(made, value))


_LOOKS: tuple[tuple[Any, Callable[[Any, str, Allowance], Any]], ...] = (
    (View, _of_view),
    (NodeView, _of_node),
    (enum.Enum, _of_member),
    (enum.EnumMeta, _of_enum),
    (tuple(_FIELDS), _of_ours),
    (tuple(_METHODS), _of_plain),
)
"""What looks a name up in values of which classes; the first one does."""


def _called(value: Any) -> str:
    return value.name if isinstance(value, AllowedFunction) else type(value).__name__


def _method(value: Any, name: str, allowance: Allowance) -> Callable[..., Any]:
    def run(*given: Any) -> Any:
        allowance.pay_for(value, *given)
        answer = getattr(value, name)(*(allowance.watched(item) for item in given))
        allowance.pay_for(answer)
        return answer

    return run


def _sized(text: str, name: str, allowance: Allowance) -> Callable[..., Any]:
    """Return the methods of text whose result may be longer than all they are given."""

    def join(items: Iterable[Any]) -> str:
        texts = [*allowance.watched(items)]
        allowance.pay(sum(len(item) + len(text) for item in texts))
        return text.join(texts)

    def replace(old: str, new: str) -> str:
        allowance.pay_for(text, old, new)
        allowance.pay(text.count(old) * len(new))
        return text.replace(old, new)

    methods: dict[str, Callable[..., Any]] = {"join": join, "replace": replace}
    return methods[name]


def _asked(view: View, name: str) -> Callable[..., Any]:
    """Return a method of the view; predicates are expressions, not functions."""

    def any_message(
        predicate: Callable[[Any], Any], kind: type | None = None, **named: Any
    ) -> bool:
        return any(predicate(sent.message) for sent in view.messages(kind, **named))

    def for_each_node(predicate: Callable[[View, NodeId], Any]) -> bool:
        return all(predicate(view, node) for node in view.nodes)

    def for_each_pair(predicate: Callable[[View, NodeId, NodeId], Any]) -> bool:
        return all(
            predicate(view, one, other)
            for position, one in enumerate(view.nodes)
            for other in view.nodes[position + 1 :]
        )

    asked = (any_message, for_each_node, for_each_pair)
    own = {question.__name__: question for question in asked}
    function: Callable[..., Any] = own.get(name) or getattr(view, name)
    return function


# -------------------------------------------------------------------------- builtins


def builtins(allowance: Allowance, text_of: Callable[[Any], str]) -> dict[str, Any]:
    """Return the built-in functions that expressions have, by name.

    Parameters
    ----------
    text_of
        Spells a value, for ``str`` and ``repr``.
    """
    functions = {
        **_collections(allowance),
        **_numbers(allowance),
        **_texts(allowance, text_of),
    }
    return {
        name: AllowedFunction(name, run, kind)
        for name, (run, kind) in functions.items()
    }


_Known: TypeAlias = dict[str, tuple[Callable[..., Any], type | None]]
"""Functions by name, each with the class of that name, if there is one."""


def _collections(allowance: Allowance) -> _Known:
    watched = allowance.watched

    def taking(make: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            collection = make(*map(watched, given), **named)
            allowance.pay_for(collection)
            return collection

        return run

    def lazy(make: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: make(*map(watched, given), **named)

    return {
        **{k.__name__: (taking(k), k) for k in (dict, frozenset, list, set, tuple)},
        **{f.__name__: (taking(f), None) for f in (all, any, max, min, sorted)},
        **{f.__name__: (lazy(f), None) for f in (enumerate, filter, iter, map, zip)},
        "sum": (lambda items, start=0: allowance.total(watched(items), start), None),
        "len": (len, None),
        "next": (next, None),
        "range": (range, range),
        "reversed": (reversed, None),
    }


def _numbers(allowance: Allowance) -> _Known:
    def number(make: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            allowance.pay_for(*given)
            return allowance.number(make(*given))

        return run

    def rounded(value: Any, digits: int | None = None) -> Any:
        if digits is not None and abs(digits) > _WIDEST:
            raise UsageError(f"to round to more than {_WIDEST} digits")
        return round(value, digits)

    return {
        **{k.__name__: (number(k), k) for k in (bool, float, int)},
        **{f.__name__: (number(f), None) for f in (abs, bin, chr, divmod, hex, oct)},
        "ord": (ord, None),
        "round": (rounded, None),
    }


def _texts(allowance: Allowance, text_of: Callable[[Any], str]) -> _Known:
    def spelt(value: Any = "") -> str:
        allowance.pay_for(value)
        return value if isinstance(value, str) else text_of(value)

    def formatted(value: Any, spec: str = "") -> str:
        return format_value(value, spec, spelt)

    def is_a(value: Any, kinds: Any) -> bool:
        return isinstance(value, _kinds(kinds))

    return {
        "str": (spelt, str),
        "repr": (
            lambda value: repr(value) if type(value) is str else spelt(value),
            None,
        ),
        "format": (formatted, None),
        "isinstance": (is_a, None),
    }


def _kinds(kinds: Any) -> Any:
    if isinstance(kinds, tuple):
        return tuple(map(_kinds, kinds))
    return kinds.kind if isinstance(kinds, AllowedFunction) else kinds


_WIDEST = 1000
"""Columns, or digits, that a format may ask for."""


def format_value(value: Any, spec: str, text_of: Callable[[Any], str]) -> str:
    """Return a value as a format says: ``05d``, ``>20``.

    Raises
    ------
    UsageError
        If it asks for more columns than anybody can read, or is not text.
    """
    if not isinstance(spec, str):
        raise UsageError("a format is text")
    digits = "".join(c if c.isdecimal() else " " for c in spec).split()
    if any(len(number) > 4 or int(number) > _WIDEST for number in digits):
        raise UsageError(f"a format of more than {_WIDEST} columns")
    if type(value) in (int, float, bool, str):
        return format(value, spec)
    return format(text_of(value), spec)
