"""Mentions of a node's fields in a function, and what becomes of what they hold there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal, Protocol, TypeAlias, final

from worldline.model.context import Context
from worldline.model.handler_marks import mark_of
from worldline.worlds.touching.sources import bound_in, tree_of

Use: TypeAlias = Literal["reads", "changes", "leaks"]

_READING = frozenset(
    {"copy", "count", "difference", "get", "index", "intersection", "isdisjoint"}
    | {
        "issubset",
        "issuperset",
        "items",
        "keys",
        "symmetric_difference",
        "union",
        "values",
    }
)
_CHANGING = frozenset(
    {
        "add",
        "append",
        "clear",
        "difference_update",
        "discard",
        "extend",
        "insert",
        "pop",
    }
    | {
        "intersection_update",
        "popitem",
        "remove",
        "reverse",
        "setdefault",
        "sort",
        "update",
    }
    | {"symmetric_difference_update"}
)
"""Methods of collections that give nobody the collection."""

_TAKING = frozenset(
    {"all", "any", "bool", "dict", "frozenset", "len", "list", "max", "min", "set"}
    | {"sorted", "sum", "tuple"}
)
"""Functions of Python's that look at a collection, and keep and return others at most."""

_MAKING = frozenset({"dict", "frozenset", "len", "list", "set", "sorted", "tuple"})
_OF_THE_NODE = frozenset({"type"})
_UNCLEAR_FUNCTIONS = (breakpoint, compile, eval, exec, globals, locals, vars)
_UNCLEAR = frozenset(one.__name__ for one in _UNCLEAR_FUNCTIONS)
_UNCLEAR_ATTRIBUTES = frozenset({"mapping", "_mapping", *Context.__slots__}) - {
    *("me", "nodes")
} | (_UNCLEAR - {"compile"})  # as `builtins.eval`; but many compile patterns
_UNCLEAR_NODES = (
    *(ast.Match, ast.ClassDef, ast.Yield, ast.YieldFrom, ast.Await, ast.Import),
    *(ast.ImportFrom, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef),
)
_DISPLAYS = (
    *(ast.Constant, ast.Set, ast.List, ast.Dict, ast.Tuple, ast.SetComp, ast.ListComp),
    *(ast.DictComp, ast.JoinedStr),
)


class Unclear(Exception):
    """Nobody knows what a piece of code may do with the node."""


@final
@dataclass(slots=True)
class FieldMentions:
    """What a function mentions of the node, its own fields and methods."""

    assigned: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)
    methods: set[str] = field(default_factory=set)


class OfClass(Protocol):
    """The class whose methods are read, as far as they need to know it.

    Attributes
    ----------
    bases
        The class and those from which it inherits.
    fields
        The names of its fields.
    methods
        What its methods and properties run, by name: what is overridden, too.
    properties
        The names of the latter.
    operands
        Which fields operators are given beside which others.
    strange
        The fields in which there may be put what is no plain data.
    """

    bases: tuple[type, ...]
    fields: frozenset[str]
    methods: dict[str, list[FunctionType]]
    properties: set[str]
    operands: set[tuple[str, str]]
    strange: set[str]

    def is_read_only(self, function: FunctionType, parameter: str) -> bool:
        """Say whether a function only reads what it is given for a parameter."""


@final
class Reading:
    """The uses of one function's names."""

    def __init__(self, of: OfClass, function: FunctionType) -> None:
        tree = tree_of(function)
        if tree is None:
            raise Unclear
        self._of, self._function, self.tree = of, function, tree
        arguments = tree.args
        names = [*arguments.posonlyargs, *arguments.args]
        self.parameters = [one.arg for one in names]
        self._parents = {
            child: parent
            for parent in ast.walk(tree)
            for child in ast.iter_child_nodes(parent)
        }
        is_method = any(function in many for many in of.methods.values())
        self._me = self.parameters[0] if self.parameters else ""
        self._is_of_node = is_method
        self._bound = {*bound_in(tree)}
        self._about: str | None = None
        self._said = FieldMentions()

    def mentions(self) -> FieldMentions:
        """Return what a method mentions of its node."""
        if not self._me:
            raise Unclear
        body = self.tree.body
        for statement in body if isinstance(body, list) else [body]:
            for node in ast.walk(statement):
                self._look(node)
        return self._said

    def uses(self, name: str) -> Iterator[Use]:
        """Yield what becomes of what a parameter is given."""
        for node in ast.walk(self.tree):
            self._look_at_what_is_asked(node)
            if isinstance(node, ast.Name) and node.id == name:
                is_read = isinstance(node.ctx, ast.Load)
                yield self._use(node) if is_read else "leaks"

    # ------------------------------------------------------------------ each mention

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, _UNCLEAR_NODES):
            raise Unclear
        self._look_at_what_is_asked(node)
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.GeneratorExp):
            self._look_inside(node)
        elif isinstance(node, ast.Name):
            if node.id == self._me:
                self._look_at_me(node)
            elif node.id == "super":
                self._look_at_super(node)
        elif isinstance(node, ast.Attribute):
            self._look_at(node)

    def _look_at_what_is_asked(self, node: ast.AST) -> None:
        """See to it that nobody can ask for what is named nowhere."""
        if isinstance(node, ast.Name):
            held = self._global(node)
            if node.id in _UNCLEAR or any(held is one for one in _UNCLEAR_FUNCTIONS):
                raise Unclear
        elif isinstance(node, ast.Attribute) and node.attr in _UNCLEAR_ATTRIBUTES:
            raise Unclear

    def _look_inside(self, node: ast.AST) -> None:
        """See to it that no code that has the node outlives the call that takes it."""
        has_node = any(
            isinstance(inner, ast.Name) and inner.id == self._me
            for inner in ast.walk(node)
        )
        if not has_node:
            return
        parent = self._parents[node]
        is_key = isinstance(parent, ast.keyword) and parent.arg == "key"
        call = self._parents[parent] if is_key else parent
        if (
            isinstance(node, ast.FunctionDef)
            or not isinstance(call, ast.Call)
            or not self._is_builtin(call.func, _TAKING)
        ):
            raise Unclear

    def _look_at_me(self, node: ast.Name) -> None:
        parent = self._parents[node]
        if isinstance(parent, ast.Attribute) and isinstance(node.ctx, ast.Load):
            return
        if isinstance(parent, ast.Call) and isinstance(node.ctx, ast.Load):
            if self._is_builtin(parent.func, _OF_THE_NODE):
                return
            func = parent.func  # as in `Base.method(self)`
            is_first = bool(parent.args) and parent.args[0] is node
            if is_first and isinstance(func, ast.Attribute) and self._is_method(func):
                return
        raise Unclear

    def _look_at_super(self, node: ast.Name) -> None:
        """See to it that a method of a base is called at once: `super` has the node."""
        made = self._parents[node]
        named = self._parents.get(made)
        used = self._parents.get(named) if isinstance(named, ast.Attribute) else None
        if not isinstance(named, ast.Attribute) or (
            not (isinstance(used, ast.Call) and used.func is named)
            and named.attr not in self._of.properties
        ):
            raise Unclear

    def _is_method(self, func: ast.Attribute) -> bool:
        """Say whether a method of the class is named by way of one of its bases."""
        if func.attr not in self._of.methods or not isinstance(func.value, ast.Name):
            return False
        named = self._global(func.value)
        return any(named is base for base in self._of.bases)

    def _look_at(self, node: ast.Attribute) -> None:
        name, said = node.attr, self._said
        is_dunder = name.startswith("__") and name.endswith("__")
        if is_dunder:
            raise Unclear
        if name in self._of.methods:
            said.methods.add(name)
            self._look_at_method(node)
        if name not in self._of.fields:
            return
        if isinstance(node.ctx, ast.Del):
            raise Unclear
        if isinstance(node.ctx, ast.Store):
            said.assigned.add(name)
            parent = self._parents[node]
            if isinstance(parent, ast.AugAssign):
                said.changed.add(name)
            self._about = None
            if not isinstance(parent, ast.Assign | ast.AugAssign) or not self._is_tame(
                parent.value
            ):
                self._of.strange.add(name)
                if isinstance(parent, ast.AugAssign):
                    said.leaked.add(name)  # to what it is put together with
            return
        self._about = name
        use = self._use(node)
        if use != "reads":
            said.changed.add(name)
        if use == "leaks":
            said.leaked.add(name)

    def _look_at_method(self, node: ast.Attribute) -> None:
        """See to it that a method with its node is called, or goes to the context."""
        parent = self._parents[node]
        is_mine = isinstance(node.value, ast.Name) and node.value.id == self._me
        if not is_mine or (isinstance(parent, ast.Call) and parent.func is node):
            return
        if isinstance(parent, ast.Call) and self._is_of_context(parent.func):
            return
        if node.attr not in self._of.properties:
            raise Unclear

    # ------------------------------------------------------- what becomes of a value

    def _use(self, node: ast.AST) -> Use:  # noqa: C901 - one branch for each sort
        parent = self._parents[node]
        match parent:
            case ast.Attribute(attr=name):
                call = self._parents[parent]
                if not (isinstance(call, ast.Call) and call.func is parent):
                    return "leaks"
                if name in _READING:
                    return "reads"
                return "changes" if name in _CHANGING else "leaks"
            case ast.Subscript(value=value, ctx=ctx) if value is node:
                return "reads" if isinstance(ctx, ast.Load) else "changes"
            case ast.BinOp(left=left, right=right):
                return self._beside(right if left is node else left)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                if isinstance(op, ast.Is | ast.IsNot):
                    return "reads"
                if isinstance(op, ast.In | ast.NotIn):
                    return "reads" if right is node else "leaks"  # to its items
                return self._beside(right if left is node else left)
            case ast.BoolOp():
                return self._use(parent)
            case ast.IfExp(test=test):
                return "reads" if test is node else self._use(parent)
            case ast.UnaryOp(op=ast.Not()) | ast.FormattedValue() | ast.Expr():
                return "reads"
            case ast.Assert(test=test):
                return "reads" if test is node else "leaks"
            case ast.If() | ast.While() | ast.comprehension() | ast.For():
                return "reads"
            case ast.Starred():
                return "reads"
            case ast.Assign(targets=targets):
                return "reads" if all(map(self._is_own, targets)) else "leaks"
            case ast.Call(args=arguments) if node in arguments:
                return self._given(parent, arguments.index(node))
        return "leaks"

    def _beside(self, other: ast.AST) -> Use:
        """Return what an operator does with a collection, by what else it is given."""
        return "reads" if self._is_tame(other) else "leaks"

    def _is_tame(self, node: ast.AST) -> bool:
        """Say whether an operator calls no code of the user's for a value."""
        if isinstance(node, _DISPLAYS):
            return True
        if isinstance(node, ast.BinOp):
            return self._is_tame(node.left) and self._is_tame(node.right)
        if isinstance(node, ast.Call):
            return self._is_builtin(node.func, _MAKING)
        if isinstance(node, ast.Attribute) and self._is_own(node):
            if self._about is not None:
                self._of.operands.add((self._about, node.attr))
            return self._about is not None
        return False

    def _is_own(self, node: ast.AST) -> bool:
        """Say whether it is a field of the node, by its name; what is put there is copied."""
        return (
            self._is_of_node
            and isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == self._me
            and node.attr in self._of.fields
        )

    def _given(self, call: ast.Call, place: int) -> Use:
        """Return what a call does with one of its arguments."""
        if any(isinstance(one, ast.Starred) for one in call.args):
            return "leaks"
        func, functions = call.func, list[FunctionType]()
        if isinstance(func, ast.Name):
            if self._is_builtin(func, _TAKING):
                return "reads" if len(call.args) == 1 else "leaks"
            found = self._global(func)
            functions = [found] if type(found) is FunctionType else []
        elif (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and func.value.id == self._me
        ):
            functions, place = self._of.methods.get(func.attr, []), place + 1
        is_read = bool(functions) and all(
            place < one.__code__.co_argcount
            and self._of.is_read_only(one, one.__code__.co_varnames[place])
            for one in functions
        )
        return "reads" if is_read else "leaks"

    # -------------------------------------------------------------------- of names

    def _global(self, node: ast.Name) -> Any:
        """Return what a name stands for outside of the function; None if that is unclear."""
        if node.id in self._bound or node.id in self._function.__code__.co_freevars:
            return None
        return self._function.__globals__.get(node.id)

    def _is_builtin(self, func: ast.AST, names: frozenset[str]) -> bool:
        return (
            isinstance(func, ast.Name)
            and func.id in names
            and func.id not in self._bound
            and func.id not in self._function.__code__.co_freevars
            and func.id not in self._function.__globals__
        )

    def _is_of_context(self, func: ast.AST) -> bool:
        """Say whether a call is one of the context, which keeps no method of a node."""
        return (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Name)
            and func.attr in ("set_timer", "cancel_timer", "is_pending")
            and mark_of(self._function) is not None
            and func.value.id == self.parameters[1]
            and sum(one == func.value.id for one in bound_in(self.tree)) == 1
        )
