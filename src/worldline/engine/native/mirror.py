"""The tables, mirrored into the kernel as far as it asks for them.

Python owns the tables; the kernel has a copy of what it has met, for as long as they
live: a second search finds them warm.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, final

from worldline.engine.collections import ACTIONS
from worldline.engine.decisions import Decision, Question
from worldline.engine.native.columns import Columns
from worldline.engine.native.library import library
from worldline.engine.native.tell import Speech, Word
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

_LEAVES, _FORK, _ASK = range(3)
_UNSET = -1
_NOTHING = -2
"""The outcome of an event that is no transition."""


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
    """The kernel's copy of some tables.

    Attributes
    ----------
    handle
        By which the kernel knows it.
    columns
        The kernel's numbers of values.
    speech
        How it is told what is not told here.
    """

    def __init__(self, tables: Tables) -> None:
        self.library = library()
        self.handle = self.library.wl_tables(len(tables.interners))
        weakref.finalize(self, self.library.wl_tables_free, self.handle)
        self.speech = self._speech = Speech(self.library, self.handle)
        self.columns = Columns(tables, self.library, self.handle, self._speech)
        self._entries: set[int] = set()
        self._leaves: set[int] = set()
        self._told: set[tuple[Word, int, int]] = set()
        self._operations = Numbers()
        self._trees = Numbers()
        self._answers = Numbers()
        self._questions = Numbers(first=2)
        self._decisions = Numbers()
        for site in tables.sites:
            self._tell_site(site)
        self.send()

    def send(self) -> None:
        """Let the kernel know all that was told."""
        self.columns.rank_items()
        self._speech.send()

    def decision(self, decision: Decision) -> int:
        """Return the kernel's number of a decision."""
        number, is_new = self._decisions.of(decision)
        if is_new:
            self._speech.say_all((Word.DECISION, number, _UNSET))
        return number

    def operations(self, number: int) -> Operations:
        """Return the operations that have a number of the kernel's."""
        known: Operations = self._operations[number]
        return known

    def question_of(self, number: int) -> Ask:
        """Return the tree that has a number of the kernel's: a question."""
        known: Ask = self._trees[number]
        return known

    def decision_of(self, number: int) -> Decision:
        """Return the decision that has a number of the kernel's."""
        known: Decision = self._decisions[number]
        return known

    def tell_list(
        self, site: Site, values: list[int], entries: tuple[Entry, ...]
    ) -> None:
        """Tell the events of a site, for the kernel's values of its columns."""
        events = [self._entry(entry) for entry in entries]
        self._speech.say_all((Word.LIST, site.number, *values, len(events), *events))

    def tell_parts(
        self, site: Site, item: int, row: list[int], entries: tuple[Entry | None, ...]
    ) -> None:
        """Tell the events of one item of a site's collection."""
        events = [_UNSET if one is None else self._entry(one) for one in entries]
        self._speech.say_all((Word.PARTS, site.number, item, *row, *events))

    def tell_outcome(self, entry: Entry, local: int, tree: Any) -> None:
        """Tell what an event does in a local state, by the kernel's number of it."""
        outcome = self._outcome(tree)
        self._speech.say_all((Word.OUTCOME, entry.number, local, outcome))

    def tell_operation(self, number: int, value: int, after: int) -> None:
        """Tell what an operation makes of a value, both as the kernel has them."""
        self._speech.say_all((Word.APPLY, number, value, after))

    def tell_answer(self, ask: Ask, value: int, answer: int) -> None:
        """Tell what a value answers."""
        table, _ = self._answers.of(ask.answers)
        self._speech.say_all((Word.ANSWER, table, value, answer))

    def tell_verdict(
        self, decision: Decision, row: Row, question: int = _UNSET
    ) -> None:
        """Tell the path that a row takes through a decision; its verdict is known.

        Parameters
        ----------
        question
            The kernel's number of the question from which on it does not know the
            path; -1: from the first.
        """
        node: Any
        if question == _UNSET:
            number, node = self.decision(decision), decision.root
            if self._is_news(Word.DECISION, number, 0):
                self._speech.say_all((Word.DECISION, number, self._question(node)))
        else:
            node = self._questions[question]
        while isinstance(node, Question):
            question = self._question(node)
            answer = self._tell_answer_to(node, row)
            node = node.children[answer]
            if self._is_news(Word.BRANCH, question, answer):
                child = self._question(node)
                self._speech.say_all((Word.BRANCH, question, answer, child))

    def _tell_answer_to(self, node: Question, row: Row) -> int:
        if node.inner is not None:
            self.tell_verdict(node.inner, row)
            return int(node.inner(row))
        value = row[node.column]
        answer = node.answers[value]
        table, _ = self._answers.of(node.answers)
        if self._is_news(Word.ANSWER, table, value):
            seen = self.columns.number(node.column, value)
            self._speech.say_all((Word.ANSWER, table, seen, answer))
        return answer

    def _is_news(self, word: Word, first: int, second: int) -> bool:
        key = (word, first, second)
        if key in self._told:
            return False
        self._told.add(key)
        return True

    def _question(self, node: Any) -> int:
        if not isinstance(node, Question):
            return int(node)
        number, is_new = self._questions.of(node)
        if is_new:
            inner = _UNSET if node.inner is None else self.decision(node.inner)
            table = _UNSET if node.inner else self._answers.of(node.answers)[0]
            self._speech.say_all((Word.QUESTION, number, node.column, table, inner))
        return number

    def _tell_site(self, site: Site) -> None:
        place = _UNSET
        if site.collection is not None:
            place = site.columns.index(site.collection)
        count = len(site.columns)
        local = _UNSET if site.local is None else site.local
        words = (Word.SITE, local, place, site.kinds, count, *site.columns)
        self._speech.say_all(words)

    def _entry(self, entry: Entry) -> int:
        if entry.number not in self._entries:
            self._entries.add(entry.number)
            self._speech.say_all((Word.ENTRY, entry.number, entry.column, entry.fault))
        return entry.number

    def _numbers_of(self, operations: Iterable[Operations]) -> list[int]:
        found: list[int] = []
        for one in operations:
            number, is_new = self._operations.of(one)
            if is_new:
                action, item = self._action(one)
                self._speech.say_all((Word.OPERATION, number, one.column, action, item))
            found.append(number)
        return found

    def _action(self, operations: Operations) -> tuple[int, int]:
        """Return what a kernel can do by itself, and the item with which."""
        known: Any = operations.operation
        if not self.columns.is_collection(operations.column) or len(known) != 2:
            return 0, 0
        action = ACTIONS.get(known[0], 0)
        return action, self.columns.item(operations.column, known[1]) if action else 0

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
            entry = self._entry(leaf.entry)
            column = leaf.entry.column
            local = 0 if column < 0 else self.columns.number(column, leaf.local)
            words = (Word.LEAF, leaf.number, entry, local, leaf.failed, leaf.weight)
            self._speech.say_all((*words, len(changes), *changes))
        return leaf.number

    def _tree(self, tree: Any) -> int:
        """Tell an outcome tree as it is now; it may have grown since the last time."""
        number, is_new = self._trees.of(tree)
        if isinstance(tree, Leaf | tuple):
            if is_new:
                leaves = (tree,) if isinstance(tree, Leaf) else tree
                items = [self._leaf(leaf) for leaf in leaves]
                self._tell_tree(number, _LEAVES, items)
            return number
        if is_new and isinstance(tree, Ask):
            before = self._numbers_of(tree.before)
            table, _ = self._answers.of(tree.answers)
            self._tell_tree(number, _ASK, before, tree.column, table)
        elif is_new and isinstance(tree, Fork):
            self._tell_tree(number, _FORK, [])
        for answer, child in tree.children.items():
            grows = not isinstance(child, Leaf)
            if grows or self._is_news(Word.CHILD, number, answer):
                words = (Word.CHILD, number, answer, self._tree(child))
                self._speech.say_all(words)
        return number

    def _tell_tree(
        self,
        number: int,
        kind: int,
        items: list[int],
        column: int = _UNSET,
        answers: int = _UNSET,
    ) -> None:
        words = (Word.TREE, number, kind, column, answers, len(items))
        self._speech.say_all((*words, *items))


def mirror_of(tables: Tables) -> Mirror:
    """Return the kernel's copy of tables, a new one at the first time."""
    if tables.mirror is None:
        tables.mirror = Mirror(tables)
    mirror: Mirror = tables.mirror
    return mirror
