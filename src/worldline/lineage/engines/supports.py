"""Supports of a good outcome: sets of messages of which one is enough."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from worldline.injection.formula import (
    ALWAYS,
    NEVER,
    Every,
    Formula,
    Injected,
    Some,
    Spared,
)
from worldline.injection.scope import Loss, Scope
from worldline.injection.subject import Pulse, never_interrupt
from worldline.lineage.engines.hazards import hazards


def supports(
    formula: Formula,
    scope: Scope,
    most: int,
    check: Pulse = never_interrupt,
) -> list[frozenset[Loss]]:
    """Return smallest sets of links that keep a goal, whatever else is lost.

    Parameters
    ----------
    formula
        When the goal falls.
    most
        How many are wanted; they come with fewer links first, as far as they are known.
    check
        Called now and then; what it raises ends the search.

    Notes
    -----
    They are the smallest models of the dual formula, in which alternatives and needs
    change places and a fault stands for its absence. Nobody crashes in them.
    """
    links = Scope(scope.nodes, scope.eot, eff=scope.eot)
    models = islice(_models(dual(formula), links, check), 8 * most)
    return sorted(models, key=lambda some: (len(some), sorted(some)))[:most]


def dual(formula: Formula) -> Formula:
    """Return what is true of the links that arrive exactly if the goal is kept.

    A crash and a delay count as not happening.
    """
    made: dict[int, Formula] = {}
    waiting = [(formula, False)]
    while waiting:
        gate, is_ready = waiting.pop()
        if id(gate) in made:
            continue
        if isinstance(gate, Injected):
            made[id(gate)] = gate if isinstance(gate.fault, Loss) else ALWAYS
        elif isinstance(gate, Spared):
            # True without the fault: it falls there, which no link can help.
            made[id(gate)] = NEVER
        elif is_ready:
            parts = tuple(made[id(part)] for part in gate.parts)
            made[id(gate)] = Some(parts) if isinstance(gate, Every) else Every(parts)
        else:
            waiting.append((gate, True))
            waiting += [(part, False) for part in gate.parts]
    return made[id(formula)]


def _models(formula: Formula, links: Scope, check: Pulse) -> Iterator[frozenset[Loss]]:
    for model in hazards(formula, links, check=check):
        yield frozenset(fault for fault in model if isinstance(fault, Loss))
