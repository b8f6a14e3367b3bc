"""Decision trees: a verdict remembered for exactly what it depends on.

A predicate is deterministic, so the questions it asks, in order, form a tree: inner
nodes ask one column, leaves are verdicts: true, false, or unseen. Evaluating a known
state is a walk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, final

from worldline.engine.tables import Row
from worldline.model.verdicts import StateVerdict


@final
class ColumnQuestion:
    """An inner node: one question to one column, or to another tree.

    Attributes
    ----------
    column
        The column asked; -1 if `inner` is asked instead.
    answers
        The answer per value of the column, as far as known; shared between trees.
    inner
        Another decision whose verdict is the answer.
    children
        What comes next, by the answer.
    """

    __slots__ = ("answers", "children", "column", "inner", "question")

    def __init__(
        self,
        question: Any,
        column: int,
        answers: dict[int, int],
        inner: Decision | None = None,
    ) -> None:
        self.question = question
        self.column = column
        self.answers = answers
        self.inner = inner
        self.children: dict[Any, DecisionNode] = {}

    def copy(self) -> ColumnQuestion:
        """Return the same question, with no children yet."""
        return ColumnQuestion(self.question, self.column, self.answers, self.inner)


DecisionNode: TypeAlias = ColumnQuestion | StateVerdict
Resolve: TypeAlias = Callable[[ColumnQuestion, int], "int | None"]


@final
class Decision:
    """A predicate on rows, remembered as a decision tree.

    Parameters
    ----------
    evaluate
        Works out the verdict of a row, grows this tree by `learn`, and returns it.
    resolve
        Works out, remembers and returns what a value answers to a question of this
        tree; None if it cannot tell.
    """

    __slots__ = ("_evaluate", "_resolve", "root")

    def __init__(
        self,
        evaluate: Callable[[Decision, Row], StateVerdict],
        resolve: Resolve = lambda question, value: None,
    ) -> None:
        self.root: DecisionNode | None = None
        self._evaluate = evaluate
        self._resolve = resolve

    def __call__(self, row: Row) -> StateVerdict:
        """Return the verdict of a row."""
        node: Any = self.root
        answer: Any
        while node.__class__ is ColumnQuestion:
            column = node.column
            if column >= 0:
                value = row[column]
                answer = node.answers.get(value)
                if answer is None:
                    answer = self._resolve(node, value)
            else:
                answer = node.inner(row)  # type: ignore[misc]
            node = node.children.get(answer)
        if node is None:
            return self._evaluate(self, row)
        return node  # type: ignore[no-any-return]

    def answer(self, question: ColumnQuestion, value: int) -> int | None:
        """Return what a value answers to a question of this tree; None if untold."""
        answer = question.answers.get(value)
        return self._resolve(question, value) if answer is None else answer

    def known(self, row: Row) -> StateVerdict | None:
        """Return the verdict of a row as far as it is remembered; None if it is not."""
        node: Any = self.root
        answer: Any
        while isinstance(node, ColumnQuestion):
            if node.inner is None:
                answer = node.answers.get(row[node.column])
            else:
                answer = node.inner.known(row)
            node = node.children.get(answer)
        verdict: StateVerdict | None = node
        return verdict

    def learn(
        self, path: list[tuple[ColumnQuestion, Any]], verdict: StateVerdict
    ) -> None:
        """Remember that these answers, in this order, lead to a verdict.

        Parameters
        ----------
        path
            Question nodes with the answers got. Those that are not known already become
            nodes of this tree, as copies: what asks may use a question again.
        """
        if not path:
            self.root = verdict
            return
        if self.root is None:
            self.root = path[0][0].copy()
        node = self.root
        for position, (_, answer) in enumerate(path):
            if not isinstance(node, ColumnQuestion):
                return
            following = node.children.get(answer)
            if following is None:
                last = position + 1 == len(path)
                following = verdict if last else path[position + 1][0].copy()
                node.children[answer] = following
            node = following
