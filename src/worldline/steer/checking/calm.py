"""Elements that say what they said before, which is all that most of them ever do.

Whoever writes a field again and again has the same few elements asked each time. They are
looked up once, and asked in one go; only if one of them says something else, all goes the
way that it goes for others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.view import View
from worldline.steer.checking.questions import JudgedElement, JudgedQuestion
from worldline.steer.checking.standpoint import Standpoint

Readers: TypeAlias = Mapping[str, Mapping[JudgedQuestion, None]]
"""Who has read each field of a node, by its name."""

Shows: TypeAlias = list[tuple[str, list[dict[str, Any]]]]
"""Fields, each with where some questions look for what it holds."""


@final
class CalmElements(NamedTuple):
    """All that reads some fields of a node, as long as that is true, and only elements.

    Attributes
    ----------
    elements
        In the order in which they are asked.
    shows
        The fields, each with where the elements look for what it holds.
    asked
        The elements, each with its function and what that is given, and whether who
        returns nothing agrees.
    """

    elements: list[JudgedElement]
    shows: Shows
    asked: list[
        tuple[JudgedElement, Callable[..., Any], View, tuple[NodeId, ...], bool]
    ]


def calm_elements(
    stand: Standpoint, readers: Readers, names: Collection[str]
) -> CalmElements | None:
    """Return what reads some fields of a node; None if anything else does, or nothing."""
    shows: Shows = []
    found: dict[JudgedElement, None] = {}
    for name in names:
        of_field = readers.get(name)
        if not of_field:
            stand.forget(name)
            continue
        if name in stand.parts:
            return None
        for one in of_field:
            if type(one) is not JudgedElement or not one.is_calm:
                return None
            found[one] = None
        shows.append((name, [one.own for one in of_field]))
    if not found or len(shows) < len(names):
        return None
    elements = list(found)
    asked = [(e, e.function, e.view, e.nodes, e.may_say_nothing) for e in elements]
    return CalmElements(elements, shows, asked)
