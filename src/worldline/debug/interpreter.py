"""Evaluates Python expressions, of which it knows every kind that it evaluates.

References
----------
The Python Language Reference, chapter 6, for what each kind means.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar, final

from worldline.debug.allowance import BITS, Allowance
from worldline.debug.calling import attribute, call, format_value
from worldline.debug.scopes import Lambda, NameScope
from worldline.model.data.frozen_map import FrozenMap
from worldline.model.errors import UsageError
from worldline.model.view import View

T = TypeVar("T")

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
}
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_NUMBERS = (int, float)
_SEQUENCES = (str, bytes, list, tuple)
_COLLECTIONS = (set, frozenset, dict, FrozenMap)
_HASHED = (set, frozenset, dict, FrozenMap)


@final
class Interpreter:
    """Evaluates expressions, at the cost of an allowance."""

    def __init__(self, allowance: Allowance, text_of: Callable[[Any], str]) -> None:
        self._allowance = allowance
        self._text_of = text_of

    def value(self, node: ast.expr, scope: NameScope) -> Any:
        """Return what an expression is.

        Raises
        ------
        UsageError
            If it is of a kind, or does what, no expression may.
        """
        self._allowance.pay(1)
        return self._KINDS[type(node)](self, node, scope)

    # ---------------------------------------------------------------------- values

    def _constant(self, node: ast.Constant, scope: NameScope) -> Any:
        return self._allowance.number(node.value)

    def _name(self, node: ast.Name, scope: NameScope) -> Any:
        return scope.get(node.id)

    def _list(self, node: ast.List, scope: NameScope) -> list[Any]:
        return self._made(self._items(node.elts, scope))

    def _tuple(self, node: ast.Tuple, scope: NameScope) -> tuple[Any, ...]:
        return self._made(tuple(self._items(node.elts, scope)))

    def _set(self, node: ast.Set, scope: NameScope) -> set[Any]:
        return self._made(set(self._items(node.elts, scope)))

    def _dict(self, node: ast.Dict, scope: NameScope) -> dict[Any, Any]:
        items: dict[Any, Any] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            if key is None:
                items.update(self._allowance.watched(self.value(item, scope)))
            else:
                items[self.value(key, scope)] = self.value(item, scope)
        return self._made(items)

    def _made(self, value: T) -> T:
        self._allowance.pay_for(value)
        return value

    def _items(self, nodes: Iterable[ast.expr], scope: NameScope) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values.extend(self._allowance.watched(self.value(node.value, scope)))
            else:
                values.append(self.value(node, scope))
        return values

    def _joined(self, node: ast.JoinedStr, scope: NameScope) -> str:
        return self._made("".join([self.value(n, scope) for n in node.values]))

    def _formatted(self, node: ast.FormattedValue, scope: NameScope) -> str:
        value = self.value(node.value, scope)
        if node.conversion != -1:
            value = repr(value) if isinstance(value, str) else self._text(value)
        spec = "" if node.format_spec is None else self.value(node.format_spec, scope)
        return format_value(value, spec, self._text)

    def _text(self, value: Any) -> str:
        self._allowance.pay_for(value)
        return self._text_of(value)

    # ------------------------------------------------------------------- operators

    def _binary(self, node: ast.BinOp, scope: NameScope) -> Any:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        kind = type(node.op)
        if kind not in _BINARY or not self._fits(kind, left, right):
            names = f"{type(left).__name__} and {type(right).__name__}"
            raise UsageError(f"{kind.__name__} of {names}")
        return self._made(self._allowance.number(_BINARY[kind](left, right)))

    def _fits(self, kind: type, left: Any, right: Any) -> bool:
        """Say whether an operator is one of these values; pay for it beforehand."""
        if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
            if isinstance(left, int) and isinstance(right, int):
                if _bits(kind, left, right) > BITS:
                    raise UsageError(f"a number of more than {BITS:,} bits")
                self._allowance.pay_for(left, right)
            return True
        if isinstance(left, _COLLECTIONS) and isinstance(right, _COLLECTIONS):
            self._allowance.pay_for(left, right)
            return kind in (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
        if kind is ast.Add and isinstance(left, _SEQUENCES):
            self._allowance.watched(left)
            return isinstance(right, _SEQUENCES)
        if kind is ast.Mult:
            if isinstance(left, int):
                left, right = right, left
            if isinstance(left, _SEQUENCES) and isinstance(right, int):
                self._allowance.pay(len(left) * max(right, 0))
                return True
        return False

    def _unary(self, node: ast.UnaryOp, scope: NameScope) -> Any:
        value = self.value(node.operand, scope)
        if not isinstance(node.op, ast.Not) and not isinstance(value, _NUMBERS):
            raise UsageError(f"{type(node.op).__name__} of {type(value).__name__}")
        return _UNARY[type(node.op)](value)

    def _boolean(self, node: ast.BoolOp, scope: NameScope) -> Any:
        until = isinstance(node.op, ast.Or)
        value: Any = None
        for item in node.values:
            value = self.value(item, scope)
            if bool(value) is until:
                break
        return value

    def _compare(self, node: ast.Compare, scope: NameScope) -> Any:
        left = self.value(node.left, scope)
        answer: Any = True
        for how, item in zip(node.ops, node.comparators, strict=True):
            right = self.value(item, scope)
            answer = self._compared(how, left, right)
            if not answer:
                break
            left = right
        return answer

    def _compared(self, how: ast.cmpop, left: Any, right: Any) -> Any:
        if not isinstance(how, ast.In | ast.NotIn):
            if not isinstance(how, ast.Is | ast.IsNot):
                self._allowance.pay_for(left, right)
            return _COMPARE[type(how)](left, right)
        if isinstance(right, _HASHED):
            self._allowance.pay_for(left)
        elif isinstance(right, _SEQUENCES):
            self._allowance.pay_for(left, right)
        elif not (isinstance(right, range) and type(left) in (int, bool)):
            right = self._allowance.watched(right)
        return (left in right) is isinstance(how, ast.In)

    def _conditional(self, node: ast.IfExp, scope: NameScope) -> Any:
        chosen = node.body if self.value(node.test, scope) else node.orelse
        return self.value(chosen, scope)

    # --------------------------------------------------------------- parts and calls

    def _attribute(self, node: ast.Attribute, scope: NameScope) -> Any:
        return attribute(self.value(node.value, scope), node.attr, self._allowance)

    def _subscript(self, node: ast.Subscript, scope: NameScope) -> Any:
        value, index = self.value(node.value, scope), self.value(node.slice, scope)
        if not isinstance(value, (*_SEQUENCES, range, dict, FrozenMap, View)):
            raise UsageError(f"{type(value).__name__} has no parts to be had by [...]")
        item = value[index]
        if isinstance(index, slice):
            self._allowance.pay_for(item)
        return item

    def _slice(self, node: ast.Slice, scope: NameScope) -> slice:
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else self.value(end, scope) for end in ends))

    def _call(self, node: ast.Call, scope: NameScope) -> Any:
        called = self.value(node.func, scope)
        given = self._items(node.args, scope)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            named.update(value if keyword.arg is None else {keyword.arg: value})
        if isinstance(called, Lambda):
            return called(*given, **named)
        return call(called, given, named, self._allowance)

    def _lambda(self, node: ast.Lambda, scope: NameScope) -> Lambda:
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        if node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
            raise UsageError("a lambda with other than plain arguments")
        defaults = self._items(node.args.defaults, scope)

        def run(*given: Any) -> Any:
            missing = len(names) - len(given)
            if not 0 <= missing <= len(defaults):
                raise TypeError(f"a lambda of {len(names)} arguments got {len(given)}")
            values = [*given, *defaults[len(defaults) - missing :]]
            inner = NameScope(dict(zip(names, values, strict=True)), scope)
            return self.value(node.body, inner)

        return Lambda(run)

    def _named(self, node: ast.NamedExpr, scope: NameScope) -> Any:
        value = self.value(node.value, scope)
        scope.bind(node.target.id, value)
        return value

    # -------------------------------------------------------------- comprehensions

    def _generator(self, node: ast.GeneratorExp, scope: NameScope) -> Iterator[Any]:
        return self._each(node.generators, NameScope({}, scope, binds=False), node.elt)

    def _list_of(self, node: ast.ListComp, scope: NameScope) -> list[Any]:
        inner = NameScope({}, scope, binds=False)
        return self._made([*self._each(node.generators, inner, node.elt)])

    def _set_of(self, node: ast.SetComp, scope: NameScope) -> set[Any]:
        inner = NameScope({}, scope, binds=False)
        return self._made({*self._each(node.generators, inner, node.elt)})

    def _dict_of(self, node: ast.DictComp, scope: NameScope) -> dict[Any, Any]:
        inner = NameScope({}, scope, binds=False)
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self._made(dict(self._each(node.generators, inner, pair)))

    def _each(
        self, loops: Sequence[ast.comprehension], scope: NameScope, element: ast.expr
    ) -> Iterator[Any]:
        if not loops:
            yield self.value(element, scope)
            return
        first, *others = loops
        for item in self._allowance.watched(self.value(first.iter, scope)):
            self._allowance.pay(1)
            self._assign(first.target, item, scope)
            if all(self.value(condition, scope) for condition in first.ifs):
                yield from self._each(others, scope, element)

    def _assign(self, target: ast.expr, value: Any, scope: NameScope) -> None:
        if isinstance(target, ast.Name):
            scope.set(target.id, value)
            return
        if not isinstance(target, ast.Tuple | ast.List):
            raise UsageError(
                "an expression changes nothing: only names can be loop targets"
            )
        items = [*self._allowance.watched(value)]
        if len(items) != len(target.elts):
            raise ValueError(f"{len(items)} values for {len(target.elts)} names")
        for inner, item in zip(target.elts, items, strict=True):
            self._assign(inner, item, scope)

    _KINDS: ClassVar[dict[type, Callable[[Any, Any, NameScope], Any]]] = {
        ast.Attribute: _attribute,
        ast.BinOp: _binary,
        ast.BoolOp: _boolean,
        ast.Call: _call,
        ast.Compare: _compare,
        ast.Constant: _constant,
        ast.Dict: _dict,
        ast.DictComp: _dict_of,
        ast.FormattedValue: _formatted,
        ast.GeneratorExp: _generator,
        ast.IfExp: _conditional,
        ast.JoinedStr: _joined,
        ast.Lambda: _lambda,
        ast.List: _list,
        ast.ListComp: _list_of,
        ast.Name: _name,
        ast.NamedExpr: _named,
        ast.Set: _set,
        ast.SetComp: _set_of,
        ast.Slice: _slice,
        ast.Subscript: _subscript,
        ast.Tuple: _tuple,
        ast.UnaryOp: _unary,
    }
    """How each kind is evaluated; what is not in it is not."""

    @classmethod
    def knows(cls, node: ast.AST) -> bool:
        """Say whether a part of an expression is of a kind that can be evaluated."""
        if isinstance(node, ast.comprehension):
            return not node.is_async
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float | str | bytes | None)
        return not isinstance(node, ast.expr) or type(node) in (
            *cls._KINDS,
            ast.Starred,
        )


def _bits(kind: type, left: int, right: int) -> int:
    """Return how long a number may become."""
    if kind is ast.Pow:
        return left.bit_length() * max(right, 0)
    if kind is ast.LShift:
        return left.bit_length() + max(right, 0)
    if kind is ast.Mult:
        return left.bit_length() + right.bit_length()
    return 0
