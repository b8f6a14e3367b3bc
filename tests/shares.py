"""Which cases of a large test a normal run has; the others are nightly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest


def share(
    values: Iterable[Any],
    *,
    every: int = 1,
    first: int = 0,
    only: Collection[Any] | None = None,
    but: Collection[Any] = (),
) -> list[Any]:
    """Mark the values of a parameter `nightly` that a normal run does without.

    Each `every`-th stays, from number `first` on, if it is among `only` and not in `but`.
    A mapping gives its values, and names them; a row is named by its first value.
    """
    is_mapping = isinstance(values, Mapping)
    rows = [
        (name, value if isinstance(value, tuple) else (value,))
        for name, value in (
            values.items() if isinstance(values, Mapping) else map(_named, values)
        )
    ]
    names = [name for name, _ in rows]
    assert all(name in names for name in (*(only or ()), *but)), names
    shared = []
    for number, (name, row) in enumerate(rows):
        stays = number % every == first and name not in but
        stays = stays and (only is None or name in only)
        marks = () if stays else pytest.mark.nightly
        shared.append(pytest.param(*row, id=name if is_mapping else None, marks=marks))
    return shared


def _named(value: Any) -> tuple[Any, Any]:
    return (value[0] if isinstance(value, tuple) else value), value
