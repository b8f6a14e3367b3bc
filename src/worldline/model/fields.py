"""The roles a node's field can have, beside being plain state."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

from worldline.model import activity
from worldline.model.errors import ModelError

_ROLE = "worldline"


class Role(enum.Enum):
    """What becomes of a field at a reset, and who may look at it."""

    PLAIN = "plain"
    DURABLE = "durable"
    IGNORED = "ignored"
    GHOST = "ghost"
    PART = "part"


def _declare(role: Role, default: Any, default_factory: Any) -> Any:
    # A handler may print its node, but not read its ghosts.
    shown = role is not Role.GHOST
    options: dict[str, Any] = {"metadata": {_ROLE: role}, "repr": shown}
    if default is not dataclasses.MISSING:
        options["default"] = default
    if default_factory is not dataclasses.MISSING:
        options["default_factory"] = default_factory
    return dataclasses.field(**options)


def field(
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare plain state that needs a factory, such as a set."""
    return _declare(Role.PLAIN, default, default_factory)


def durable(
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state that survives resets and crashes, as if written to disk."""
    return _declare(Role.DURABLE, default, default_factory)


def ignored(
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state that never separates two states (MaceMC's ``nodump``).

    While exploring it has its initial value before every handler; properties may
    not read it. Use it for statistics.
    """
    return _declare(Role.IGNORED, default, default_factory)


def ghost(
    *,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state that only properties read; handlers may write it.

    It survives resets and is part of a state's identity.
    """
    return _declare(Role.GHOST, default, default_factory)


def part(service: type | None = None) -> Any:
    """Declare a service stacked below this one, itself a node class.

    Parameters
    ----------
    service
        The class of the part; needed only where the field's annotation cannot be
        evaluated when the class is made.
    """
    return dataclasses.field(metadata={_ROLE: Role.PART, "service": service})


def role_of(declared: dataclasses.Field[Any]) -> Role:
    """Return the role a dataclass field was declared with."""
    role: Role = declared.metadata.get(_ROLE, Role.PLAIN)
    return role


class GhostField:
    """The descriptor that keeps handlers from reading a ghost field."""

    def __init__(self, owner: str, name: str) -> None:
        self.owner = owner
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if activity.door is not None:
            raise ModelError(
                f"a handler of {self.owner} reads the ghost field {self.name!r}",
                remedy="make it a plain field, or read it in properties only",
            )
        return instance.__dict__[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value
