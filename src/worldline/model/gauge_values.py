"""The values of gauges: data that cannot change later."""

from __future__ import annotations

from typing import Any

from worldline.model.arguments import named
from worldline.model.data.content import Frozen
from worldline.model.data.identity import NodeId
from worldline.model.data.settling import settled
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import freeze, is_constant
from worldline.model.errors import ModelError

ATOMS = frozenset({int, float, str, bool, NodeId})
"""What most are."""


def kept_value(value: Any, what: str) -> Any:
    """Return a value that nobody can change, with its collections in canonical order.

    Raises
    ------
    ModelError
        If it is, or holds, anything but plain data that cannot be changed.
    """
    if type(value) in ATOMS and value == value:  # a NaN is no plain data
        return value
    try:
        frozen = freeze(value)
    except ModelError as error:
        raise _refusal(what, _unkept(value, error)) from None
    culprit = _changeable(frozen)
    if culprit is not None:
        tag = culprit[0]
        name = tag.__name__ if isinstance(tag, type) else str(tag)
        article = "an" if name[0] in "AEIOU" else "a"
        held = "is" if culprit is frozen else "holds"
        raise _refusal(what, f"{held} {article} {name}, which can be changed")
    return settled(value)


def _changeable(frozen: Frozen) -> Frozen | None:
    """Return a part of a frozen value that, thawed, can be changed; None if there is none."""
    if type(frozen) is not tuple or is_constant(frozen):
        return None
    for inner in frozen[1:]:
        if (found := _changeable(inner)) is not None:
            return found
    # Envelopes and timers, which stand for themselves, can be all that is in it.
    return None if is_constant(frozen[:1]) else frozen


def _unkept(value: Any, error: ModelError) -> str:
    if not isinstance(error, Unfreezable) or error.nested:
        return f"cannot be kept: {error.what}"
    held = "is" if error.value is value else "holds"
    kind = type(error.value)
    # To ask the view of a node for a name is to ask the node for a field.
    is_view = hasattr(kind, "__getattr__")
    said = f"a {kind.__name__}" if is_view else named(error.value)
    return f"{held} {said}, which is no plain data"


def _refusal(what: str, said: str) -> ModelError:
    return ModelError(
        f"{what} {said}",
        remedy="use numbers, texts, ids, and tuples, frozensets or a wl.FrozenMap of them",
    )
