"""How likely events are in random walks.

References
----------
MaceMC (NSDI 2007), section 4.2: application events before the arrival of messages,
those before timers. Such walks become live in a tenth to a hundredth of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from worldline.model.amounts import short
from worldline.model.arguments import named
from worldline.model.errors import UsageError
from worldline.model.events import Event, Kind, Origin
from worldline.model.system import System

_BY_KIND = {Kind.START: 200, Kind.CALL: 200, Kind.TIMER: 10, Kind.HEAL: 10}
_OTHERS = 100
_FAULTS = 1
_LARGEST = 1_000_000


def weigher(
    system: System, *, unbiased: bool, weights: Mapping[str, int] | None
) -> Callable[[Event], int]:
    """Return what gives events their weights.

    Parameters
    ----------
    unbiased
        Whether all are alike, but for those in `weights`.
    weights
        By the name of a message class, timer or call; or by a kind of event.

    Raises
    ------
    UsageError
        If there is no such name, or a weight is not positive: what has the weight 0
        would never happen, and no state could be proved dead.
    """
    if weights is not None and not isinstance(weights, Mapping):
        raise UsageError(
            f"weights is {named(weights)}, which is no dict",
            remedy="write weights={'name': 5}",
        )
    given = dict(weights or {})
    known = {kind.value for kind in Kind} | _names(system)
    for name, weight in given.items():
        if name not in known:
            raise UsageError(
                f"{system.name} has no events {name!r} to weigh",
                remedy=f"name one of {', '.join(sorted(known))}",
            )
        if type(weight) is not int or not 1 <= weight <= _LARGEST:
            raise UsageError(
                f"the weight {short(weight)} of {name} is not usable",
                remedy=f"give a whole number from 1 to {_LARGEST:,}",
            )

    def weigh(event: Event) -> int:
        found = given.get(event.name, given.get(event.kind.value))
        if found is not None:
            return found
        return 1 if unbiased else _usual(event)

    return weigh


def _usual(event: Event) -> int:
    if event.kind in _BY_KIND:
        return _BY_KIND[event.kind]
    return _FAULTS if event.origin is Origin.FAULT else _OTHERS


def _names(system: System) -> set[str]:
    found: set[str] = set()
    pending = list(system.types)
    while pending:
        kind = pending.pop()
        found.update(message.__name__ for message in kind.on)
        found.update(kind.timers)
        found.update(kind.calls)
        pending += kind.parts.values()
    return found
