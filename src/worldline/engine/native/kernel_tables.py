"""The kernel's copy of the tables, filled as far as it asks for them.

Python owns the tables; the kernel has a copy of what it has met, for as long as they
live: a second search finds them warm.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, TypeAlias, final

from worldline.engine.collections import ACTIONS, AT_ALL, AT_PEER
from worldline.engine.decisions import ColumnQuestion, Decision
from worldline.engine.native.columns import KernelColumns
from worldline.engine.native.commands import CommandBuffer, Opcode, halves
from worldline.engine.native.library import library
from worldline.engine.tables import (
    Ask,
    Entry,
    Fork,
    Leaf,
    Operations,
    Row,
    Site,
    Tables,
)
from worldline.model.verdicts import UNSEEN, StateVerdict

_LEAVES, _FORK, _ASK = range(3)
_UNSET = -1
_NOTHING = -2
"""The outcome of an event that is no transition; what is left of a link that ended."""


_FIRST_QUESTION = 3
"""Lesser numbers of questions are verdicts."""

QuestionPlace: TypeAlias = tuple[ColumnQuestion, ...]
"""A question, and those of which it is a part, from the inside out.

The kernel has no decisions inside decisions: it knows their questions at every place
where they are asked.
"""


_MOST_KNOWN = 3
"""Answers in a row that a kernel knows: it is likely to know what follows, too."""


def _first(node: Any, around: QuestionPlace) -> QuestionPlace | StateVerdict | None:
    """Return the question to a column that comes first from a node on, if any is known."""
    while isinstance(node, ColumnQuestion):
        around = (node, *around)
        if node.inner is None:
            return around
        node = node.inner.root
    return _after(around, node) if around else node


def _after(
    place: QuestionPlace, answer: int | StateVerdict | None
) -> QuestionPlace | StateVerdict | None:
    """Return where an answer leads to, if that is known."""
    return _first(place[0].children.get(answer), place[1:])


@final
class Numbers:
    """Gives objects numbers from 0 on, by identity, and keeps them alive."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._objects: list[Any] = []

    def of(self, item: object) -> tuple[int, bool]:
        """Return the number of an object, and whether it is new."""
        earlier = self._numbers.get(id(item))
        if earlier is not None:
            return earlier, False
        number = len(self._objects)
        self._numbers[id(item)] = number
        self._objects.append(item)
        return number, True

    def __getitem__(self, number: int) -> Any:
        return self._objects[number]


@final
class KernelTables:
    """The kernel's copy of some tables.

    Attributes
    ----------
    handle
        By which the kernel knows it.
    columns
        The kernel's numbers of values.
    commands
        The commands to it, for what is not encoded here.
    """

    def __init__(self, tables: Tables) -> None:
        self.library = library()
        self.handle = self.library.wl_tables(len(tables.interners))
        weakref.finalize(self, self.library.wl_tables_free, self.handle)
        self.commands = self._commands = CommandBuffer(self.library, self.handle)
        self.columns = KernelColumns(tables, self.library, self.handle, self._commands)
        self._entries: set[int] = set()
        self._leaves: set[int] = set()
        self._sent: set[tuple[Opcode, int, int]] = set()
        self._operations = Numbers()
        self._trees = Numbers()
        self._answers = Numbers()
        self._questions: dict[tuple[int, ...], int] = {}
        self._places: list[QuestionPlace] = []
        self._decisions = Numbers()
        for site in tables.sites:
            self._encode_site(site)
        self.send()

    def send(self) -> None:
        """Send all commands to the kernel."""
        self.columns.rank_items()
        self._commands.send()

    def decision(self, decision: Decision) -> int:
        """Return the kernel's number of a decision."""
        number, is_new = self._decisions.of(decision)
        if is_new:
            self._commands.extend((Opcode.DECISION, number, _UNSET))
        return number

    def operations(self, number: int) -> Operations:
        """Return the operations that have a number of the kernel's."""
        operations: Operations = self._operations[number]
        return operations

    def question_of(self, number: int) -> Ask:
        """Return the tree that has a number of the kernel's: a question."""
        ask: Ask = self._trees[number]
        return ask

    def decision_of(self, number: int) -> Decision:
        """Return the decision that has a number of the kernel's."""
        decision: Decision = self._decisions[number]
        return decision

    def encode_list(
        self, site: Site, values: list[int], entries: tuple[Entry, ...]
    ) -> None:
        """Encode the events of a site, for the kernel's values of its columns."""
        events = [self.entry(entry) for entry in entries]
        self._commands.extend((Opcode.LIST, site.number, *values, len(events), *events))

    def encode_parts(
        self, site: Site, item: int, row: list[int], entries: tuple[Entry | None, ...]
    ) -> None:
        """Encode the events of one item of a site's collection."""
        events = [_UNSET if one is None else self.entry(one) for one in entries]
        self._commands.extend((Opcode.PARTS, site.number, item, *row, *events))

    def encode_outcome(self, entry: Entry, local: int, tree: Any) -> None:
        """Encode what an event does in a local state, by the kernel's number of it."""
        outcome = self._outcome(tree)
        self._commands.extend((Opcode.OUTCOME, entry.number, local, outcome))

    def encode_operation(self, number: int, value: int, after: int) -> None:
        """Encode what an operation makes of a value, both as the kernel has them."""
        self._commands.extend((Opcode.APPLY, number, value, after))

    def encode_link(
        self, operations: Operations, number: int, link: int, after: Any
    ) -> None:
        """Encode what an operation makes of a link, or of none, by its number."""
        left = _NOTHING
        if after is not None:
            left = self.columns.item(operations.column, after)
        self._commands.extend((Opcode.LINK_APPLY, number, link, left))

    def encode_answer(self, ask: Ask, value: int, answer: int) -> None:
        """Encode what a value answers."""
        table, _ = self._answers.of(ask.answers)
        self._commands.extend((Opcode.ANSWER, table, value, answer))

    def encode_link_answer(self, ask: Ask, link: int, answer: int) -> None:
        """Encode what a link answers, or none, by the kernel's number of it."""
        table, _ = self._answers.of(ask.answers)
        self._commands.extend((Opcode.LINK_ANSWER, table, link, answer))

    def encode_verdict(
        self, decision: Decision, row: Row, question: int = _UNSET
    ) -> None:
        """Encode the path that a row takes through a decision, as far as it is news.

        Parameters
        ----------
        question
            The kernel's number of the question from which on it does not know the
            path; -1: from the first.
        """
        place: QuestionPlace | StateVerdict | None
        if question == _UNSET:
            decision(row)
            number, place = self.decision(decision), _first(decision.root, ())
            if self._is_news(Opcode.DECISION, number, 0):
                self._commands.extend((Opcode.DECISION, number, self._question(place)))
        else:
            place = self._places[question - _FIRST_QUESTION]
        known = 0
        while isinstance(place, tuple) and known < _MOST_KNOWN:
            is_news = self._encode_answer_to(place, decision, row)
            known = 0 if is_news else known + 1
            place = _after(place, place[0].answers[row[place[0].column]])

    def _encode_answer_to(
        self, place: QuestionPlace, decision: Decision, row: Row
    ) -> bool:
        """Encode what a row answers to a question, and what that leads to, if it is news."""
        question, node = self._question(place), place[0]
        value = row[node.column]
        answer = decision.answer(node, value)
        following = None if answer is None else _after(place, answer)
        if answer is None or following is None:
            decision(row)
            answer = node.answers[value]
            following = _after(place, answer)
        table, _ = self._answers.of(node.answers)
        is_news = self._is_news(Opcode.ANSWER, table, value)
        if is_news:
            seen = self.columns.number(node.column, value)
            self._commands.extend((Opcode.ANSWER, table, seen, answer))
        if self._is_news(Opcode.BRANCH, question, answer):
            child = self._question(following)
            self._commands.extend((Opcode.BRANCH, question, answer, child))
            return True
        return is_news

    def _is_news(self, word: Opcode, first: int, second: int) -> bool:
        key = (word, first, second)
        if key in self._sent:
            return False
        self._sent.add(key)
        return True

    def _question(self, place: QuestionPlace | StateVerdict | None) -> int:
        """Return the kernel's number of a question, or of a verdict."""
        assert place is not None, "a path that was evaluated is known"
        if not isinstance(place, tuple):
            return place.value if place is UNSEEN else int(place)
        key = tuple(map(id, place))
        number = self._questions.get(key)
        if number is None:
            number = self._questions[key] = _FIRST_QUESTION + len(self._places)
            self._places.append(place)
            table, _ = self._answers.of(place[0].answers)
            words = (Opcode.QUESTION, number, place[0].column, table)
            self._commands.extend(words)
        return number

    def _encode_site(self, site: Site) -> None:
        place = _UNSET
        if site.collection is not None:
            place = site.columns.index(site.collection)
        count = len(site.columns)
        local = _UNSET if site.local is None else site.local
        words = (Opcode.SITE, local, place, site.kinds, count, *site.columns)
        self._commands.extend(words)

    def entry(self, entry: Entry) -> int:
        """Return the number of an event that the kernel knows then."""
        if entry.number not in self._entries:
            self._entries.add(entry.number)
            first, second = (*entry.own, _UNSET, _UNSET)[:2]
            words = (Opcode.ENTRY, entry.number, entry.column, entry.fault)
            self._commands.extend((*words, first, second, *halves(entry.content)))
        return entry.number

    def _numbers_of(self, operations: Iterable[Operations]) -> list[int]:
        numbers: list[int] = []
        for one in operations:
            number, is_new = self._operations.of(one)
            if is_new:
                action, item = self._action(one)
                self._commands.extend(
                    (Opcode.OPERATION, number, one.column, action, item)
                )
            numbers.append(number)
        return numbers

    def _action(self, operations: Operations) -> tuple[int, int]:
        """Return what a kernel can do by itself, and the item with which."""
        operation: Any = operations.operation
        collection = self.columns.collection(operations.column)
        if collection is None:
            return 0, 0
        if collection.links is not None:
            peer = collection.links.concerned(operation)
            return (AT_ALL, 0) if peer is None else (AT_PEER, peer)
        if len(operation) != 2:
            return 0, 0
        action = ACTIONS.get(operation[0], 0)
        return action, self.columns.item(
            operations.column, operation[1]
        ) if action else 0

    def _outcome(self, tree: Any) -> int:
        """Return what happens as one integer: a leaf, nothing, or a tree."""
        leaves = (tree,) if isinstance(tree, Leaf) else tree
        if isinstance(leaves, tuple) and len(leaves) < 2:
            return 2 * self._leaf(leaves[0]) if leaves else _NOTHING
        return 2 * self._tree(tree) + 1

    def _leaf(self, leaf: Leaf) -> int:
        if leaf.number not in self._leaves:
            self._leaves.add(leaf.number)
            changes = self._numbers_of(leaf.changes)
            entry = self.entry(leaf.entry)
            column = leaf.entry.column
            local = 0 if column < 0 else self.columns.number(column, leaf.local)
            words = (Opcode.LEAF, leaf.number, entry, local, leaf.failed, leaf.weight)
            self._commands.extend((*words, len(changes), *changes))
        return leaf.number

    def _tree(self, tree: Any) -> int:
        """Encode an outcome tree as it is now; it may have grown since the last time."""
        number, is_new = self._trees.of(tree)
        if isinstance(tree, Leaf | tuple):
            if is_new:
                leaves = (tree,) if isinstance(tree, Leaf) else tree
                items = [self._leaf(leaf) for leaf in leaves]
                self._encode_tree(number, _LEAVES, items)
            return number
        if is_new and isinstance(tree, Ask):
            before = self._numbers_of(tree.before)
            table, _ = self._answers.of(tree.answers)
            collection = self.columns.collection(tree.column)
            peer = _UNSET
            if collection is not None and collection.links and tree.peer is not None:
                peer = tree.peer
            self._encode_tree(number, _ASK, before, tree.column, table, peer)
        elif is_new and isinstance(tree, Fork):
            self._encode_tree(number, _FORK, [])
        for answer, child in tree.children.items():
            grows = not isinstance(child, Leaf)
            if grows or self._is_news(Opcode.CHILD, number, answer):
                words = (Opcode.CHILD, number, answer, self._tree(child))
                self._commands.extend(words)
        return number

    def _encode_tree(
        self,
        number: int,
        kind: int,
        items: list[int],
        column: int = _UNSET,
        answers: int = _UNSET,
        peer: int = _UNSET,
    ) -> None:
        words = (Opcode.TREE, number, kind, column, answers, peer, len(items))
        self._commands.extend((*words, *items))


def kernel_tables_of(tables: Tables) -> KernelTables:
    """Return the kernel's copy of tables, a new one at the first time."""
    if tables.kernel is None:
        tables.kernel = KernelTables(tables)
    copy: KernelTables = tables.kernel
    return copy
