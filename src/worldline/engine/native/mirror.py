"""The tables, mirrored into the kernel as far as it asks for them.

Python owns the tables; the kernel has a copy of what it has met. A miss names what it
lacks; here it is worked out by the service, as always, and told to the kernel.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Iterable
from ctypes import POINTER, c_int32, c_int64, c_uint64
from typing import Any, NamedTuple, final

from worldline.engine.decisions import Decision, Question
from worldline.engine.expand import Expander
from worldline.engine.native.library import library
from worldline.engine.tables import (
    Ask,
    Entry,
    Fork,
    Leaf,
    Operations,
    Row,
    Service,
    Tables,
)

_LEAVES, _FORK, _ASK = 0, 1, 2
_SITE, _OUTCOME, _APPLY, _ANSWER, _DECIDE = range(5)
_UNSET = -1
_NONE, _MISSED = -1, -2
"""What the kernel answers when no state fits, and when verdicts are missing."""


class Found(NamedTuple):
    """Where something was met: a state's fingerprint and number, event and leaf."""

    fingerprint: int
    state: int
    entry: int
    leaf: int


_FOUND = struct.Struct("Qiii4x")


@final
class Numbers:
    """Gives objects numbers from 0 on, by identity, and keeps them alive."""

    def __init__(self, first: int = 0) -> None:
        self._first = first
        self._numbers: dict[int, int] = {}
        self._objects: list[Any] = []

    def of(self, item: object) -> tuple[int, bool]:
        """Return the number of an object, and whether it is new."""
        known = self._numbers.get(id(item))
        if known is not None:
            return known, False
        number = self._first + len(self._objects)
        self._numbers[id(item)] = number
        self._objects.append(item)
        return number, True

    def __getitem__(self, number: int) -> Any:
        return self._objects[number - self._first]


@final
class Mirror:
    """A kernel and what it was told of some tables.

    Parameters
    ----------
    tables, service
        What is mirrored, and who fills it.
    """

    def __init__(self, tables: Tables, service: Service) -> None:
        self._tables = tables
        self._service = service
        self._expander = Expander(tables, service)
        self._library = library()
        self._width = len(tables.interners)
        self.kernel = self._library.wl_new(self._width)
        self._mixed = [0] * self._width
        self._entries: set[int] = set()
        self._leaves: set[int] = set()
        self._lists: set[tuple[int, tuple[int, ...]]] = set()
        self._operations = Numbers()
        self._nodes = Numbers()
        self._answers = Numbers()
        self._questions = Numbers(first=2)
        self._decisions = Numbers()
        for site in tables.sites:
            self._library.wl_site(self.kernel, len(site.columns), _ints(site.columns))

    def close(self) -> None:
        """Free the kernel."""
        if self.kernel is not None:
            self._library.wl_delete(self.kernel)
            self.kernel = None

    def add_root(self, row: Row, number: int) -> None:
        """Add an initial state."""
        self._catch_up()
        self._library.wl_root(self.kernel, _ints(row), number)

    def advance(self) -> None:
        """Go on to the states of the next level."""
        self._library.wl_advance(self.kernel)

    def expand(self, count: int, most_states: int) -> int:
        """Expand some states, serving misses; return how many are left."""
        left: int = self._library.wl_expand(self.kernel, count, most_states)
        self._serve(of_next=False)
        return left

    def examine(self, decision: Decision, *, target: bool) -> int | None:
        """Return a state of the next level for which a decision says `target`.

        The one with the least fingerprint; None if there is none.
        """
        number = self.decision(decision)
        self._library.wl_begin_examination(self.kernel)
        while True:
            state: int = self._library.wl_examine(self.kernel, number, target)
            if state != _MISSED:
                return None if state == _NONE else state
            self._serve(of_next=True)

    def options(self, prune: Decision | None, *, dead_ends: bool) -> None:
        """Say which states are not expanded, and whether dead ends are noted."""
        number = _UNSET if prune is None else self.decision(prune)
        self._library.wl_options(self.kernel, number, dead_ends)

    def row(self, index: int, *, of_next: bool) -> Row:
        """Return a state of the level that is expanded, or of the next, by position."""
        out = (c_int32 * self._width)()
        self._library.wl_row(self.kernel, of_next, index, out)
        return list(out)

    def statistics(self) -> tuple[int, ...]:
        """Return six counts.

        States, generated, states found for the next level, states pruned, bytes, and
        1 if there was one state more than allowed.
        """
        out = (c_int64 * 6)()
        self._library.wl_statistics(self.kernel, out)
        return tuple(out)

    def parent(self, state: int) -> tuple[int, int, int]:
        """Return how a state was reached: parent, event and leaf."""
        out = (c_int32 * 3)()
        self._library.wl_parent(self.kernel, state, out)
        return out[0], out[1], out[2]

    def found(self, *, dead_ends: bool) -> list[Found]:
        """Return the failures met so far, or the states where only faults happen."""
        out = ctypes.c_void_p()
        count = self._library.wl_found(self.kernel, dead_ends, ctypes.byref(out))
        if not count or out.value is None:
            return []
        raw = ctypes.string_at(out.value, count * _FOUND.size)
        return [Found(*fields) for fields in _FOUND.iter_unpack(raw)]

    def decision(self, decision: Decision) -> int:
        """Return the kernel's number of a decision."""
        number, is_new = self._decisions.of(decision)
        if is_new:
            self._library.wl_decision(self.kernel, number, _UNSET)
        return number

    def _serve(self, *, of_next: bool) -> None:
        """Work out everything the kernel missed in its last call."""
        out = POINTER(c_int32)()
        count = self._library.wl_misses(self.kernel, ctypes.byref(out))
        if not count:
            return
        flat = out[: 4 * count]
        for at in range(0, 4 * count, 4):
            kind, first, second, index = flat[at : at + 4]
            if kind == _APPLY:
                self._serve_operation(first, second)
            elif kind == _ANSWER:
                self._serve_answer(first, second)
            elif kind == _SITE:
                self._serve_site(first, self.row(index, of_next=of_next))
            elif kind == _OUTCOME:
                entry = self._tables.entries[first]
                self._serve_outcome(entry, self.row(index, of_next=of_next))
            else:
                decision = self._decisions[first]
                self._serve_decision(decision, self.row(index, of_next=of_next))
        self._catch_up()

    def _catch_up(self) -> None:
        """Tell the kernel what new interned values contribute to fingerprints."""
        for column, mix in enumerate(self._tables.mixes):
            done = self._mixed[column]
            if len(mix) > done:
                new = array("Q", mix[done:])
                pointer = (c_uint64 * len(new)).from_buffer(new)
                self._library.wl_mix(self.kernel, column, len(new), pointer)
                self._mixed[column] = len(mix)

    def _serve_site(self, number: int, row: Row) -> None:
        site = self._tables.sites[number]
        values = tuple(row[column] for column in site.columns)
        if (number, values) in self._lists:
            return
        self._lists.add((number, values))
        entries = site.known.get(site.key(row))
        if entries is None:
            entries = self._service.enabled(site, row)
        for entry in entries:
            self._tell_entry(entry)
        events = _ints([entry.number for entry in entries])
        self._library.wl_list(self.kernel, number, _ints(values), len(entries), events)

    def _serve_outcome(self, entry: Entry, row: Row) -> None:
        self._expander.outcomes(entry, row)
        local = row[entry.column] if entry.column >= 0 else 0
        node = self._tell_node(entry.outcomes[local])
        self._library.wl_outcome(self.kernel, entry.number, local, node)

    def _serve_operation(self, number: int, value: int) -> None:
        operations: Operations = self._operations[number]
        after = operations.get(value)
        if after is None:
            after = self._service.apply(operations, value)
        self._library.wl_apply(self.kernel, number, value, after)

    def _serve_answer(self, number: int, value: int) -> None:
        ask: Ask = self._nodes[number]
        answer = self._service.answer(ask, value)
        table, _ = self._answers.of(ask.answers)
        self._library.wl_answer(self.kernel, table, value, answer)

    def _serve_decision(self, decision: Decision, row: Row) -> None:
        """Evaluate a decision, then tell the path that the row takes through it."""
        decision(row)
        tell, number = self._library, self.decision(decision)
        node = decision.root
        tell.wl_decision(self.kernel, number, self._tell_question(node))
        while isinstance(node, Question):
            question = self._tell_question(node)
            if node.inner is not None:
                self._serve_decision(node.inner, row)
                answer = int(node.inner(row))
            else:
                table, _ = self._answers.of(node.answers)
                value = row[node.column]
                answer = node.answers[value]
                tell.wl_answer(self.kernel, table, value, answer)
            node = node.children[answer]
            child = self._tell_question(node)
            tell.wl_branch(self.kernel, question, answer, child)

    def _tell_question(self, node: Any) -> int:
        if not isinstance(node, Question):
            return int(node)
        number, is_new = self._questions.of(node)
        if is_new:
            inner = _UNSET if node.inner is None else self.decision(node.inner)
            table = _UNSET if node.inner else self._answers.of(node.answers)[0]
            tell = self._library.wl_question
            tell(self.kernel, number, node.column, table, inner)
        return number

    def _tell_entry(self, entry: Entry) -> None:
        if entry.number not in self._entries:
            self._entries.add(entry.number)
            tell = self._library.wl_entry
            tell(self.kernel, entry.number, entry.column, entry.fault)

    def _tell_operations(self, operations: Iterable[Operations]) -> list[int]:
        found: list[int] = []
        for one in operations:
            number, is_new = self._operations.of(one)
            if is_new:
                self._library.wl_operation(self.kernel, number, one.column)
            found.append(number)
        return found

    def _tell_leaf(self, leaf: Leaf) -> None:
        if leaf.number in self._leaves:
            return
        self._leaves.add(leaf.number)
        changes = self._tell_operations(leaf.changes)
        self._library.wl_leaf(
            self.kernel,
            leaf.number,
            leaf.local,
            leaf.failed,
            len(changes),
            _ints(changes),
        )

    def _tell_node(self, tree: Any) -> int:
        """Tell an outcome tree as it is now; it may have grown since the last time."""
        number, is_new = self._nodes.of(tree)
        tell, kernel = self._library.wl_node, self.kernel
        if isinstance(tree, Leaf | tuple):
            leaves = (tree,) if isinstance(tree, Leaf) else tree
            for leaf in leaves:
                self._tell_leaf(leaf)
            items = [leaf.number for leaf in leaves]
            tell(kernel, number, _LEAVES, _UNSET, _UNSET, len(items), _ints(items))
            return number
        if is_new and isinstance(tree, Ask):
            before = self._tell_operations(tree.before)
            table, _ = self._answers.of(tree.answers)
            size, items = len(before), before
            tell(kernel, number, _ASK, tree.column, table, size, _ints(items))
        elif is_new and isinstance(tree, Fork):
            tell(kernel, number, _FORK, _UNSET, _UNSET, 0, _ints([]))
        for answer, child in tree.children.items():
            self._library.wl_child(kernel, number, answer, self._tell_node(child))
        return number


def _ints(values: Iterable[int]) -> ctypes.Array[c_int32]:
    found = list(values)
    return (c_int32 * max(1, len(found)))(*found)
