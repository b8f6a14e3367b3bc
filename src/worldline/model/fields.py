"""The roles a node's field can have, beside being plain state."""

from __future__ import annotations

import dataclasses
import enum
import reprlib
from collections.abc import Callable
from typing import Any, Never, NoReturn

from worldline.model.errors import ModelError
from worldline.model.usercode.activity import activity

_ROLE = "worldline"
_CHECKPOINT = "worldline_checkpoint"


class Role(enum.Enum):
    """The role of a field: what a reset makes of it, and who may look at it."""

    PLAIN = "plain"
    DURABLE = "durable"
    IGNORED = "ignored"
    GHOST = "ghost"
    PART = "part"


def _declare(
    role: Role,
    misplaced: tuple[Any, ...],
    default: Any,
    default_factory: Any,
    *,
    checkpoint: bool = True,
) -> Any:
    name = "field" if role is Role.PLAIN else role.value
    if misplaced:
        raise ModelError(
            f"wl.{name}({', '.join(map(reprlib.repr, misplaced))}) does not say what "
            "that is for",
            remedy=f"write wl.{name}(default={reprlib.repr(misplaced[0])}), or "
            "default_factory= and a function, for a collection",
        )
    # What prints its node and sends that depends on no ghost.
    shown = role is not Role.GHOST
    metadata = {_ROLE: role, _CHECKPOINT: checkpoint}
    options: dict[str, Any] = {"metadata": metadata, "repr": shown}
    if default is not dataclasses.MISSING:
        options["default"] = default
    if default_factory is not dataclasses.MISSING:
        options["default_factory"] = default_factory
    return dataclasses.field(**options)


def field(
    *misplaced: Never,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
    checkpoint: bool = True,
) -> Any:
    """Declare plain state that needs a factory, such as a set.

    Parameters
    ----------
    checkpoint
        Whether a checkpoint that neighbours ask for has it. In a node that is made from
        one without it, it has its first value, until `rebuild` fills it again.
    """
    if checkpoint is not True and checkpoint is not False:
        raise ModelError(
            f"wl.field(checkpoint={reprlib.repr(checkpoint)}) is neither True nor False",
            remedy="say False of what a checkpoint is to leave out",
        )
    return _declare(
        Role.PLAIN, misplaced, default, default_factory, checkpoint=checkpoint
    )


def durable(
    *misplaced: Never,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state that survives resets and crashes, as if written to disk."""
    return _declare(Role.DURABLE, misplaced, default, default_factory)


def ignored(
    *misplaced: Never,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state that never separates two states (MaceMC's ``nodump``).

    While exploring it has its initial value before every handler; properties may
    not read it. Use it for statistics.
    """
    return _declare(Role.IGNORED, misplaced, default, default_factory)


def ghost(
    *misplaced: Never,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
) -> Any:
    """Declare state for properties to read, on which only ghosts may depend.

    Handlers write it and may read it to go on from what it holds, as in
    ``self.acked = self.acked | {x}``. Nothing else that they do may depend on it, which
    is checked on a sample: handlers are run again with every ghost at its default.
    Guards may not read it. It survives resets and is part of a state's identity.
    """
    return _declare(Role.GHOST, misplaced, default, default_factory)


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


def is_kept_out(declared: dataclasses.Field[Any]) -> bool:
    """Say whether checkpoints that neighbours ask for leave a dataclass field out."""
    return declared.metadata.get(_CHECKPOINT, True) is False


def is_node(kind: object) -> bool:
    """Say whether `kind` is a node class."""
    return hasattr(kind, "__worldline_node__")


def refuse_node(what: str, kind: type) -> NoReturn:
    """Refuse to keep a node where data is kept; `what` says where.

    Raises
    ------
    ModelError
        Always.
    """
    raise ModelError(
        f"{what} holds the node {kind.__name__}, and a node is no data",
        remedy="keep or send its id: ctx.me is that of the node itself",
    )


class GhostField:
    """The descriptor that keeps guards from reading a ghost field."""

    def __init__(self, owner: str, name: str) -> None:
        self.owner = owner
        self.name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if activity.guard and activity.is_here():
            raise ModelError(
                f"the guard of {activity.guard} reads the ghost field "
                f"{self.owner}.{self.name}",
                remedy="only ghosts may depend on a ghost: make it a plain field, or a "
                "durable one if it is to survive resets",
            )
        return instance.__dict__[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value
