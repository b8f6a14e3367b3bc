"""The properties of events that schedulers are told: above all, how likely these are.

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
from worldline.model.events import Event
from worldline.model.kinds import KINDS, Kind, WeightClass
from worldline.model.network import number_of
from worldline.model.system import System

Usual: TypeAlias = Mapping[WeightClass, int]
"""The weights of kinds of events, by their class in the table of kinds."""

TO_BECOME_LIVE: Usual = {
    "application": 200,
    "arrival": 100,
    "timer": 10,
    "fault": 1,
    "healing": 10,
}
"""MaceMC's order: such walks become live soon."""

TO_GO_DEEP: Usual = {
    **TO_BECOME_LIVE,
    "application": 100,
    "timer": 5,
}
"""Timers are twenty times rarer than what they are to watch over.

As likely as messages, they fire all the time, and nothing ever comes to its end.
"""

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
    names = KINDS.keys() | _names(system)
    for name, weight in given.items():
        if name not in names:
            raise UsageError(
                f"{system.name} has no events {name!r} to weigh",
                remedy=f"name one of {', '.join(sorted(names))}",
            )
        if type(weight) is not int or not 1 <= weight <= _LARGEST:
            raise UsageError(
                f"the weight {short(weight)} of {name} is not usable",
                remedy=f"give a whole number from 1 to {_LARGEST:,}",
            )

    def weigh(event: Event) -> int:
        kind = event.kind
        weight = given.get(kind.value)
        if not kind.is_fault:  # what is to arrive often is not to be lost as often
            weight = given.get(event.name, weight)
        if weight is not None:
            return weight
        return 1 if unbiased else usual[kind.weight]

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
    index, count, network = system.index, len(system.ids), system.network

    def describe(event: Event) -> Traits:
        node = AROUND if event.node is None else index[event.node]
        pair = NO_PAIR
        if event.kind is Kind.DELIVER and event.peer is not None:
            carried = number_of(network, event.part, type(event.payload))
            pair = (carried * count + index[event.peer]) * count + node
        kind = event.kind
        handler = fingerprint((kind.rank, event.part, event.name))
        return Traits(weigh(event), kind.is_fault, node, pair, kind.rank, handler)

    return describe


def _names(system: System) -> set[str]:
    names: set[str] = set()
    pending = list(system.types)
    while pending:
        kind = pending.pop()
        names.update(message.__name__ for message in kind.on)
        names.update(kind.timers)
        names.update(kind.calls)
        pending += kind.parts.values()
    return names
