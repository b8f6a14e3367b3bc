"""Sets and dicts that iterate in one order, and immutable mappings."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.canonical import CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict, adopt
from worldline.model.data.values import freeze

MIXED = st.integers() | st.text(max_size=3) | st.booleans() | st.none() | st.binary()


@given(st.lists(MIXED), st.randoms(use_true_random=False))
def test_equal_sets_iterate_alike_however_they_were_built(values: Any, rng: Any):
    one, two = CanonicalSet[Any](values), CanonicalSet[Any]()
    shuffled = list(one)
    rng.shuffle(shuffled)
    for value in shuffled:
        two.add(value)
    assert [repr(v) for v in one] == [repr(v) for v in two]
    assert repr(one) == repr(two)
    assert one == two == set(values)


@given(st.dictionaries(MIXED, st.integers()), st.randoms(use_true_random=False))
def test_equal_dicts_iterate_alike_however_they_were_built(items: Any, rng: Any):
    keys = list(items)
    rng.shuffle(keys)
    one: CanonicalDict[Any, Any] = CanonicalDict(items)
    two: CanonicalDict[Any, Any] = CanonicalDict({key: items[key] for key in keys})
    assert one.items() == two.items()
    assert list(one.items()) == list(two.items())
    assert [*one, *one.keys(), *one.values()] == [*two, *two.keys(), *two.values()]
    assert list(reversed(one)) == list(one)[::-1]
    assert one == two == items


@given(st.sets(st.integers()), st.sets(st.integers()))
def test_set_operations_agree_with_those_of_plain_sets(one: Any, two: Any):
    mine = CanonicalSet(one)
    for name in ("__or__", "__and__", "__sub__", "__xor__"):
        made = getattr(mine, name)(two)
        assert made == getattr(one, name)(two)
        assert isinstance(made, CanonicalSet)
    for made in (two | mine, two & mine, two - mine, two ^ mine):
        assert isinstance(made, CanonicalSet)
    assert two - mine == two - one
    assert mine.copy() == one


def test_pop_takes_the_first_element():
    numbers = CanonicalSet({30, 2, 100})
    assert [numbers.pop() for _ in range(3)] == [2, 30, 100]
    table: CanonicalDict[str, int] = CanonicalDict({"b": 1, "a": 2})
    assert table.popitem() == ("a", 2)
    assert table == {"b": 1}


def test_popping_from_nothing_is_an_error_of_the_usual_kind():
    with pytest.raises(KeyError):
        CanonicalSet[int]().pop()
    with pytest.raises(KeyError):
        CanonicalDict[int, int]().popitem()


def test_a_dict_makes_what_it_holds_canonical():
    table: CanonicalDict[str, Any] = CanonicalDict(a={3, 1})
    table["b"] = {"y": 1, "x": 2}
    table.setdefault("c", set()).update({9, 5})
    table.update(d={2, 1})
    table |= {"e": {8, 7}}
    assert [type(value) for value in table.values()] == [
        CanonicalSet,
        CanonicalDict,
        CanonicalSet,
        CanonicalSet,
        CanonicalSet,
    ]
    assert list(table["b"].keys()) == ["x", "y"]
    assert list(table["c"]) == [5, 9]


def test_augmented_operators_keep_a_set_canonical():
    numbers: Any = CanonicalSet({3, 1})
    numbers |= {2}
    numbers -= {3}
    assert type(numbers) is CanonicalSet
    assert list(numbers) == [1, 2]


def test_adopting_copies_collections_and_makes_them_canonical():
    for value, kind in (({1}, CanonicalSet), ({1: 2}, CanonicalDict), ([1], list)):
        once = adopt(value)
        again = adopt(once)
        assert type(once) is type(again) is kind
        assert value == once == again
        assert value is not once is not again
    pair = (1, 2)
    assert adopt(pair) is pair


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_copies_are_canonical_and_independent(duplicate: Any):
    table: CanonicalDict[str, Any] = CanonicalDict(b={2, 1}, a=0)
    again = duplicate(table)
    again["c"] = 1
    assert type(again) is CanonicalDict
    assert list(again) == ["a", "b", "c"]
    assert "c" not in table


def test_canonical_and_plain_collections_freeze_alike():
    assert freeze(CanonicalSet({2, 1})) == freeze({1, 2})
    assert freeze(CanonicalDict(b=1, a=2)) == freeze({"a": 2, "b": 1})


def test_a_frozen_map_is_hashable_and_compares_by_content():
    one: wl.FrozenMap[str, int] = wl.FrozenMap({"b": 2, "a": 1})
    two: wl.FrozenMap[str, int] = wl.FrozenMap({"a": 1, "b": 2})
    assert one == two
    assert hash(one) == hash(two)
    assert list(one) == ["a", "b"]
    assert (one["b"], len(one), "c" in one) == (2, 2, False)
    assert one != wl.FrozenMap({"a": 1})
    with pytest.raises(TypeError):
        one["c"] = 3  # type: ignore[index]


def test_a_frozen_map_does_not_follow_the_dict_it_was_made_from():
    source = {"a": 1}
    made: wl.FrozenMap[str, int] = wl.FrozenMap(source)
    source["a"] = 2
    assert made["a"] == 1
    assert pickle.loads(pickle.dumps(made)) == made
