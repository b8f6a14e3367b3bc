"""Names that functions can ask for, read off their code and all that this can reach.

There may be too many of them, and never too few: where code may ask by names that it
makes up, or calls code without a source, one of `ANY` is among them. The libraries of
Python and of Worldline ask for nothing of a user's by themselves, so their code is not
read; nor is that of installed packages which name nothing of Worldline, but what these
ask for, nobody knows.
"""

from __future__ import annotations

import ast
import dis
import functools
import operator
import re
import string
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, final

from worldline.model.handler_marks import mark_of
from worldline.model.node import NodeType
from worldline.model.properties import Property
from worldline.model.usercode.places import is_users

ANY = frozenset(
    {"getattr", "vars", "__dict__", "eval", "exec", "attrgetter", "methodcaller"}
    | {"asdict", "astuple", "fields", "__getattr__", "__getattribute__"}
    | {"globals", "locals", "__globals__", "__import__", "import_module", "modules"}
    | {"getmembers", "format_map", "vformat", "get_field"}
)
"""Names with which code may ask for what it does not name."""

_ASKS_FOR_ANY: Collection[Any] = (
    *(getattr, vars, eval, exec, __import__, globals, locals),
    *(operator.attrgetter, operator.methodcaller, str.format, str.format_map),
)

_GETTERS = (operator.attrgetter, operator.methodcaller)

_UNREAD = (
    *(types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodWrapperType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType),
)
"""What is written in C: it asks for nothing that it was not told of by name."""


@final
class CodeReading:
    """Collects the names in functions, and in what these can reach.

    A class and a module are reached in part: what stands there under a name that was
    collected.
    """

    def __init__(self, kinds: Iterable[NodeType]) -> None:
        """Begin with nothing, and with classes of nodes, which views lead to."""
        self.names: set[str] = set()
        # Kept for as long as they are known by their ids.
        self._seen: dict[int, Any] = {}
        self._todo: list[Any] = []
        self._places: dict[int, Mapping[str, Any]] = {}
        self._of_nodes = {cls for kind in kinds for cls in _of_kind(kind)}
        for cls in self._of_nodes:
            self._places[id(cls)] = vars(cls)

    def visit(self, value: Any) -> None:
        """Collect the names in a value."""
        self._todo.append(value)
        while self._todo:
            while self._todo:
                one = self._todo.pop()
                if id(one) not in self._seen:
                    self._seen[id(one)] = one
                    self._read(one)
            self._todo += [
                place[name]
                for place in self._places.values()
                for name in self.names & place.keys()
                if id(place[name]) not in self._seen
            ]

    def _read(self, one: Any) -> None:  # noqa: C901 - one branch for each sort
        todo = self._todo
        if isinstance(one, FunctionType):
            if mark_of(one) is None:  # a handler is run by nobody who looks on
                self._read_function(one)
        elif isinstance(one, CodeType):
            self._read_code(one)
        elif isinstance(one, ast.expr):  # it was written as text
            todo += _codes(compile(ast.Expression(one), "<expression>", "eval"))
        elif isinstance(one, functools.partial | functools.partialmethod):
            todo += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, MethodType):
            todo += [one.__func__, one.__self__]
        elif isinstance(one, property):
            todo.append(one.fget)
        elif isinstance(one, staticmethod | classmethod):
            todo.append(one.__func__)
        elif isinstance(one, Property):
            todo.append(one.predicate)
        elif isinstance(one, ModuleType):
            if not self._leaves(one.__name__):
                self._places[id(one)] = vars(one)
        elif isinstance(one, type):
            self._read_class(one)
        elif any(one is asks for asks in _ASKS_FOR_ANY):
            self.names.add("getattr")
        elif isinstance(one, _GETTERS):
            for text in _strings(one.__reduce__()):
                self.names |= {*text.split(".")}
        elif isinstance(one, _UNREAD):
            bound_to = getattr(one, "__self__", None)
            if isinstance(bound_to, str) and one.__name__.startswith("format"):
                self.names.add("getattr")  # the text says for what it asks
            todo.append(bound_to)
        elif isinstance(one, Mapping):
            todo += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            todo += one
        else:
            self._read_object(one)

    def _read_function(self, function: FunctionType) -> None:
        todo, scope = self._todo, function.__globals__
        todo += filter(None, map(_content, function.__closure__ or ()))
        todo += function.__defaults__ or ()
        todo += (function.__kwdefaults__ or {}).values()
        todo += vars(function).values()
        if self._leaves(scope.get("__name__"), function.__code__.co_filename):
            return
        for code in _codes(function.__code__):
            todo.append(code)
            todo += [scope[name] for name in _names(code) if name in scope]

    def _read_code(self, code: CodeType) -> None:
        self.names |= _names(code)
        for step in dis.get_instructions(code):
            if step.opname == "IMPORT_NAME" and not self._leaves(step.argval):
                self.names.add("__import__")

    def _read_class(self, cls: type) -> None:
        for one in cls.__mro__:
            if self._leaves(one.__module__):
                continue
            self._places[id(one)] = vars(one)
            if one not in self._of_nodes:
                # Nobody names what operators call; dataclasses have theirs written.
                self._todo += [
                    value
                    for name, value in vars(one).items()
                    if name.startswith("__") and not _is_generated(value)
                ]

    def _read_object(self, one: Any) -> None:
        cls = type(one)
        wrapped = stored(one, "__wrapped__")
        if wrapped is not None:
            self._todo.append(wrapped)
        elif not self._leaves(cls.__module__):
            self._todo += [cls, *(stored(one, "__dict__") or {}).values()]
            slots = [slot for base in cls.__mro__ for slot in _slots(base)]
            self._todo += [stored(one, slot) for slot in slots]
        elif isinstance(one, types.SimpleNamespace):
            self._todo += vars(one).values()
        elif isinstance(one, functools.cached_property):
            self._todo.append(one.func)
        elif callable(one):
            self.names.add("getattr")  # and so nobody knows

    def _leaves(self, module: Any, filename: str = "") -> bool:
        """Say whether the code of a module is left unread; see `_is_of_a_library`."""
        if not isinstance(module, str) or not _is_of_a_library(module, filename):
            return False
        if not _is_pythons_or_ours(module):
            self.names.add("getattr")  # what it asks for, nobody knows
        return True


def stored(one: Any, name: str) -> Any:
    """Return an attribute that is there, of an object that may make up others without end."""
    try:
        return object.__getattribute__(one, name)
    except AttributeError:
        return None


def _is_of_a_library(name: str, filename: str = "") -> bool:
    """Say whether a module is none of those that describe systems.

    One of the user's may have the name of one of Python's, as `profile` or `token`.

    Parameters
    ----------
    filename
        The file of its code, where that is known.
    """
    first, _, rest = name.partition(".")
    if first == "worldline":
        return not rest.startswith(("zoo", "dedalus"))
    if not _is_pythons_or_ours(name):
        return _knows_nothing_of_us(first, len(sys.modules))
    file = filename or getattr(sys.modules.get(first), "__file__", None)
    return file is None or not is_users(file)


def _is_pythons_or_ours(name: str) -> bool:
    """Say whether a module has the name of one that comes with Python or Worldline."""
    first = name.partition(".")[0]
    return first in _PYTHONS_OR_OURS


@functools.lru_cache(maxsize=1024)
def _knows_nothing_of_us(package: str, loaded: int) -> bool:
    """Say whether a package is installed, and names nothing of Worldline.

    A user's own may be installed, too. Others lead to very many objects.

    Parameters
    ----------
    loaded
        How many modules are: with more of them it may be otherwise.
    """
    file = getattr(sys.modules.get(package), "__file__", None)
    if not file or not _INSTALLED.intersection(PurePath(file).parts):
        return False
    within = f"{package}."
    modules = [
        module
        for name, module in [*sys.modules.items()]
        if name == package or name.startswith(within)
    ]
    return not any(
        _is_ours(value)
        for module in modules
        for value in [*getattr(module, "__dict__", {}).values()]
    )


def _is_ours(value: Any) -> bool:
    """Say whether something in a module is Worldline, or of it."""
    if isinstance(value, ModuleType):
        name: Any = value.__name__
    elif isinstance(value, FunctionType | type):
        name = value.__module__
    else:
        name = type(value).__module__
    return isinstance(name, str) and name.partition(".")[0] == "worldline"


_PYTHONS_OR_OURS = sys.stdlib_module_names - {"__main__"} | {"worldline"}

_INSTALLED = frozenset({"site-packages", "dist-packages"})


def _of_kind(kind: NodeType) -> Iterator[type]:
    yield from kind.cls.__mro__[:-1]
    for inner in kind.parts.values():
        yield from _of_kind(inner)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _names(code: CodeType) -> set[str]:
    """Return the names in a code, and the texts, some of which may be names."""
    texts = [*_strings(code.co_consts)]
    names = {*code.co_names, *filter(str.isidentifier, texts)}
    if "format" in names:
        formats = [text for text in texts if "{" in text]
        # Without any it is made elsewhere, and may name whatever it likes.
        names |= {*chain(*map(_asked_by, formats))} if formats else {"getattr"}
    return names


def _asked_by(text: str) -> Iterator[str]:
    """Yield the names for which a format asks, as `{0.total}` does."""
    try:
        parts = [*string.Formatter().parse(text)]
    except ValueError:  # it is a part of one
        yield "getattr"
        return
    for _, field, spec, _ in parts:
        yield from re.findall(r"\w+", field or "")
        if spec:
            yield from _asked_by(spec)


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in nested constants: patterns have names in tuples."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from _strings(one)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _slots(cls: type) -> Collection[str]:
    slots = vars(cls).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _is_generated(value: Any) -> bool:
    code = getattr(value, "__code__", None)
    return code is not None and code.co_filename == "<string>"
