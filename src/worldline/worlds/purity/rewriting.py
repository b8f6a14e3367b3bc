"""Running functions with sets that iterate in an order on request.

The source of a module is compiled once more, with every set that it makes in a display,
a comprehension, an operation or a call replaced; for a while, its functions run that
code, and find stand-ins under the names of built-ins. Nothing of the module is executed
anew: its functions, classes and globals stay what they are.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import itertools
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any, final

from worldline.worlds.purity.lending import Holdings
from worldline.worlds.purity.ownership import codes, is_generated, is_users_function
from worldline.worlds.purity.reach import Reach
from worldline.worlds.purity.scramble import (
    STAND_INS,
    ScrambledSet,
    Scrambling,
    SetSite,
    scrambled,
)

_SET, _ANY = "__worldline_set__", "__worldline_any__"
_INJECTED = {**STAND_INS, _SET: ScrambledSet, _ANY: scrambled}
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)
_MAKING = frozenset(dis.opmap[it] for it in ("BUILD_SET", "SET_ADD", "SET_UPDATE"))
_OPERATION = dis.opmap["BINARY_OP"]
_NAMES = frozenset(STAND_INS)
_PYTEST = "@pytest_ar"
_VIEWS = frozenset({"keys", "items"})


class _Rewriter(ast.NodeTransformer):
    """Replaces whatever makes a plain set."""

    def visit_Set(self, node: ast.Set) -> ast.expr:
        self.generic_visit(node)
        return _call(_SET, ast.Tuple(node.elts, ast.Load()), node)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        self.generic_visit(node)
        return _call(_SET, ast.ListComp(node.elt, node.generators), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return _call(_ANY, node, node) if isinstance(node.op, _OPERATORS) else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.op, _OPERATORS) or not isinstance(node.target, ast.Name):
            return node
        # ``keys &= ...`` makes a set of a dict's keys.
        held = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        after = ast.Assign([node.target], _call(_ANY, held, node.value))
        return [node, ast.copy_location(after, node)]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        return _call(_ANY, node, node)


def _call(name: str, argument: ast.expr, where: ast.expr) -> ast.expr:
    made = ast.Call(ast.Name(name, ast.Load()), [argument], [])
    for node in (made, made.func, argument):
        ast.copy_location(node, where)
    return made


def _key(code: CodeType) -> tuple[Any, ...]:
    return (
        code.co_qualname,
        code.co_firstlineno,
        code.co_argcount,
        code.co_freevars,
    )


@functools.lru_cache(maxsize=64)
def _rewritten(
    filename: str, source: str
) -> dict[tuple[Any, ...], list[tuple[bytes, CodeType]]]:
    """Return the new code of every function of a source, by what tells them apart."""
    try:
        before = compile(source, filename, "exec", dont_inherit=True)
        tree = _Rewriter().visit(ast.parse(source))
        after = compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    one, other = list(codes(before)), list(codes(after))
    rewritten: dict[tuple[Any, ...], list[tuple[bytes, CodeType]]] = {}
    if len(one) == len(other):
        for old, new in zip(one, other, strict=True):
            rewritten.setdefault(_key(old), []).append((old.co_code, new))
    return rewritten


def _source(filename: str) -> str:
    # A file may have been written anew since it was last looked at.
    linecache.checkcache(filename)
    return "".join(linecache.getlines(filename))


def _code_for(function: FunctionType, source: str) -> CodeType | None:
    """Return the code that a function is to run; None without its source."""
    code = function.__code__
    candidates = _rewritten(code.co_filename, source).get(_key(code), [])
    # Those that begin on one line are told apart by what they do, and so is a file that
    # was edited since; pytest, though, rewrites asserts.
    if len(candidates) > 1 or _PYTEST not in function.__globals__:
        candidates = [pair for pair in candidates if pair[0] == code.co_code]
    return candidates[0][1] if len(candidates) == 1 else None


def touches_order(function: FunctionType) -> bool:
    """Say whether a function could see an order that depends on the hash seed."""
    if function.__name__ == "__hash__":  # which is for telling values apart
        return False
    return any(map(_makes_a_set, codes(function.__code__)))


def _makes_a_set(code: CodeType) -> bool:
    if _NAMES.intersection(code.co_names):
        return True
    operations = set(code.co_code[::2])  # each has two bytes; the other is its argument
    if operations & _MAKING:
        return True
    if _OPERATION in operations and _VIEWS.intersection(code.co_names):
        return True
    if not any(isinstance(constant, frozenset) for constant in code.co_consts):
        return False
    # A display of constants is one itself; to ask what is in it needs no order.
    return any(
        isinstance(one.argval, frozenset) and then.opname != "CONTAINS_OP"
        for one, then in itertools.pairwise(dis.get_instructions(code))
    )


@final
class Scrambler:
    """Lets functions run with sets that iterate in an order on request.

    Parameters
    ----------
    reach
        All that may run.

    Attributes
    ----------
    needed
        Whether any of them could see an order.
    unknown
        Those that could, and of which the source is not at hand.
    """

    def __init__(self, reach: Reach) -> None:
        functions = [one for one in reach.functions if not is_generated(one)]
        self._holdings = Holdings(reach)
        self._caches = [
            cache
            for cache in reach.caches
            if isinstance(cache.__wrapped__, FunctionType)
            and is_users_function(cache.__wrapped__)
        ]
        touching = [function for function in functions if touches_order(function)]
        self.needed = bool(touching or self._holdings)
        self._codes: list[tuple[FunctionType, CodeType]] = []
        if self.needed:
            files = {function.__code__.co_filename for function in functions}
            sources = {name: _source(name) for name in sorted(files)}
            for function in functions:
                code = _code_for(function, sources[function.__code__.co_filename])
                if code is not None:
                    self._codes.append((function, code))
        rewritten = {id(function) for function, _ in self._codes}
        self.unknown = [f.__qualname__ for f in touching if id(f) not in rewritten]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a report has to say about what could not be audited."""
        reasons = {
            "without source": self.unknown,
            "held where no set can be replaced": self._holdings.unknown,
        }
        return tuple(
            f"not audited for hash order, {why}: {', '.join(sorted(set(names)))}"
            for why, names in reasons.items()
            if names
        )

    @contextlib.contextmanager
    def active(self, order: int, only: SetSite | None = None) -> Iterator[None]:
        """Run the functions with sets in one order, inside this block."""
        with contextlib.ExitStack() as undo:
            Scrambling.order, Scrambling.only = order, only
            Scrambling.sites = {}
            undo.callback(_plain_order)
            for cache in self._caches:
                # What it knows was found in another order.
                undo.callback(cache.cache_clear)
                cache.cache_clear()
            self._holdings.lend(undo)
            spaces = {id(f.__globals__): f.__globals__ for f, _ in self._codes}
            for space in spaces.values():
                _put_stand_ins(space, undo)
            for function, code in self._codes:
                undo.callback(setattr, function, "__code__", function.__code__)
                function.__code__ = code
            yield


def _plain_order() -> None:
    Scrambling.order, Scrambling.only = 0, None


def _put_stand_ins(space: dict[str, Any], undo: contextlib.ExitStack) -> None:
    for name, value in _INJECTED.items():
        if name not in space:
            undo.callback(space.pop, name, None)
            space[name] = value
