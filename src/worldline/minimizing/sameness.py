"""Sameness: when the violation of a smaller run is that of the original.

By default the property decides; an explanation is alike if it speaks of the same up to
numbers and the names of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import final

from worldline.minimizing.original import Original
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.runs.explain import explain
from worldline.runs.record import DEADLOCK, all_done
from worldline.shrink.target import (
    DeadlockTarget,
    FailureTarget,
    PropertyTarget,
    ShrinkTarget,
)
from worldline.worlds.direct import DirectWorld
from worldline.worlds.remembering import RememberingWorld

STRICT, PROPERTY, ANY = "strict", "property", "any"
"""What makes two violations the same: the explanation, the property, or nothing more."""


def target_of(original: Original, same: str) -> ShrinkTarget:
    """Return what a smaller run has to violate."""
    if same == ANY:
        return AnyTarget(original.system, or_deadlock=original.end.property == DEADLOCK)
    target = _plain_target(original)
    return StrictTarget(target, original) if same == STRICT else target


def _plain_target(original: Original) -> ShrinkTarget:
    if original.prop is not None:
        return PropertyTarget(original.prop)
    if original.end.property == DEADLOCK:
        return DeadlockTarget(original.system.done or all_done)
    assert original.failure is not None
    return FailureTarget(original.failure)


def safety_of(system: System) -> list[Property]:
    """Return the properties that a state can violate."""
    return [p for p in system.properties if p.kind is PropertyKind.SAFETY]


def shape(explanation: str, names: Sequence[str]) -> str:
    """Return the first line of an explanation, nodes by their order in it, no numbers.

    Examples
    --------
    >>> shape("n2 leads in 7, n1 too", ["n1", "n2"])
    '<n> leads in 0, <nn> too'
    """
    order: dict[str, str] = {}
    first = explanation.partition("\n")[0]
    choice = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    text = re.sub(
        rf"\b({choice})\b",
        lambda m: order.setdefault(m[0], f"<{'n' * (len(order) + 1)}>"),
        first,
    )
    return re.sub(r"\d+", "0", text)


@final
class StrictTarget:
    """What another target wants, with an explanation that is alike."""

    def __init__(self, target: ShrinkTarget, original: Original) -> None:
        self._target = target
        self._prop = original.prop
        self._names = original.trace.header.names
        self._wanted = shape(original.explanation, self._names)
        self._scratch = DirectWorld(original.system)

    def begin(self, world: RememberingWorld) -> None:
        self._world = world
        self._target.begin(world)

    def is_met(self) -> bool:
        return self._target.is_met() and self._said() == self._wanted

    def _said(self) -> str:
        """Return the shape of what there is to say of the present state."""
        if self._world.failure is not None:
            return shape(str(self._world.failure), self._names)
        if self._prop is None:
            return self._wanted  # of a deadlock there is but one
        self._scratch.restore(self._world.snapshot())
        return shape(str(explain(self._scratch, self._prop) or ""), self._names)


@final
class AnyTarget:
    """Any safety property that is false, any handler that fails; or a deadlock."""

    def __init__(self, system: System, *, or_deadlock: bool) -> None:
        self._targets: list[ShrinkTarget] = [
            PropertyTarget(prop) for prop in safety_of(system)
        ]
        if or_deadlock:
            self._targets.append(DeadlockTarget(system.done or all_done))

    def begin(self, world: RememberingWorld) -> None:
        self._world = world
        for target in self._targets:
            target.begin(world)

    def is_met(self) -> bool:
        if self._world.failure is not None:
            return True
        return any(target.is_met() for target in self._targets)
