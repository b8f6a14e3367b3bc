"""Renaming nodes: what a state becomes when some of its nodes exchange their names.

`renamed` works on any frozen value: it replaces ids wherever they occur and puts back
into canonical order all that has no order of its own. `outlines` says which ids occur,
and what is left of a value when some ids are no longer told apart.
`Renamer` knows what the columns of a system hold, beside plain values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, TypeAlias, final

from worldline.model.data.content import (
    DICT,
    ENUM,
    FROZENSET,
    MAP,
    TUPLE,
    UNORDERED,
    Frozen,
    Sealed,
    Tag,
    canonical_bytes,
    order_key,
)
from worldline.model.data.identity import BY_DECLARATION, NodeId
from worldline.model.data.values import freeze, thaw
from worldline.model.drawn import OneOf
from worldline.model.events import Event
from worldline.model.histories.deeds import ClientRecord
from worldline.model.kinds import RANKED, Kind
from worldline.model.message import Envelope
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.semantics.layout import ColumnKind
from worldline.model.structure import Structure

Renaming: TypeAlias = Mapping[NodeId, NodeId]
"""The new name of each node whose name changes."""

_PAIRED = frozenset({MAP, DICT})

_SEALED = (Sealed, ClientRecord)
"""Values that stand for themselves and are known by their key."""


def renamed(frozen: Frozen, names: Renaming) -> Frozen:
    """Return a frozen value with other names in it, canonical again."""
    cls = type(frozen)
    if cls is NodeId:
        return names.get(frozen, frozen)
    if cls is tuple:
        tag = frozen[0]
        if tag is ENUM:
            return frozen
        items: list[Any] = [
            names.get(item, item) if type(item) is NodeId else renamed(item, names)
            for item in frozen[1:]
        ]
        if tag in UNORDERED:
            ids = set(map(type, items)) == {NodeId}
            items.sort(key=BY_DECLARATION if ids else order_key)
        elif tag in _PAIRED:
            pairs = sorted(_pairs(items), key=lambda pair: order_key(pair[0]))
            items = [part for pair in pairs for part in pair]
        elif tag is Event:
            _tidy_event(items)
        elif tag is OneOf and items[0] != frozen[1]:
            # Options that mention nodes are in canonical order, under any names.
            items[0] = (TUPLE, *sorted(items[0][1:], key=order_key))
        return (tag, *items)
    if isinstance(frozen, _SEALED):
        return _renamed_seal(frozen, names)
    return frozen


def _renamed_seal(
    sealed: Sealed | ClientRecord, names: Renaming
) -> Sealed | ClientRecord:
    key = renamed(sealed.key, names)
    if key == sealed.key:
        return sealed
    if isinstance(sealed, ClientRecord):
        return ClientRecord.of(*thaw(key))
    if isinstance(sealed, Envelope):
        return Envelope(key[1], key[2], thaw(key[3]), key[3])
    return PendingTimer(key[1], key[2], thaw(key[3]))


def _tidy_event(items: list[Any]) -> None:
    """Bring into order the two ends of a connection, and the deaf peers of a reset."""
    rank, node, _, peer, _, payload = items
    kind = RANKED[rank]
    if kind.is_about_connection and order_key(peer) < order_key(node):
        items[1], items[3] = peer, node
    elif kind is Kind.RESET:
        items[5] = (TUPLE, *sorted(payload[1:], key=order_key))


def _pairs(items: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(items[::2], items[1::2], strict=True)


def outlines(
    frozen: Frozen, words: Mapping[NodeId, bytes], alone: bytes, *, loose: bool
) -> tuple[bytes, dict[NodeId, bytes]]:
    """Encode a frozen value with words in the place of ids.

    Two values have one outline if a renaming that keeps the words turns one into the
    other: items without an order of their own are sorted after the replacement.

    Parameters
    ----------
    words
        What stands for an id; one that is missing stands for itself.
    alone
        What stands for the one id that is told apart from the others.
    loose
        Whether even the order of tuples is left out.

    Returns
    -------
    tuple
        The outline with all ids anonymous, and for each id of `words` that occurs, the
        outline with that id alone marked.
    """
    if type(frozen) is NodeId:
        word = words.get(frozen)
        if word is None:
            return canonical_bytes(frozen), {}
        return word, {frozen: alone}
    if isinstance(frozen, _SEALED):
        return outlines(frozen.key, words, alone, loose=loose)
    if type(frozen) is not tuple or frozen[0] is ENUM:
        return canonical_bytes(frozen), {}
    tag = frozen[0]
    # The fields of an event may be in the order of ids; few values hold events.
    loose = loose or tag is Event or tag is OneOf
    parts = [outlines(item, words, alone, loose=loose) for item in frozen[1:]]
    common = _joined(tag, [part for part, _ in parts], loose=loose)
    # What is told apart is the same for all ids that stand in like places.
    places: dict[NodeId, list[tuple[int, bytes, bytes]]] = {}
    is_ordered = tag not in UNORDERED
    for place, (part, told) in enumerate(parts):
        for node, apart in told.items():
            spot = (place if is_ordered else 0, part, apart)
            places.setdefault(node, []).append(spot)
    joined: dict[tuple[tuple[int, bytes, bytes], ...], bytes] = {}
    result = {}
    for node, spots in places.items():
        key = tuple(spots if is_ordered else sorted(spots))
        if key not in joined:
            items = [told.get(node, part) for part, told in parts]
            joined[key] = _joined(tag, items, loose=loose)
        result[node] = joined[key]
    return common, result


def _joined(tag: Any, items: list[bytes], *, loose: bool) -> bytes:
    if tag in _PAIRED:
        items = sorted(key + item for key, item in _pairs(items))
    elif tag in UNORDERED or tag is Event or (loose and tag is TUPLE):
        items.sort()
    name = b"%d" % tag.rank if type(tag) is Tag else tag.__qualname__.encode()
    return b"(%s %d:%s)" % (name, len(items), b"".join(items))


@final
class Renamer:
    """Renames the nodes of one system in the frozen values of its columns.

    Parameters
    ----------
    system
        Whose columns they are.
    """

    def __init__(self, system: Structure) -> None:
        self.system = system
        self._cuts = [split(side, system.ids) for side in system.cuts]
        self._numbers = {cut: number for number, cut in enumerate(self._cuts)}

    def renamed(self, column: int, frozen: Frozen, names: Renaming) -> Frozen:
        """Return the value of a column with other names in it.

        It belongs to the column of the renamed node, if the column is a node's.
        """
        return self._closed(column, renamed(self._opened(column, frozen), names))

    def outlines(
        self, column: int, frozen: Frozen, words: Mapping[NodeId, bytes], alone: bytes
    ) -> tuple[int, dict[NodeId, int]]:
        """Return 64-bit hashes of a value's outlines."""
        opened = self._opened(column, frozen)
        loose = self._arrange(column) is not None
        common, told = outlines(opened, words, alone, loose=loose)
        return _digest(common), {node: _digest(one) for node, one in told.items()}

    def event(self, event: Event, names: Renaming) -> Event:
        """Return an event as it is called after a renaming."""
        if event.kind is Kind.PARTITION:
            return Event(event.kind, payload=self._cut(event.payload, names))
        renamed_event: Event = thaw(renamed(freeze(event), names))
        return renamed_event

    def _cut(self, number: int, names: Renaming) -> int:
        return self._numbers[renamed(self._cuts[number], names)]

    def _opened(self, column: int, frozen: Frozen) -> Frozen:
        """Write a value so that its tags say what has an order, and what an id."""
        kind = self.system.layout.columns[column].kind
        if kind is ColumnKind.HIDDEN and not self.system.timed:
            return _with_timers(frozen, FROZENSET)
        if kind is ColumnKind.PARTITION and frozen is not None:
            return self._cuts[frozen]
        return frozen

    def _closed(self, column: int, opened: Frozen) -> Frozen:
        """Undo `_opened`."""
        kind = self.system.layout.columns[column].kind
        if kind is ColumnKind.HIDDEN and not self.system.timed:
            return _with_timers(opened, TUPLE)
        if kind is ColumnKind.PARTITION and opened is not None:
            return self._numbers[opened]
        arrange = self._arrange(column)
        return opened if arrange is None else freeze(arrange(thaw(opened)))

    def _arrange(self, column: int) -> Callable[[Any], Any] | None:
        spec = self.system.layout.columns[column]
        if spec.kind is not ColumnKind.OBSERVER:
            return None
        return self.system.observers[spec.index].arrange


def split(side: frozenset[NodeId], nodes: tuple[NodeId, ...]) -> Frozen:
    """Return a cut as a frozen value: its two sides, neither of them the first."""
    return freeze(frozenset({side, frozenset(nodes) - side}))


def _digest(encoded: bytes) -> int:
    return int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little")


def _with_timers(frozen: Frozen, tag: Tag) -> Frozen:
    cls, status, timers, positions, counter = frozen
    return (cls, status, (tag, *timers[1:]), positions, counter)


def exchange(one: NodeId, other: NodeId) -> dict[NodeId, NodeId]:
    """Return the names after two nodes have exchanged theirs."""
    return {one: other, other: one}
