"""Contents: a workload whose calls have other arguments than were declared.

The calls are the same, in the same order, with the same guards; so is all else of the
system. But a node that no call names any more, since it has been left out of arguments,
is not driven either: else one that is no member would go by a list of members without it.

Runs of it are runs of another workload, and their traces say which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.data.values import freeze, is_constant
from worldline.model.drawn import alternatives
from worldline.model.errors import ModelError
from worldline.model.system import System
from worldline.model.usercode.user_errors import spelt
from worldline.model.workload import Invocation, Script, Whenever

CallKey: TypeAlias = tuple[str, Frozen]
"""The name of a call, and its arguments; see `Invocation.key`."""


@final
@dataclass(frozen=True, slots=True)
class CallContents:
    """A call of the workload, wherever it is made, with other arguments.

    Attributes
    ----------
    name
        The call.
    before, after
        The arguments that were declared, and those that it has instead.
    """

    name: str
    before: tuple[Any, ...]
    after: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", settled(self.before))
        object.__setattr__(self, "after", settled(self.after))

    @property
    def key(self) -> CallKey:
        """What identifies the call that was declared."""
        return self.name, freeze(self.before)

    def __str__(self) -> str:
        before, after = (
            ", ".join(map(spelt, arguments)) for arguments in (self.before, self.after)
        )
        return f"{self.name}({before}) is {self.name}({after})"


def calls_of(system: System) -> dict[CallKey, Invocation]:
    """Return the calls that a workload makes, without the waits of scripts."""
    calls = (call for entry in system.workload for call in _calls(entry))
    return {call.key: call for call in calls if call.until is None}


def with_contents(system: System, contents: Iterable[CallContents]) -> System:
    """Return a system with other arguments in some calls of its declared workload.

    Its groups of nodes that are alike are left out: contents may tell them apart.

    Parameters
    ----------
    contents
        Take the place of those that the system has already. Arguments are plain data of
        the types that the handler is annotated with.

    Raises
    ------
    ModelError
        If the workload has no such call, or the new one cannot be made.
    """
    plain = system if system.plain is None else system.plain
    if system.injected is not None and plain.injected is None:
        plain = plain.under_injection(system.injected, system.free_faults)
    if system.is_predicted and not plain.is_predicted:
        plain = plain.under_prediction(system.faults)
    contents = tuple(contents)
    if not contents:
        return plain
    by_key = {one.key: one for one in contents}
    _check(plain, by_key)
    workload = [_revised(entry, by_key) for entry in plain.workload]
    gone: Set[NodeId] = set()
    while gone < (fewer := _unnamed(contents, workload)):
        gone = fewer
        workload = [
            driven
            for entry in workload
            if (driven := _without(gone, entry, plain)) is not None
        ]
    changed = plain.replace(workload=workload, symmetry=())
    changed.origin = plain.origin
    changed.contents = contents
    changed.plain = plain
    return changed


def _calls(entry: Script | Whenever) -> tuple[Invocation, ...]:
    return entry.calls if isinstance(entry, Script) else (entry.call,)


def _revised(
    entry: Script | Whenever, contents: Mapping[CallKey, CallContents]
) -> Script | Whenever:
    calls = tuple(
        call
        if call.until is not None or call.key not in contents
        else Invocation(call.name, contents[call.key].after, call.written)
        for call in _calls(entry)
    )
    if isinstance(entry, Script):
        return Script(entry.node, calls, entry.on_reset)
    return replace(entry, call=calls[0])


def left_out(system: System) -> Set[NodeId]:
    """Return the nodes that no call names any more, and that are not driven."""
    return _unnamed(system.contents, system.workload)


def _unnamed(
    contents: Iterable[CallContents], workload: Iterable[Script | Whenever]
) -> Set[NodeId]:
    return _named(one.before for one in contents) - _named(
        call.arguments for entry in workload for call in _calls(entry)
    )


def _without(
    gone: Set[NodeId], entry: Script | Whenever, system: System
) -> Script | Whenever | None:
    """Return an entry of a workload without some nodes; None if none is left."""
    if isinstance(entry, Script):
        calls = () if entry.node in gone else entry.calls
        return Script(entry.node, calls, entry.on_reset)
    nodes = entry.nodes
    if nodes is None:
        kinds = zip(system.ids, system.types, strict=True)
        nodes = tuple(node for node, kind in kinds if entry.fits(kind))
    if gone.isdisjoint(nodes):
        return entry
    nodes = tuple(node for node in nodes if node not in gone)
    return replace(entry, nodes=nodes) if nodes else None


def _named(values: Iterable[tuple[Any, ...]]) -> Set[NodeId]:
    """Return the nodes that are in some values."""
    return {node for value in values for node in nodes_in(freeze(value))}


def nodes_in(frozen: Frozen) -> Iterator[NodeId]:
    """Yield the nodes in a frozen value."""
    if type(frozen) is NodeId:
        yield frozen
    elif type(frozen) is tuple:
        for item in frozen[1:]:
            yield from nodes_in(item)


def _check(system: System, contents: Mapping[CallKey, CallContents]) -> None:
    calls = calls_of(system)
    for key, one in contents.items():
        if key not in calls:
            raise ModelError(
                f"the workload of {system.name} does not make the call "
                f"{one.name}({', '.join(map(spelt, one.before))})",
                remedy="give arguments that a call of the workload has",
            )
        handlers = [
            kind.calls[one.name]
            for kind in set(system.types)
            if one.name in kind.calls and calls[key].is_of(kind)
        ]
        is_fit = is_constant(freeze(one.after)) and all(
            handler.accepts(next(alternatives(one.after))) for handler in handlers
        )
        if not is_fit:
            raise ModelError(
                f"{one.name} cannot be called with "
                f"({', '.join(map(spelt, one.after))})",
                remedy="give arguments of the types that its handler is annotated with",
            )
