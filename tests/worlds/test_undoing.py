"""A node that is put back is what it was, whatever was done to it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.data.nested import Entry, Fixed, Slim

import worldline as wl
from worldline.model.data import dict_changes
from worldline.model.node import node_type
from worldline.worlds.undoing import Before

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Inner:
    """A part."""

    held: Any = 0
    more: Any = None


@wl.node
class Holder:
    """A node that holds anything."""

    inner: Inner = wl.part(Inner)
    one: Any = 0
    two: Any = None
    three: Any = None
    saved: Any = wl.durable(default=0)
    seen: Any = wl.ghost(default=0)
    noise: Any = wl.ignored(default=0)


def holder(**fields: Any) -> Holder:
    """Return a holder of some values."""
    return Holder(Inner(), **fields)


class Odd:
    """No plain data, for ignored fields."""

    def __init__(self, held: int) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth of this is ambiguous")

    __hash__ = None  # type: ignore[assignment]


ATOMS = st.sampled_from(
    [None, 0, 1, True, False, 1.0, -0.0, 10**30, "a", b"a", A, B, C]
)
KEYS = st.sampled_from([0, 1, True, "a", A, B, C, (1, "a"), (True, A)])


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=3),
        st.frozensets(KEYS, max_size=2),
        st.builds(Entry, inner, inner),
        st.builds(Slim, inner),
        st.builds(Fixed, inner),
        st.builds(lambda item: wl.FrozenMap({"a": item}), ATOMS),
    )


VALUES = st.recursive(
    st.one_of(ATOMS, st.sets(KEYS, max_size=3)), _nested, max_leaves=6
)
FIELDS = ["one", "two", "three", "saved", "seen", "noise"]


def picture(value: Any) -> Any:
    """Return all that can be told of a value, the identity of what can change included."""
    kind = type(value)
    if isinstance(value, set):
        return kind, id(value), frozenset(map(picture, set.__iter__(value)))
    if isinstance(value, frozenset):
        return kind, frozenset(map(picture, frozenset.__iter__(value)))
    if isinstance(value, dict):
        pairs = [(picture(k), picture(v)) for k, v in dict.items(value)]
        return kind, id(value), tuple(pairs)
    if isinstance(value, list):
        return kind, id(value), tuple(map(picture, value))
    if isinstance(value, tuple):
        return kind, tuple(map(picture, value))
    if isinstance(value, wl.FrozenMap):
        return kind, picture(value._items)
    if dataclasses.is_dataclass(value):
        fields = [picture(getattr(value, f.name)) for f in dataclasses.fields(value)]
        return kind, id(value), tuple(fields)
    if isinstance(value, Odd):
        return kind, value.held
    return kind, repr(value)


def changing(value: Any) -> Iterator[Any]:
    """Yield what can be changed in place inside a value."""
    if isinstance(value, set | list | dict):
        yield value
    if isinstance(value, dict):
        for item in dict.values(value):
            yield from changing(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from changing(item)
    elif dataclasses.is_dataclass(value):
        if not isinstance(value, Fixed):
            yield value
        for field in dataclasses.fields(value):
            yield from changing(getattr(value, field.name))


def change(rng: random.Random, node: Any, fresh: Any) -> None:
    """Change something: set a field, or what is somewhere inside."""
    name = rng.choice(FIELDS)
    if rng.random() < 0.3:
        setattr(node, name, fresh)
        return
    if rng.random() < 0.2:
        node.inner.held = fresh
        return
    inside = list(changing(rng.choice([node, getattr(node, name)])))
    if not inside:
        return
    target = rng.choice(inside)
    if isinstance(target, set):
        key = rng.choice([0, 1, True, "a", A, C])
        rng.choice([set.add, set.discard])(target, key)
    elif isinstance(target, list):
        rng.choice([lambda: target.append(fresh), target.clear, target.reverse])()
    elif isinstance(target, dict):
        key = rng.choice([0, 1, "a", B])
        if rng.random() < 0.5:
            target[key] = fresh
        else:
            target.pop(key, None)
    elif not isinstance(target, Holder | Inner):
        setattr(target, rng.choice([f.name for f in dataclasses.fields(target)]), fresh)


def held_twice(node: Any, rng: random.Random) -> None:
    """Let two fields hold the same object, as handlers can with records."""
    one, other = rng.sample(FIELDS, 2)
    node.__dict__[one] = node.__dict__[other]


@pytest.mark.parametrize("large", [0, dict_changes.LARGE])
@settings(max_examples=100)
@given(
    st.lists(VALUES, min_size=7, max_size=7),
    st.lists(VALUES, max_size=8),
    st.integers(),
)
def test_a_node_is_put_back_as_it_was(
    large: int, held: list[Any], fresh: list[Any], seed: int
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dict_changes, "LARGE", large)
        is_put_back(held, fresh, seed)


def is_put_back(held: list[Any], fresh: list[Any], seed: int) -> None:
    rng, node = random.Random(seed), holder()
    for name, value in zip(FIELDS, held, strict=False):
        setattr(node, name, value)
    node.inner.held = held[-1]
    if rng.random() < 0.5:
        held_twice(node, rng)
    before = Before(node_type(Holder), node)
    for number in range(3):
        was = {name: picture(value) for name, value in node.__dict__.items()}
        order = list(node.__dict__)
        for value in fresh[number::3]:
            change(rng, node, value)
        changes = before.changes()
        for name, value in node.__dict__.items():
            assert name in changes or _data(picture(value)) == _data(was[name])
        if rng.random() < 0.6:
            before.put_back(node)
            assert {n: picture(v) for n, v in node.__dict__.items()} == was
            assert list(node.__dict__) == order
        else:
            before.renew(changes)
        assert not set(before.changes()) & set(FIELDS)


def _data(seen: Any) -> Any:
    """Return a picture without identities: an equal object in a field's place is none."""
    if isinstance(seen, tuple):
        return tuple(_data(s) for s in seen if type(s) is not int)
    return frozenset(map(_data, seen)) if isinstance(seen, frozenset) else seen


@pytest.mark.parametrize(
    ("held", "other"),
    [(1, True), (0, False), (1, 1.0), ((1,), (True,)), ({1}, {True}), ([0], [False])],
)
def test_equal_values_of_other_classes_are_told_apart(held: Any, other: Any):
    node = holder(one=held)
    before = Before(node_type(Holder), node)
    node.one = other
    assert list(before.changes()) == ["one"]
    before.put_back(node)
    assert picture(node.one)[-1] == picture(holder(one=held).one)[-1]


def test_a_set_that_is_set_to_an_equal_one_has_not_changed():
    node = holder(one={A, B})
    before = Before(node_type(Holder), node)
    node.one = {B, A}
    assert not before.changes()
    before.renew(())
    node.one.add(C)
    assert list(before.changes()) == ["one"]
    before.put_back(node)
    assert node.one == {A, B}


def test_an_ignored_field_may_hold_what_is_no_plain_data():
    node = holder(noise=Odd(1))
    before = Before(node_type(Holder), node)
    node.noise.held = 2
    node.one = 5
    assert set(before.changes()) == {"one", "noise"}
    before.put_back(node)
    assert node.noise.held == 1
    assert node.one == 0
    node.noise = iter(())
    before.renew(before.changes())
    before.put_back(node)
    assert list(node.noise) == []


def test_contexts_stay_bound_to_the_objects_of_parts():
    node = holder()
    part = node.inner
    before = Before(node_type(Holder), node)
    part.held = {A}
    assert list(before.changes()) == ["inner"]
    before.put_back(node)
    assert node.inner is part
    assert part.held == 0


def test_what_is_kept_anew_is_settled():
    node = holder()
    before = Before(node_type(Holder), node)
    node.one = []
    node.one.append((frozenset({B, A}),))
    before.renew(before.changes())
    assert type(node.one[0][0]).__name__ == "CanonicalFrozenset"


@wl.node
class Plain:
    """One whose fields are numbers."""

    one: Any = 0
    two: Any = 0
    three: Any = 0


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_what_is_expected_is_kept_at_once_only_where_nobody_undoes_it(
    names: tuple[str, ...],
):
    node = Plain()
    before = Before(node_type(Plain), node)

    def write(value: int) -> None:
        for name in names:
            setattr(node, name, value)

    def put_back() -> set[int]:
        before.put_back(node)
        assert node.three == 0
        return {getattr(node, name) for name in names}

    write(1)
    before.renew(before.changes_after(None))
    expected = before.expected[None]
    write(2)
    assert expected.changes(None) is expected.names
    assert expected.changes(("three",)) is expected.names
    assert put_back() == {1}
    write(3)
    assert expected.changes(expected.names) is expected.names == names
    assert put_back() == {3}
    write(4)
    node.three = 4
    assert expected.changes(expected.names) is None
    assert put_back() == {3}
    assert expected.changes(expected.names) == ()
    node.one = [5]
    assert expected.changes(expected.names) is None
    assert put_back() == {3}


@wl.node
class Shelf:
    one: dict[int, Any] = wl.field(default_factory=dict)


def shelf() -> tuple[Any, dict[Any, Any]]:
    """Return a node with a dict of very many entries, and a copy of that."""
    node: Any = Shelf({number: f"v{number}" for number in range(1_000)})
    return node, dict(dict.items(node.one))


def test_a_large_dict_is_put_back_and_costs_no_more_than_what_was_put_into_it():
    node, was = shelf()
    before = Before(node_type(Shelf), node, is_spared=True)
    place = node.one
    for change_it in (
        lambda: node.one.update({5: "w", "new": "x"}),
        lambda: node.one.pop(7),
        lambda: node.one.update({8: node.one.pop(8), 9: True}),
        lambda: [node.one.pop(number) for number in range(1_000)],
        lambda: setattr(node, "one", {"other": 1}),
        lambda: node.one.update({5: ["what", "can change"]}),
        lambda: node.one.update({True: "w"}),  # 1 stays the key
    ):
        change_it()
        assert list(before.changes()) == ["one"]
        before.put_back(node)
        assert node.one is place
        assert dict(dict.items(node.one)) == was
        assert {type(key) for key in dict.keys(node.one)} == {int}
        assert not before.changes()
    node.one[5] = "w"
    node.one[7] = node.one.pop(7)
    before.renew(before.changes())
    assert not before.is_costly
    node.one[5] = "x"
    before.put_back(node)
    assert node.one[5] == "w"


def test_an_equal_dict_in_the_place_of_a_large_one_is_no_change():
    node, was = shelf()
    before = Before(node_type(Shelf), node)
    place = node.one
    node.one = dict(was)
    assert not before.changes()
    node.one[5] = "w"
    assert list(before.changes()) == ["one"]
    before.put_back(node)
    assert node.one is place
    assert dict(dict.items(node.one)) == was
    node.one[5] = "x"
    before.renew(before.changes())
    assert not before.changes()
