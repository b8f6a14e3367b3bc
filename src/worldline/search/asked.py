"""A system as one that a search asks more of than its own functions do."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from worldline.model.mail_readers import read_messages
from worldline.model.system import System
from worldline.search.cut import StatePredicate
from worldline.search.stages import goals_of


def asked_by(
    system: System,
    until: Iterable[StatePredicate],
    functions: Iterable[Callable[..., Any]] = (),
) -> System:
    """Return a system that shows to the options of a search, too, what they ask for.

    If one of them may ask for messages, it matters that those to a node that is gone are
    lost there.

    Parameters
    ----------
    until
        Where the search begins.
    functions
        Functions of a view that say what it leaves out.
    """
    functions = [*functions, *(goal.predicate for goal in goals_of(system, until))]
    if system.shows_mail or not read_messages(functions, system.types):
        return system
    changed = copy.copy(system)
    changed.shows_mail = True
    return changed
