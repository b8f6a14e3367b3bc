"""Sources of functions, as trees; none where nobody can be sure that it is the one."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TypeAlias

_Trees: TypeAlias = dict[tuple[int, str], list[ast.FunctionDef | ast.Lambda]]
"""Those of a file, by their first lines and their names."""


def tree_of(function: FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    """Return what a function was compiled from; None if nobody can be sure."""
    known = _file(function.__code__.co_filename)
    if known is None:
        return None
    trees, codes = known
    code = function.__code__
    if code not in codes:
        return None  # it has another source by now, or never had one
    found = trees.get((code.co_firstlineno, code.co_name), ())
    return found[0] if len(found) == 1 else None


@functools.cache
def _file(name: str) -> tuple[_Trees, frozenset[CodeType]] | None:
    text = "".join(linecache.getlines(name))
    if not text:
        return None
    try:
        tree = ast.parse(text, name)
        code = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    _mangle(tree)
    trees: _Trees = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            key = _first_line(node), getattr(node, "name", "<lambda>")
            trees.setdefault(key, []).append(node)
    return trees, frozenset(_codes(code))


def _mangle(tree: ast.AST) -> None:
    """Name attributes as Python does: those that begin with `__` are of their class."""
    todo: list[tuple[ast.AST, str]] = [(tree, "")]
    while todo:
        parent, cls = todo.pop()
        if isinstance(parent, ast.ClassDef):
            cls = parent.name.lstrip("_")
        for node in ast.iter_child_nodes(parent):
            todo.append((node, cls))
            if isinstance(node, ast.Attribute) and cls:
                name = node.attr
                if name.startswith("__") and not name.endswith("__"):
                    node.attr = f"_{cls}{name}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _first_line(node: ast.FunctionDef | ast.Lambda) -> int:
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return node.decorator_list[0].lineno
    return node.lineno


def bound_in(tree: ast.AST) -> Iterator[str]:
    """Yield the names that have a meaning of their own in a function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            if node is not tree and node.name is not None:
                yield node.name
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
