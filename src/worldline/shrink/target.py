"""The target: what a run has to violate, still, to count.

A property is the same by its name; an exception by its class and the function that
raised it; a handler that does not return, and a message without a taker, by handler
and class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, final

from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.view import View
from worldline.worlds.remembering import RememberingWorld


class ShrinkTarget(Protocol):
    """Says of the present state of a world whether it is what is looked for."""

    def begin(self, world: RememberingWorld) -> None:
        """Prepare for questions about a world."""

    def is_met(self) -> bool:
        """Say whether the violation is there, in the present state."""


@final
class PropertyTarget:
    """A safety property that is false."""

    def __init__(self, prop: Property) -> None:
        self._property = prop

    def begin(self, world: RememberingWorld) -> None:
        self._world = world
        self._decision = world.decision(self._property)

    def is_met(self) -> bool:
        world = self._world
        return world.failure is None and world.verdict(self._decision) is False


@final
class FailureTarget:
    """A handler that fails as another one did."""

    def __init__(self, failure: Failure) -> None:
        self._wanted = failure

    def begin(self, world: RememberingWorld) -> None:
        self._world = world

    def is_met(self) -> bool:
        failure = self._world.failure
        return failure is not None and is_same(failure, self._wanted)


@final
class DeadlockTarget:
    """A state in which only faults can happen, though the system is not done."""

    def __init__(self, done: Callable[[View], bool]) -> None:
        self._done = done

    def begin(self, world: RememberingWorld) -> None:
        self._world = world
        predicate = Property("done", PropertyKind.SAFETY, self._done, "predicate")
        self._decision = world.decision(predicate)

    def is_met(self) -> bool:
        world = self._world
        if world.failure is not None:
            return False
        can_go_on = any(not event.kind.is_fault for event in world.enabled())
        return not can_go_on and world.verdict(self._decision) is False


def is_same(one: Failure, other: Failure) -> bool:
    """Say whether two failures are the same: of one kind, class and function."""
    return _identity(one) == _identity(other)


def _identity(failure: Failure) -> tuple[str, str, str]:
    """Return what two failures have in common that are the same."""
    function = failure.where.partition(" in ")[2] if failure.kind == "exception" else ""
    return failure.kind, failure.name, function
