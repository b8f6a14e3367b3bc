"""Faults under other names: fault sets that interchangeable nodes make alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

from worldline.injection.scope import Crash, Fault, FaultSet


def renamed(fault: Fault, names: dict[str, str]) -> Fault:
    """Return a fault with its nodes renamed; a node without a new name keeps its own."""
    if isinstance(fault, Crash):
        reaches = tuple(sorted(names.get(node, node) for node in fault.reaches))
        return replace(fault, node=names.get(fault.node, fault.node), reaches=reaches)
    src, dst = names.get(fault.src, fault.src), names.get(fault.dst, fault.dst)
    return replace(fault, src=src, dst=dst)


@final
class Renamings:
    """The renamings of nodes that change nothing.

    Parameters
    ----------
    permutations
        All of them but the identity; a group with it.
    """

    def __init__(self, permutations: Sequence[dict[str, str]]) -> None:
        self._permutations = permutations
        self._renamed: dict[Fault, list[Fault]] = {}

    def least(self, faults: FaultSet) -> FaultSet:
        """Return the one fault set that stands for all that are alike."""
        return min(self._alike(faults), key=lambda one: sorted(map(str, one)))

    def all_of(self, sets: Iterable[FaultSet]) -> list[FaultSet]:
        """Return the sets with all that are alike, each once."""
        return list(dict.fromkeys(like for one in sets for like in self._alike(one)))

    def _alike(self, faults: FaultSet) -> list[FaultSet]:
        if not self._permutations:
            return [faults]
        columns = [self._under_all(fault) for fault in faults]
        if not columns:
            return [faults]
        return [faults, *map(frozenset, zip(*columns, strict=True))]

    def _under_all(self, fault: Fault) -> list[Fault]:
        if fault not in self._renamed:
            self._renamed[fault] = [renamed(fault, p) for p in self._permutations]
        return self._renamed[fault]
