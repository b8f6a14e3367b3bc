"""Properties: what must hold in every state, in the end, or somewhere."""

from __future__ import annotations

import enum
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn, final, overload

from worldline.model.errors import ModelError, PropertyError, Timeless, Unseen
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.model.usercode.one_thread import claim, release
from worldline.model.usercode.running import refuse, text_of
from worldline.model.usercode.user_functions import (
    check_function,
    value_phrase,
    verdict,
)
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.model.view import View


class PropertyKind(enum.Enum):
    """The kind of a property: when it must be true."""

    SAFETY = "safety"
    LIVENESS = "liveness"
    SOMETIMES = "sometimes"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Property:
    """A predicate over all nodes, with its name and kind.

    Attributes
    ----------
    role
        What messages call it.
    confidence
        Of a liveness property, how sure it is in a state that it should be true by now:
        a function of a view that returns a number from 0 to 1.
    """

    name: str
    kind: PropertyKind
    predicate: Callable[[View], Any]
    role: str = "property"
    confidence: Callable[[View], Any] | None = None

    def __call__(self, view: View) -> Any:
        return self.predicate(view)

    @property
    def names_forms(self) -> bool:
        """Whether its own code, not that of what it calls, asks a ``for_each`` form."""
        code = getattr(self.predicate, "__code__", None)
        return code is not None and not _FORMS.isdisjoint(code.co_names)

    def judge(self, view: View) -> Judgement:
        """Evaluate the property in one state.

        Raises
        ------
        ModelError
            If the predicate returns anything but a bool, or nothing without an assert
            in it, raises anything but AssertionError, or does not return.
        Unseen
            If it depends on what is not known of the state.
        """
        if view._ways is None:
            return self._judged(view)
        return view._ways.agreed(lambda: self._judged(view), lambda said: said.holds)

    def answer(self, view: View) -> StateVerdict:
        """Return the verdict in one state, of which not all may be known.

        Raises
        ------
        ModelError
            As `judge` does.
        """
        try:
            return self.judge(view).holds
        except Unseen:
            return UNSEEN

    def _judged(self, view: View) -> Judgement:
        claimed = claim()
        activity.guarding = True
        activity.judging = what = f"{self.role} {self.name}"
        try:
            value = running.run_pure(lambda: self.predicate(view), hash(self.name))
        except AssertionError as error:
            return Judgement(False, text_of(error) or _asserted(error))
        except BaseException as error:
            if isinstance(error, Timeless) and self.role == "property":
                error.prop = error.prop or self.name  # one of several says which it is
            prop = self.name if self.role == "property" else ""
            refuse_judged(prop, what, self.predicate, error, _REMEDY)
        finally:
            activity.judging = ""
            activity.guarding = False
            if claimed:
                release()
        try:
            return Judgement(verdict(value, self.predicate, what), "")
        except ModelError as error:
            if self.role != "property":
                raise
            raise PropertyError(self.name, error.what, error.remedy) from None

    def confident(self, view: View, series: running.Series | None = None) -> float:
        """Return how sure the property is, in a state, that it should be true by now.

        Parameters
        ----------
        series
            In which it is asked; None for once by itself.

        Raises
        ------
        ModelError
            If its confidence returns no number from 0 to 1, raises, or does not return.
        """
        function = self.confidence
        assert function is not None, "a property without confidence is asked for it"
        before, activity.guarding = activity.guarding, True
        activity.judging = what = f"the confidence of {self.name}"
        try:
            run = running.run_pure if series is None else series.run
            value = run(lambda: function(view), hash(self.name))
        except BaseException as error:
            refuse(what, function, error, "it returns a number in every state")
        finally:
            activity.judging = ""
            activity.guarding = before
        return _share(value, what)


def refuse_judged(
    prop: str,
    what: str,
    function: Callable[..., Any],
    error: BaseException,
    remedy: str,
) -> NoReturn:
    """Refuse what a property has asked in a state; see `refuse`.

    Parameters
    ----------
    prop
        Its name; empty if it is no property of the system's.

    Raises
    ------
    PropertyError
        If it raised something, and that is not to be passed on.
    """
    try:
        refuse(what, function, error, remedy)
    except ModelError as refused:
        if not prop or refused.__cause__ is not error:
            raise
        raise PropertyError(prop, refused.what, refused.remedy) from error


_FORMS = frozenset({View.for_each_node.__name__, View.for_each_pair.__name__})

_REMEDY = "a property returns a bool or fails an assert in every state"


def _share(value: Any, what: str) -> float:
    """Return a number from 0 to 1, or refuse it."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value  # as most are, after each event
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= 1:
        raise ModelError(
            f"{what} is {value_phrase(value)}",
            remedy="return a number from 0 to 1, such as "
            "min(1.0, (view.time - since) / 10)",
        )
    return float(value)


@final
@dataclass(frozen=True, slots=True)
class Judgement:
    """The judgement on a property in one state, with the message of a failed assert."""

    holds: bool
    message: str


def predicate_of(function: Callable[[View], Any]) -> Callable[[View], Any]:
    """Return the function that a property was declared with; any other as it is."""
    return function.predicate if isinstance(function, Property) else function


def _asserted(error: AssertionError) -> str:
    return traceback.extract_tb(error.__traceback__)[-1].line or "assert"


def _named(predicate: Callable[[View], Any], kind: PropertyKind) -> Property:
    if isinstance(predicate, Property):
        raise ModelError(
            f"property {predicate.name} is declared twice: as {predicate.kind.value} "
            f"and as {kind.value}",
            remedy="keep one of @wl.safety, @wl.liveness and @wl.sometimes",
        )
    name = getattr(predicate, "__name__", "property")
    check_function(
        predicate, f"property {name}", arguments=1, like="a function of (view)"
    )
    return Property(name, kind, predicate)


def safety(predicate: Callable[[View], Any]) -> Property:
    """Declare a property that must hold in every reachable state."""
    return _named(predicate, PropertyKind.SAFETY)


@overload
def liveness(predicate: Callable[[View], Any]) -> Property: ...
@overload
def liveness(
    *, confidence: Callable[[View], Any]
) -> Callable[[Callable[[View], Any]], Property]: ...
def liveness(
    predicate: Callable[[View], Any] | None = None,
    *,
    confidence: Callable[[View], Any] | None = None,
) -> Property | Callable[[Callable[[View], Any]], Property]:
    """Declare a property that must hold eventually, and for good.

    Parameters
    ----------
    confidence
        A function of a view that returns, from 0 to 1, how sure it is that the property
        should be true by now. Where a simulated or replayed run is at 1 and the property
        is false, it is violated: that is its deadline.
    """
    if confidence is None:
        return _named(_given(predicate), PropertyKind.LIVENESS)
    check_function(
        confidence,
        "the confidence of a property",
        arguments=1,
        like="a function of (view)",
    )

    def declared(function: Callable[[View], Any]) -> Property:
        return replace(_named(function, PropertyKind.LIVENESS), confidence=confidence)

    return declared if predicate is None else declared(predicate)


def _given(predicate: Callable[[View], Any] | None) -> Callable[[View], Any]:
    if predicate is None:
        raise ModelError(
            "@wl.liveness() has no confidence",
            remedy="write @wl.liveness, or @wl.liveness(confidence=function_of_a_view)",
        )
    return predicate


def sometimes(predicate: Callable[[View], Any]) -> Property:
    """Declare a property that must hold in at least one reachable state."""
    return _named(predicate, PropertyKind.SOMETIMES)
