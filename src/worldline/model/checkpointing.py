"""Checkpoints as a node class declares them: its neighbours, and the fields left out.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, sections 3.1.1 and 3.1.3.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, final, overload

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, freeze_field
from worldline.model.errors import ModelError
from worldline.model.fields import is_kept_out
from worldline.model.node import NodeType
from worldline.model.node_template import first_value
from worldline.model.system import System
from worldline.model.usercode.activity import activity
from worldline.model.usercode.running import refuse, run_pure
from worldline.model.usercode.user_functions import check_function, defined_at

Near = TypeVar("Near", bound="Callable[[Any], Iterable[NodeId | None]]")
T = TypeVar("T")
Filled = TypeVar("Filled", bound="Callable[[Any], None]")

_NEIGHBOURS = "__worldline_neighbours__"
_REBUILD = "__worldline_rebuild__"

MOST_HOPS = 2
"""How far away neighbours may be."""


@overload
def neighbours(function: Near) -> Near: ...
@overload
def neighbours(*, hops: int = 1) -> Callable[[Near], Near]: ...
def neighbours(function: Any = None, *, hops: int = 1) -> Any:
    """Let a method name the nodes whose states its node wants to know.

    It is ``(self) -> Iterable[NodeId | None]``, pure, those first that matter most;
    None stands for no node. Without it they are the peers with which the node has
    connections, or has exchanged datagrams lately. A node and its parts have one such
    method at most.

    Parameters
    ----------
    hops
        2 to ask the neighbours of these neighbours, too.
    """
    if type(hops) is not int or not 1 <= hops <= MOST_HOPS:
        raise ModelError(
            f"@wl.neighbours(hops={hops!r}) is no distance",
            remedy="write hops=1, or hops=2 to ask the neighbours' neighbours as well",
        )
    if function is None:
        return lambda decorated: _marked(decorated, _NEIGHBOURS, hops)
    return _marked(function, _NEIGHBOURS, hops)


def rebuild(function: Filled) -> Filled:
    """Let a method fill again what checkpoints leave out, in a node made from one.

    It is ``(self) -> None``, and depends on the node's other fields alone.
    """
    made: Filled = _marked(function, _REBUILD, True)
    return made


def _marked(function: Any, mark: str, value: Any) -> Any:
    word = mark.strip("_").removeprefix("worldline_")
    name = getattr(function, "__qualname__", f"the method of @wl.{word}")
    if isinstance(function, staticmethod | classmethod):
        raise ModelError(
            f"@wl.{word}: {name} is a {type(function).__name__}",
            remedy=f"take that away: write def {word}(self)",
        )
    check_function(function, name, arguments=1, like=f"def {word}(self): ...")
    setattr(function, mark, value)
    return function


@final
@dataclasses.dataclass(frozen=True, slots=True)
class Checkpointing:
    """What a node class says of its checkpoints.

    Attributes
    ----------
    kept_out
        Fields that checkpoints leave out.
    rebuild
        Fills them again; None if nothing does.
    neighbours, hops
        Which nodes are neighbours, and how far away those are that are asked; None if
        the class does not say. With its place: the names of the parts that lead there.
    """

    kept_out: frozenset[str]
    rebuild: Callable[[Any], None] | None
    neighbours: tuple[tuple[str, ...], Callable[[Any], Iterable[NodeId | None]]] | None
    hops: int


@functools.cache
def checkpointing(kind: NodeType) -> Checkpointing:
    """Return what a node class says of its checkpoints.

    Raises
    ------
    ModelError
        If it has two methods for one thing.
    """
    declared = dataclasses.fields(kind.cls)
    fill = _methods(kind, _REBUILD)
    near = [((), function) for function in _methods(kind, _NEIGHBOURS)]
    hops = [getattr(function, _NEIGHBOURS) for _, function in near]
    for name, inner in kind.parts.items():
        below = checkpointing(inner)
        if below.neighbours is not None:
            path, function = below.neighbours
            near.append(((name, *path), function))  # type: ignore[arg-type]
            hops.append(below.hops)
    for word, found in (("neighbours", near), ("rebuild", fill)):
        if len(found) > 1:
            raise ModelError(
                f"{kind.cls.__name__} has {len(found)} methods with @wl.{word}",
                remedy="keep one",
            )
    return Checkpointing(
        frozenset(field.name for field in declared if is_kept_out(field)),
        fill[0] if fill else None,
        near[0] if near else None,
        hops[0] if hops else 1,
    )


def _methods(kind: NodeType, mark: str) -> list[Callable[..., Any]]:
    found = (getattr(kind.cls, name, None) for name in dir(kind.cls))
    return [one for one in found if callable(one) and hasattr(one, mark)]


def neighbours_of(
    system: System, index: int, node: Any, *, careful: bool = True
) -> tuple[int, ...] | None:
    """Return the indices of a node's neighbours; None if its class does not say them.

    Parameters
    ----------
    careful
        Whether the method is watched, lest it change the node: that takes far longer.

    Raises
    ------
    ModelError
        If its method fails, changes the node, or returns anything but ids of the
        system.
    """
    kind = system.types[index]
    said = checkpointing(kind).neighbours
    if said is None:
        return None
    path, function = said
    name = f"{kind.cls.__name__}'s {function.__name__}"
    for part in path:
        kind, node = kind.parts[part], node.__dict__[part]
    before = kind.freeze(node) if careful else None
    found = _asked(name, function, lambda: _listed(function(node)), _IDS)
    if careful and kind.freeze(node) != before:
        raise ModelError(
            f"{name}{defined_at(function)} changes its node",
            remedy="let it look at the fields alone",
        )
    if found is None or any(one not in system.index for one in found):
        raise ModelError(
            f"{name}{defined_at(function)} does not return ids of nodes of "
            f"{system.name}",
            remedy=_IDS,
        )
    indices = dict.fromkeys(system.index[one] for one in found)
    return tuple(one for one in indices if one != index)


_IDS = "return a list of them, such as [self.parent, *self.children]"


def _asked(
    what: str, function: Callable[..., Any], run: Callable[[], T], remedy: str
) -> T:
    """Return what a function of a class returns; what it raises instead is its fault."""
    activity.dispensable = True
    try:
        return run_pure(run)
    except BaseException as error:
        refuse(what, function, error, remedy)
    finally:
        activity.dispensable = False


def _listed(value: Any) -> list[NodeId] | None:
    if not isinstance(value, Iterable):
        return None
    found = [one for one in value if one is not None]
    return found if all(type(one) is NodeId for one in found) else None


def frozen_in_part(kind: NodeType, node: Any, prototype: Any) -> Frozen:
    """Return a node frozen, with first values in place of what is kept out.

    That may be very much, and is not looked at.
    """
    if not _keeps_out(kind):
        return kind.freeze(node)
    kept_out, values = checkpointing(kind).kept_out, node.__dict__
    frozen: list[Frozen] = []
    for name in kind.identity:
        inner = kind.parts.get(name)
        if inner is not None:
            below = prototype.__dict__[name]
            frozen.append(frozen_in_part(inner, values[name], below))
        elif name in kept_out:
            frozen.append(first_frozen(kind, prototype, name))
        else:
            frozen.append(freeze_field(kind.cls, values, name))
    return (kind.cls, *frozen)


@functools.cache
def _keeps_out(kind: NodeType) -> bool:
    inner = map(_keeps_out, kind.parts.values())
    return bool(checkpointing(kind).kept_out) or any(inner)


def first_frozen(kind: NodeType, prototype: Any, name: str) -> Frozen:
    """Return the frozen first value of a field."""
    return freeze(first_value(kind.cls, prototype, name))


def rebuilt(kind: NodeType, frozen: Frozen, prototype: Any) -> Frozen:
    """Return frozen fields, with those that were kept out filled again.

    Raises
    ------
    ModelError
        If the method that fills them fails, or changes another field.
    """
    if not _rebuilds(kind):
        return frozen
    node = kind.thaw(frozen, prototype)
    _fill(kind, node)
    found = kind.freeze(node)
    changed = _changed(kind, frozen, found)
    if changed is not None:
        raise ModelError(
            f"@wl.rebuild of {kind.cls.__name__} changes {changed}, which checkpoints have",
            remedy="fill what wl.field(checkpoint=False) leaves out, and nothing else",
        )
    return found


def _changed(kind: NodeType, before: Frozen, after: Frozen) -> str | None:
    """Return the first field that differs and is in checkpoints; None if none does."""
    kept_out = checkpointing(kind).kept_out
    for place, name in enumerate(kind.identity, 1):
        if name in kind.parts:
            below = _changed(kind.parts[name], before[place], after[place])
            if below is not None:
                return f"{name}.{below}"
        elif name not in kept_out and before[place] != after[place]:
            return name
    return None


@functools.cache
def _rebuilds(kind: NodeType) -> bool:
    inner = map(_rebuilds, kind.parts.values())
    return checkpointing(kind).rebuild is not None or any(inner)


def _fill(kind: NodeType, node: Any) -> None:
    for name, inner in kind.parts.items():
        _fill(inner, node.__dict__[name])
    fill = checkpointing(kind).rebuild
    if fill is not None:
        name = f"{kind.cls.__name__}'s {fill.__name__}"
        _asked(name, fill, lambda: fill(node), "fill what is left out, in every state")
