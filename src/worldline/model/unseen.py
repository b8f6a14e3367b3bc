"""The third verdict: what a predicate says of a state of which not enough is known.

A state may have *absent* nodes, of which nothing is known (`absent`). A predicate that
looks at one is neither true nor false there, but *unseen*. A form over all nodes that
is true for those that can be seen has an *open* answer: it is true or false, and it is
unknown which. So a predicate that asks it is evaluated with each open answer true and
false; what all these ways agree on is the verdict, as it is in the state that is not
known.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ParamSpec, TypeVar, final

from worldline.model.errors import InternalError, ModelError, Timeless, Unseen
from worldline.model.usercode.activity import activity
from worldline.model.usercode.interrupts import is_interrupt

T = TypeVar("T")
P = ParamSpec("P")

_MOST_OPEN = 4
"""Open answers of one evaluation, which has two ways for each: 16 at most."""


def withdraw(error: BaseException) -> None:
    """Take back an error that would be raised when the user's code ends."""
    if activity.stop is error:
        activity.stop = None


@final
class AllWays:
    """The ways in which one predicate is evaluated: with each open answer, either way."""

    __slots__ = ("_given", "_taken")

    def __init__(self) -> None:
        self._given: list[bool] = []
        self._taken: dict[Hashable, bool] = {}

    @property
    def is_guessing(self) -> bool:
        """Whether this way has taken an answer that nobody can give."""
        return bool(self._taken)

    def open(self, question: Hashable) -> bool:
        """Return the answer, on this way, to a question that nobody can answer.

        Raises
        ------
        Unseen
            If there are too many.
        """
        taken = self._taken
        if question not in taken:
            at = len(taken)
            if at == _MOST_OPEN:
                raise Unseen(f"absent nodes in more than {_MOST_OPEN} forms")
            taken[question] = self._given[at] if at < len(self._given) else True
        return taken[question]

    def doubting(self, ask: Callable[P, T]) -> Callable[P, T]:
        """Return what asks the same, but is unseen where that fails on a way that may be none.

        Else a predicate that catches what is raised there would have an answer.
        """

        def asked(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return ask(*args, **kwargs)
            except Exception as error:
                is_own = isinstance(error, ModelError | InternalError)
                if is_own or is_interrupt(error) or not self._taken:
                    raise
                raise Unseen("absent nodes") from error

        return asked

    def agreed(self, evaluate: Callable[[], T], holds: Callable[[T], bool]) -> T:
        """Return what is said on every way; of equal answers the first.

        Parameters
        ----------
        evaluate
            Asks the predicate once, which asks `open`.
        holds
            What of an answer has to be the same.

        Raises
        ------
        Unseen
            If they differ, or on some way the predicate needs to know more, or fails:
            that way may be none that there is.
        """
        self._given = []
        first = self._once(evaluate)
        while self._turn():
            if holds(self._once(evaluate)) is not holds(first):
                raise Unseen("absent nodes")
        return first

    def _once(self, evaluate: Callable[[], T]) -> T:
        self._taken = {}
        try:
            return evaluate()
        except Exception as error:
            is_own = isinstance(error, Unseen | Timeless | InternalError)
            if is_own or is_interrupt(error) or not self._taken:
                raise
            withdraw(error)
            raise Unseen("absent nodes") from error

    def _turn(self) -> bool:
        """Go on to the next way; say whether there is one."""
        given = list(self._taken.values())
        while given and not given[-1]:
            given.pop()
        if given:
            given[-1] = False
        self._given = given
        return bool(given)
