"""Evaluations of predicates: which are remembered, and how one is made again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias, final

from worldline.engine.interner import splitmix
from worldline.engine.tables import Row
from worldline.model.answers import seen_for
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.pure import Pure
from worldline.model.system import System
from worldline.model.usercode.activity import activity
from worldline.model.usercode.one_thread import claim, release
from worldline.model.verdicts import StateVerdict
from worldline.model.view import ColumnRead, View

AnswersElement: TypeAlias = Callable[[Pure, tuple[NodeId, ...]], "StateVerdict | None"]

_ENDS = 16
_OTHERS = 32


@final
class Evaluations:
    """Some of the rows for which a predicate was evaluated, with what it said.

    What it is evaluated for, and not remembered, are answers that it had not seen: so
    these are as likely to be late and seldom as any. Kept are the first, the last and
    others between.

    Parameters
    ----------
    name
        How messages call the predicate.
    judge
        Evaluates it.
    """

    def __init__(self, name: str, judge: Callable[[View], StateVerdict]) -> None:
        self.name = name
        self.judge = judge
        self._count = 0
        self._first: list[tuple[Row, StateVerdict]] = []
        self._last: deque[tuple[Row, StateVerdict]] = deque(maxlen=_ENDS)
        self._others: list[tuple[Row, StateVerdict]] = []

    def note(self, row: Row, verdict: StateVerdict) -> None:
        """Remember an evaluation, perhaps."""
        self._count += 1
        made = list(row), verdict
        if len(self._first) < _ENDS:
            self._first.append(made)
            return
        self._last.append(made)
        if len(self._others) < _OTHERS:
            self._others.append(made)
            return
        # A reservoir: each evaluation is as likely as any other to be in it.
        place = splitmix(self._count) % self._count
        if place < _OTHERS:
            self._others[place] = made

    def kept(self) -> list[tuple[Row, StateVerdict]]:
        """Return what is remembered, the first evaluations first."""
        distinct = {id(one): one for one in (*self._first, *self._others, *self._last)}
        return list(distinct.values())


@final
class CarefulReader:
    """Answers a view's reads afresh, and knows what became of the answers.

    Parameters
    ----------
    ask
        Answers a read.
    is_partial
        Whether it may raise `Unseen`.
    element
        Returns the verdict on an element, if that was evaluated for itself: so it is
        evaluated again for itself, too.
    """

    def __init__(
        self,
        ask: Callable[[ColumnRead], Any],
        element: AnswersElement = lambda function, nodes: None,
        *,
        is_partial: bool = False,
    ) -> None:
        self._ask = ask
        self._element = element
        self.is_partial = is_partial
        self._given: list[tuple[ColumnRead, Any, Frozen]] = []

    def read(self, read: ColumnRead) -> Any:
        value = self._ask(read)
        self._given.append((read, value, freeze(value)))
        return value

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        verdict = self._element(function, nodes)
        if verdict is None:
            verdict = seen_for(function, view._apart(), nodes)
        return verdict

    def changed(self, system: System) -> str | None:
        """Return what was changed by whoever read it; None if nothing was."""
        for read, value, before in self._given:
            if freeze(value) != before:
                column = system.layout.columns[read.column]
                if read.what == "field":
                    return f"{system.ids[column.index]}.{'.'.join(read.detail)}"
                return f"the {read.what} that it reads"
        return None


def evaluated(
    system: System,
    name: str,
    judge: Callable[[View], StateVerdict],
    ask: Callable[[ColumnRead], Any],
    element: AnswersElement,
    *,
    is_partial: bool = False,
) -> Any:
    """Evaluate a predicate once more.

    Parameters
    ----------
    element
        As `CarefulReader` has it.
    is_partial
        Whether it may be of a state of which not all is known.

    Returns
    -------
    StateVerdict or str
        What it says; or how it fails.

    Raises
    ------
    ModelError
        If it changes what it is given.
    """
    reader = CarefulReader(ask, element, is_partial=is_partial)
    verdict: Any
    claimed = claim()
    activity.guarding = True
    try:
        verdict = judge(View(system, reader))
    except ModelError as error:
        verdict = error.what
    except Exception as error:
        # The first time it said something, or there would be no first time.
        verdict = f"{type(error).__name__}: {error}"
    finally:
        activity.guarding = False
        if claimed:
            release()
    changed = reader.changed(system)
    if changed is not None:
        raise ModelError(
            f"{name} changes {changed}",
            remedy="a predicate only looks: copy what you want to change",
        )
    return verdict
