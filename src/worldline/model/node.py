"""Nodes: dataclasses of plain data whose methods are handlers.

`node` is the decorator; `NodeType` is what it learned about a class: its fields by
role, its handlers by what wakes them, its parts, and how to freeze, thaw and reset
an instance.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable
from operator import itemgetter
from typing import Any, TypeVar, dataclass_transform, final

from worldline.model import fields as roles
from worldline.model.annotations import bound_arguments
from worldline.model.assigning import checked_setattr, deleted, refused_delattr
from worldline.model.data.content import Frozen
from worldline.model.data.settling import register_settler, settle_live
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import (
    freeze_all,
    getter,
    register_type,
    thaw,
)
from worldline.model.drawn import is_drawn
from worldline.model.errors import ModelError
from worldline.model.fields import GhostField, Role, role_of
from worldline.model.handler_marks import HandlerKind, HandlerMark, mark_of
from worldline.model.node_template import first_value
from worldline.model.usercode.guards import allows

C = TypeVar("C")


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Handler:
    """A method of a node class and what wakes it."""

    function: Callable[..., Any]
    name: str
    mark: HandlerMark

    @functools.cached_property
    def number(self) -> int:
        """The mark with which its code is entered."""
        return hash(self.name)

    def takes(self, service: Any, *arguments: Any) -> bool:
        """Say whether its guard, if it has one, lets it have an event."""
        when = self.mark.when
        return when is None or allows(when, self.name, service, *arguments)

    def accepts(self, arguments: Any) -> bool:
        """Say whether a call's handler can be given these: plain data, as annotated."""
        if type(arguments) is not tuple or is_drawn(arguments):
            return False
        kinds = tuple(map(type, arguments))
        is_accepted = self._accepted.get(kinds)
        if is_accepted is None:
            try:
                bound_arguments(self.function, arguments, {}, self.name, "")
            except ModelError:
                is_accepted = False
            else:
                is_accepted = True
            self._accepted[kinds] = is_accepted
        return is_accepted

    @functools.cached_property
    def _accepted(self) -> dict[tuple[type, ...], bool]:
        """Which classes of arguments were accepted: nothing else is compared."""
        return {}

    @functools.cached_property
    def payload(self) -> inspect.Parameter:
        """The parameter of a timer's handler that takes the payload."""
        return [*inspect.signature(self.function).parameters.values()][2]


@final
class NodeType:
    """The description of a node class.

    Attributes
    ----------
    names, identity
        Names of all fields, and of those that are part of a state's identity, in order.
    on, timers, calls, upcalls
        Handlers by message class, or by name.
    reaction, called
        The handler of predictions, if there is one; and `calls` with it, by name.
    start, error
        The boot handler and the transport-error handler, if there are any.
    parts
        The `NodeType` of each part, by field name, in order of declaration.
    """

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        declared = dataclasses.fields(cls)
        self.roles = {field.name: role_of(field) for field in declared}
        self.names = [*self.roles]
        self.identity = tuple(
            name for name, role in self.roles.items() if role is not Role.IGNORED
        )
        self._identify = getter(itemgetter, self.identity)
        self.ignored = tuple(
            name for name, role in self.roles.items() if role is Role.IGNORED
        )
        self.parts: dict[str, NodeType] = {
            field.name: node_type(field.default_factory)
            for field in declared
            if role_of(field) is Role.PART
        }
        self.on: dict[type, Handler] = {}
        self.timers: dict[str, Handler] = {}
        self.calls: dict[str, Handler] = {}
        self.called: dict[str, Handler] = {}
        self.upcalls: dict[str, Handler] = {}
        self.start: Handler | None = None
        self.error: Handler | None = None
        self.reaction: Handler | None = None
        for name in dir(cls):
            function = getattr(cls, name, None)
            mark = mark_of(function)
            if mark is not None and function is not None:
                self._collect(Handler(function, name, mark))
            elif callable(function):
                self._check_hidden(name)
        self._refuse_reactions_below()

    @functools.cached_property
    def plain_on(self) -> dict[type, Handler]:
        """Those by message class that nothing has to be asked before; no parts."""
        return {key: one for key, one in self.on.items() if self._is_plain(one)}

    @functools.cached_property
    def plain_timers(self) -> dict[str, Handler]:
        """Those by the name of a timer that nothing has to be asked before; no parts."""
        return {key: one for key, one in self.timers.items() if self._is_plain(one)}

    @property
    def direct_on(self) -> dict[type, Handler]:
        """Those by message class before which their guard alone is asked; no parts."""
        return {} if self.parts else self.on

    @property
    def direct_timers(self) -> dict[str, Handler]:
        """Those by the name of a timer before which their guard alone is asked; no parts."""
        return {} if self.parts else self.timers

    def _is_plain(self, handler: Handler) -> bool:
        return handler.mark.when is None and not self.parts

    @functools.cached_property
    def timer_of(self) -> dict[Callable[..., Any], Handler]:
        """Handlers of timers by the function that handlers name them by, mostly."""
        return {one.function: one for one in self.timers.values()}

    @property
    def ignores(self) -> frozenset[type]:
        """Message classes that the user declared as rightly not handled."""
        declared: frozenset[type] = getattr(
            self.cls, "__worldline_ignores__", frozenset()
        )
        return declared

    @property
    def router(self) -> str | None:
        """The part through which this service sends: the first with a ``route``."""
        for name, kind in self.parts.items():
            if callable(getattr(kind.cls, "route", None)):
                return name
        return None

    def _collect(self, handler: Handler) -> None:
        kind = handler.mark.kind
        if kind is HandlerKind.ON and handler.mark.message is not None:
            self._claim(self.on, handler.mark.message, handler)
        elif kind is HandlerKind.TIMER:
            self.timers[handler.name] = handler
        elif kind is HandlerKind.CALL:
            self.calls[handler.name] = self.called[handler.name] = handler
        elif kind is HandlerKind.ON_PREDICTION:
            self.reaction = self._only(self.reaction, handler, "on_prediction")
            self.called[handler.name] = handler
        elif kind is HandlerKind.UPCALL:
            self.upcalls[handler.name] = handler
        elif kind is HandlerKind.START:
            self.start = self._only(self.start, handler, "start")
        else:
            self.error = self._only(self.error, handler, "transport_error")

    def _check_hidden(self, name: str) -> None:
        """Refuse a method that takes the place of a handler, and is none itself."""
        for base in self.cls.__mro__:
            mark = mark_of(vars(base).get(name))
            if mark is not None:
                kind = mark.kind.name.lower()
                raise ModelError(
                    f"{self.cls.__name__}.{name} hides the {kind} handler of "
                    f"{base.__name__}, and would never run",
                    remedy=f"decorate it with @wl.{kind} as well, or rename it",
                )

    def _refuse_reactions_below(self) -> None:
        """Refuse a part that reacts to predictions, since nobody would ask it to."""
        for name, inner in self.parts.items():
            if inner.reaction is not None:
                raise ModelError(
                    f"the part {self.cls.__name__}.{name} has an on_prediction handler, "
                    "which would never run",
                    remedy=f"put it into {self.cls.__name__}, and call the part there",
                )

    def _claim(self, table: dict[type, Handler], key: type, handler: Handler) -> None:
        if key in table:
            raise ModelError(
                f"{self.cls.__name__} has two handlers for message {key.__name__}: "
                f"{table[key].name} and {handler.name}",
                remedy="keep one and branch inside it",
            )
        table[key] = handler

    def _only(self, present: Handler | None, handler: Handler, what: str) -> Handler:
        if present is not None:
            raise ModelError(
                f"{self.cls.__name__} has two {what} handlers: "
                f"{present.name} and {handler.name}",
                remedy="keep one",
            )
        return handler

    def freeze(self, node: Any) -> Frozen:
        """Return the identity of `node`: a record of all but its ignored fields."""
        values = node.__dict__
        try:
            return (self.cls, *freeze_all(self._identify(values)))
        except Unfreezable as error:
            fields = [(name, values[name]) for name in self.identity]
            raise error.inside(node, self.cls, fields) from None

    def check_fields(self, node: Any, handler: str) -> None:
        """Check, after a handler has run, that a node has the fields of its class.

        Raises
        ------
        ModelError
            If one has gone, or something else has come.
        """
        values = node.__dict__
        for name in self.roles.keys() - values.keys():
            raise deleted(self.cls, name, f"{handler} deleted")
        for name in sorted(values.keys() - self.roles.keys()):
            raise ModelError(
                f"{handler} gave {self.cls.__name__} the attribute {name!r}, which "
                "is no field, so its value would be lost",
                remedy=f"declare it in the class: {name}: TYPE = DEFAULT; and use "
                "no functools.cached_property",
            )
        for name, inner in self.parts.items():
            inner.check_fields(values[name], handler)

    def thaw(self, frozen: Frozen, prototype: Any) -> Any:
        """Return a fresh node; ignored fields get the prototype's value.

        For one that is thawed again and again there is `NodeTemplate`.
        """
        fresh = object.__new__(self.cls)
        values, parts = fresh.__dict__, self.parts
        for name, item in zip(self.identity, frozen[1:], strict=True):
            if name in parts:
                values[name] = parts[name].thaw(item, prototype.__dict__[name])
            else:
                values[name] = thaw(item) if type(item) is tuple else item
        for name in self.ignored:
            values[name] = first_value(self.cls, prototype, name)
        return fresh

    def forget(self, node: Any, prototype: Any) -> None:
        """Give ignored fields the prototype's values again, in place."""
        for name in self.ignored:
            node.__dict__[name] = first_value(self.cls, prototype, name)
        for name, inner in self.parts.items():
            inner.forget(node.__dict__[name], prototype.__dict__[name])

    def reset(self, node: Any, prototype: Any) -> None:
        """Make `node` its prototype again, in place; durable and ghost fields stay."""
        for name, role in self.roles.items():
            if role is Role.PART:
                inner = self.parts[name]
                inner.reset(node.__dict__[name], prototype.__dict__[name])
            elif role not in (Role.DURABLE, Role.GHOST):
                node.__dict__[name] = first_value(self.cls, prototype, name)

    def error_part(self) -> str | None:
        """Return the path of the lowest part that hears of transport errors."""
        for name, inner in self.parts.items():
            below = inner.error_part()
            if below is not None:
                return f"{name}.{below}" if below else name
        return "" if self.error is not None else None


@dataclass_transform(
    field_specifiers=(
        roles.field,
        roles.durable,
        roles.ignored,
        roles.ghost,
        roles.part,
    )
)
def node(cls: type[C]) -> type[C]:
    """Make a class a node: a dataclass of plain data with handlers.

    Raises
    ------
    ModelError
        If a field or a handler is declared wrongly; the message names class and
        field, and says what to write instead.
    """
    for name, annotation in inspect.get_annotations(cls).items():
        value = cls.__dict__.get(name)
        if isinstance(value, dataclasses.Field) and role_of(value) is Role.PART:
            _complete_part(cls, name, annotation, value)
    try:
        made: Any = dataclasses.dataclass(eq=False)(cls)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"node {cls.__name__}: {error}",
            remedy="give every field a default; for a set, list or dict write "
            "wl.field(default_factory=set)",
        ) from error
    for declared in dataclasses.fields(made):
        if role_of(declared) is Role.GHOST:
            setattr(made, declared.name, GhostField(cls.__name__, declared.name))
    made.__setattr__ = checked_setattr(made)
    made.__delattr__ = refused_delattr(made)
    made.__worldline_node__ = NodeType(made)
    register_type(made, made.__worldline_node__.freeze)
    register_settler(made, settle_live)
    result: type[C] = made
    return result


def node_type(cls: Any) -> NodeType:
    """Return what is known about a node class.

    Raises
    ------
    ModelError
        If `cls` was not made with ``@wl.node``.
    """
    kind = getattr(cls, "__worldline_node__", None)
    if not isinstance(kind, NodeType) or kind.cls is not cls:
        raise ModelError(
            f"{getattr(cls, '__name__', cls)!s} is not a node class",
            remedy="decorate it with @wl.node",
        )
    return kind


def _complete_part(
    cls: type, name: str, annotation: Any, declared: dataclasses.Field[Any]
) -> None:
    service = declared.metadata["service"]
    if service is None and isinstance(annotation, str):
        service = vars(sys.modules[cls.__module__]).get(annotation)
    elif service is None:
        service = annotation
    if not isinstance(getattr(service, "__worldline_node__", None), NodeType):
        raise ModelError(
            f"{cls.__name__}.{name}: a part must be a node class, got {annotation}",
            remedy=f"decorate it with @wl.node, or write {name} = wl.part(TheClass)",
        )
    declared.default_factory = service
