"""The state of a node before an event, to which it can be put back.

To copy a node takes as long as many an event. So its state is kept from event to event:
after each, what has changed is kept anew, and mostly one look says that nothing has.

What can change is put back in place, so that all objects stay what they are: contexts
are bound to those of parts, and two fields may hold the same one.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection
from typing import Any, final

from worldline.model.data.canonical import CanonicalDict, CanonicalSet
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.data.values import ITSELF
from worldline.model.node import NodeType
from worldline.worlds.kept import is_constant_value
from worldline.worlds.pieces import Piece, Strange, pieces_of

_TOLD_APART = frozenset({NodeId, str, bytes, type(None)})
"""Classes none of whose values equals one of another class, as 1 does True."""

_NOTHING: tuple[str, ...] = ()

_MOST_QUIET = 32

_LARGE = 64
"""Items of a collection; of one whose items are not told apart, any are many."""


@final
class Before:
    """The fields of a node as they were when last kept.

    Parameters
    ----------
    kind
        The type of the node.
    node
        Whose fields they are.

    Attributes
    ----------
    is_costly
        Whether to know what has changed has cost more than most events: something in the
        fields was large, or most events changed something.
    """

    __slots__ = (
        *("_copied", "_copies", "_differing", "_flat", "_held", "_ignored", "_known"),
        *("_moved", "_moving", "_node", "_pieces", "_places", "_quiet", "is_costly"),
    )

    def __init__(self, kind: NodeType, node: Any) -> None:
        self._node, self.is_costly = node, False
        # How many more events have changed nothing than something, of late.
        self._quiet = _MOST_QUIET
        self._ignored = frozenset(kind.ignored)
        # What each field held. Of a collection whose items are told apart, a copy as
        # well: what equals that is the very same data.
        self._held: dict[str, Any] = {}
        self._flat: dict[str, Any] = {}
        # Those that hold another object by now, which is the same data.
        self._moved: list[str] = []
        # What else can change; and copies of what is no plain data, in ignored fields.
        self._pieces: dict[str, list[Piece]] = {}
        self._copied: dict[str, Any] = {}
        self._moving: set[str] = set()
        for name, value in node.__dict__.items():
            self._held[name] = value
            if not is_constant_value(value):
                self._moving.add(name)
                self._keep_inside(name, value)
        self._know()

    def changes(self) -> Collection[str]:
        """Return the names of the fields that have changed since; of a part, its own."""
        fields, held = self._node.__dict__, self._held
        differing = self._differing(fields, self._known)
        changed: Collection[str] = _NOTHING
        if differing:
            kept: list[str] = []
            changed = kept
            self._moved.clear()
            for name in differing:
                value = fields[name]
                is_other = type(value) is int or value is held[name]
                is_moved = not is_other and self._is_equal(name, value)
                (self._moved if is_moved else kept).append(name)
        if self._pieces or self._copied:
            inside = self._changed_inside()
            if inside:
                changed = [*changed, *(name for name in inside if name not in changed)]
        return changed

    def renew(self, changed: Collection[str]) -> None:
        """Keep the fields anew that `changes` has returned, and settle them."""
        if changed is _NOTHING:  # as it is mostly
            if self._quiet < _MOST_QUIET:
                self._quiet += 1
            return
        self._quiet -= 1
        self.is_costly |= self._quiet < 0
        fields, places, moving = self._node.__dict__, self._places, self._moving
        for name in changed:
            value = fields[name]
            if type(value) in ITSELF:
                if name not in moving:  # most fields that change are numbers
                    self._held[name] = self._known[places[name]] = value
                    continue
            else:
                value = fields[name] = settled(value)
            self._keep(name, value)
        if self._moved:
            for name in self._moved:
                self._held[name] = self._known[places[name]] = fields[name]
            self._moved.clear()

    def put_back(self, node: Any) -> None:
        """Give the node these fields again, in place."""
        fields = node.__dict__
        self._moved.clear()
        fields.update(self._held)
        for name, was in self._flat.items():
            _REFILL[type(fields[name])](fields[name], was)
        for pieces in self._pieces.values():
            for piece in pieces:
                piece.put_back()
        for name, copied in self._copied.items():
            fields[name] = _copy_of(copied)

    def _keep(self, name: str, value: Any) -> None:
        """Keep what a field holds now."""
        self._held[name] = self._known[self._places[name]] = value
        was_flat = name in self._flat
        if name in self._moving:
            if was_flat and type(value) in _FLAT:
                items, others = _FLAT[type(value)](value)
                if _are_told_apart(items, others):
                    self._flat[name] = self._known[self._copies[name]] = items
                    self.is_costly |= len(items) > _LARGE
                    return
            for kept in (self._flat, self._pieces, self._copied):
                kept.pop(name, None)
            self._moving.discard(name)
        if not is_constant_value(value):
            self._moving.add(name)
            self._keep_inside(name, value)
        if was_flat or name in self._flat:
            self._know()

    def _know(self) -> None:
        """Keep in one row what is compared: what fields hold, and copies of collections."""
        held, flat = self._held, self._flat
        self._known = [*held.values(), *flat.values()]
        self._places = {name: place for place, name in enumerate(held)}
        self._copies = {name: place for place, name in enumerate(flat, len(held))}
        self._differing = _comparison(tuple(held), tuple(flat))

    def _keep_inside(self, name: str, value: Any) -> None:
        """Keep what is in a field that can change without being set."""
        copy_of = _FLAT.get(type(value))
        if copy_of is not None and name not in self._ignored:
            items, others = copy_of(value)
            if _are_told_apart(items, others):
                self._flat[name] = items
                self.is_costly |= len(items) > _LARGE
                return
        self.is_costly = True
        try:
            self._pieces[name] = pieces_of(value)
        except Strange:
            self._copied[name] = _copy_of(value)

    def _is_equal(self, name: str, value: Any) -> bool:
        """Say whether another object in a field is the same data."""
        was = self._held[name]
        kind, flat = type(value), self._flat.get(name)
        if kind is not type(was):
            return False
        if flat is None:
            return kind in _TOLD_APART and bool(value == was)
        return bool(value == flat)

    def _changed_inside(self) -> list[str]:
        """Return the fields of which something has changed inside, or may have."""
        changed = [
            name
            for name, pieces in self._pieces.items()
            if not all(piece.is_still() for piece in pieces)
        ]
        return changed + list(self._copied)


def _are_told_apart(items: Any, others: Any) -> bool:
    kinds = map(type, items)
    return _TOLD_APART.issuperset(kinds) and _TOLD_APART.issuperset(map(type, others))


@functools.cache
def _comparison(
    names: tuple[str, ...], flat: tuple[str, ...]
) -> Callable[[dict[str, Any], list[Any]], Collection[str]]:
    """Return what says which fields do not hold what is known, if any.

    It is written for speed: each event is followed by one call of it. The function takes
    the fields, and what is known: of each field in `names` the object, and of each in
    `flat` what it held.
    """
    known = [f"a{number}" for number in range(len(names) + len(flat))]
    tests = [f"f[{name!r}] is a{number}" for number, name in enumerate(names)]
    for number, name in enumerate(flat, len(names)):
        place = names.index(name)
        tests[place] += f" and a{place} == a{number}"
    unpack = f" ({', '.join(known)},) = k\n" if known else ""
    looks = "".join(
        f" if not ({test}): r.append({name!r})\n"
        for name, test in zip(names, tests, strict=True)
    )
    space: dict[str, Any] = {}
    # The names of fields, which Python has accepted as such.
    exec(  # noqa: S102
        f"def differing(f, k):\n{unpack} if {' and '.join(tests) or 'True'}: return ()\n"
        f" r = []\n{looks} return r\n",
        space,
    )
    made: Callable[[dict[str, Any], list[Any]], Collection[str]] = space["differing"]
    return made


def _copy_of(value: Any) -> Any:
    """Return a copy of what is no plain data; itself if it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _refill_set(value: set[Any], was: set[Any]) -> None:
    value.clear()
    value.update(was)


def _refill_dict(value: CanonicalDict[Any, Any], was: dict[Any, Any]) -> None:
    dict.clear(value)
    dict.update(value, was)


def _refill_list(value: list[Any], was: list[Any]) -> None:
    value[:] = was


_Flat = tuple[Any, Any]
"""The copy of a collection, and the values of a dict."""

_FLAT: dict[type, Callable[[Any], _Flat]] = {
    CanonicalSet: lambda value: (set(value), ()),
    CanonicalDict: lambda value: (dict(dict.items(value)), dict.values(value)),
    list: lambda value: (value.copy(), ()),
}

_REFILL: dict[type, Callable[[Any, Any], None]] = {
    CanonicalSet: _refill_set,
    CanonicalDict: _refill_dict,
    list: _refill_list,
}
