"""Observers: pure folds over the steps of a run, part of the global state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.parting import settle_fields
from worldline.model.data.settling import settled
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import freeze, thaw, thaw_shared
from worldline.model.errors import ModelError, ObserverError
from worldline.model.events import Choices, Event
from worldline.model.usercode import running
from worldline.model.usercode.running import refuse
from worldline.model.usercode.user_functions import check_function, no_answer

if TYPE_CHECKING:
    from worldline.model.view import View


@final
@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt to send.

    Attributes
    ----------
    src, dst, part
        From where to where, and from which part.
    message
        What was sent.
    taken
        False if the send buffer was full.
    """

    src: NodeId
    dst: NodeId
    part: str
    message: Any
    taken: bool


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One event and what happened in it, as an observer sees it.

    Attributes
    ----------
    event
        The event, with its kind, node, peer and payload.
    handled
        Whether a handler took it; of events that none takes, such as the loss of a
        message, True.
    sends
        What was sent, in order.
    choices
        The indices of the options taken.
    """

    event: Event
    handled: bool
    sends: tuple[Sent, ...]
    choices: Choices

    @property
    def node(self) -> NodeId | None:
        """Where it happened."""
        return self.event.node


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observer:
    """A value carried along a run, changed by a pure function of each step.

    Attributes
    ----------
    name
        By which properties read it: ``view.history(name)``.
    initial
        The value before the first step; immutable plain data.
    project
        What of a step concerns the observer, as immutable plain data; None if
        nothing does. The coarser it is, the more is remembered.
    fold
        ``(value, projected) -> value``, pure.
    decide
        An optional verdict on a value.
    arrange
        ``value -> value``: brings a value whose node ids were exchanged into the
        order in which `fold` would have built it. Only symmetric systems need it,
        and only for values that keep something in the order of ids.
    explain
        Lines that say why `decide` rejects a value; what explains a property shows
        them.
    """

    name: str
    initial: Any
    project: Callable[[Step], Any | None]
    fold: Callable[[Any, Any], Any]
    decide: Callable[[Any], bool] | None = None
    arrange: Callable[[Any], Any] | None = None
    explain: Callable[[Any], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        for what, function, arguments, like in (
            ("project", self.project, 1, "a function of (step)"),
            ("fold", self.fold, 2, "a function of (value, projected)"),
            ("decide", self.decide, 1, "a function of (value)"),
            ("arrange", self.arrange, 1, "a function of (value)"),
            ("explain", self.explain, 1, "a function of (value)"),
        ):
            if function is not None or what in ("project", "fold"):
                name = f"the {what} of observer {self.name!r}"
                check_function(function, name, arguments=arguments, like=like)

    def look(self, step: Step) -> Frozen | None:
        """Return what of a step concerns the observer, frozen; None if nothing does.

        Raises
        ------
        ObserverError
            If the user's function raises, does not return or returns no plain data.
        """
        seen = _made(self.name, "project", self.project, step)
        return None if seen is None else _kept(self.name, "project", seen)

    def arranged(self, value: Any) -> Any:
        """Return a value that was written down as `fold` would have built it.

        Raises
        ------
        ModelError
            If the user's function raises or does not return.
        """
        if self.arrange is None:
            return value
        return _answered(self.name, "arrange", self.arrange, value)

    def why(self, value: Any) -> tuple[str, ...]:
        """Return the lines that `explain` has for a value that `decide` rejects.

        Where the user's function raises, does not return or gives no lines, they say that:
        a verdict is not lost because nobody can say why.
        """
        if self.explain is None:
            return ()
        try:
            lines = _answered(self.name, "explain", self.explain, value)
        except ModelError as error:
            return tuple(error.what.splitlines())
        if not isinstance(lines, list | tuple) or not all(
            isinstance(line, str) for line in lines
        ):
            kind = type(lines).__name__
            return (
                f"the explain of observer {self.name!r} returned {kind}, not a list of lines",
            )
        return tuple(part for line in lines for part in line.splitlines())

    def holds(self, view: View) -> bool:
        """Return the verdict on the value in a state; True if there is none.

        For a property: ``return history.holds(view)``.
        """
        return view.verdict(self.name)


def _answered(
    name: str, what: str, function: Callable[..., Any], *arguments: Any
) -> Any:
    try:
        return running.run_pure(lambda: function(*arguments), hash((name, what)))
    except BaseException as error:
        remedy = "an observer must make something of every step and every value"
        refuse(f"the {what} of observer {name!r}", function, error, remedy)


def _made(name: str, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what an observer makes of a step, or say of which observer nothing is made."""
    try:
        return _answered(name, what, function, *arguments)
    except ModelError as error:
        if type(error) is not ModelError:
            raise
        raise ObserverError(name, error.what, error.remedy) from error.__cause__


def _kept(name: str, what: str, value: Any) -> Frozen:
    try:
        return freeze(value)
    except Unfreezable as error:
        told = f"the {what} of observer {name!r} made what cannot be kept: {error.what}"
        raise ObserverError(name, told, error.remedy) from None


@final
class Record:
    """The cell that holds an observer's value."""

    __slots__ = ("observer", "value")

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.value: Any = settled(observer.initial)

    def fold(self, projected: Frozen) -> None:
        """Fold in what a step was projected to, frozen."""
        observer, seen = self.observer, thaw_shared(projected)
        made = _made(observer.name, "fold", observer.fold, self.value, seen)
        held = {"value": made}
        settle_fields(held)
        self.value = held["value"]

    def verdict(self) -> bool:
        """Return what the observer decides about its value.

        Raises
        ------
        ObserverError
            If that is no bool.
        """
        decide = self.observer.decide
        if decide is None:
            return True
        decided: Any = decide(self.value)
        if decided is True or decided is False:
            return decided is True
        name = f"the decide of observer {self.observer.name!r}"
        error = no_answer(decided, decide, name)
        raise ObserverError(self.observer.name, error.what, error.remedy)

    def freeze(self) -> Frozen:
        return _kept(self.observer.name, "fold", self.value)

    def restore(self, frozen: Frozen) -> None:
        self.value = thaw(frozen)
