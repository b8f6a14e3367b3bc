"""Shapes of data from outside: lists of a fixed length, each value of its type."""

from __future__ import annotations

from typing import Any

from worldline.trace.json_checks import Malformed


def listed(spelt: Any, *types: Any) -> list[Any]:
    """Return a list, which has to have one value of each type.

    Raises
    ------
    Malformed
        If it is none.
    """
    if type(spelt) is not list or len(spelt) != len(types):
        raise Malformed("", f"no list of {len(types)}")
    for one, kind in zip(spelt, types, strict=True):
        if type(one) is bool and kind is not bool:
            raise Malformed("", "no number")
        if not isinstance(one, kind):
            raise Malformed("", f"no {kind}")
    return spelt
