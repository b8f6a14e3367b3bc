"""Sets that are there before a handler runs, and stand-ins for them.

What functions can reach is walked: globals that they name, closures, defaults, what
classes and instances hold, and the containers in all of these. Where a plain set is held,
the place is noted; where none can be put instead of it, that is told.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from types import CellType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.worlds.purity.ownership import (
    codes,
    is_users_class,
    is_users_function,
    is_users_module,
)
from worldline.worlds.purity.reach import Reach
from worldline.worlds.purity.scramble import (
    ScrambledFrozenset,
    ScrambledSet,
    is_fixed,
)

_MOST = 50_000
"""Objects that are looked at; what lies beyond is said not to be audited."""

_DYNAMIC = frozenset(
    {"__dict__", "attrgetter", "eval", "exec", "getattr", "globals", "modules", "vars"}
)
"""Names by which a function can reach what it does not name."""

_ATOMS = frozenset({int, str, bytes, bool, type(None), float, complex, NodeId})
_TRANSPARENT = frozenset({"builtins", "collections", "functools", "itertools", "types"})
"""Modules of types that say to the garbage collector all that they hold."""

_COLLECTIONS = (list, deque, tuple, set, frozenset)

_RESULT = "_lru_list_elem"
"""Holds what a cached function returned: where that is called, it is replaced."""

_STANDS_FOR: dict[type, type] = {set: ScrambledSet, frozenset: ScrambledFrozenset}

Put = Callable[[Any], None]


def _inside(value: Any) -> Iterator[Any]:
    """Yield what tuples in tuples hold; not by recursion, as they may never end."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple):
            waiting += item
        else:
            yield item


def _has_order(value: Any) -> bool:
    """Say whether a value is a set whose order depends on the hash seed, or has one."""
    return any(
        type(item) in (set, frozenset) and (not item or not all(map(is_fixed, item)))
        for item in _inside(value)
    )


def _makes_sets(value: Any) -> bool:
    """Say so of the types themselves: a library may call one, as a field's factory."""
    return any(item is set or item is frozenset for item in _inside(value))


def _can_be_copied(value: Any) -> bool:
    if not isinstance(value, tuple):
        return True
    is_plain = type(value) is tuple or hasattr(value, "_fields")
    return is_plain and all(map(_can_be_copied, value))


@final
class _StandIns:
    """Makes stand-ins: of one set the same one, wherever it is held."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        if isinstance(value, type):
            return _STANDS_FOR.get(value, value)
        if not (_has_order(value) or _makes_sets(value)):
            return value
        standin = self._known.get(id(value))
        if standin is None:
            standin = self._known[id(value)] = self._made(value)
        return standin

    def _made(self, value: Any) -> Any:
        kind, inside = type(value), map(self.of, value)
        if kind is set or kind is frozenset:
            return _STANDS_FOR[kind](inside)
        return tuple.__new__(kind, inside)


@final
class Holdings:
    """The places at which functions find sets that are there already.

    Parameters
    ----------
    reach
        From where to look.

    Attributes
    ----------
    unknown
        What holds an order that cannot be replaced.
    """

    def __init__(self, reach: Reach) -> None:
        self.unknown: list[str] = []
        self._places: list[tuple[Any, Put]] = []
        self._seen: set[int] = set()
        self._kept: list[Any] = []
        self._names = {
            name
            for function in reach.functions
            for code in codes(function.__code__)
            for name in code.co_names
        }
        self._all = bool(self._names & _DYNAMIC)
        roots: tuple[Any, ...] = (*reach.functions, *reach.classes)
        self._todo = [(one, one.__qualname__) for one in roots]
        self._walk()

    def __len__(self) -> int:
        return len(self._places)

    def lend(self, undo: contextlib.ExitStack) -> None:
        """Put stand-ins at all places, until `undo` is closed."""
        stand_ins = _StandIns()
        for value, put in self._places:
            undo.callback(put, value)
            put(stand_ins.of(value))

    def _walk(self) -> None:
        while self._todo:
            one, where = self._todo.pop()
            if type(one) in _ATOMS or id(one) in self._seen:
                continue
            if len(self._kept) == _MOST:
                self.unknown.append(f"what lies beyond {_MOST} objects")
                return
            self._seen.add(id(one))
            self._kept.append(one)  # or another might get its address
            self._look(one, where)

    def _look(self, one: Any, where: str) -> None:
        kind = type(one)
        if isinstance(one, FunctionType):
            self._function(one)
        elif isinstance(one, ModuleType):
            if is_users_module(one):
                self._names_of(vars(one), one.__name__)
        elif isinstance(one, type):
            self._class(one)
        elif isinstance(one, dict):
            self._dict(one, where)
        elif isinstance(one, _COLLECTIONS):
            self._collection(one, where)
        elif kind.__module__ in _TRANSPARENT:
            self._opaque(one, where)
        if is_users_class(kind):
            self._instance(one, where)

    def _held(self, value: Any, where: str, put: Put) -> None:
        """Note what a place holds, to look inside, too."""
        if _has_order(value) or _makes_sets(value):
            if _can_be_copied(value):
                self._places.append((value, put))
            else:
                self.unknown.append(where)
        self._todo.append((value, where))

    def _function(self, one: FunctionType) -> None:
        where = one.__qualname__
        self._todo += [(cell, where) for cell in one.__closure__ or ()]
        defaults = functools.partial(setattr, one, "__defaults__")
        self._held(one.__defaults__, where, defaults)
        self._todo += [(one.__kwdefaults__, where), (one.__dict__, where)]
        if is_users_function(one):
            self._names_of(one.__globals__, one.__module__ or where)

    def _names_of(self, space: dict[str, Any], where: str) -> None:
        if id(space) in self._seen:
            return
        self._seen.add(id(space))
        for name, value in list(space.items()):
            if not name.startswith("__") and (self._all or name in self._names):
                put = functools.partial(space.__setitem__, name)
                self._held(value, f"{where}.{name}", put)

    def _class(self, one: type) -> None:
        if not is_users_class(one):
            return
        if issubclass(one, set | frozenset) and one not in _STANDS_FOR.values():
            self.unknown.append(one.__qualname__)
        self._todo += [(base, base.__qualname__) for base in one.__bases__]
        for name, value in list(vars(one).items()):
            # What Python and libraries note about a class is not for handlers.
            if not name.startswith("__") or isinstance(value, FunctionType):
                put = functools.partial(type.__setattr__, one, name)
                self._held(value, f"{one.__qualname__}.{name}", put)

    def _dict(self, one: dict[Any, Any], where: str) -> None:
        for key, value in list(dict.items(one)):
            put = functools.partial(dict.__setitem__, one, key)
            self._held(value, where, put)
            self._todo.append((key, where))
        keys = tuple(dict.keys(one))
        if _has_order(keys) or _makes_sets(keys):
            self._held(keys, where, functools.partial(_put_keys, one))
        if isinstance(one, defaultdict):
            factory = functools.partial(setattr, one, "default_factory")
            self._held(one.default_factory, where, factory)

    def _instance(self, one: Any, where: str) -> None:
        values = getattr(one, "__dict__", None)
        if isinstance(values, dict):
            self._todo.append((values, where))
        self._todo.append((type(one), where))
        for kind in type(one).__mro__:
            for name, slot in list(vars(kind).items()):
                if isinstance(slot, MemberDescriptorType):
                    with contextlib.suppress(AttributeError):
                        put = functools.partial(slot.__set__, one)
                        self._held(slot.__get__(one), f"{where}.{name}", put)

    def _collection(self, one: Any, where: str) -> None:
        if isinstance(one, tuple | set | frozenset):
            self._todo += [(value, where) for value in one]
            return
        for number, value in enumerate(one):
            self._held(value, where, functools.partial(_put_at, one, number))

    def _opaque(self, one: Any, where: str) -> None:
        if isinstance(one, CellType):
            with contextlib.suppress(ValueError):  # not bound yet
                put = functools.partial(setattr, one, "cell_contents")
                self._held(one.cell_contents, where, put)
            return
        if isinstance(one, functools.partial):
            held = one.func, *one.args
            self._held(held, where, functools.partial(_put_arguments, one))
            self._todo.append((one.keywords, where))
            return
        for value in gc.get_referents(one):
            if _has_order(value) and type(one).__name__ != _RESULT:
                self.unknown.append(where)
            self._todo.append((value, where))


def _put_at(holder: Any, number: int, value: Any) -> None:
    if number < len(holder):
        holder[number] = value


def _put_keys(holder: Any, keys: tuple[Any, ...]) -> None:
    pairs = list(holder.items())
    holder.clear()
    for number, (key, value) in enumerate(pairs):
        holder[keys[number] if number < len(keys) else key] = value


def _put_arguments(one: Any, held: tuple[Any, ...]) -> None:
    one.__setstate__((held[0], held[1:], one.keywords, one.__dict__))
