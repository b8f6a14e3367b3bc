"""Verdicts on rows, remembered for exactly the reads that they depend on.

A predicate is evaluated over a view that records its questions; what was recorded
becomes a path of a decision tree (engine ``decisions``).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NoReturn, final

from worldline.engine.decisions import ColumnQuestion, Decision
from worldline.engine.profile import PROPERTIES, UNTIMED, Untimed
from worldline.engine.tables import Row, Tables
from worldline.model.absent import NO_VALUE
from worldline.model.answers import answer, seen_for, unseen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import is_constant, thaw
from worldline.model.errors import PropertyError, Timeless
from worldline.model.properties import Property, PropertyKind, refuse_judged
from worldline.model.pure import Pure
from worldline.model.system import System
from worldline.model.usercode.activity import activity
from worldline.model.usercode.divergence import Diverged
from worldline.model.usercode.interrupts import is_interrupt
from worldline.model.usercode.one_thread import claim, release
from worldline.model.usercode.running import is_ours, run_pure
from worldline.model.verdicts import StateVerdict
from worldline.model.view import ColumnRead, View
from worldline.worlds.purity.evaluations import Evaluations

CellOf = Callable[[int, int], Any]
"""Returns the cell of a column, restored to an interned value."""

_MOST_KNOWN = 65_536
"""Values for which the answer to one question is kept."""


@final
class Answers:
    """The answers to one read: a small integer per distinct answer.

    Attributes
    ----------
    question
        The read as a question of a decision tree.
    known
        The answer and its integer, by the column's value, as long as there is room;
        only answers that nobody can change are here.
    """

    __slots__ = ("known", "numbers", "question")

    def __init__(self, read: ColumnRead) -> None:
        self.question = ColumnQuestion(read, read.column, {})
        self.known: dict[int, tuple[Any, int]] = {}
        self.numbers: dict[Hashable, int] = {}

    def number(self, value: int, distinct: Hashable) -> int:
        """Return the integer of the answer that a column's value gives."""
        number = self.numbers.setdefault(distinct, len(self.numbers))
        self.question.answers[value] = number
        return number


@final
class Recall:
    """Makes decisions out of predicates.

    Parameters
    ----------
    system, tables
        What the rows mean.
    cell_of
        How to thaw a column.
    profile
        Times the evaluations.
    is_sampled
        Whether to keep a sample of them, which needs all of a row.
    is_partial
        Whether there may be rows of which not all is known.

    Attributes
    ----------
    evaluations
        A sample of them, for each predicate, to be made again.
    asked
        What was asked of each column so far.
    """

    def __init__(
        self,
        system: System,
        tables: Tables,
        cell_of: CellOf,
        profile: Untimed = UNTIMED,
        *,
        is_sampled: bool = True,
        is_partial: bool = False,
    ) -> None:
        self.system = system
        self.is_partial = is_partial
        self._is_sampled = is_sampled
        self._timed = profile.timed
        self._tables = tables
        self._cell_of = cell_of
        self._answers: dict[ColumnRead, Answers] = {}
        self.asked: dict[int, list[Answers]] = {}
        self._inner: dict[tuple[Pure, tuple[NodeId, ...]], Decision] = {}
        self.evaluations: dict[Any, Evaluations] = {}

    def decision(self, predicate: Property | Callable[[View], Any]) -> Decision:
        """Return a decision that remembers the verdicts of a predicate."""
        prop = (
            predicate
            if isinstance(predicate, Property)
            else Property(
                getattr(predicate, "__name__", "predicate"),
                PropertyKind.SAFETY,
                predicate,
                "predicate",
            )
        )

        asker = prop.name if prop.role == "property" else ""

        evaluations = self._evaluations(prop, f"{prop.role} {prop.name}", prop.answer)

        def evaluate(decision: Decision, row: Row) -> StateVerdict:
            reader = _Recorder(self, row, asker)
            verdict = prop.answer(View(self.system, reader))
            if self._is_sampled:
                evaluations.note(row, verdict)
            decision.learn(reader.path, verdict)
            return verdict

        return Decision(
            self._timed(PROPERTIES, evaluate), self._timed(PROPERTIES, self.resolve)
        )

    def inner(self, function: Pure, nodes: tuple[NodeId, ...], asker: str) -> Decision:
        """Return the decision for one element of a ``for_each`` form of a property."""
        inner = self._inner.get((function, nodes))
        if inner is None:
            name = f"{function.function.__qualname__} for {', '.join(map(str, nodes))}"
            evaluations = self._evaluations(
                (function, nodes),
                name,
                lambda view: run_pure(lambda: seen_for(function, view, nodes), 1),
            )

            def evaluate(decision: Decision, row: Row) -> StateVerdict:
                reader = _Recorder(self, row, asker)
                view = View(self.system, reader)
                verdict = self._element(function, view, nodes, asker)
                if self._is_sampled:
                    evaluations.note(row, verdict)
                decision.learn(reader.path, verdict)
                return verdict

            inner = self._inner[function, nodes] = Decision(evaluate, self.resolve)
        return inner

    def remembered(
        self, function: Pure, nodes: tuple[NodeId, ...], row: Row
    ) -> StateVerdict | None:
        """Return the verdict on one element in a row, if it was evaluated there."""
        inner = self._inner.get((function, nodes))
        return None if inner is None else inner.known(row)

    def _element(
        self, function: Pure, view: View, nodes: tuple[NodeId, ...], asker: str
    ) -> StateVerdict:
        """Evaluate one element, perhaps for the kernel: then no property is running."""
        claimed = claim()
        before, activity.guarding = activity.guarding, True
        try:
            return run_pure(lambda: seen_for(function, view, nodes), 1)
        except BaseException as error:
            if isinstance(error, Timeless):
                error.prop = asker
            if activity.running:
                raise
            refuse_element(asker, function, error)
        finally:
            activity.guarding = before
            if claimed:
                release()

    def _evaluations(
        self, key: Any, name: str, judge: Callable[[View], StateVerdict]
    ) -> Evaluations:
        return self.evaluations.setdefault(key, Evaluations(name, judge))

    def resolve(self, question: ColumnQuestion, value: int) -> int | None:
        """Work out what a value answers to a question that was asked before.

        Nothing where that leads no further: each history is an answer of its own. Nor
        if it fails, as it will again where a property can be named.
        """
        read: ColumnRead = question.question
        if read.what == "history":
            return None
        claimed = claim()
        before, activity.guarding = activity.guarding, True
        try:
            return run_pure(lambda: self.look(read, value, self.answers(read))[1])
        except Diverged:
            return None
        except BaseException as error:
            if is_interrupt(error):
                raise
            return None
        finally:
            activity.guarding = before
            if claimed:
                release()

    def answers(self, read: ColumnRead) -> Answers:
        """Return what is known about a read."""
        answers = self._answers.get(read)
        if answers is None:
            answers = self._answers[read] = Answers(read)
            self.asked.setdefault(read.column, []).append(answers)
        return answers

    def look(self, read: ColumnRead, value: int, answers: Answers) -> tuple[Any, int]:
        """Work out the answer to a read, and its integer."""
        answered, distinct = self.ask(read, value)
        number = answers.number(value, distinct)
        # A field's answer is distinguished by its frozen value; a history might be a
        # list; all other answers are tuples of what is sealed, or of no parts.
        if is_constant(distinct) if read.what == "field" else read.what != "history":
            if len(answers.known) >= _MOST_KNOWN:
                answers.known.clear()
            answers.known[value] = answered, number
        return answered, number

    def told(self, read: ColumnRead, value: int) -> Any:
        """Return the answer to a read; raise `Unseen` where nothing is known."""
        answered, _ = self.ask(read, value)
        if answered is NO_VALUE:
            raise unseen(self.system, read)
        return answered

    def ask(self, read: ColumnRead, value: int) -> tuple[Any, Hashable]:
        """Return the answer to a read, and what distinguishes it from others.

        That is `NO_VALUE` where nothing is known.
        """
        if self.is_partial:
            is_known = self._tables.interners[read.column].values[value] != NO_VALUE
            if read.what == "present":
                return is_known, is_known
            if not is_known:
                return NO_VALUE, NO_VALUE
        if read.what == "field":
            frozen = self._tables.interners[read.column].values[value]
            kind = self.system.types[self.system.layout.columns[read.column].index]
            for name in read.detail:
                frozen = frozen[1 + kind.identity.index(name)]
                kind = kind.parts.get(name, kind)
            return thaw(frozen), frozen
        answered = answer(read, self._cell_of(read.column, value))
        return answered, value if read.what == "history" else answered


def refuse_element(asker: str, function: Pure, error: BaseException) -> NoReturn:
    """Refuse what was raised for an element of a form, also if the property catches it.

    Who remembers verdicts evaluates elements by themselves, so it is no answer.
    """
    name = getattr(function.function, "__name__", "a predicate")
    what = f"property {asker}" if asker else f"predicate {name}"
    try:
        refuse_judged(
            asker, what, function.function, error, "it must answer in every state"
        )
    except PropertyError as refused:
        if activity.running:
            activity.stop = refused
        raise


@final
class _Recorder:
    """A view's reader over one row, which notes what is asked."""

    def __init__(self, recall: Recall, row: Row, asker: str) -> None:
        self._recall = recall
        self._asker = asker
        self._row = row
        self._seen: set[Hashable] = set()
        self.path: list[tuple[ColumnQuestion, int | StateVerdict]] = []
        self.is_partial = recall.is_partial

    def read(self, read: ColumnRead) -> Any:
        value = self._row[read.column]
        answers = self._recall.answers(read)
        answered = answers.known.get(value)
        try:
            given, number = (
                self._recall.look(read, value, answers)
                if answered is None
                else answered
            )
        except BaseException as error:
            # What is asked of a message or a history may fail as the property may, which
            # goes by that if it catches it; so that is an answer, too.
            if not is_ours(error):
                failed = answers.number(value, (BaseException, value))
                self._note(read, answers.question, failed)
            raise
        self._note(read, answers.question, number)
        if given is NO_VALUE:
            raise unseen(self._recall.system, read)
        return given

    def _note(
        self, asked: Hashable, question: ColumnQuestion, answer: int | StateVerdict
    ) -> None:
        if asked not in self._seen:
            self._seen.add(asked)
            self.path.append((question, answer))

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        decision = self._recall.inner(function, nodes, self._asker)
        try:
            verdict = decision(self._row)
        except BaseException as error:
            if view._ways is None or not view._ways.is_guessing:
                refuse_element(self._asker, function, error)
            raise
        question = ColumnQuestion((function, nodes), -1, {}, decision)
        self._note(decision, question, verdict)
        return verdict
