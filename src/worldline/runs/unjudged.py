"""Runs to a state in which a property cannot be judged: it raises there, say.

Whatever searches for states that break a property finds one, if it is asked about another
property: one that is false where the first cannot be judged, and true in all other states.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TypeVar, final

from worldline.model.answers import seen_for
from worldline.model.data.identity import NodeId
from worldline.model.errors import PropertyError
from worldline.model.properties import Property, PropertyKind
from worldline.model.pure import Pure
from worldline.model.system import System
from worldline.model.usercode.running import is_ours, raised
from worldline.model.usercode.user_functions import asserts, value_phrase
from worldline.model.verdicts import StateVerdict
from worldline.model.view import Reader, View, observed
from worldline.runs.loading import command
from worldline.runs.report import BaseReport

R = TypeVar("R", bound=BaseReport)

PATIENCE_S, _SHARE = 2.0, 3
"""For so many seconds, and so many times what it took to be there at first, is it tried again."""


def telling_where(ask: Callable[[System], R], system: System) -> R:
    """Ask something of a system, and again for a run to where a property cannot be judged.

    Raises
    ------
    PropertyError
        If there is such a state; it names the trace of the run, if there is to be any.
    """
    began = monotonic()
    try:
        return ask(system)
    except PropertyError as error:
        now = monotonic()
        until = now + PATIENCE_S + _SHARE * (now - began)
        file = _run_to(ask, system, error.prop, until)
        if file is None:
            raise
        remedy = (
            f"{error.remedy}; to see the run to there: {command('show', file, None)}"
        )
        raise PropertyError(error.prop, error.what, remedy, file) from error.__cause__


def _run_to(
    ask: Callable[[System], R], system: System, name: str, until: float
) -> Path | None:
    """Return the trace of a run to where a property cannot be judged; None if none is found."""
    if all(prop.name != name for prop in system.properties):
        return None
    try:
        report = ask(asking_whether_judged(system, name, until))
    except PropertyError:
        return None  # it took too long
    return next((r.trace for r in report.properties if r.name == name), None)


def asking_whether_judged(system: System, name: str, until: float = math.inf) -> System:
    """Return a system of which one property says whether it can be judged, and no other anything.

    Parameters
    ----------
    until
        When it cannot be judged any more either: one that raises by chance may never do so again.
    """
    asked = [
        _is_judged(prop, until) if prop.name == name else _is_true(prop)
        for prop in system.properties
    ]
    changed = system.replace(properties=asked)
    # Its runs are those of the first, which tells of them and goes through them again.
    changed.origin, changed.predicates = system.origin, system.predicates
    changed.shows_mail = system.shows_mail  # which adds to what can happen
    return changed


def _is_judged(prop: Property, until: float) -> Property:
    """Return the property that another can be judged."""

    def is_judged(view: View) -> bool:
        apart, reader = observed(view, lambda system, reader: _Unremembered(reader))
        if monotonic() > until:
            raise PropertyError(prop.name, "it is not raised again", "")
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
