"""Signs of an unbounded model: what still grew when a search was ended.

Every interned value knows the depth at which it was first met. A field, or mailbox, whose
largest value set new records all along the depths searched, and was not behind with the
next one when the search ended, is what makes the space infinite, or looks like it. What
has stopped growing is late with its next record, and nothing is said of it; nor after a
depth-first search, which does not meet things at their least depth.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from worldline.model.absent import NO_VALUE
from worldline.model.data.content import Tag
from worldline.model.message import Envelope
from worldline.model.semantics.layout import ColumnKind
from worldline.model.system import System
from worldline.worlds.tabulated import TabulatedWorld

_SHORTEST = 6
"""Depth below which nothing is said."""

_FEWEST = 5
"""Records without which nothing is said: a small field is filled that often."""

_RECENT = 3
"""Distances between records, of the last ones, that tell when the next is due."""


def growing(world: TabulatedWorld, depth: int) -> list[str]:
    """Return a sentence for each field or mailbox that still grew.

    Parameters
    ----------
    depth
        The depth that the search has reached, breadth-first.
    """
    series: dict[str, dict[int, int]] = defaultdict(dict)
    for name, born, size in _sizes(world):
        sizes = series[name]
        sizes[born] = max(sizes.get(born, size), size)
    lines: list[str] = []
    for name in sorted(series):
        risen = _risen(series[name], depth)
        if risen is not None:
            text = " → ".join(map(str, risen))
            lines.append(
                f"{name} rose up to the end of the search ({text} in its thirds): if "
                "nothing bounds it, bound it"
            )
    return lines


def _risen(series: dict[int, int], depth: int) -> tuple[int, int, int] | None:
    """Return the largest size up to each third of the depth, if it still rises."""
    records: list[int] = []
    largest = -1
    for born in sorted(series):
        if series[born] > largest:
            largest = series[born]
            records.append(born)
    if depth < _SHORTEST or len(records) <= _FEWEST or not _is_due(records, depth):
        return None
    first, second, third = (
        max((series[born] for born in records if born <= depth * part / 3), default=0)
        for part in (1, 2, 4)
    )
    return (first, second, third) if first < second < third else None


def _is_due(records: list[int], depth: int) -> bool:
    """Say whether the next record is not late, by the distances of the last ones."""
    last = records[-_RECENT - 1 :]
    usual = max(b - a for a, b in itertools.pairwise(last))
    return 0 <= depth + 1 - last[-1] <= usual


def _sizes(world: TabulatedWorld) -> Iterator[tuple[str, int, int]]:
    """Yield name, depth and size of everything that could grow."""
    system, done = world.system, set()
    for number, column in enumerate(system.layout.columns):
        interner = world.tables.interners[number]
        if id(interner) in done:
            continue
        done.add(id(interner))
        for value, depth in zip(interner.values, interner.births, strict=True):
            if value == NO_VALUE:
                continue
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
