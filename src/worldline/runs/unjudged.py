"""Runs to where a property cannot be judged, or an observer makes nothing of a step.

It raises there, say. Whatever searches for states that break a property finds one, if it is asked
about another property: one that is false where the first cannot be judged, and true in all other
states; or one that is false where an observer has made nothing of the step before.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar, final

from worldline.model.answers import seen_for
from worldline.model.data.identity import NodeId
from worldline.model.errors import ObserverError, PropertyError, WorldlineError
from worldline.model.observers import Observer, Step
from worldline.model.properties import Property, PropertyKind
from worldline.model.pure import Pure
from worldline.model.system import System
from worldline.model.usercode.running import is_ours, raised
from worldline.model.usercode.user_functions import asserts, value_phrase
from worldline.model.verdicts import StateVerdict
from worldline.model.view import Reader, View, observed
from worldline.options.common import SystemOptions
from worldline.runs.loading import command
from worldline.runs.report import BaseReport
from worldline.trace.records import End

R = TypeVar("R", bound=BaseReport)
Q = TypeVar("Q", bound=SystemOptions)

PATIENCE_S, _SHARE = 2.0, 3
"""For so many seconds, and so many times what it took to be there at first, is it tried again."""


def telling_where(ask: Callable[[System, Q], R], system: System, options: Q) -> R:
    """Ask something of a system, and again for a run to where that cannot be answered.

    Raises
    ------
    PropertyError, ObserverError
        If there is such a state, or step; it names the trace of the run, if there is to be any.
    """
    began = monotonic()
    try:
        return ask(system, options)
    except (PropertyError, ObserverError) as error:
        now = monotonic()
        until = now + PATIENCE_S + _SHARE * (now - began)
        file = _run_to(ask, system, options, error, until)
        if file is None:
            raise
        shown = command("show", file, None)
        told = f"{error.remedy}; to see the run to there: {shown}"
        if isinstance(error, PropertyError):
            raise PropertyError(error.prop, error.what, told, file) from error.__cause__
        who = error.observer
        raise ObserverError(who, error.what, told, file) from error.__cause__


def _run_to(
    ask: Callable[[System, Q], R],
    system: System,
    options: Q,
    error: PropertyError | ObserverError,
    until: float,
) -> Path | None:
    """Return the trace of a run to where something cannot be answered; None if none is found."""
    asked, name = asking_whether(system, error, until)
    if all(prop.name != name for prop in asked.properties):
        return None  # it stands in a file of predicates
    # What says which of the first properties are judged, or how, says nothing of these.
    options = dataclasses.replace(options, properties=None)
    try:
        report = ask(asked, options)
    except WorldlineError:
        return None  # it took too long, or something else is wrong, too
    return next((r.trace for r in report.properties if r.name == name), None)


def asking_whether(
    system: System, error: PropertyError | ObserverError, until: float = math.inf
) -> tuple[System, str]:
    """Return a system of which one property says whether an error would be raised, and its name.

    No other property of it says anything.

    Parameters
    ----------
    until
        When it cannot be judged any more either: one that raises by chance may never do so again.
    """
    if isinstance(error, ObserverError):
        return _asking_whether_observed(system, error.observer, until)
    asked = [
        _is_judged(prop, until) if prop.name == error.prop else _is_true(prop)
        for prop in system.properties
    ]
    return _with_runs_of(system, system.replace(properties=asked)), error.prop


def as_asked(system: System, end: End | None) -> System:
    """Return the system in which a run was found: of one to where an observer ends, one that goes on.

    Parameters
    ----------
    end
        What the run shows.
    """
    name = None if end is None else end.property
    if all(prop.name != name for prop in system.properties):
        for observer in system.observers:
            if name == _own_name(system, observer.name):
                return _asking_whether_observed(system, observer.name, math.inf)[0]
    return system


def _asking_whether_observed(
    system: System, name: str, until: float
) -> tuple[System, str]:
    (observer,) = [one for one in system.observers if one.name == name]
    observers = [_told(one) if one is observer else one for one in system.observers]
    own = _own_name(system, name)
    asked = [*map(_is_true, system.properties), _is_observed(observer, own, until)]
    changed = system.replace(properties=asked, observers=observers)
    return _with_runs_of(system, changed), own


def _own_name(system: System, name: str) -> str:
    """Return the name of the property of an observer, which no other one has."""
    own = f"observer_{name}"
    while any(prop.name == own for prop in system.properties):
        own += "_"
    return own


def _with_runs_of(system: System, changed: System) -> System:
    """Return a changed system whose runs are those of the first.

    That tells of them, and goes through them again.
    """
    changed.origin, changed.predicates = system.origin, system.predicates
    changed.shows_mail = system.shows_mail  # which adds to what can happen
    return changed


def _is_judged(prop: Property, until: float) -> Property:
    """Return the property that another can be judged."""

    def is_judged(view: View) -> bool:
        apart, reader = observed(view, lambda system, reader: _Unremembered(reader))
        if monotonic() > until:
            raise PropertyError(prop.name, _IN_VAIN, "")
        try:
            value = prop.predicate(apart)
        except AssertionError:
            return True
        except BaseException as error:
            if is_ours(error):
                raise
            raise AssertionError(f"it {raised(error)}") from None
        if reader.failed is not None:
            raise AssertionError(f"it {raised(reader.failed)}")
        if type(value) is bool or (value is None and asserts(prop.predicate)):
            return True
        raise AssertionError(f"it is {value_phrase(value)}")

    return replace(prop, kind=PropertyKind.SAFETY, predicate=is_judged, confidence=None)


_IN_VAIN = "it is not raised again"


@final
class _Unremembered:
    """A reader that evaluates the elements of ``for_each`` forms where they are asked for.

    Whoever remembers them evaluates them by themselves, where nobody hears of what they raise.

    Attributes
    ----------
    failed
        What one of them raised, if any did: the property may go on, but cannot be judged.
    """

    def __init__(self, reader: Reader) -> None:
        self.failed: BaseException | None = None
        self.read = reader.read
        self.is_partial = getattr(reader, "is_partial", False)

    def nested(
        self, view: View, function: Pure, nodes: tuple[NodeId, ...]
    ) -> StateVerdict:
        """Evaluate an element."""
        try:
            return seen_for(function, view, nodes)
        except BaseException as error:
            self.failed = self.failed or error
            raise


def _is_true(prop: Property) -> Property:
    """Return a property that is true, and bears the name of another."""
    true = replace(prop, kind=PropertyKind.SAFETY, confidence=None)
    return replace(true, predicate=lambda view: True)


@final
@dataclass(frozen=True, slots=True)
class Nothing:
    """The value of an observer that has made nothing of a step.

    Attributes
    ----------
    why
        What it raised, or made.
    """

    why: str


def _told(observer: Observer) -> Observer:
    """Return an observer that goes on, as `Nothing`, where another makes nothing of a step."""

    def project(step: Step) -> Any:
        return _made(observer.name, "project", observer.project, step)

    def fold(value: Any, seen: Any) -> Any:
        for one in (value, seen):
            if isinstance(one, Nothing):
                return one
        return _made(observer.name, "fold", observer.fold, value, seen)

    def arranged(value: Any) -> Any:
        return value if isinstance(value, Nothing) else observer.arranged(value)

    arrange = None if observer.arrange is None else arranged
    return Observer(observer.name, observer.initial, project, fold, arrange=arrange)


def _made(name: str, what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what an observer makes of something, or that it makes nothing of it."""
    try:
        return function(*arguments)
    except BaseException as error:
        if is_ours(error):
            raise
        return Nothing(f"the {what} of observer {name!r} {raised(error)}")


def _is_observed(observer: Observer, name: str, until: float) -> Property:
    """Return the property that an observer has made something of each step."""

    def is_observed(view: View) -> bool:
        value = view.history(observer.name)
        if monotonic() > until:
            raise PropertyError(name, _IN_VAIN, "")
        if isinstance(value, Nothing):
            raise AssertionError(value.why)
        decided: Any = True if observer.decide is None else observer.decide(value)
        if type(decided) is not bool:
            who = f"the decide of observer {observer.name!r}"
            raise AssertionError(f"{who} returned {value_phrase(decided)}")
        return True

    return Property(name, PropertyKind.SAFETY, is_observed)
