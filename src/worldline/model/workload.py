"""Workloads: which application calls are made on which node, as data.

What draws an argument is in `drawn`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, final

from worldline.model.annotations import bound_arguments
from worldline.model.arguments import check_node, named, node_list
from worldline.model.data.content import Frozen, order_key
from worldline.model.data.identity import NodeId
from worldline.model.data.immutable import immutable
from worldline.model.data.settling import settled
from worldline.model.data.values import freeze
from worldline.model.drawn import check_drawn
from worldline.model.errors import ModelError
from worldline.model.handler_marks import HandlerKind, mark_of
from worldline.model.node import NodeType
from worldline.model.usercode.user_functions import check_function, defined_at

WAIT = "wait_until"
"""What the event is called with which a script goes on after a wait."""

_LAMBDA = "<lambda>"


@final
@dataclass(frozen=True, slots=True)
class Invocation:
    """A call of an application call handler, with its arguments.

    Attributes
    ----------
    written
        The handler as the user wrote it: ``Class.name``. It is found by its name, so
        that a subclass may have its own.
    until
        For a wait of a script, which calls nothing: what must be true of the node. Its
        name is the only argument.
    """

    name: str
    arguments: tuple[Any, ...]
    written: str = field(default="", compare=False, repr=False)
    until: Callable[[Any], bool] | None = field(default=None, compare=False, repr=False)
    _key: list[tuple[str, Frozen]] = field(
        init=False, default_factory=list, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", settled(self.arguments))

    @property
    def key(self) -> tuple[str, Frozen]:
        """What identifies the call by value."""
        # Worked out once: there may be thousands of options to freeze.
        if not self._key:
            self._key.append((self.name, freeze(self.arguments)))
        return self._key[0]

    @property
    def rank(self) -> tuple[Any, ...]:
        """What brings calls into canonical order."""
        return order_key((Invocation, *self.key, self.written))

    def is_of(self, kind: NodeType) -> bool:
        """Say whether the handler was written as one of this class, or of its bases."""
        defined = [vars(base).get(self.name) for base in kind.cls.__mro__]
        names = {getattr(function, "__qualname__", None) for function in defined}
        return not self.written or self.written in names


@final
@dataclass(frozen=True, slots=True)
class Script:
    """A sequence of calls on one node; it has a position, part of the state."""

    node: NodeId
    calls: tuple[Invocation, ...]
    on_reset: Literal["restart", "continue"]
    _by_key: dict[tuple[str, Frozen], Invocation] = field(
        init=False, default_factory=dict, compare=False, repr=False
    )

    def call_of(self, key: tuple[str, Frozen]) -> Invocation | None:
        """Return the first call that a key identifies; None if none is so."""
        if not self._by_key:
            self._by_key.update((call.key, call) for call in reversed(self.calls))
        return self._by_key.get(key)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Whenever:
    """A call that can be made as often as its guard holds; it has no position."""

    call: Invocation
    nodes: tuple[NodeId, ...] | None
    when: Callable[..., bool] | None
    handler: Callable[..., Any] | None

    def fits(self, kind: NodeType) -> bool:
        """Say whether nodes of this type have the call."""
        call = kind.calls.get(self.call.name)
        if call is None or not self.call.is_of(kind):
            return False
        return self.handler in (None, call.function)


def invoke(
    function: Callable[..., Any], /, *arguments: Any, **by_name: Any
) -> Invocation:
    """Describe a call of an ``@wl.call`` handler.

    Parameters
    ----------
    function
        The handler, such as ``RandTree.join_overlay``.
    arguments
        Given to the handler after ``ctx``: immutable plain data, or what draws it,
        `one_of` and `integers`. What is drawn is a choice, made before the handler
        runs; a search tries each combination.
    by_name
        Further arguments, by the names of the handler's parameters.
    """
    mark = mark_of(function)
    if mark is None or mark.kind is not HandlerKind.CALL:
        name = getattr(function, "__qualname__", None)
        raise ModelError(
            f"{name or named(function)} is not an application call",
            remedy="decorate it with @wl.call"
            if name
            else "write wl.invoke(Node.call, ...)",
        )
    remedy = "give the arguments that the handler takes after self and ctx"
    what = f"wl.invoke({function.__qualname__}, ...)"
    check_drawn([*arguments, *by_name.values()], what)
    bound = bound_arguments(function, arguments, by_name, what, remedy)
    for argument in bound:
        immutable(argument, f"what {what} is given", "it")
    return Invocation(function.__name__, bound, function.__qualname__)


def wait_until(predicate: Callable[[Any], bool], name: str | None = None) -> Invocation:
    """Let a script wait: the calls after this are made once a predicate has been true.

    Going on is an event of its own, a call named ``wait_until`` that does nothing
    else; it can happen while the predicate is true.

    Parameters
    ----------
    predicate
        A function of the node, ``(self) -> bool``, without side effects.
    name
        What the wait is called in traces; by default as its function, and where that
        is a lambda by its line, ``FILE:LINE``. No two waits of a node have one name.
    """
    like = "lambda self: ..."
    what = "wl.wait_until(...)"
    _refuse_view(predicate, what)
    check_function(predicate, what, arguments=1, like=like)
    own: str | None = getattr(predicate, "__name__", None)
    if own in (None, _LAMBDA):
        own = defined_at(predicate).strip(" ()")
    given: Any = own if name is None else name
    if not isinstance(given, str) or not given:
        raise ModelError(
            f"{what} has the name {given!r}",
            remedy=f"write wl.wait_until({like}, name='ready')",
        )
    return Invocation(WAIT, (given,), until=predicate)


def _refuse_view(predicate: Any, what: str) -> None:
    """Refuse a function of all nodes: it would fail only when it is asked."""
    try:
        first = next(iter(inspect.signature(predicate).parameters.values()))
    except (TypeError, ValueError, StopIteration):
        return
    kind = getattr(first.annotation, "__name__", str(first.annotation))
    # A property, too, is called with what it names so.
    if first.name == "view" or kind.rpartition(".")[2] == "View":
        raise ModelError(
            f"{what} is given a function over the view{defined_at(predicate)}",
            remedy="give one of the node that the script drives: lambda self: ...",
        )


def _as_invocation(call: Invocation | Callable[..., Any]) -> Invocation:
    return call if isinstance(call, Invocation) else invoke(call)


def script(
    node: NodeId,
    calls: Iterable[Invocation | Callable[..., Any]],
    *,
    on_reset: Literal["restart", "continue"] = "restart",
) -> Script:
    """Make calls on a node in order; a call whose guard is false waits.

    A call with drawn arguments waits until its guard is true of some combination. If
    another one is drawn it does nothing, and the script goes on.

    Parameters
    ----------
    calls
        `invoke` results, or handlers that need no arguments; and `wait_until` between
        them.
    on_reset
        Whether a reset of the node begins the script again, as an application that
        lives in the same process does.
    """
    check_node("wl.script(node=...)", node)
    if on_reset not in ("restart", "continue"):
        raise ModelError(
            f"script(on_reset={on_reset!r}) is unknown",
            remedy="say 'restart' or 'continue'",
        )
    if not isinstance(calls, Iterable):
        raise ModelError(
            f"wl.script({node}, ...) has {named(calls)} for calls, which is no list",
            remedy="write [wl.invoke(Node.call, ...), ...]",
        )
    return Script(node, tuple(map(_as_invocation, calls)), on_reset)


def whenever(
    call: Invocation | Callable[..., Any],
    /,
    *,
    nodes: Iterable[NodeId] | None = None,
    when: Callable[..., bool] | None = None,
    **arguments: Any,
) -> Whenever:
    """Enable a call as long as its guard holds, like an action of a TLA+ spec.

    With drawn arguments it can be made while the guard holds for some combination;
    if another one is drawn it does nothing.

    Parameters
    ----------
    call
        A handler, or an `invoke` result.
    nodes
        Where; None means every node of the class that has the call.
    when
        A guard ``(self, *arguments) -> bool`` beside the handler's own.
    arguments
        What the handler is called with, by the names of its parameters, as for
        `invoke`; that takes parameters called ``nodes`` or ``when``, too.
    """
    handler = None if isinstance(call, Invocation) else call
    made = _as_invocation(call) if handler is None else invoke(handler, **arguments)
    if handler is None and arguments:
        raise ModelError(
            f"wl.whenever: {', '.join(arguments)} beside wl.invoke(...), which has the "
            "arguments of the call",
            remedy="give all arguments to wl.invoke(...)",
        )
    if when is not None:
        count = 1 + len(made.arguments)
        like = "lambda self, ...: ..., with the arguments of the call"
        check_function(when, "wl.whenever(when=...)", arguments=count, like=like)
    if made.until is not None:
        raise ModelError(
            "wl.whenever is given a wl.wait_until(...)",
            remedy="that stands among the calls of wl.script(...); give when=",
        )
    where = None if nodes is None else node_list("wl.whenever(nodes=...)", nodes)
    return Whenever(made, where, when, handler)
