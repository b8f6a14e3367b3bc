"""Predicates over states, as the user writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from worldline.model.errors import UsageError

if TYPE_CHECKING:
    from worldline.model.properties import Property
    from worldline.model.system import System
    from worldline.model.view import View
    from worldline.search.cut import StatePredicate


def goals(system: System, texts: Iterable[str]) -> list[StatePredicate]:
    """Return the predicates that are written on a command line.

    Parameters
    ----------
    texts
        Names of properties, functions as in a TARGET, or Python expressions over the
        view.

    Raises
    ------
    UsageError
        If one is none of these.
    """
    return [_goal(system, text.strip()) for text in texts]


def predicates(system: System, texts: Iterable[str]) -> list[Callable[[View], Any]]:
    """Return what is written on a command line as functions of a view; see `goals`."""
    return [_goal(system, text.strip()) for text in texts]


def _goal(system: System, text: str) -> Property | Callable[[View], Any]:
    from worldline.debug.evaluate import Expressions
    from worldline.loading.loader import function_for, is_function

    for declared in system.properties:
        if declared.name == text:
            return declared
    if text.isidentifier():
        names = ", ".join(declared.name for declared in system.properties) or "none"
        raise UsageError(
            f"{system.name} has no property {text!r} to search for",
            remedy=f"its properties are {names}; or give FILE.py:function, or an "
            "expression over view",
        )
    if is_function(text):
        return function_for(system, text)
    return Expressions(system).predicate(text)
