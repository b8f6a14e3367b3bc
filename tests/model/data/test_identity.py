"""Ids of nodes: nobody changes one, and a copy is as good."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@pytest.mark.parametrize("name", ["name", "index", "content", "_hash", "other"])
def test_an_id_cannot_be_changed(name: str):
    with pytest.raises(
        wl.ModelError, match=f"id of node a is changed: its {name} is s"
    ):
        setattr(A, name, "z")
    with pytest.raises(
        wl.ModelError, match=f"id of node a is changed: its {name} is d"
    ):
        delattr(A, name)
    assert (A.name, hash(A), A < B) == ("a", hash(wl.NodeId("a")), True)


def test_a_copy_is_equal_and_stands_in_the_same_place():
    other = pickle.loads(pickle.dumps(B))
    assert (other, other.index, hash(other), other.content) == (
        B,
        B.index,
        hash(B),
        B.content,
    )
    assert other > A
    assert copy.deepcopy(B) is B


def test_a_handler_that_renames_a_node_is_named():
    @wl.node
    class Renamer:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            node: Any = ctx.me
            node.name = "z"

    with pytest.raises(wl.ModelError, match=r"its name is set \(test_identity.py:"):
        wl.check(wl.System({A: Renamer()}), traces=False)
    assert A.name == "a"


@pytest.mark.parametrize(
    "compare", [operator.lt, operator.gt, operator.le, operator.ge]
)
def test_ids_have_no_order_with_anything_else(compare: Any):
    with pytest.raises(TypeError, match="not supported between"):
        compare(A, None)
    with pytest.raises(TypeError, match="not supported between"):
        compare("b", A)
