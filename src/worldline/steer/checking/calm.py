"""Elements that say what they said before, which is all that most of them ever do.

They are looked up once, and asked in one go; only if one of them says something else, all
goes the way that it goes for others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from worldline.steer.checking.agreeing import AskedElement, ReadField
from worldline.steer.checking.questions import JudgedElement, JudgedQuestion
from worldline.steer.checking.standpoint import Standpoint

Readers: TypeAlias = Mapping[str, Mapping[JudgedQuestion, None]]
"""Who has read each field of a node, by its name."""

CalmElements: TypeAlias = tuple[list[JudgedElement], list[ReadField]]
"""All that reads some fields of a node, as long as that is true, and only elements: in the
order in which they are asked, and the fields."""


def calm_elements(
    stand: Standpoint, readers: Readers, names: Collection[str]
) -> CalmElements | None:
    """Return what reads some fields of a node; None if anything else does, or nothing."""
    fields: list[ReadField] = []
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
        fields.append(ReadField(name, [one.own for one in of_field]))
    if not found or len(fields) < len(names):
        return None
    return [*found], fields


def asked(element: JudgedElement) -> AskedElement:
    """Return what an element is asked with."""
    may_say_nothing = element.may_say_nothing
    return AskedElement(element.function, element.view, element.nodes, may_say_nothing)
