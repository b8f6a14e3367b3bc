"""What schedulers are told of events: above all, how likely these are.

References
----------
MaceMC (NSDI 2007), section 4.2: application events before the arrival of messages,
those before timers. Such walks become live in a tenth to a hundredth of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from worldline.engine.schedulers.protocol import AROUND, NO_PAIR, Traits
from worldline.model.amounts import short
from worldline.model.arguments import named
from worldline.model.data.content import fingerprint
from worldline.model.errors import UsageError
from worldline.model.events import RANK, Event, Kind, Origin
from worldline.model.system import System

Usual: TypeAlias = Mapping[Kind, int]
"""The weights of kinds of events; of others it is that of a fault, or of the rest."""

TO_BECOME_LIVE: Usual = {Kind.START: 200, Kind.CALL: 200, Kind.TIMER: 10, Kind.HEAL: 10}
"""MaceMC's order: such walks become live soon."""

TO_GO_DEEP: Usual = {Kind.TIMER: 5, Kind.HEAL: 10}
"""Timers are twenty times rarer than what they are to watch over.

As likely as messages, they fire all the time, and nothing ever comes to its end.
"""

_OTHERS = 100
_FAULTS = 1
_LARGEST = 1_000_000


def weigher(
    system: System,
    *,
    unbiased: bool,
    weights: Mapping[str, int] | None,
    usual: Usual = TO_BECOME_LIVE,
) -> Callable[[Event], int]:
    """Return what gives events their weights.

    Parameters
    ----------
    usual
        The weights of what `weights` do not name.
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
        is_fault = event.origin is Origin.FAULT
        found = given.get(event.kind.value)
        if not is_fault:  # a message that is to arrive often is not to be lost as often
            found = given.get(event.name, found)
        if found is not None:
            return found
        if unbiased:
            return 1
        return usual.get(event.kind, _FAULTS if is_fault else _OTHERS)

    return weigh


def describer(
    system: System, weigh: Callable[[Event], int]
) -> Callable[[Event], Traits]:
    """Return what tells a scheduler about events.

    Parameters
    ----------
    weigh
        Gives them their weights.
    """
    index, count = system.index, len(system.ids)

    def describe(event: Event) -> Traits:
        node = AROUND if event.node is None else index[event.node]
        pair = NO_PAIR
        if event.kind is Kind.DELIVER and event.peer is not None:
            pair = index[event.peer] * count + node
        kind = RANK[event.kind]
        handler = fingerprint((kind, event.part, event.name))
        is_fault = event.origin is Origin.FAULT
        return Traits(weigh(event), is_fault, node, pair, kind, handler)

    return describe


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
