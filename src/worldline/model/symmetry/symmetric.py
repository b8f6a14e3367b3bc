"""Symmetric nodes: declared by the user, and as far as data goes, checked here.

Nodes are symmetric if exchanging their names turns every run into a run. What is
declared as data (prototypes, workload, faults) is compared as soon as a system is
made; handlers and properties are sampled while it is searched (`worlds/symmetry_check.py`).

Where a run begins need not be symmetric: neither what start handlers choose nor a
prologue has to treat the nodes alike.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from worldline.model.arguments import listed, node_list
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze, thaw
from worldline.model.declared import Declared
from worldline.model.errors import ModelError
from worldline.model.node import NodeType
from worldline.model.symmetry.renaming import Renaming, exchange, renamed, split
from worldline.model.workload import Invocation

_REMEDY = "make it the same for all of them, or leave them out of System(symmetry=...)"


@final
@dataclass(frozen=True, slots=True)
class Symmetric:
    """A group of nodes that can exchange their names."""

    nodes: tuple[NodeId, ...]


def symmetric(nodes: Iterable[NodeId]) -> Symmetric:
    """Declare that nodes are alike: all that can happen to one can happen to another.

    Give it to ``System(symmetry=[...])``. A search then visits one of all the states
    that differ only in which of these nodes is which.

    Parameters
    ----------
    nodes
        Nodes of one class. Where they are mentioned, in fields, messages and
        workload, it must be as `NodeId` and without regard to their order: a field
        that lists them is a set, not a tuple.
    """
    return Symmetric(node_list("wl.symmetric(nodes=...)", nodes))


def groups_of(
    declared: Iterable[Symmetric | Iterable[NodeId]], index: Mapping[NodeId, int]
) -> tuple[tuple[NodeId, ...], ...]:
    """Return the groups of more than one node, each in order of declaration.

    Raises
    ------
    ModelError
        If one names something that is no node, or a node that another names too.
    """
    groups: list[tuple[NodeId, ...]] = []
    seen: set[NodeId] = set()
    for given in declared:
        group: Any = given
        if isinstance(group, NodeId):
            raise ModelError(
                f"System(symmetry=...) holds the node {group}, which is no group",
                remedy="write symmetry=[wl.symmetric([a, b, ...])]",
            )
        nodes: tuple[NodeId, ...] = (
            group.nodes
            if isinstance(group, Symmetric)
            else listed("System(symmetry=[...])", group)
        )
        for node in nodes:
            if node not in index:
                raise ModelError(
                    f"System(symmetry=...) names {node!r}, which is no node of it",
                    remedy=f"its nodes are {', '.join(map(str, index))}",
                )
            if node in seen:
                raise ModelError(
                    f"System(symmetry=...) names {node} twice",
                    remedy="name each node once, in one group",
                )
            seen.add(node)
        if len(nodes) > 1:
            groups.append(tuple(sorted(nodes, key=index.__getitem__)))
    return tuple(groups)


def check_symmetry(system: Declared) -> None:
    """Compare what the system says of nodes that are declared symmetric.

    Exchanging two neighbours of a group must change nothing; then no permutation
    does.

    Raises
    ------
    ModelError
        At the first difference, which it names.
    """
    for group in system.symmetry:
        for one, other in itertools.pairwise(group):
            names = exchange(one, other)
            _check_prototypes(system, names)
            _check_scripts(system, names)
            _check_whenevers(system, names)
            _check_faults(system, names)


def _pairs(system: Declared, names: Renaming) -> Iterator[tuple[int, int]]:
    """Yield the index of each node, and of the node that gets its name."""
    for index, node in enumerate(system.ids):
        yield index, system.index[names.get(node, node)]


def _differ(names: Renaming, what: str, here: object, there: object) -> ModelError:
    one, other = names
    return ModelError(
        f"{one} and {other} are declared symmetric, but {what} is {there}; "
        f"with {one} and {other} exchanged it would be {here}",
        remedy=_REMEDY,
    )


def _check_prototypes(system: Declared, names: Renaming) -> None:
    for index, image in _pairs(system, names):
        kind, other = system.types[index], system.types[image]
        if kind is not other:
            name = system.ids[image]
            raise _differ(
                names, f"the class of {name}", kind.cls.__name__, other.cls.__name__
            )
        here = dict(_fields(kind, system.prototypes[index]))
        there = dict(_fields(other, system.prototypes[image]))
        for path, frozen in here.items():
            expected = renamed(frozen, names)
            if expected != there[path]:
                place = f"{kind.cls.__name__}.{path} of {system.ids[image]}"
                raise _differ(
                    names, place, repr(thaw(expected)), repr(thaw(there[path]))
                )


def _fields(kind: NodeType, node: Any, path: str = "") -> Iterator[tuple[str, Frozen]]:
    """Yield every field with its frozen value, ignored ones and those of parts too."""
    for name in kind.roles:
        value = node.__dict__[name]
        if name in kind.parts:
            yield from _fields(kind.parts[name], value, f"{path}{name}.")
        else:
            yield f"{path}{name}", freeze(value)


def _check_scripts(system: Declared, names: Renaming) -> None:
    for index, image in _pairs(system, names):
        here = [
            (script.on_reset, [_scripted(call, names) for call in script.calls])
            for script in system.scripts[index]
        ]
        there = [
            (script.on_reset, [_scripted(call, {}) for call in script.calls])
            for script in system.scripts[image]
        ]
        if here != there:
            what = f"the workload of {system.ids[image]}"
            raise _differ(names, what, _scripts(here), _scripts(there))


def _check_whenevers(system: Declared, names: Renaming) -> None:
    for index, image in _pairs(system, names):
        here = [(_call(c, names), _code(w)) for c, w in system.whenevers[index]]
        there = [(_call(c, {}), _code(w)) for c, w in system.whenevers[image]]
        if Counter(here) != Counter(there):
            what = f"what can be called at any time on {system.ids[image]}"
            raise _differ(names, what, _guarded(here), _guarded(there))


def _scripted(call: Invocation, names: Renaming) -> tuple[str, Frozen, object]:
    return (*_call(call, names), _code(call.until))


def _call(call: Invocation, names: Renaming) -> tuple[str, Frozen]:
    return call.name, renamed(freeze(call.arguments), names)


def _text(call: tuple[str, Frozen, *tuple[object, ...]]) -> str:
    return f"{call[0]}({', '.join(map(repr, thaw(call[1])))})"


def _scripts(
    scripts: Sequence[tuple[str, list[tuple[str, Frozen, object]]]],
) -> str:
    texts = [
        f"{', '.join(map(_text, calls))} ({on_reset} on a reset)"
        for on_reset, calls in scripts
    ]
    return "; ".join(texts) or "empty"


def _guarded(calls: list[tuple[tuple[str, Frozen], object]]) -> str:
    texts = [
        _text(call) + ("" if guard is None else f" when {guard!r}")
        for call, guard in calls
    ]
    return ", ".join(texts) or "nothing"


def _code(when: Callable[..., bool] | None) -> object:
    """Return what makes guards equal: their code, if that says all about them."""
    if getattr(when, "__closure__", None) or getattr(when, "__defaults__", None):
        return when
    return getattr(when, "__code__", when)


def _check_faults(system: Declared, names: Renaming) -> None:
    one, other = names
    faults = system.faults
    if faults.strikes(one) != faults.strikes(other):
        raise _differ(
            names, "Faults(nodes=...)", "another set", f"{list(faults.nodes or ())}"
        )
    cuts = [split(side, system.ids) for side in system.cuts]
    if len(set(cuts)) < len(cuts):
        raise ModelError(
            "Faults(cuts=...) has one split of the network twice",
            remedy="name each split once, by either of its sides",
        )
    for cut, side in zip(cuts, system.cuts, strict=True):
        if renamed(cut, names) not in cuts:
            image = [names.get(node, node) for node in system.ids if node in side]
            raise ModelError(
                f"{one} and {other} are declared symmetric, but Faults(cuts=...) has "
                f"no split {image} beside {[n for n in system.ids if n in side]}",
                remedy="add it, or leave these nodes out of System(symmetry=...)",
            )
