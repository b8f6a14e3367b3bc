"""Python expressions over the view of a state, typed by the user at the keyboard.

Nothing that was read from a file gets here: a trace holds data, and an expression comes
from the command line, a terminal or a pipe. It can reach the values of the view and
nothing else: it is not run by Python but by `interpreter`, which knows every kind of
expression that there is for it, `calling` what can be called, and `allowance` how much.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from types import GeneratorType
from typing import Any, final

from worldline.debug.allowance import Allowance
from worldline.debug.calling import AllowedFunction, builtins
from worldline.debug.interpreter import Interpreter
from worldline.debug.scopes import NameScope
from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, UsageError, WorldlineError
from worldline.model.fields import Role
from worldline.model.message import Envelope
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.usercode.user_functions import yes_or_no
from worldline.model.view import NodeView, View
from worldline.runs.explain import text_of
from worldline.trace.class_table import ClassTable
from worldline.trace.json_text import Json, shorten
from worldline.trace.json_values import encode_value

_ALWAYS_TRUE = (GeneratorType, AllowedFunction, View, NodeView)
"""What a condition is not about, though Python takes it for true."""

_WIDEST = 100
"""Columns of an expression that a message quotes."""


@final
@dataclass(frozen=True, slots=True)
class Evaluated:
    """The value of an expression.

    Attributes
    ----------
    text
        As Python would print it.
    value
        As JSON, spelt as in traces; None if it is no data, such as a generator.
    """

    text: str
    value: Json


@final
class Expressions:
    """Evaluates expressions over states of one system.

    They can use ``view`` and ``nodes``, each node by its name and by what a module of the
    properties calls it, and the classes of messages and values by theirs; the view and
    the nodes win over classes.

    Parameters
    ----------
    system
        Whose nodes and classes can be named.
    """

    def __init__(self, system: System) -> None:
        self._allowance = Allowance()
        self._interpreter = Interpreter(self._allowance, _text)
        self._names: dict[str, Any] = {
            **builtins(self._allowance, _text),
            **ClassTable.of(system).named(),
            **_constants(system),
            **{node.name: node for node in system.ids},
            "nodes": system.ids,
        }

    def parse(self, text: str) -> ast.expr:
        """Return an expression, ready to be evaluated.

        Raises
        ------
        UsageError
            If it is none, or uses a private name.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            said = error.msg if isinstance(error, SyntaxError) else str(error)
            raise UsageError(
                f"{shorten(text.strip(), _WIDEST)!r} is not a Python expression: {said}"
            ) from None
        for item in ast.walk(tree):
            name = getattr(item, "attr", None) or getattr(item, "id", None)
            if isinstance(name, str) and name.startswith("_") and name != "_":
                raise UsageError(
                    f"the expression uses the private name {name!r}",
                    remedy="names that begin with _ lead behind the view",
                )
            if not Interpreter.knows(item):
                raise UsageError(f"the expression has {type(item).__name__} in it")
        return tree.body

    def value(self, expression: ast.expr, view: View) -> Evaluated:
        """Return what an expression is in a state.

        Raises
        ------
        UsageError
            If it raises, or does what no expression may; the message is one line.
        """
        try:
            value = self._value(expression, view)
            self._allowance.pay_for(value)
            return Evaluated(_text(value), _json(value))
        except WorldlineError as error:
            raise UsageError(f"the expression cannot be evaluated: {error}") from None
        except (Exception, RecursionError) as error:
            said = str(error).partition("\n")[0]
            raise UsageError(
                f"the expression raised {type(error).__name__}: {said}"
            ) from None

    def _value(self, expression: ast.expr, view: View) -> Any:
        self._allowance.renew()
        names = NameScope({**self._names, "view": view})
        return self._interpreter.value(expression, names)

    def predicate(self, text: str) -> Callable[[View], bool]:
        """Return an expression as a predicate over states, named by its text.

        It is true where Python takes the value for true. What is so always is refused: a
        function or a generator, as a method was not called, or a node, of a field of which
        somebody thought.

        Raises
        ------
        UsageError
            If it is no expression, or uses a private name. What it raises when it is
            evaluated is passed on; `ModelError` if it asks for what there is not.
        """
        expression = self.parse(text)

        def holds(view: View) -> bool:
            try:
                value = self._value(expression, view)
            except (NameError, UsageError) as error:
                raise ModelError(
                    f"{shorten(text, _WIDEST)!r} cannot be evaluated: {error}",
                    remedy=f"write view[{view.nodes[0]}].FIELD for a field of a node",
                    located=True,
                ) from None
            if callable(value) or isinstance(value, _ALWAYS_TRUE):
                return yes_or_no(value, None, f"the expression {text!r}")
            return bool(value)

        holds.__name__ = text
        return holds


def _constants(system: System) -> dict[str, NodeId]:
    """Return the nodes by the names that properties write: ``view[PRIMARY]``."""
    found: dict[str, NodeId] = {}
    for prop in system.properties:
        names: dict[str, Any] = getattr(prop.predicate, "__globals__", {})
        nodes = {n: v for n, v in names.items() if type(v) is NodeId}
        found |= {n: node for n, node in nodes.items() if node in system.index}
    return found


def _text(value: Any) -> str:
    """Return a value as text, the same in every process."""
    text = text_of(value, width=None)
    if text is not None:
        return text
    if isinstance(value, NodeView):
        fields = [f"{name}={_text(item)}" for name, item in _fields(value).items()]
        return f"{value._type.cls.__name__}({', '.join(fields)})"
    if isinstance(value, dict):
        pairs = [f"{_text(key)}: {_text(item)}" for key, item in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        items = ", ".join(map(_text, value))
        return f"[{items}]" if isinstance(value, list) else f"({items})"
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, AllowedFunction):
        return value.name
    # No repr: it may have an address in it, which differs from run to run.
    return f"<{type(value).__name__}>"


def _json(value: Any) -> Json:
    with contextlib.suppress(WorldlineError, TypeError):
        return encode_value(value)
    if isinstance(value, NodeView):
        return {name: _json(item) for name, item in _fields(value).items()}
    if isinstance(value, Envelope):
        message = encode_value(value.message)
        return {"src": value.src.name, "part": value.part, "message": message}
    if isinstance(value, PendingTimer):
        payload = encode_value(value.payload)
        return {"part": value.part, "name": value.name, "payload": payload}
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else _text(key): _json(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return None


def _fields(node: NodeView) -> dict[str, Any]:
    roles = node._type.roles
    return {
        n: getattr(node, n) for n, role in roles.items() if role is not Role.IGNORED
    }
