"""The state of a node before an event, to which it can be put back.

To copy a node takes as long as many an event. So its state is kept from event to event:
after each, what has changed is kept anew, and mostly one look says that nothing has.

What can change is put back in place, so that all objects stay what they are: contexts
are bound to those of parts, and two fields may hold the same one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any, Literal, TypeAlias, final

from worldline.model.data.constant import is_constant_value
from worldline.model.data.dict_changes import DictChanges, can_be_noted
from worldline.model.data.parting import part
from worldline.model.data.settling import met, settled
from worldline.model.data.values import ITSELF
from worldline.model.node import Handler, NodeType
from worldline.worlds.comparing import (
    UNKNOWN,
    Compares,
    Expectation,
    comparison,
    expectation,
)
from worldline.worlds.flat_copies import (
    TOLD_APART,
    FlatCopy,
    are_imitated,
    flat_copy,
    is_flat,
    refill,
)
from worldline.worlds.pieces import Piece, Strange, pieces_of
from worldline.worlds.touching.plain_data import is_plain_data
from worldline.worlds.touching.touched import Touched, touched_by

Insides: TypeAlias = Literal["nothing", "items", "more"]
"""What can change in what a field holds: nothing; what is in it; or what is in that, too."""

_NOTHING: tuple[str, ...] = ()

_MOST_QUIET = 32

_MOST_EXPECTED = 2
"""Fields that the next event may be expected to change, if the last one has."""

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
    is_spared
        Whether whoever asks will ask no more if it is costly; only then that is told.

    Attributes
    ----------
    is_costly
        Whether to know what has changed has cost more than most events: something in the
        fields was large, or most events changed something.
    expected
        What is expected of each handler that has run lately: what it changed last.
    is_spared
        As it was given.
    reshaped
        Is called when other handlers may be apart than before.
    """

    __slots__ = (
        *("_copied", "_copies", "_differing", "_differing_in", "_flat", "_ignored"),
        "_is_plain",
        *("_is_strict", "_kind", "_known", "_moved", "_moving", "_node", "_others"),
        *("_pieces", "_places", "_quiet", "_watched", "expected", "is_costly"),
        *("is_spared", "reshaped"),
    )

    def __init__(self, kind: NodeType, node: Any, *, is_spared: bool = False) -> None:
        self._kind, self._node = kind, node
        self.is_costly, self.is_spared = False, is_spared
        # Of fields that are watched, what can change inside them.
        self._watched: dict[str, Insides] = {}
        self.reshaped: Callable[[], None] = lambda: None
        # As `_differing`, by what may have changed.
        self._differing_in: dict[Touched, Compares] = {}
        # How many more events have changed nothing than something, of late.
        self._quiet = _MOST_QUIET
        self._ignored = frozenset(kind.ignored)
        # In one row, what each field held. Of a collection whose items are told apart, a
        # copy as well, by name too: what equals that is the very same data.
        self._known: list[Any] = []
        self._flat: dict[str, FlatCopy] = {}
        self._is_strict = are_imitated()
        # Those that hold another object by now, which is the same data.
        self._moved: list[str] = []
        # What else can change, and what of it has; and copies of what is no plain data, in
        # ignored fields.
        self._pieces: dict[str, list[Piece]] = {}
        self._others: dict[str, list[Piece]] = {}
        self._copied: dict[str, Any] = {}
        self._moving: set[str] = set()
        self._places = {name: place for place, name in enumerate(node.__dict__)}
        for name, value in node.__dict__.items():
            if not is_constant_value(value):
                self._moving.add(name)
                self._keep_inside(name, value)
        self._known = [*node.__dict__.values()]
        self._is_plain = all(map(is_plain_data, self._known))
        self.expected: dict[Handler | None, Expectation] = {}
        self._know()

    def watch(self, names: frozenset[str], reshaped: Callable[[], None]) -> None:
        """Tell, from now on, when `is_apart` may say something else of these fields."""
        self._watched = {name: self._insides(name) for name in names & {*self._places}}
        self.reshaped = reshaped

    def is_apart(self, handler: Handler) -> bool:
        """Say whether a handler can change none of the watched fields, by its code."""
        touched = touched_by(self._kind, handler) if self._is_plain else None
        if touched is None:
            return False
        return all(
            inside == "nothing" or (inside == "items" and name not in touched.changed)
            for name, inside in self._watched.items()
        ) and touched.assigned.isdisjoint(self._watched)

    def catch_up(self, touched: Touched) -> None:
        """Keep anew what handlers have changed of which nobody has asked that.

        Parameters
        ----------
        touched
            What they may have changed.
        """
        if self._pieces or self._copied:
            changed = self.changes()
        else:
            differing = self._differing_in.get(touched)
            if differing is None:
                names, flat = tuple(self._places), tuple(self._flat)
                differing = comparison(names, flat, touched)
                self._differing_in[touched] = differing
            changed = self._compared(self._node.__dict__, differing)
        if changed:
            self._renew(None, changed)

    def changes(self) -> Collection[str]:
        """Return the names of the fields that have changed since; of a part, its own."""
        changed = self._compared(self._node.__dict__, self._differing)
        if self._pieces or self._copied:
            inside = self._changed_inside()
            if inside:
                changed = [*changed, *(name for name in inside if name not in changed)]
        return changed

    def changes_after(self, handler: Handler | None) -> Collection[str]:
        """Return the same, quickly if the handler does what it did before.

        Parameters
        ----------
        handler
            Which has run, and no other; None if that is unknown.
        """
        changed = (self.expected.get(handler) or self.expect(handler)).changes(None)
        return self.changes() if changed is None else changed

    def renew(self, changed: Collection[str], handler: Handler | None = None) -> None:
        """Keep the fields anew that `changes` has returned, and settle them."""
        is_quiet = changed is _NOTHING  # as it is mostly
        if self.is_spared and (not is_quiet or self._quiet < _MOST_QUIET):
            self._quiet += 1 if is_quiet else -1
            self.is_costly |= self._quiet < 0
        if is_quiet:
            return
        made = self.expected.get(handler)
        if made is not None and changed is made.names:
            made.keep()
        else:
            self._renew(handler, changed)

    def _renew(self, handler: Handler | None, changed: Collection[str]) -> None:
        fields, places, moving = self._node.__dict__, self._places, self._moving
        are_plain = True
        met.places = 0
        for name in changed:
            value = fields[name]
            if type(value) in ITSELF:
                if name not in moving:  # most fields that change are numbers
                    self._known[places[name]] = value
                    continue
            else:
                are_plain = False
                pieces = self._others.get(name)
                if (
                    pieces is not None
                    and value is self._known[places[name]]
                    and all(piece.renew() for piece in pieces)
                ):
                    continue  # of many collections that it holds, most are as before
                value = fields[name] = settled(value)
            are_plain = False
            self._keep(name, value)
        if met.places:
            for name in part(fields):
                self._keep(name, fields[name])
        if self._moved:
            for name in self._moved:
                self._known[places[name]] = fields[name]
            self._moved.clear()
        elif are_plain and 0 < len(changed) <= _MOST_EXPECTED:
            self.expect(handler, tuple(changed))

    def put_back(self, node: Any) -> None:
        """Give the node these fields again, in place."""
        fields = node.__dict__
        self._moved.clear()
        fields.update(zip(self._places, self._known, strict=False))
        for name, was in self._flat.items():
            refill(fields[name], was)
        for pieces in self._pieces.values():
            for piece in pieces:
                piece.put_back()
        for name, copied in self._copied.items():
            fields[name] = _copy_of(copied)

    def _compared(self, fields: dict[str, Any], look: Compares) -> Collection[str]:
        """Return which fields hold something else, as far as one look at each tells."""
        try:
            differing = look(fields, self._known)
        except Exception:  # one of a class that refuses to be compared has come
            differing = [name for name in self._places if self._differs(name, fields)]
        if not differing:
            return _NOTHING
        changed: list[str] = []
        self._moved.clear()
        for name in differing:
            value, was = fields[name], self._known[self._places[name]]
            is_other = type(value) is int or value is was
            is_moved = not is_other and self._is_equal(name, value, was)
            (self._moved if is_moved else changed).append(name)
        return tuple(changed) if changed else changed

    def _differs(self, name: str, fields: dict[str, Any]) -> bool:
        """Say whether a field holds something else, or what refuses to be compared."""
        value, flat = fields[name], self._flat.get(name)
        if value is not self._known[self._places[name]]:
            return True
        return flat is not None and not _equals(value, flat)

    def expect(
        self, handler: Handler | None, names: tuple[str, ...] = ()
    ) -> Expectation:
        """Expect that a handler will change these fields, or nothing, and return that."""
        touched = None
        if handler is not None and self._is_plain:
            touched = touched_by(self._kind, handler)
        made = UNKNOWN
        if not (self._pieces or self._copied):
            every, flat = tuple(self._places), tuple(self._flat)
            made = expectation(every, flat, names, touched)(
                self._node.__dict__, self._known
            )
        self.expected[handler] = made
        return made

    def _keep(self, name: str, value: Any) -> None:
        """Keep what a field holds now."""
        self._known[self._places[name]] = value
        was_flat = name in self._flat
        if name in self._moving:
            if was_flat and (flat := self._flat_of(name, value)) is not None:
                self._flat[name] = self._known[self._copies[name]] = flat
                return
            for kept in (self._flat, self._pieces, self._others, self._copied):
                kept.pop(name, None)
            self._moving.discard(name)
        if not is_constant_value(value):
            self._moving.add(name)
            self._keep_inside(name, value)
        if was_flat or name in self._flat:
            self._know()
        self.expected.clear()
        before = self._watched.get(name)
        if before is not None and before != (inside := self._insides(name)):
            self._watched[name] = inside
            self.reshaped()

    def _know(self) -> None:
        """Keep in one row what is compared: what fields hold, and copies of collections."""
        names, flat = self._places, self._flat
        self._known[len(names) :] = flat.values()
        self._copies = {name: place for place, name in enumerate(flat, len(names))}
        self._differing = comparison(tuple(names), tuple(flat))
        self._differing_in.clear()
        self.expected.clear()

    def _keep_inside(self, name: str, value: Any) -> None:
        """Keep what is in a field that can change without being set."""
        if name not in self._ignored:
            flat = self._flat_of(name, value)
            if flat is not None:
                self._flat[name] = flat
                return
        self.is_costly = True
        try:
            self._pieces[name] = pieces_of(value)
        except Strange:
            self._copied[name] = _copy_of(value)

    def _flat_of(self, name: str, value: Any) -> FlatCopy | None:
        """Return what equals a collection as long as it is the same data, if anything does."""
        was = self._flat.get(name)
        if type(was) is DictChanges and was.take(value):
            return was
        if can_be_noted(value):
            return DictChanges(value)
        flat = flat_copy(value, is_strict=self._is_strict)
        self.is_costly |= flat is not None and len(value) > _LARGE
        return flat

    def _insides(self, name: str) -> Insides:
        """Return what can change in a field without its being assigned."""
        if name not in self._moving:
            return "nothing"
        pieces = self._pieces.get(name, ())
        is_last = len(pieces) < 2 and all(piece.is_last for piece in pieces)
        is_collection = is_flat(type(self._known[self._places[name]]))
        return "items" if is_last and is_collection else "more"

    def _is_equal(self, name: str, value: Any, was: Any) -> bool:
        """Say whether another object in a field is the same data."""
        kind, flat = type(value), self._flat.get(name)
        if kind is not type(was):
            return False
        if flat is None:
            return kind in TOLD_APART and bool(value == was)
        return _equals(value, flat)

    def _changed_inside(self) -> list[str]:
        """Return the fields of which something has changed inside, or may have."""
        others = self._others
        others.clear()
        for name, pieces in self._pieces.items():
            found = [piece for piece in pieces if not piece.is_still()]
            if found:
                others[name] = found
        return [*others, *self._copied]


def _equals(value: Any, flat: FlatCopy) -> bool:
    try:
        return bool(value == flat)
    except Exception:  # of a class that refuses it
        return False


def _copy_of(value: Any) -> Any:
    """Return a copy of what is no plain data; itself if it cannot be copied."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value
