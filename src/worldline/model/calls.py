"""The calls of a workload, node by node: each node's scripts, and its repeated calls.

A system has these once, made in one pass over the workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.node import NodeType
from worldline.model.workload import Invocation, Script, Whenever

Guard: TypeAlias = Callable[..., bool] | None


@final
class Repeated:
    """The calls without position that can be made on a node, with their guards.

    Nodes with the same ones share them.

    Parameters
    ----------
    entries
        What the workload has for the node, in its order.
    """

    __slots__ = ("_entries", "_guards")

    def __init__(self, entries: Iterable[Whenever] = ()) -> None:
        self._entries = tuple((entry.call, entry.when) for entry in entries)
        # Filled when first asked: a system is checked before its arguments are frozen.
        self._guards: dict[tuple[str, Frozen], list[Guard]] = {}

    def __iter__(self) -> Iterator[tuple[Invocation, Guard]]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def guards(self, key: tuple[str, Frozen]) -> list[Guard]:
        """Return the guards under which a call is made; empty if it is not."""
        if len(self._entries) > 0 and not self._guards:
            for call, when in self._entries:
                self._guards.setdefault(call.key, []).append(when)
        return self._guards.get(key, [])


def scripts_by_node(
    workload: Iterable[Script | Whenever], index: Mapping[NodeId, int]
) -> list[tuple[Script, ...]]:
    """Return the scripts that drive each node; those of unknown nodes are left out."""
    scripts: dict[int, list[Script]] = {}
    for entry in workload:
        if isinstance(entry, Script) and entry.node in index:
            scripts.setdefault(index[entry.node], []).append(entry)
    return [tuple(scripts.get(position, ())) for position in range(len(index))]


def repeated_by_node(
    workload: Iterable[Script | Whenever],
    index: Mapping[NodeId, int],
    types: Sequence[NodeType],
) -> list[Repeated]:
    """Return the calls without position that can be made on each node."""
    entries = [entry for entry in workload if isinstance(entry, Whenever)]
    anywhere: dict[NodeType, list[int]] = {
        kind: [n for n, e in enumerate(entries) if e.nodes is None and e.fits(kind)]
        for kind in set(types)
    }
    named: dict[int, list[int]] = {}
    for number, entry in enumerate(entries):
        for node in dict.fromkeys(entry.nodes or ()):
            position = index.get(node)
            if position is not None and entry.fits(types[position]):
                named.setdefault(position, []).append(number)
    by_script: dict[tuple[int, ...], Repeated] = {}
    workloads: list[Repeated] = []
    for position, kind in enumerate(types):
        numbers = tuple(sorted([*anywhere[kind], *named.get(position, ())]))
        if numbers not in by_script:
            by_script[numbers] = Repeated(entries[number] for number in numbers)
        workloads.append(by_script[numbers])
    return workloads
