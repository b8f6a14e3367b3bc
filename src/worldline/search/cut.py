"""Limits of a search by predicates: what is pruned, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, final

from worldline.model.properties import Property, PropertyKind, predicate_of
from worldline.model.system import System
from worldline.model.usercode.user_functions import OF_A_VIEW, check_function
from worldline.model.view import View

Predicate: TypeAlias = Callable[[View], bool]
Predicates: TypeAlias = Predicate | Iterable[Predicate]

StatePredicate: TypeAlias = str | Property | Callable[[View], Any]
"""The name of a property, or a predicate over states."""

NAME = "prune or assume"
"""What the predicate is called beside properties."""


@final
class Cut:
    """The states from which a search does not go on.

    Parameters
    ----------
    prune, assume
        What a search is told beside what the system says.

    Attributes
    ----------
    prunes, assumed
        Functions one of which is true where a search ends; and one of which is false.
    """

    def __init__(
        self, system: System, prune: Predicates | None, assume: Predicates | None
    ) -> None:
        self.prunes = _predicates("prune", system.prune, prune)
        self.assumed = _predicates("assume", system.assume, assume)

    @property
    def functions(self) -> tuple[Predicate, ...]:
        """All of them."""
        return (*self.prunes, *self.assumed)

    @property
    def predicate(self) -> Property | None:
        """What is true where a search ends; None if nothing is cut off."""
        if not self.functions:
            return None
        return Property(NAME, PropertyKind.SAFETY, self._is_here, "predicate")

    def _is_here(self, view: View) -> bool:
        if any(_said("prune", predicate, view) for predicate in self.prunes):
            return True
        return not all(_said("assume", predicate, view) for predicate in self.assumed)


def _predicates(
    name: str, own: Predicate | None, given: Predicates | None
) -> tuple[Predicate, ...]:
    """Return what the system says, and what the search is told, as functions."""
    several: Any = () if given is None else given
    if callable(given) or not isinstance(several, Iterable) or isinstance(several, str):
        several = (given,)
    told = list(several)
    for one in told:
        check_function(one, name, arguments=1, like=OF_A_VIEW)
    predicates = [predicate_of(one) for one in told]
    return tuple(predicates if own is None or own in predicates else [own, *predicates])


def _said(role: str, predicate: Predicate, view: View) -> bool:
    """Return what a function says about a state."""
    judged = Property(role, PropertyKind.SAFETY, predicate, "the function given as")
    return judged.judge(view if view._ways is None else view._apart()).holds
