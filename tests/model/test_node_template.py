"""Templates: nodes thawed from what is shared, and frozen again by what was touched."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.data.test_values import PLAIN, Colour, Point

import worldline as wl
from worldline.model.data.content import canonical_bytes
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.node import NodeType, node_type
from worldline.model.node_template import NodeTemplate

A, B = wl.ids("a", "b")


@dataclasses.dataclass
class Purse:
    coins: Any = 0


@wl.node
class Lower:
    count: int = 0
    pile: list[int] = wl.field(default_factory=list)


@wl.node
class Desk:
    lower: Lower = wl.part()
    drawer: Any = None
    shelf: Any = None
    total: int = wl.ignored(default=7)


KIND: NodeType = node_type(Desk)
FIRST = Desk(Lower())


def template(drawer: Any, shelf: Any = None) -> NodeTemplate:
    return NodeTemplate(KIND, KIND.freeze(Desk(Lower(), drawer, shelf)))


def agrees(of: NodeTemplate, node: Any) -> bool:
    """Say whether a template freezes a node as its class does, to the last type."""
    frozen = of.freeze(node)
    assert canonical_bytes(frozen) == canonical_bytes(KIND.freeze(node))
    assert (frozen is of.frozen) == (frozen == of.frozen)
    return bool(frozen == KIND.freeze(node))


@settings(max_examples=40)
@given(PLAIN, PLAIN, PLAIN)
def test_a_template_freezes_whatever_a_handler_left(before, shelf, after):
    of = template(before, shelf)
    node = of.thaw(FIRST)
    assert agrees(of, node)
    assert of.freeze(node) is of.frozen
    node.drawer = after
    assert agrees(of, node)
    node.drawer = of.thaw(FIRST).shelf
    assert agrees(of, node)


CHANGES: list[tuple[Any, Callable[[Any], object]]] = [
    ([1, 2], lambda it: it.append(3)),
    ([1, 2], lambda it: it.reverse()),
    ([[1], [2]], lambda it: it[0].append(3)),
    ([(1, [2])], lambda it: it[0][1].append(3)),
    ({1, 2}, lambda it: it.remove(2)),
    ({A: 1, B: 2}, lambda it: it.pop(A)),
    ({A: {1}, B: {2}}, lambda it: it[B].add(3)),
    ({A: [1]}, lambda it: it[A].append(3)),
    (([1],), lambda it: it[0].append(2)),
    (Point([1], 2), lambda it: it.x.append(2)),
    (Purse(), lambda it: setattr(it, "coins", 1)),
    ((Purse(),), lambda it: setattr(it[0], "coins", 1)),
    ([Purse()], lambda it: setattr(it[0], "coins", 1)),
    ({1: Purse()}, lambda it: setattr(it[1], "coins", 1)),
]


@pytest.mark.parametrize(("first", "change"), CHANGES)
def test_a_change_in_place_reaches_no_other_node(first, change):
    of = template(first, first)
    one, two = of.thaw(FIRST), of.thaw(FIRST)
    change(one.drawer)
    assert agrees(of, one)
    assert of.freeze(one) is not of.frozen
    assert of.freeze(two) is of.frozen
    assert of.freeze(of.thaw(FIRST)) is of.frozen
    # Nor another template, whose values may be equal.
    other = template(first)
    assert other.freeze(other.thaw(FIRST)) is other.frozen


@pytest.mark.parametrize("one", [1, True, 1.0, (1,), (True,), 0.0, -0.0, Colour.RED])
@pytest.mark.parametrize("other", [1, True, 1.0, (1,), (True,), 0.0, -0.0, Colour.RED])
def test_equal_values_of_other_types_are_changes(one, other):
    for make in (
        lambda value: value,
        lambda value: (value,),
        lambda value: [value, 5],
        lambda value: {value, 5},
        lambda value: {value: 5},
        lambda value: {5: value},
    ):
        of = template(make(one))
        node = of.thaw(FIRST)
        node.drawer = make(other)
        assert agrees(of, node)


def test_an_element_can_make_room_for_an_equal_one_of_another_type():
    of = template({1, 2}, {1: "x"})
    node = of.thaw(FIRST)
    node.drawer.remove(1)
    node.drawer.add(True)
    del node.shelf[1]
    node.shelf[1.0] = "x"
    assert agrees(of, node)
    assert of.freeze(node) is not of.frozen


def test_what_is_taken_out_and_put_back_is_no_change():
    of = template({A: 1, B: 2}, {A, B})
    node = of.thaw(FIRST)
    node.drawer[A] = node.drawer.pop(A)
    node.shelf.remove(A)
    node.shelf.add(A)
    assert list(node.drawer) == [A, B]
    assert of.freeze(node) is of.frozen


def test_two_fields_that_share_a_list_are_frozen_one_by_one():
    of = template([1], [1])
    node = of.thaw(FIRST)
    # Past the attribute, which would store a copy.
    node.__dict__["shelf"] = node.drawer
    node.drawer.append(2)
    assert agrees(of, node)
    assert of.freeze(of.thaw(FIRST)) is of.frozen


def test_ignored_fields_begin_anew_and_fields_keep_their_order():
    of = template([1])
    node = of.thaw(FIRST)
    node.total = 9
    assert of.freeze(node) is of.frozen
    assert of.thaw(FIRST).total == 7
    assert list(vars(node)) == ["lower", "drawer", "shelf", "total"]


def test_parts_have_templates_of_their_own():
    of = template(1)
    node = of.thaw(FIRST)
    node.lower.pile.append(1)
    assert agrees(of, node)
    assert of.thaw(FIRST).lower.pile == []
    for lower in (Lower(2), Purse(), None):
        node.lower = lower
        assert agrees(of, node)


def test_what_is_no_plain_data_is_named():
    node = template([1]).thaw(FIRST)
    node.drawer = [object()]
    with pytest.raises(Unfreezable, match=r"Desk\.drawer holds"):
        template([1]).freeze(node)


def test_ids_of_one_name_are_told_apart_by_their_system():
    for _ in range(2):
        (node,) = wl.ids("same")
        thawed = template({node: 1}, {node}).thaw(FIRST)
        assert next(iter(thawed.drawer)) is node
        assert next(iter(thawed.shelf)) is node


@settings(max_examples=40)
@given(PLAIN, PLAIN, PLAIN, st.integers(0, 3))
def test_a_template_made_after_another_is_as_if_made_alone(before, shelf, after, count):
    of = template(before, shelf)
    node = of.thaw(FIRST)
    node.drawer, node.lower.count = after, count
    left = of.freeze(node)
    made, alone = of.after(left), NodeTemplate(KIND, left)
    assert made.frozen == alone.frozen
    thawed = made.thaw(FIRST)
    assert list(vars(thawed)) == list(vars(alone.thaw(FIRST)))
    assert KIND.freeze(thawed) == left
    assert made.freeze(thawed) is left
    # What it was made after is as it was.
    assert KIND.freeze(of.thaw(FIRST)) == of.frozen
    thawed.shelf = after
    assert agrees(made, thawed)
