"""Freezing: canonical, type-tagged, and the same in every process."""

from __future__ import annotations

import dataclasses
import enum
import math
import subprocess
import sys
from collections import Counter, OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.content import canonical_bytes, fingerprint, order_key
from worldline.model.data.unfreezable import Unfreezable
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any


@dataclasses.dataclass(frozen=True)
class Place:
    x: Any
    y: Any


@wl.message
class Note:
    text: Any


ALICE, BOB = wl.ids("alice", "bob")
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.sampled_from([*Colour, ALICE, BOB])
)


def tuples_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3).map(tuple)


HASHABLE: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        tuples_of(inner)
        | st.frozensets(inner, max_size=3)
        | st.builds(Point, inner, inner)
        | st.dictionaries(inner, inner, max_size=3).map(wl.FrozenMap)
        | st.builds(Note, inner)
    ),
    max_leaves=8,
)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    HASHABLE,
    lambda inner: (
        tuples_of(inner)
        | st.lists(inner.filter(lambda v: not isinstance(v, set | dict)), max_size=3)
        | st.sets(HASHABLE, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(PLAIN)
def test_thawing_gives_back_what_was_frozen(value: Any):
    assert freeze(thaw(freeze(value))) == freeze(value)
    assert thaw(freeze(value)) == value


@pytest.mark.slow
@given(PLAIN, PLAIN)
def test_frozen_values_are_hashable_and_equal_only_for_equal_data(one: Any, two: Any):
    assert hash(freeze(one)) == hash(freeze(thaw(freeze(one))))
    if freeze(one) == freeze(two):
        assert one == two
        assert canonical_bytes(freeze(one)) == canonical_bytes(freeze(two))
    else:
        assert canonical_bytes(freeze(one)) != canonical_bytes(freeze(two))


@pytest.mark.slow
@given(PLAIN, PLAIN)
def test_the_order_is_total_and_agrees_with_equality(one: Any, two: Any):
    first, second = freeze(one), freeze(two)
    assert (order_key(first) == order_key(second)) == (first == second)
    assert (order_key(first) < order_key(second)) + (
        order_key(second) < order_key(first)
    ) == (first != second)


@pytest.mark.slow
@given(st.lists(HASHABLE, max_size=6), st.randoms(use_true_random=False))
def test_sets_and_dicts_do_not_depend_on_the_order_of_insertion(values: Any, rng: Any):
    shuffled = list(values)
    rng.shuffle(shuffled)
    assert freeze(set(values)) == freeze(set(shuffled))
    pairs = {value: freeze(value) for value in values}
    again = {value: pairs[value] for value in sorted(pairs, key=lambda v: rng.random())}
    assert freeze(dict.fromkeys(pairs, 0)) == freeze(dict.fromkeys(again, 0))


@pytest.mark.parametrize(
    "alike",
    [
        [1, True, 1.0],
        [0, False, 0.0, None, "", b"", (), frozenset()],
        [(1,), [1], {1}, frozenset({1})],
        [{1: 2}, wl.FrozenMap({1: 2})],
        ["a", b"a", ALICE, "alice"],
        [Point(1, 2), Place(1, 2), (1, 2)],
        [Note(None), Point(None, None), None],
        [Colour.RED, 1, "RED"],
        [(1, (2, 3)), ((1, 2), 3), (1, 2, 3)],
    ],
)
def test_values_of_different_types_are_different(alike: list[Any]):
    frozen = [freeze(value) for value in alike]
    assert len(set(frozen)) == len(alike)
    assert len({canonical_bytes(item) for item in frozen}) == len(alike)


def _hold(zero: float) -> list[Any]:
    return [zero, (zero, 1.0), [zero], {zero}, {zero: 1}, {1: zero}, Point(zero, 2.0)]


@pytest.mark.parametrize(
    ("below", "above"), [*zip(_hold(-0.0), _hold(0.0), strict=True)]
)
def test_the_two_zeros_are_equal_and_told_apart_by_their_signs(below: Any, above: Any):
    one, other = freeze(below), freeze(above)
    assert one != other
    assert canonical_bytes(one) != canonical_bytes(other)
    assert order_key(one) != order_key(other)
    assert (repr(thaw(one)), repr(thaw(other))) == (repr(below), repr(above))


def test_infinity_is_a_value_and_nan_is_not():
    assert thaw(freeze(math.inf)) == math.inf
    with pytest.raises(
        Unfreezable, match="nan, which is not equal to itself"
    ) as caught:
        freeze(math.nan)
    assert "float" not in caught.value.remedy  # other floats are fine


def test_numbers_are_in_numeric_order_and_ids_in_order_of_declaration():
    second, first = wl.ids("z", "a")
    assert list(thaw(freeze({10, 9, -1}))) == [-1, 9, 10]
    assert list(thaw(freeze({first, second}))) == [second, first]


@pytest.mark.parametrize(
    "value",
    [
        object(),
        lambda: None,
        3j,
        Counter("ab"),
        OrderedDict(a=1),
        bytearray(b"a"),
        range(3),
        type,
    ],
)
def test_what_is_not_plain_data_is_refused(value: Any):
    with pytest.raises(Unfreezable, match="cannot be part of a state") as caught:
        freeze((1, (value,)))
    assert caught.value.value is value
    assert "use int, str" in caught.value.remedy


def test_a_refused_value_is_named_by_its_path():
    with pytest.raises(Unfreezable, match=r"Point\.y\.x holds <object"):
        freeze(Point(1, Point(object(), 2)))


def test_a_set_in_a_list_is_refused_because_it_could_not_be_made_canonical():
    with pytest.raises(wl.ModelError, match="a list holds the set") as caught:
        freeze([{1}])
    assert "frozensets" in caught.value.remedy


def test_thawed_collections_are_fresh():
    frozen = freeze({"a": [1]})
    thaw(frozen)["a"].append(2)
    assert thaw(frozen) == {"a": [1]}


class Right(enum.Flag):
    READ = 1
    WRITE = 2
    BOTH = 3


class Level(enum.IntFlag):
    LOW = 1


@pytest.mark.parametrize("value", [Right.READ, Right.BOTH], ids=repr)
def test_a_combination_of_flags_that_has_a_name_is_a_value(value: Right):
    assert thaw(freeze(value)) is value


@pytest.mark.parametrize("value", [Right(0), Level(0), Level(2), Level(3)], ids=repr)
def test_a_combination_of_flags_without_a_name_is_refused(value: enum.Flag):
    with pytest.raises(ModelError, match=f"is no member of {type(value).__name__}"):
        freeze([value])


PROGRAM = """
import enum, worldline as wl
from worldline.model.data.content import fingerprint
from worldline.model.data.values import freeze
class Colour(enum.Enum):
    RED = 1
@wl.message
class Note:
    text: object
a, b = wl.ids("a", "b")
value = {
    "b": frozenset({"x", "y", b"z", 1, 2.5, None, True, a, Colour.RED}),
    a: [Note(wl.FrozenMap({b: ("p", "q")}))],
    (1, "t"): {"k": {"deep"}},
}
print(fingerprint(freeze(value)), list(map(repr, freeze({"one", "two", "three"}))))
"""


@pytest.mark.slow
def test_fingerprints_are_the_same_under_every_hash_seed():
    said = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1


@pytest.mark.slow
@given(st.sets(HASHABLE, min_size=2, max_size=20))
def test_different_values_have_different_fingerprints(values: set[Any]):
    frozen = {freeze(value) for value in values}
    assert len({fingerprint(item) for item in frozen}) == len(frozen)
    assert all(0 <= fingerprint(item) < 2**64 for item in frozen)
