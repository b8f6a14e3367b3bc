"""What is shared and never copied, and so must not change: messages, payloads, arguments."""

from __future__ import annotations

from typing import Any

from worldline.model.data.content import Tag
from worldline.model.data.settling import COLLECTIONS, Mutable, settled_for_good
from worldline.model.errors import ModelError


def immutable(value: Any, what: str, shared: str) -> Any:
    """Return a value settled, in which nothing can be changed.

    Parameters
    ----------
    what
        Names it.
    shared
        Says what is shared, with its article: ``a message``.

    Raises
    ------
    ModelError
        If something can be.
    """
    try:
        return settled_for_good(value)
    except Mutable as error:
        raise mutable(error, what, shared) from None


def mutable(found: Mutable | type | Tag, what: str, shared: str) -> ModelError:
    """Return the error for something that can be changed, or of a class or tag that can."""
    kind: Any = type(found.culprit) if isinstance(found, Mutable) else found
    name = str(kind) if isinstance(kind, Tag) else kind.__name__
    if kind in COLLECTIONS:
        name = name.removeprefix("Canonical").lower()
    return ModelError(
        f"{what} holds a {name}",
        remedy="use a tuple, a frozenset, wl.FrozenMap or a frozen dataclass: "
        f"{shared} is shared, never copied",
    )
