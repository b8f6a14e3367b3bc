"""Guards: asked whether a handler may run, and held to looking."""

from __future__ import annotations

import time
from typing import Any

from worldline.model.data.content import Frozen
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.model.usercode.activity import activity
from worldline.model.usercode.user_functions import defined_at, yes_or_no


def allows(guard: Any, name: str, service: Any, *arguments: Any) -> bool:
    """Return what a guard answers, or no guard, of the handler of this name.

    Each evaluation is watched: worlds ask as often as it suits them, so one guard that
    changes something would be enough for them to disagree. In a series of executions
    along one run, where to look at a node takes longer than most handlers, the first of
    each guard is, and then one in so many, or fewer: see `GuardWatch`.

    Raises
    ------
    ModelError
        If it is no bool, or the guard changes its node or reads a ghost field.
    """
    if guard is None:
        return True
    watch, before, began = activity.watch, None, 0.0
    if watch is None or watch.is_next(guard):
        began, before = time.monotonic(), _frozen(service)
    activity.guard = name
    try:
        answer = guard(service, *arguments)
    finally:
        activity.guard = ""
    if before is not None:
        after = _frozen(service)
        if watch is not None:
            watch.looked(began)
        if after != before:
            raise _changed(guard, name, service, before, after)
    if answer is True or answer is False:
        return answer is True
    return yes_or_no(answer, guard, f"the guard of {name}")


def _frozen(service: Any) -> Any:
    """Freeze what a guard looks at; None if that is impossible, as others will tell."""
    try:
        return freeze(service)
    except Unfreezable:
        return None


def _changed(
    guard: Any,
    name: str,
    service: Any,
    before: tuple[Frozen, ...],
    after: tuple[Frozen, ...] | None,
) -> ModelError:
    kind = type(service)
    names = kind.__worldline_node__.identity
    now = after[1:] if after is not None else (object(),) * len(names)
    pairs = zip(names, before[1:], now, strict=True)
    what = next(one for one, old, new in pairs if old != new)
    return ModelError(
        f"the guard of {name} changes {kind.__name__}.{what}{defined_at(guard)}",
        remedy="a guard only looks: let its handler do what is to be done",
    )
