"""Why a model seems unbounded: the fields and mailboxes that keep growing.

Every interned value knows the depth at which it was first met. A field whose largest
value, or number of elements, still rises in the last third of the depths reached is
what makes the space infinite, or looks like it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from worldline.model.content import Tag
from worldline.model.layout import ColumnKind
from worldline.model.message import Envelope
from worldline.model.system import System
from worldline.worlds.tabulated import TabulatedWorld

_SHORTEST = 6
"""Depth below which nothing is said."""


def growing(world: TabulatedWorld) -> list[str]:
    """Return a sentence for each field or mailbox that keeps growing."""
    series: dict[str, dict[int, int]] = defaultdict(dict)
    for name, depth, size in _sizes(world):
        known = series[name]
        known[depth] = max(known.get(depth, size), size)
    found: list[str] = []
    for name in sorted(series):
        peaks = _thirds(series[name])
        if peaks is not None and peaks[0] < peaks[1] < peaks[2]:
            text = " → ".join(map(str, peaks))
            found.append(f"{name} keeps growing with depth ({text}): bound it")
    return found


def _thirds(series: dict[int, int]) -> tuple[int, int, int] | None:
    """Return the largest size in each third of the depths reached."""
    deepest = max(series)
    if deepest < _SHORTEST:
        return None
    found: list[int] = []
    for third in range(3):
        low, high = deepest * third / 3, deepest * (third + 1) / 3
        sizes = [size for depth, size in series.items() if low < depth <= high]
        if not sizes:
            return None
        found.append(max(sizes))
    return found[0], found[1], found[2]


def _sizes(world: TabulatedWorld) -> Iterator[tuple[str, int, int]]:
    """Yield name, depth and size of everything that could grow."""
    system, done = world.system, set()
    for number, column in enumerate(system.layout.columns):
        interner = world.tables.interners[number]
        if id(interner) in done:
            continue
        done.add(id(interner))
        for value, depth in zip(interner.values, interner.births, strict=True):
            if column.kind is ColumnKind.LOCAL:
                yield from _field_sizes(system, value, depth)
            elif column.kind is ColumnKind.INBOX:
                yield "the messages under way to a node", depth, _envelopes(value)
            elif column.kind is ColumnKind.OBSERVER:
                name = system.observers[column.index].name
                yield f"history {name}", depth, _size(value) or 0


def _field_sizes(
    system: System, frozen: tuple[Any, ...], depth: int
) -> Iterator[tuple[str, int, int]]:
    cls = frozen[0]
    kind = cls.__worldline_node__
    for name, item in zip(kind.identity, frozen[1:], strict=True):
        size = _size(item)
        if size is not None:
            yield f"{cls.__name__}.{name}", depth, size


def _size(item: Any) -> int | None:
    if type(item) is int:
        return abs(item)
    if type(item) is tuple and type(item[0]) is Tag and item[0].name in _COLLECTIONS:
        return len(item) - 1
    return len(item) if isinstance(item, str | bytes) else None


_COLLECTIONS = frozenset({"tuple", "list", "set", "frozenset", "dict", "map"})


def _envelopes(value: Any) -> int:
    """Count the messages in a frozen mailbox."""
    if isinstance(value, Envelope):
        return 1
    if not isinstance(value, tuple):
        return 0
    if len(value) == 3 and isinstance(value[1], Envelope) and type(value[2]) is int:
        return value[2]
    return _total(value[1:])


def _total(items: Iterable[Any]) -> int:
    return sum(map(_envelopes, items))
