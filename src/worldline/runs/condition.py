"""The part of a predicate's source that made it false, and for which variables.

The predicate is run once more, its last statement is found in its source, and the
condition there is narrowed as long as one part alone decides: to the first false
operand of an ``and``, to the first element for which an ``all(...)`` fails. Without
source, or where nothing can be narrowed, there is simply less to say.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """The part of a predicate that decided.

    Attributes
    ----------
    text
        Its source.
    value
        What it was: False, or True for the test of an ``if`` that returns False.
    variables
        The variables that it is about.
    calls
        The name of the method it calls, if it is nothing but such a call.
    says
        Whether it is an assert with a message of its own.
    """

    text: str
    value: bool
    variables: dict[str, Any]
    calls: str
    says: bool


def condition_of(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Condition | None:
    """Return what decided that ``function(*arguments)``, which is pure, is false."""
    decided = _decided(function, arguments)
    if decided is None:
        return None
    source, (expression, value, says), scope = decided
    if not value:
        expression = scope.narrow(expression)
    text = _text(source, expression)
    return Condition(text, value, scope.used(expression), _called(expression), says)


def _decided(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[str, tuple[ast.expr, bool, bool], _Scope] | None:
    """Return a source, what decided in it as `_deciding` does, and what it knew."""
    frame = _last_moment(function, arguments)
    if frame is None:
        return None
    line, variables = frame
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source)
    except (OSError, SyntaxError, TypeError):
        return None
    first = function.__code__.co_firstlineno
    if function.__name__ == "<lambda>":
        deciding = _only_lambda(tree)
    else:
        deciding = _deciding(tree, line - first + 1)
    if deciding is None:
        return None
    return source, deciding, _Scope(function.__globals__, variables)


@final
@dataclass(frozen=True, slots=True)
class PartialTruth:
    """The share of a false predicate that holds: of operands and elements.

    Attributes
    ----------
    holding, total
        How many of the operands of an ``and`` hold, and of how many; of an ``all(...)``
        each element is one.
    missing
        The source of the first that does not.
    """

    holding: int
    total: int
    missing: str


def parts_of(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> PartialTruth | None:
    """Return how much of ``function(*arguments)`` holds; None if it has no parts."""
    decided = _decided(function, arguments)
    if decided is None or decided[1][1]:
        return None
    source, (expression, _, _), scope = decided
    with contextlib.suppress(Exception):
        holding = scope.holding(expression)
        if len(holding) > 1:
            missing = _text(source, scope.narrow(expression))
            return PartialTruth(sum(holding), len(holding), missing)
    return None


def _text(source: str, expression: ast.expr) -> str:
    """Return the source of an expression on one line."""
    return " ".join((ast.get_source_segment(source, expression) or "").split())


def _last_moment(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[int, dict[str, Any]] | None:
    """Run a function and return the line and the variables with which it ended."""
    code = getattr(function, "__code__", None)
    if code is None:  # what is called is no function
        return None
    wanted: FrameType | None = None
    moments: list[tuple[int, dict[str, Any]]] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal wanted
        if event == "call" and wanted is None and frame.f_code is code:
            wanted = frame
        if event == "return" and frame is wanted:
            moments.append((frame.f_lineno, dict(frame.f_locals)))
        return trace if frame is wanted else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with contextlib.suppress(AssertionError):
            function(*arguments)
    finally:
        sys.settrace(before)
    return moments[0] if moments else None


def _deciding(tree: ast.AST, line: int) -> tuple[ast.expr, bool, bool] | None:
    """Return the condition on a line, its value, and whether a message goes with it."""
    around: ast.If | None = None
    for node in ast.walk(tree):
        # Breadth first: an inner statement comes after those around it.
        if not isinstance(node, ast.stmt) or not _covers(node, line):
            continue
        if isinstance(node, ast.If) and any(
            _covers(inner, line) for inner in node.body
        ):
            around = node
        elif isinstance(node, ast.Assert):
            return node.test, False, node.msg is not None
        elif isinstance(node, ast.Return) and node.value is not None:
            if not isinstance(node.value, ast.Constant):
                return node.value, False, False
            return (around.test, True, False) if around is not None else None
    return None


def _only_lambda(tree: ast.AST) -> tuple[ast.expr, bool, bool] | None:
    # The source of a lambda is that of its whole line, on which there may be others.
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    return (lambdas[0].body, False, False) if len(lambdas) == 1 else None


def _covers(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _called(expression: ast.expr) -> str:
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        return expression.func.attr
    return ""


class _Scope:
    """Evaluates parts of a predicate with the variables that it had.

    This runs source of the user's that has just been run; none of it is from a file
    that was read.
    """

    def __init__(self, fixed: dict[str, Any], variables: dict[str, Any]) -> None:
        # One dict for both, because a nested scope sees the globals only.
        self._names = {**fixed, **variables}
        self._variables = dict(variables)

    def narrow(self, expression: ast.expr) -> ast.expr:
        """Return the part of a false expression that alone makes it false."""
        with contextlib.suppress(Exception):
            while (inner := self._decisive(expression)) is not None:
                expression = inner
        return expression

    def used(self, expression: ast.expr) -> dict[str, Any]:
        """Return the variables that an expression mentions, in that order."""
        names = [node for node in ast.walk(expression) if isinstance(node, ast.Name)]
        names.sort(key=lambda name: (name.lineno, name.col_offset))
        values = self._variables
        return {name.id: values[name.id] for name in names if name.id in values}

    def holding(self, expression: ast.expr) -> list[bool]:
        """Say of each part of an expression whether it holds."""
        if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
            return [one for part in expression.values for one in self.holding(part)]
        loop = _all_of(expression)
        if loop is None or self._names.get("all", builtins.all) is not builtins.all:
            return [self._holds(expression)]
        return [bool(value) for value in self._value(_listed(loop))]

    def _holds(self, expression: ast.expr) -> bool:
        # What an earlier operand keeps from being evaluated may well raise.
        with contextlib.suppress(Exception):
            return bool(self._value(expression))
        return False

    def _decisive(self, expression: ast.expr) -> ast.expr | None:
        if isinstance(expression, ast.BoolOp) and isinstance(expression.op, ast.And):
            return next(part for part in expression.values if not self._value(part))
        loop = _all_of(expression)
        if loop is None or self._names.get("all", builtins.all) is not builtins.all:
            return None
        counterexample = self._value(_first_failing(loop))
        if counterexample is None:
            return None
        self._names.update(counterexample)
        self._variables.update(counterexample)
        return loop.elt

    def _value(self, expression: ast.expr) -> Any:
        wrapped = ast.fix_missing_locations(ast.Expression(expression))
        code = compile(wrapped, "<condition>", "eval")
        return eval(code, self._names)  # noqa: S307


def _all_of(expression: ast.expr) -> ast.GeneratorExp | ast.ListComp | None:
    if (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, ast.Name)
        and expression.func.id == "all"
        and len(expression.args) == 1
        and isinstance(expression.args[0], ast.GeneratorExp | ast.ListComp)
    ):
        return expression.args[0]
    return None


def _listed(loop: ast.GeneratorExp | ast.ListComp) -> ast.expr:
    return ast.ListComp(loop.elt, loop.generators)


def _first_failing(loop: ast.GeneratorExp | ast.ListComp) -> ast.expr:
    """Return an expression for the loop variables of the first false element."""
    names = list(_targets(loop))
    *outer, last = loop.generators
    fails = ast.UnaryOp(ast.Not(), loop.elt)
    filtered = ast.comprehension(last.target, last.iter, [*last.ifs, fails], 0)
    variables = ast.Dict(
        [ast.Constant(name) for name in names],
        [ast.Name(name, ast.Load()) for name in names],
    )
    generator = ast.GeneratorExp(variables, [*outer, filtered])
    return ast.Call(ast.Name("next", ast.Load()), [generator, ast.Constant(None)], [])


def _targets(loop: ast.GeneratorExp | ast.ListComp) -> Iterator[str]:
    for generator in loop.generators:
        for node in ast.walk(generator.target):
            if isinstance(node, ast.Name):
                yield node.id
