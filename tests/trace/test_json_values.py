"""Plain data as JSON and back: nothing is lost, nothing is trusted."""

from __future__ import annotations

import contextlib
import enum
import json
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.time import EPOCH, Duration
from worldline.model.data.unfreezable import MOST_NESTED
from worldline.model.data.values import freeze
from worldline.trace.class_table import ClassTable
from worldline.trace.json_checks import MAX_DEPTH, Malformed, check
from worldline.trace.json_text import show
from worldline.trace.json_values import decode, encode_value


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


class Size(enum.IntEnum):
    SMALL = 1


@wl.message
class Leaf:
    value: Any = None


@wl.message
class Pair:
    left: Leaf | Pair | None
    right: tuple[Color | Size, ...] = ()


@wl.node
class Holder:
    kept: int = 0

    @wl.on(Pair)
    def pair(self, ctx: wl.Context, src: wl.NodeId, msg: Pair) -> None: ...


A, B = wl.ids("a", "b")
SYSTEM = wl.System({A: Holder(), B: Holder()})
CLASSES = ClassTable.of(SYSTEM)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**52).map(lambda n: -n)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()), max_size=4)
    | st.sampled_from(["$is", "$set", "", "\ud83d\ude00"])
    | st.binary(max_size=4)
    | st.sampled_from([A, B, Color.RED, Color.BLUE, Size.SMALL])
)
HASHABLE = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(inner, inner, max_size=3).map(wl.FrozenMap)
        | inner.map(Leaf)
        | st.builds(Pair, inner.map(Leaf), st.just((Color.RED,)))
    ),
    max_leaves=8,
)
VALUES = st.recursive(
    HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.sets(HASHABLE, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
        | st.tuples(inner, inner)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_comes_back_through_json(value: Any):
    try:
        frozen = freeze(value)
    except wl.ModelError:
        assume(condition=False)
    spelt = json.loads(json.dumps(encode_value(value), allow_nan=False))
    assert check(spelt) == encode_value(value)
    assert freeze(decode(spelt, CLASSES)) == frozen
    assert isinstance(show(spelt), str)


def test_what_python_holds_equal_is_told_apart():
    values: list[Any] = [1, True, 1.0, Size.SMALL]
    spelt = [json.dumps(encode_value(value)) for value in values]
    assert spelt == ["1", "true", "1.0", '{"$enum": "Size.SMALL"}']


def test_times_are_all_the_same_time():
    assert encode_value((EPOCH, Duration(3.0))) == {
        "$tuple": [{"$time": None}, {"$duration": None}]
    }
    time, duration = decode(encode_value((EPOCH, Duration(3.0))), CLASSES)
    assert isinstance(time, wl.Time)
    assert isinstance(duration, wl.Duration)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ("it's", '"it\'s"'),
        ((A,), "(a,)"),
        ({B, A}, "{a, b}"),
        (set(), "set()"),
        ({"x": [1.5, True]}, "{'x': [1.5, True]}"),
        ({A: Color.BLUE}, "{a: Color.BLUE}"),
        (Pair(Leaf(2**60)), f"Pair(left=Leaf(value={2**60}), right=())"),
        (math.inf, "inf"),
        (b"\x00a", "b'\\x00a'"),
        (wl.FrozenMap({"k": 1}), "{'k': 1}"),
    ],
)
def test_a_value_is_shown_without_its_class(value: Any, text: str):
    assert show(encode_value(value)) == text


KEYS = (
    *("$node", "$bytes", "$text", "$int", "$float", "$enum", "$tuple", "$set"),
    *("$frozenset", "$map", "$dict", "$time", "$duration", "$is", "$evil"),
    *("left", "right", "value"),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["a", "inf", "Color.RED", "Pair", "00ff", "ed a0 bd", "0x1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(st.lists(inner, min_size=2, max_size=2), max_size=2)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_any_json_is_refused_or_can_be_shown_and_decoded(tree: Any):
    try:
        check(tree)
    except Malformed:
        return
    assert isinstance(show(tree), str)
    with contextlib.suppress(wl.InputError):
        decode(tree, CLASSES)


def test_nesting_is_bounded_both_ways():
    deep: Any = {}
    for _ in range(MOST_NESTED - 1):
        deep = {1: deep}
    # An entry of such a dict is two levels of JSON, the most that anything takes.
    check(encode_value(deep))
    with pytest.raises(wl.ModelError, match="nested more than 96 deep"):
        encode_value({1: deep})
    tree: Any = []
    for _ in range(MAX_DEPTH):
        tree = [tree]
    with pytest.raises(Malformed, match="nested more than 200 deep"):
        check(tree)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"$node": "z"}, "the node 'z', which the system does not have"),
        ({"$is": "os.system"}, "names os.system, which the system does not use"),
        ({"$is": "Leaf", "wrong": 1}, "a Leaf with the fields wrong; in the system"),
        ({"$enum": "Color.GREEN"}, "names Color.GREEN, which the system does not use"),
        ({"$set": [[]]}, "cannot be a value"),
    ],
)
def test_nothing_but_the_system_s_own_names_is_followed(tree: Any, message: str):
    with pytest.raises(wl.InputError, match=message):
        decode(check(tree), CLASSES)


@pytest.mark.parametrize("key", ["$is", "$node"])
def test_a_name_of_any_length_makes_a_short_message(key: str):
    with pytest.raises(wl.InputError) as error:
        decode(check({key: "x" * 5000}), CLASSES)
    assert len(str(error.value)) < 500


def test_a_node_that_is_missing_among_very_many_makes_a_short_message():
    nodes = {one.name: one for one in wl.ids(*(f"n{i}" for i in range(1000)))}
    with pytest.raises(wl.InputError, match="its nodes are n0, n1, ") as error:
        ClassTable(nodes, {}).node("z")
    assert len(str(error.value)) < 500


def test_no_constructor_runs_while_decoding():
    seen = []

    @wl.message
    class Loud:
        number: int

        def __post_init__(self) -> None:
            seen.append(self.number)

    @wl.node
    class Listener:
        @wl.on(Loud)
        def loud(self, ctx: wl.Context, src: wl.NodeId, msg: Loud) -> None: ...

    classes = ClassTable.of(wl.System({A: Listener()}))
    name = Loud.__qualname__
    assert decode({"$is": name, "number": 3}, classes).number == 3
    assert seen == []


def test_two_classes_of_one_name_are_not_guessed():
    def make() -> type:
        @wl.message
        class Same:
            number: int = 0

        return Same

    one, other = make(), make()

    @wl.node
    class Both:
        @wl.on(one)
        def first(self, ctx: wl.Context, src: wl.NodeId, msg: Any) -> None: ...

        @wl.on(other)
        def second(self, ctx: wl.Context, src: wl.NodeId, msg: Any) -> None: ...

    classes = ClassTable.of(wl.System({A: Both()}))
    with pytest.raises(wl.InputError, match="2 classes of that name"):
        decode({"$is": one.__qualname__, "number": 0}, classes)
