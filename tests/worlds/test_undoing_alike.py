"""What equals other data, or refuses to be compared, is told apart and put back as it was."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import pytest
from tests.worlds.test_undoing import picture

import worldline as wl
from worldline.model.data.time import Time
from worldline.model.node import node_type
from worldline.worlds.undoing import Before


class Colour(enum.StrEnum):
    RED = "red"


class Raw(bytes, enum.Enum):
    RED = b"red"


@dataclasses.dataclass(frozen=True)
class Touchy:
    """Is compared with its like only."""

    held: int

    def __eq__(self, other: Any) -> bool:
        return bool(self.held == other.held)

    __hash__ = None  # type: ignore[assignment]


@wl.node
class Box:
    one: Any = 0
    two: Any = 0


LARGE = dict.fromkeys(range(100), "v")
PAIRS = {(number, "a"): "v" for number in range(100)}

Change = Callable[[Any], Any]

CHANGES: list[tuple[Any, Change]] = [
    (LARGE, lambda box: (box.one.pop(1), box.one.update({True: "v"}))),
    (LARGE, lambda box: (box.one.pop(1), box.one.update({1.0: "w"}))),
    (PAIRS, lambda box: (box.one.pop((1, "a")), box.one.update({(True, "a"): "v"}))),
    (["red"], lambda box: box.one.__setitem__(0, Colour.RED)),
    ([b"red"], lambda box: box.one.__setitem__(0, Raw.RED)),
    ({"a": "red"}, lambda box: box.one.update(a=Colour.RED)),
    ({"red": "a"}, lambda box: (box.one.pop("red"), box.one.update({Colour.RED: "a"}))),
    ({"red"}, lambda box: (box.one.remove("red"), box.one.add(Colour.RED))),
    (["red"], lambda box: setattr(box, "one", [Colour.RED])),
    ({"red"}, lambda box: setattr(box, "one", {Colour.RED})),
    (["red"], lambda box: box.one.__setitem__(0, Time(3.0))),
    ({"a": "red"}, lambda box: box.one.update(a=Time(3.0))),
    (["red"], lambda box: setattr(box, "one", [Time(3.0)])),
    (["red"], lambda box: box.one.__setitem__(0, Touchy(1))),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_what_equals_other_data_is_a_change_and_is_put_back(number: int):
    held, change = CHANGES[number]
    box: Any = Box(one=held, two="other")
    before = Before(node_type(Box), box)
    before.changes_after(None)
    was = picture(box.one)
    for _ in range(2):
        change(box)
        assert list(before.changes_after(None)) == ["one"]
        before.put_back(box)
        assert _told(picture(box.one)) == _told(was)
        assert not before.changes()
    change(box)
    now = picture(box.one)
    before.renew(before.changes())
    box.two = "more"
    assert list(before.changes()) == ["two"]
    box.one = []
    before.put_back(box)
    assert _told(picture(box.one)) == _told(now)


def _told(seen: Any) -> Any:
    """Return a picture of a dict in an order that does not tell how it came about."""
    if isinstance(seen, tuple) and isinstance(seen[-1], tuple):
        return *seen[:-1], sorted(seen[-1], key=repr)
    return seen


def test_what_a_field_held_before_says_nothing_of_what_it_holds_now():
    box: Any = Box(one={1: 2})
    before = Before(node_type(Box), box)
    box.one[1] = 3
    box.one = {"a": "b"}  # and nothing else in the node can change inside
    before.renew(before.changes())
    box.one["c"] = "d"
    before.renew(before.changes())
    assert not before.changes()
    box.one["e"] = "f"
    before.put_back(box)
    assert box.one == {"a": "b", "c": "d"}
