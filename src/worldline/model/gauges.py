"""Gauges: folds over the events of one run, outside of its states.

An observer is part of the state, so `check` can carry it; a gauge is not, so it may look
at the time and at all nodes, and costs no search a state. Only `simulate` and `replay`
know gauges.

References
----------
X. Liu et al., "WiDS Checker: Combating Bugs in Distributed Systems", NSDI 2007, section
3.3: auxiliary state that predicates keep up between events.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import TYPE_CHECKING, Any, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import ModelError, Unseen
from worldline.model.events import Choices, Event
from worldline.model.gauge_values import ATOMS, kept_value
from worldline.model.instruments import Instruments
from worldline.model.observers import Sent
from worldline.model.usercode import running
from worldline.model.usercode.activity import activity
from worldline.model.usercode.places import enters
from worldline.model.usercode.running import refuse
from worldline.model.usercode.user_functions import (
    check_function,
    codes_of,
    defined_at,
    value_phrase,
)

if TYPE_CHECKING:
    from worldline.model.view import View

_REMEDY = "a gauge must make something of every step"


@final
class TimedStep:
    """One event of a run by a clock and what happened in it, as a gauge sees it.

    Parameters
    ----------
    sends
        Returns what was sent, in order; called at the first look.
    lamport
        The Lamport time; None if it is not kept.
    """

    # One is made for each event of a run with gauges, and most look at little of it.
    __slots__ = ("_choices", "_event", "_handled", "_lamport", "_sends", "_time")

    def __init__(
        self,
        event: Event,
        *,
        handled: bool,
        sends: Callable[[], tuple[Sent, ...]],
        choices: Sequence[int],
        time: float,
        lamport: int | None,
    ) -> None:
        self._event = event
        self._handled = handled
        self._sends = sends
        self._choices = choices
        self._time = time
        self._lamport = lamport

    @property
    def event(self) -> Event:
        """The event, with its kind, node, peer and payload."""
        return self._event

    @property
    def node(self) -> NodeId | None:
        """Where it happened."""
        return self._event.node

    @property
    def handled(self) -> bool:
        """Whether a handler took it."""
        return self._handled

    @property
    def sends(self) -> tuple[Sent, ...]:
        """What was sent, in order."""
        return self._sends()

    @property
    def choices(self) -> Choices:
        """The indices of the options taken."""
        return tuple(self._choices)

    @property
    def time(self) -> float:
        """Seconds since the run began."""
        return self._time

    @property
    def lamport(self) -> int:
        """The Lamport time: one more than that of what it depends on.

        Raises
        ------
        ModelError
            If the function that is declared as the gauge does not name it: a run of
            which no gauge asks for Lamport times has none.
        """
        if self._lamport is None:
            raise ModelError(
                f"{activity.judging or 'a gauge'} asks for step.lamport where that "
                "cannot be foreseen",
                remedy="read step.lamport in the body of the gauge itself",
            )
        return self._lamport


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """A value carried along a run, changed by a pure function of each event.

    Attributes
    ----------
    name
        By which properties read it: ``view.gauge(name)``.
    initial
        The value before the first event.
    fold
        ``(value, step, view) -> value``, with the `TimedStep` that happened and the state
        after it.
    resume
        ``view -> value``, for a run that begins in a state; None if the gauge is unknown
        there.
    """

    name: str
    initial: Any
    fold: Callable[[Any, TimedStep, View], Any]
    resume: Callable[[View], Any] | None = None

    @property
    def asks_lamport(self) -> bool:
        """Whether it reads the Lamport times of steps."""
        return any(_names(code, "lamport") for code in codes_of(self.fold))

    def next(self, value: Any, step: TimedStep, view: View) -> Any:
        """Return the value after a step.

        Raises
        ------
        ModelError
            If the user's function raises, does not return, or returns what can be
            changed later.
        """
        if not activity.running:
            return self._asked(self.fold, lambda: self._after(value, step, view))
        # As where all gauges are folded after each event: nothing has to be entered.
        before, activity.guarding = activity.guarding, True
        activity.judging = what = f"gauge {self.name}"
        try:
            return self._after(value, step, view)
        except BaseException as error:
            refuse(what, self.fold, error, _REMEDY)
        finally:
            activity.judging = ""
            activity.guarding = before

    def _after(self, value: Any, step: TimedStep, view: View) -> Any:
        after = self.fold(value, step, view)
        # What it was before has been looked at.
        return value if after is value else kept_value(after, f"gauge {self.name}")

    def resumed(self, view: View) -> Any:
        """Return the value with which a run begins in a state.

        Raises
        ------
        ModelError
            If the gauge cannot begin there, or as `next` does.
        """
        function = self.resume
        if function is None:
            raise ModelError(
                f"gauge {self.name} has no value where a run begins in a state",
                remedy="give it one: @wl.gauge(initial=..., resume=function_of_a_view)",
            )
        return self._asked(
            function, lambda: kept_value(function(view), f"gauge {self.name}")
        )

    def _asked(self, function: Callable[..., Any], ask: Callable[[], Any]) -> Any:
        before, activity.guarding = activity.guarding, True
        activity.judging = what = f"gauge {self.name}"
        try:
            return running.run_pure(ask, hash(self.name))
        except BaseException as error:
            refuse(what, function, error, _REMEDY)
        finally:
            activity.judging = ""
            activity.guarding = before


def gauge(
    *, initial: Any, resume: Callable[[View], Any] | None = None
) -> Callable[[Callable[[Any, TimedStep, View], Any]], Gauge]:
    """Declare a gauge: a value that each event of a run may change.

    Parameters
    ----------
    initial
        The value before the first event; a number, a text, a tuple or other data that
        cannot be changed.
    resume
        The value where a run begins in a state, a function of its view.

    Examples
    --------
    >>> @gauge(initial=0)
    ... def crashes(value, step, view):
    ...     return value + (step.event.kind is Kind.CRASH)
    """

    def declared(function: Callable[[Any, TimedStep, View], Any]) -> Gauge:
        name = getattr(function, "__name__", "gauge")
        what = f"gauge {name}"
        check_function(
            function, what, arguments=3, like="a function of (value, step, view)"
        )
        if resume is not None:
            like = "a function of (view)"
            check_function(resume, f"the resume of {what}", arguments=1, like=like)
        return Gauge(
            name, kept_value(initial, f"the initial value of {what}"), function, resume
        )

    if callable(initial):
        raise ModelError(
            f"@wl.gauge(initial=...) is {getattr(initial, '__name__', initial)!r}, a function",
            remedy="write @wl.gauge(initial=0) above the function",
        )
    return declared


def first_instruments(
    gauges: Sequence[Gauge],
    view: View | None = None,
    known: Mapping[str, Any] | None = None,
    *,
    recorded: bool = False,
) -> Instruments:
    """Return the instruments of a run before its first event.

    Parameters
    ----------
    view
        The state in which it begins; None if it begins at the start.
    known
        The values that gauges have there, by name, as far as somebody knows.
    recorded
        Whether the run is one that was recorded: a gauge that cannot begin in a state is
        unknown then, and no error.

    Raises
    ------
    ModelError
        If a gauge cannot begin in a state.
    """
    values, unknown = dict(known or {}), set()
    for one in gauges:
        if one.name in values:
            continue
        if view is None:
            values[one.name] = one.initial
        elif recorded and one.resume is None:
            values[one.name] = one.initial
            unknown.add(one.name)
        else:
            values[one.name] = one.resumed(view)
    instruments = Instruments({one.name: values[one.name] for one in gauges})
    instruments.unknown = unknown
    return instruments


def fold(
    gauges: Sequence[Gauge],
    instruments: Instruments,
    step: TimedStep,
    view: View,
    series: running.Series | None = None,
    *,
    number: int,
) -> None:
    """Fold a step into gauges, in order: each sees what those before it have now.

    Parameters
    ----------
    series
        In which they run; None for one by itself.
    number
        That of the step, for errors.

    Raises
    ------
    ModelError
        As `Gauge.next` does, or if one returns nothing that began with something; it
        names the step.
    """
    try:
        _fold_all(gauges, instruments, step, view, series)
    except ModelError as error:
        error.what += f", in step {number}, {step.event}, at {step.time:.6g} s"
        raise
    finally:
        instruments.unfolded = frozenset()


@enters
def _fold_all(
    gauges: Sequence[Gauge],
    instruments: Instruments,
    step: TimedStep,
    view: View,
    series: running.Series | None,
) -> None:
    if series is None:
        for one in gauges:  # each runs by itself
            instruments.fold(one.name)
            _fold_known(one, instruments, step, view)
        return
    present: Gauge | None = None
    series.enter(_MARK)
    try:
        running.check()
        for present in gauges:
            instruments.fold(present.name)
            _fold_known(present, instruments, step, view)
            running.check()
    except BaseException as error:
        if present is None:
            raise
        refuse(f"gauge {present.name}", present.fold, running.cause(error), _REMEDY)
    finally:
        series.leave()


def _fold_known(
    one: Gauge, instruments: Instruments, step: TimedStep, view: View
) -> None:
    """Fold a step into a gauge, unless that reads what nobody knows: then nor is it."""
    values, name = instruments.gauges, one.name
    if name in instruments.unknown:
        return
    before = values[name]
    try:
        after = one.next(before, step, view)
    except Unseen:
        instruments.unknown.add(name)
        return
    if after is before:
        return
    if after is None and one.initial is not None:
        raise ModelError(
            f"gauge {name}{defined_at(one.fold)} returned None, and began with "
            f"{value_phrase(one.initial)}",
            remedy="return the value in every case, or declare it with initial=None",
            located=True,
        )
    # What is equal stays the same object, so that nothing is judged again for it.
    is_atom = type(after) is type(before) and type(after) in ATOMS
    if not (is_atom and after == before):
        values[name] = after


_MARK = hash("gauges")


def _names(code: CodeType, name: str) -> bool:
    if any(i.argval == name for i in dis.get_instructions(code)):
        return True
    return any(_names(c, name) for c in code.co_consts if isinstance(c, CodeType))
