"""After each event no object that can change stands in two places of a node."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.data.nested import Entry, Fixed, Slim

import worldline as wl
from worldline.model.data.parting import copied, part, settle_fields
from worldline.model.data.settling import met
from worldline.model.data.time import Time
from worldline.model.data.values import freeze

A, B = wl.ids("a", "b")


@dataclasses.dataclass(frozen=True, eq=False)
class HashedFixed:
    """Another that can be a key, whatever it holds."""

    inner: Any = None


KEYS = st.sampled_from([0, True, "a", A, B, (1, "a")])


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=3),
        st.builds(Entry, inner, inner),
        st.builds(Slim, inner),
        st.builds(Fixed, inner),
    )


SETS = st.sets(KEYS, max_size=3)
VALUES = st.recursive(st.one_of(KEYS, SETS), _nested, max_leaves=8)


@wl.node
class Inner:
    """A part."""

    held: Any = 0


@wl.node
class Holder:
    """A node that holds anything."""

    inner: Inner = wl.part(Inner)
    one: Any = 0
    two: Any = 0
    three: Any = 0
    saved: Any = wl.durable(default=0)


NAMES = ["one", "two", "three", "saved"]


def places(value: Any) -> Iterator[Any]:
    """Yield what can change in a value, once for each place where it stands."""
    if isinstance(value, list | set | dict):
        yield value
    if isinstance(value, dict):
        for item in dict.values(value):
            yield from places(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from places(item)
    elif dataclasses.is_dataclass(value):
        if not isinstance(value, Fixed):
            yield value
        for field in dataclasses.fields(value):
            yield from places(getattr(value, field.name))


def are_apart(value: Any) -> bool:
    """Say whether nothing that can change stands in two places."""
    found = [id(place) for place in places(value)]
    return len(found) == len(set(found))


def entangle(node: Holder, rng: random.Random) -> None:
    """Put what is somewhere in a node into other places of it, as handlers can."""
    for _ in range(rng.randrange(4)):
        found = [one for one in places(node) if not isinstance(one, Holder | Inner)]
        if not found:
            return
        one, other = rng.choice(found), rng.choice(found)
        if any(other is inside for inside in places(one)):
            continue  # it would hold itself
        way = rng.randrange(6)
        if way == 0:
            setattr(node, rng.choice(NAMES), one)
        elif way == 1:
            node.inner.held = rng.choice([one, (one, one), Fixed(one)])
        elif isinstance(other, list) and not isinstance(one, set | dict):
            other.append(one)
        elif isinstance(other, dict):
            other["a"] = rng.choice([one, (1, one), Fixed(one)])
        elif isinstance(other, Entry):
            other.values = one
        elif isinstance(other, Slim):
            other.item = (one,)


@given(st.lists(VALUES, min_size=5, max_size=5), st.integers())
def test_fields_are_parted_and_stay_what_they_are(held: list[Any], seed: int):
    rng, node = random.Random(seed), Holder(Inner())
    for name, value in zip(NAMES, held, strict=False):
        setattr(node, name, value)
    node.inner.held = held[-1]
    settle_fields(node.__dict__)
    for _ in range(3):
        entangle(node, rng)
        try:
            before = freeze(node)
        except wl.ModelError:
            return  # a list with a set in it, say
        inner = node.inner
        settle_fields(node.__dict__)
        assert freeze(node) == before
        assert node.inner is inner
        assert are_apart(node)
        kept = [id(place) for place in places(node)]
        settle_fields(node.__dict__)
        assert [id(place) for place in places(node)] == kept


@given(VALUES)
def test_a_copy_shares_nothing_that_can_change(value: Any):
    other = copied(value)
    with contextlib.suppress(wl.ModelError):  # a list with a set in it, say
        assert freeze(other) == freeze(value)
    assert not {id(one) for one in places(value)} & {id(one) for one in places(other)}
    assert are_apart(other)


def test_a_time_in_a_copy_is_still_that_time():
    entry = Entry(Time(5.0))
    assert copied(entry).key is entry.key


def test_nodes_whose_values_do_not_nest_are_not_walked(monkeypatch: Any):
    node = Holder(Inner(), [1, (2, "a")], {A: {B}}, {A: [1]})
    node.saved = Entry(1, (Fixed(2),))

    def walk(fields: dict[str, Any]) -> list[str]:
        raise AssertionError

    monkeypatch.setattr("worldline.model.data.parting.part", walk)
    settle_fields(node.__dict__)
    assert met.places == 1


def test_the_fields_are_told_in_which_something_was_put_into_anothers_place():
    shared = [1]
    node = Holder(Inner(), (shared,), [[shared]], {A: 5})
    settle_fields(node.__dict__)
    node.three[B] = (node.one[0],)
    assert part(node.__dict__) == ["three"]
    assert part(node.__dict__) == []


def test_what_holds_itself_is_left_as_it_is():
    node = Holder(Inner())
    node.one = []
    node.one.append(node.one)
    settle_fields(node.__dict__)
    with pytest.raises(wl.ModelError, match="contains itself"):
        freeze(node)
    assert copied(node.one) is node.one


def test_a_plain_copy_keeps_what_is_held_twice():
    """Why `copy.deepcopy` does not do."""
    shared = [1]
    twice = copy.deepcopy([shared, shared])
    assert twice[0] is twice[1]
    assert not are_apart(twice)


def test_what_a_frozenset_or_a_key_holds_cannot_change():
    entries: list[Any] = [Slim(), (1, Slim()), HashedFixed([])]
    node = Holder(Inner(), {})
    for entry in entries:
        with pytest.raises(wl.ModelError, match="a key of a dict holds a"):
            node.one[entry] = 1
        with pytest.raises(wl.ModelError, match="a key of a dict holds a"):
            node.two = {entry: 1}
        with pytest.raises(wl.ModelError, match="a frozenset holds a"):
            node.two = (1, frozenset({entry}))
        with pytest.raises(wl.ModelError, match="a FrozenMap holds a"):
            wl.FrozenMap({entry: 1})
    with pytest.raises(TypeError, match="unhashable"):
        node.one[(1, [])] = 1
