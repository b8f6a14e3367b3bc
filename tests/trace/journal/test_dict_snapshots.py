"""Large dicts: their changes are found by what is put into them, whatever is done to them."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data import dict_changes
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.touched_keys import NotedKeys, TouchedKeys, noted
from worldline.model.data.values import freeze
from worldline.model.node import node_type
from worldline.trace.journal.dict_snapshots import DictSnapshot
from worldline.trace.journal.lasting import Lasting
from worldline.trace.journal.patches import FieldPatch, MembersPatch, apply_all
from worldline.trace.journal.snapshots import FieldSnapshot, snapshot, snapshot_after
from worldline.worlds.flat_copies import refill


@wl.node
class Store:
    pairs: dict[Any, Any] = wl.durable(default_factory=dict)

    @wl.call
    def nothing(self, ctx: wl.Context) -> None: ...


KIND = node_type(Store)

KEYS: list[Any] = ["a", "b", "c", "d", 1, True, 2, (1, "x"), (True, "x"), (1.0,)]
VALUES: list[Any] = [1, True, 1.0, "v", (1, 2), (True, 2), None, [1]]
OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("set", "set", "set", "pop", "again", "clear", "update", "default"),
                *("last", "other", "merged", "undo", "look"),
            ]
        ),
        st.sampled_from(KEYS),
        st.sampled_from(VALUES),
    ),
    max_size=40,
)


def change(node: Any, what: str, key: Any, value: Any) -> None:
    pairs = node.pairs
    if what == "set":
        pairs[key] = value
    elif what == "pop":
        pairs.pop(key, None)
    elif what == "again" and key in pairs:
        pairs[key] = pairs.pop(key)
    elif what == "clear" and value is None:
        pairs.clear()
    elif what == "update":
        pairs.update({key: value, "c": 3})
    elif what == "default":
        pairs.setdefault(key, value)
    elif what == "last" and pairs:
        pairs.popitem()
    elif what == "other":
        node.pairs = {**pairs, key: value}
    elif what == "merged":
        node.pairs |= {key: value}
    elif what == "undo":
        was = dict(dict.items(pairs))
        pairs[key] = value
        pairs.pop("a", None)
        refill(pairs, was)


def said(changed: dict[str, Any], patches: tuple[FieldPatch, ...]) -> Any:
    """Return what is said of a change, in no order."""
    many = []
    for each in patches:
        assert isinstance(each, MembersPatch)
        many.append((each.path, {*map(freeze, each.gone)}, {*map(freeze, each.added)}))
    return [*changed], many


def filled(node: Any, count: int) -> Lasting:
    """Return what watches a dict of so many numbers by their names."""
    node.pairs = {f"k{number}": number for number in range(count)}
    return Lasting(KIND, node, ["pairs"])


@pytest.mark.parametrize("large", [0, 3, 64])
@given(OPERATIONS)
def test_what_is_said_makes_a_dict_again_whatever_was_done_to_it(
    large: int, operations: Any
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dict_changes, "LARGE", large)
        patch.setattr("worldline.trace.journal.snapshots.LARGE", large)
        node: Any = Store()
        lasting = Lasting(KIND, node, ["pairs"])
        another = Lasting(KIND, node, ["pairs"])
        kept, before = lasting.all(), freeze(node.pairs)
        for what, key, value in operations:
            change(node, what, key, value)
            if what != "look" and what != "set":
                continue  # several changes at once
            changed, patches = lasting.changed()
            apply_all(kept, changed, patches)
            assert freeze(kept["pairs"]) == freeze(node.pairs)
            assert bool(changed or patches) is (freeze(node.pairs) != before)
            # As in its next life, while a replay goes on with what it has.
            assert said(changed, patches) == said(*another.changed())
            another = Lasting(KIND, node, ["pairs"])
            before = freeze(node.pairs)
            kept = copy.deepcopy(kept)


@pytest.mark.parametrize(
    ("first", "then"), [(1, True), (1_000, 1_000.0), ((1,), (True,))], ids=repr
)
def test_a_key_that_goes_at_once_is_not_the_equal_one_that_comes_after_it(
    first: Any, then: Any
):
    node: Any = Store()
    lasting = filled(node, 64)
    kept = lasting.all()
    node.pairs[first] = "v"
    del node.pairs[first]
    node.pairs[then] = "v"
    apply_all(kept, *lasting.changed())
    assert freeze(kept["pairs"]) == freeze(node.pairs)


@pytest.mark.parametrize("count", [64, 65])
def test_a_dict_that_was_large_changes_as_one_that_never_was(count: int):
    node: Any = Store()
    lasting = filled(node, count)
    node.pairs[1] = "v"
    assert lasting.changed()[1]
    for number in range(2):
        del node.pairs[f"k{number}"]
        assert lasting.changed()[1]
    again = Lasting(KIND, node, ["pairs"])  # as in the next life of its node
    node.pairs[True] = "w"  # 1 stays the key
    assert said(*lasting.changed()) == said(*again.changed())


def test_of_a_large_dict_nobody_looks_at_more_than_was_touched(
    monkeypatch: pytest.MonkeyPatch,
):
    node: Any = Store()
    lasting = filled(node, 1_000)
    compared: list[Any] = []

    def is_same(one: Any, other: Any) -> bool:
        compared.append(one)
        return bool(one == other)

    monkeypatch.setattr(dict_changes, "is_same_data", is_same)
    assert lasting.changed() == ({}, ())
    node.pairs["k5"] = 5
    assert lasting.changed() == ({}, ())
    node.pairs["k7"] = 8
    node.pairs["new"] = 9
    added = (("k7", 8), ("new", 9))
    assert lasting.changed() == ({}, (MembersPatch("pairs", (), added),))
    assert set(compared) == {5, 8, 9}


def test_another_dict_in_its_place_is_watched_from_then_on():
    node: Any = Store()
    lasting = filled(node, 1_000)
    node.pairs = {**node.pairs, "k5": 6}
    patch = MembersPatch("pairs", (), (("k5", 6),))
    assert lasting.changed() == ({}, (patch,))
    node.pairs["k6"] = 7
    node.pairs = dict(node.pairs)
    assert lasting.changed()[1][0].added == (("k6", 7),)
    node.pairs = dict(node.pairs)
    assert lasting.changed() == ({}, ())
    node.pairs["k6"] = 8
    assert lasting.changed()[1][0].added == (("k6", 8),)


def test_a_dict_that_grows_large_is_looked_at_so_from_then_on():
    pairs: Any = CanonicalDict({number: number for number in range(60)})
    before: Any = snapshot(pairs)
    assert type(before) is FieldSnapshot
    pairs.update({number: number for number in range(60, 70)})
    patch = before.patch("pairs", pairs)
    assert patch is not None
    assert type(snapshot_after(before, pairs, patch)) is DictSnapshot


def test_keys_that_are_put_again_and_again_take_no_more_room(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("worldline.model.data.touched_keys._MANY", 10)
    keys = NotedKeys()
    for number in range(1_000):
        for key in ((number % 4, "a"), True, 1.0, 1, "a"):
            keys.note(key)
    assert len(keys.others) <= 20
    assert {freeze(key) for key in keys.others} == {
        freeze(key) for key in [(0, "a"), (1, "a"), (2, "a"), (3, "a"), True, 1.0]
    }


def test_nothing_is_noted_any_more_once_nobody_watches():
    pairs: Any = CanonicalDict(a=1)
    before = len(noted)
    one, other = TouchedKeys(pairs), TouchedKeys(pairs)
    pairs["b"] = 2
    assert (list(one.keys), list(other.keys)) == (["b"], ["b"])
    del one
    gc.collect()
    pairs["c"] = 3
    assert list(other.keys) == ["b", "c"]
    del other
    gc.collect()
    assert len(noted) == before
