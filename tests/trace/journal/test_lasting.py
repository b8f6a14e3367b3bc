"""Durable fields: how they change after each event, and what is made of that again."""

from __future__ import annotations

import copy
import dataclasses
import enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.time import Time
from worldline.model.data.values import freeze
from worldline.model.node import node_type
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.lasting import Lasting, put
from worldline.trace.journal.patches import (
    FieldPatch,
    ListPatch,
    MembersPatch,
    apply,
    apply_all,
)
from worldline.trace.journal.records import DeltaRecord, read, spell
from worldline.trace.json_checks import Malformed

(A,) = wl.ids("a")


@wl.message
class Entry:
    term: int
    word: str


@dataclasses.dataclass
class Mutable:
    """A record that can change."""

    value: Any


@wl.node
class Store:
    pairs: dict[str, Any] = wl.durable(default_factory=dict)
    entries: list[Any] = wl.durable(default_factory=list)
    names: set[str] = wl.durable(default_factory=set)
    nested: list[list[int]] = wl.ghost(default_factory=list)
    inside: dict[int, Mutable | Any] = wl.durable(default_factory=dict)
    term: int = wl.durable(default=0)
    last: Entry | None = wl.durable(default=None)

    @wl.call
    def nothing(self, ctx: wl.Context) -> None: ...


SYSTEM = wl.System({A: Store()})
CODEC = Codec(SYSTEM)
KIND = node_type(Store)


def same(one: Any, other: Any) -> bool:
    return bool(freeze(one) == freeze(other))


def written(delta: DeltaRecord) -> DeltaRecord:
    """Return a delta as it comes out of a journal."""
    spelt = CODEC.unpack(CODEC.pack(spell(delta, CODEC.values)))
    made = read(spelt, CODEC.values)
    assert isinstance(made, DeltaRecord)
    return made


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("set", "del", "append", "cut", "add", "discard", "nest", "term"),
                *("shift", "insert", "new", "grow", "lose", "turn", "forget"),
            ]
        ),
        st.integers(0, 12),
        st.sampled_from([0, 1, True, "v", b"w", None, (1, "x"), Entry(1, "e")]),
    ),
    max_size=60,
)


def change(node: Any, what: str, which: int, value: Any) -> None:
    if what == "set":
        node.pairs[f"k{which}"] = value
    elif what == "del":
        node.pairs.pop(f"k{which}", None)
    elif what == "append":
        node.entries.append(value)
    elif what == "cut":
        del node.entries[which:]
    elif what == "shift":
        del node.entries[:1]
    elif what == "insert":
        node.entries.insert(which, value)
    elif what == "add":
        node.names.add(f"n{which}")
    elif what == "discard":
        node.names.discard(f"n{which}")
    elif what == "nest":
        node.nested = [*node.nested, [which]]
        node.nested[0].append(which)
    elif what == "term":
        node.term = which
    else:
        change_inside(node.inside, what, which, value)


def change_inside(inside: Any, what: str, which: int, value: Any) -> None:
    if what == "new":
        inside[which] = made(which, value)
    elif what == "grow":
        grow(inside.get(which), value)
    elif what == "lose":
        lose(inside.get(which), value)
    elif which in inside:
        taken = inside.pop(which)
        if what == "turn":
            inside[which] = taken


def made(which: int, value: Any) -> Any:
    """Return something that can change: mostly of the kind of the others."""
    return [Mutable(value), {value}, {value: value}, [[value]], [value], [value, 1]][
        max(0, which - 7)
    ]


def grow(held: Any, value: Any) -> None:
    if type(held) is list:
        held.append(value)
    elif isinstance(held, set):
        held.add(value)
    elif isinstance(held, dict):
        held[value] = value
    elif held is not None:
        held.value = value


def lose(held: Any, value: Any) -> None:
    if isinstance(held, set):
        held.discard(value)
    elif isinstance(held, dict):
        held.pop(value, None)
    elif type(held) is list and held:
        held.pop()


@given(OPERATIONS, st.booleans())
def test_what_is_written_makes_the_fields_again_whatever_was_done(operations, is_known):
    node: Any = Store()
    first = copy.deepcopy(Lasting(KIND, node).all())
    lasting = Lasting(KIND, node, first if is_known else ())
    kept = first
    for what, which, value in operations:
        change(node, what, which, value)
        changed, patches = lasting.changed()
        delta = written(DeltaRecord(0, changed, 0, patches))
        apply_all(kept, delta.durable, delta.patches)
        assert same(kept, lasting.all())
        assert lasting.changed() == ({}, ())
    again: Any = Store()
    put(again, kept)
    assert same(Lasting(KIND, again).all(), lasting.all())


def test_of_a_large_dict_only_what_has_changed_is_written():
    node: Any = Store()
    node.pairs = {f"k{number}": b"v" * 100 for number in range(1_000)}
    lasting = Lasting(KIND, node, ["pairs"])
    node.pairs["k5"] = b"w"
    del node.pairs["k7"]
    assert lasting.changed() == (
        {},
        (MembersPatch("pairs", ("k7",), (("k5", b"w"),)),),
    )


def test_of_a_list_that_grows_only_what_has_come_is_written():
    node: Any = Store()
    node.entries = [Entry(1, f"w{number}") for number in range(100)]
    lasting = Lasting(KIND, node, ["entries"])
    node.entries.append(Entry(2, "new"))
    assert lasting.changed() == (
        {},
        (ListPatch("entries", 100, 0, (Entry(2, "new"),)),),
    )


def test_what_no_journal_has_is_written_as_a_whole():
    node: Any = Store()
    node.names = {f"n{number}" for number in range(100)}
    lasting = Lasting(KIND, node)
    node.names.add("new")
    changed, patches = lasting.changed()
    assert set(changed) == {"names"}
    assert len(changed["names"]) == 101
    assert patches == ()
    node.names.discard("new")
    assert lasting.changed() == ({}, (MembersPatch("names", ("new",), ()),))


def test_true_in_the_place_of_1_is_a_change():
    node: Any = Store(pairs={"a": 1}, term=1)
    lasting = Lasting(KIND, node)
    node.pairs["a"] = True
    node.term = True
    changed, _ = lasting.changed()
    assert changed["pairs"]["a"] is True
    assert changed["term"] is True


def test_true_in_the_place_of_1_is_a_change_of_a_large_set_or_dict_too():
    node: Any = Store()
    node.pairs = dict.fromkeys([0, 1, 2, (1, "a"), *map(str, range(20))], 5)
    node.names = set(node.pairs)
    lasting = Lasting(KIND, node, ["pairs", "names"])
    changes: list[tuple[Any, Any]] = [(1, True), ((1, "a"), (True, "a"))]
    for old, new in changes:
        node.pairs[new] = node.pairs.pop(old)
        node.names.discard(old)
        node.names.add(new)
        changed, patches = lasting.changed()
        assert patches == ()
        assert same(changed, {"pairs": node.pairs, "names": node.names})


def test_what_was_taken_out_and_put_in_again_is_no_change():
    node: Any = Store()
    node.pairs = {f"k{number}": number for number in range(20)}
    node.names = set(node.pairs)
    lasting = Lasting(KIND, node, ["pairs", "names"])
    again = str(b"k7", "ascii")  # equal, and another object
    node.names.discard("k7")
    node.names.add(again)
    node.pairs[again] = node.pairs.pop("k7")
    changed, patches = lasting.changed()
    assert changed == {}
    assert all(patch == MembersPatch(patch.path, (), ()) for patch in patches)


LARGE = {
    "lists": lambda number: [number, f"v{number}"],
    "sets": lambda number: {number, f"v{number}", (number, "a")},
    "dicts": lambda number: {f"v{number}": number},
    "records": Mutable,
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_of_a_large_dict_of_what_can_change_only_what_has_changed_is_written(make: Any):
    node: Any = Store()
    node.inside = {number: make(number) for number in range(100)}
    lasting = Lasting(KIND, node, ["inside"])
    grow(node.inside[5], "new")
    del node.inside[7]
    node.inside[200] = make(200)
    again = make(5)
    grow(again, "new")
    changed, patches = lasting.changed()
    wanted = MembersPatch("inside", (7,), ((5, again), (200, make(200))))
    assert same((changed, tuple(map(tuple, patches))), ({}, (tuple(wanted),)))
    grow(node.inside[5], "later")  # of what was said before this is no part
    assert same(tuple(patches[0]), tuple(wanted))
    (patch,) = lasting.changed()[1]
    assert [key for key, _ in patch.added] == [5]
    assert lasting.changed() == ({}, ())


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_what_is_as_it_was_inside_of_others_is_no_change(make: Any):
    node: Any = Store()
    node.inside = {number: make(number) for number in range(100)}
    lasting = Lasting(KIND, node, ["inside"])
    for number in (5, 6):  # other objects, and in another order
        node.inside[number] = copy.deepcopy(make(number))
        if not isinstance(node.inside[number], list | Mutable):
            first = next(iter(node.inside[number]))
            value = node.inside[number][first] if make is LARGE["dicts"] else None
            lose(node.inside[number], first)
            grow(node.inside[number], first)
            if make is LARGE["dicts"]:
                node.inside[number][first] = value
    assert lasting.changed() == ({}, ())
    assert lasting.changed() == ({}, ())


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_true_in_the_place_of_1_is_a_change_inside_of_others_too(make: Any):
    node: Any = Store()
    node.inside = {number: make(1) for number in range(100)}
    lasting = Lasting(KIND, node, ["inside"])
    node.inside[5] = make(True)
    _, (patch,) = lasting.changed()
    assert same(patch.added, ((5, make(True)),))


def test_what_holds_more_than_constants_by_now_is_looked_at_as_a_whole():
    node: Any = Store()
    node.inside = {number: [number] for number in range(100)}
    lasting = Lasting(KIND, node, ["inside"])
    node.inside[5].append([1])
    (patch,) = lasting.changed()[1]
    assert patch.added == ((5, [5, [1]]),)
    node.inside[5][1].append(2)
    assert lasting.changed()[0]["inside"][5] == [5, [1, 2]]


def test_nothing_in_the_place_of_a_list_is_a_change():
    node: Any = Store(pairs={"a": [1]})
    lasting = Lasting(KIND, node, ["pairs", "last"])
    node.last = Entry(1, "e")
    assert lasting.changed()[0] == {"last": Entry(1, "e")}
    node.last = None
    assert lasting.changed()[0] == {"last": None}
    node.__dict__["pairs"] = None
    assert lasting.changed()[0] == {"pairs": None}


def test_what_changes_inside_of_a_list_is_a_change():
    node: Any = Store()
    node.nested = [[1], [2]]
    lasting = Lasting(KIND, node, ["nested"])
    node.nested[1].append(3)
    assert lasting.changed() == ({}, (ListPatch("nested", 1, 0, ([2, 3],)),))
    node.nested[0].append(4)
    assert lasting.changed() == ({}, (ListPatch("nested", 0, 1, ([1, 4],)),))
    assert lasting.changed() == ({}, ())


def test_of_a_list_that_changes_anywhere_both_ends_are_kept():
    node: Any = Store()
    node.entries = [f"v{number}" for number in range(100)]
    lasting = Lasting(KIND, node, ["entries"])

    def patched() -> FieldPatch:
        changed, (patch,) = lasting.changed()
        assert changed == {}
        return patch

    node.entries.pop(0)
    assert patched() == ListPatch("entries", 0, 99, ())
    node.entries[40] = "new"
    assert patched() == ListPatch("entries", 40, 58, ("new",))
    node.entries.insert(0, "first")
    assert patched() == ListPatch("entries", 0, 99, ("first",))
    node.entries[1:1] = ["first"] * 3
    assert patched() == ListPatch("entries", 1, 99, ("first",) * 3)
    del node.entries[3:]
    assert patched() == ListPatch("entries", 3, 0, ())
    node.entries = ["first", 1, 2]
    assert lasting.changed() == ({"entries": ["first", 1, 2]}, ())


@pytest.mark.parametrize(
    ("value", "patch"),
    [
        ([1], ListPatch("f", 2, 0, ())),
        ([1], ListPatch("f", 1, 1, ())),
        ([1], MembersPatch("f", (), (1,))),
        (1, MembersPatch("f", (), ())),
        (wl.FrozenMap({}), MembersPatch("f", ("a",), ())),
    ],
)
def test_a_patch_of_something_else_is_refused(value, patch):
    with pytest.raises(Malformed, match="does not fit"):
        apply(patch, value)


def test_a_patch_of_a_dict_that_holds_no_pairs_is_refused():
    node: Any = Store(pairs={"a": 1})
    wrong: list[tuple[Any, ...]] = [(1,), ((1, 2, 3),), (([], 1),)]
    for added in wrong:
        with pytest.raises(Malformed, match="does not fit"):
            apply(MembersPatch("pairs", (), added), node.pairs)


def test_a_patch_of_what_was_nothing_before_is_refused():
    with pytest.raises(Malformed, match="nothing before"):
        apply_all({}, {}, (ListPatch("f", 0, 0, ()),))


@dataclasses.dataclass(frozen=True)
class Fixed:
    """A record that cannot change, though what it holds may."""

    value: Any


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "values", [[True, False], [0.5, 1.0], [Colour.RED], [Fixed(1), Fixed((2, "a"))]]
)
def test_large_fields_of_what_cannot_change_are_written_in_part(values: list[Any]):
    node: Any = Store()
    node.pairs = {f"k{number}": values[number % len(values)] for number in range(50)}
    node.entries = [values[0]] * 50
    lasting = Lasting(KIND, node, ["pairs", "entries"])
    node.pairs["k5"] = "new"
    node.entries.append(values[-1])
    assert lasting.changed() == (
        {},
        (
            MembersPatch("pairs", (), (("k5", "new"),)),
            ListPatch("entries", 50, 0, (values[-1],)),
        ),
    )
    assert lasting.changed() == ({}, ())


def test_what_changes_inside_of_what_cannot_is_a_change():
    node: Any = Store()
    inside = [1]
    node.pairs = {f"k{number}": Fixed(number) for number in range(50)}
    node.pairs["k5"] = Fixed(inside)
    lasting = Lasting(KIND, node, ["pairs"])
    inside.append(2)
    changed, _ = lasting.changed()
    assert changed["pairs"]["k5"] == Fixed([1, 2])


@pytest.mark.parametrize("gone", [(), ("k7",), ("k0", "k19")])
@pytest.mark.parametrize("added", [{}, {"new": 1}, {"k3": True, "new": 1}])
def test_of_a_dict_what_has_changed_come_and_gone_is_written(
    gone: tuple[str, ...], added: dict[str, Any]
):
    node: Any = Store()
    node.pairs = {f"k{number}": number for number in range(20)}
    lasting = Lasting(KIND, node, ["pairs"])
    kept = lasting.all()
    for key in gone:
        del node.pairs[key]
    node.pairs.update(added)
    _, patches = lasting.changed()
    for patch in patches:
        assert isinstance(patch, MembersPatch)
        assert set(patch.gone) == set(gone)
    assert all(dict(patch.added) == added for patch in patches)
    apply_all(kept, {}, patches)
    assert same(kept["pairs"], node.pairs)


@wl.message
class Lease:
    until: wl.Time


@dataclasses.dataclass(frozen=True)
class Term:
    began: wl.Time
    number: int


HOLDERS: dict[str, Any] = {
    "itself": lambda time: time,
    "list": lambda time: [time, 1],
    "dict": lambda time: {"a": time},
    "tuple": lambda time: (1, (time,)),
    "map": lambda time: wl.FrozenMap({"a": time}),
    "message": Lease,
    "record": lambda time: [Term(time, 1)],
    "duration": lambda time: {"a": time - Time(0.0)},
}


@pytest.mark.parametrize("held", HOLDERS.values(), ids=HOLDERS)
def test_another_time_is_a_change_wherever_it_is(held: Any):
    node: Any = Store()
    node.last = held(Time(1.0))
    lasting = Lasting(KIND, node, ["last"])
    node.last = held(Time(1.0))
    assert lasting.changed() == ({}, ())
    node.last = held(Time(2.0))
    changed, patches = lasting.changed()
    assert set(changed) | {patch.path for patch in patches} == {"last"}


@pytest.mark.parametrize("name", sorted({*HOLDERS} - {"duration"}))
def test_a_zero_with_the_other_sign_is_a_change_wherever_it_is(name: str):
    node: Any = Store()
    held = HOLDERS[name]
    node.last = held(0.0)
    lasting = Lasting(KIND, node, ["last"])
    node.last = held(0.0)
    assert lasting.changed() == ({}, ())
    node.last = held(-0.0)
    changed, patches = lasting.changed()
    assert set(changed) | {patch.path for patch in patches} == {"last"}


@dataclasses.dataclass(frozen=True, eq=False)
class Alone:
    """A record that is equal to no other, not even to what is read of it again."""

    number: int


@pytest.mark.parametrize("way", ["gone", "changed", "come"])
def test_what_nobody_could_find_again_is_written_as_a_whole(way: str):
    node: Any = Store()
    node.pairs = {Alone(number): number for number in range(20)}
    node.names = {(Alone(number),) for number in range(20)}
    lasting = Lasting(KIND, node, ["pairs", "names"])
    if way == "gone":
        node.pairs.popitem()
        node.names.pop()
    elif way == "changed":
        node.pairs[next(iter(node.pairs))] = "new"
        node.names.add((Alone(20),))
    else:
        node.pairs[Alone(20)] = 20
        node.names.add((Alone(20),))
    changed, patches = lasting.changed()
    assert patches == ()
    assert same(changed, {"pairs": node.pairs, "names": node.names})


def test_what_refuses_to_be_compared_is_a_change_where_a_number_was():
    store = Store(inside={number: [number] for number in range(4)}, nested=[[1], [2]])
    lasting = Lasting(KIND, store, known=["inside", "nested"])
    held: Any = store
    held.inside[1][0], held.nested[0][0] = Time(2.0), Time(3.0)
    changed, patches = lasting.changed()
    assert not changed
    nested, inside = patches
    assert inside.added[0][1][0].seconds == 2.0
    assert nested.added[0][0].seconds == 3.0
    assert lasting.changed() == ({}, ())


ZEROS: dict[str, Any] = {
    "in a list": lambda zero: {"entries": [1.0, zero, 2.0]},
    "in a list of lists": lambda zero: {"entries": [[1.0], [zero], [2.0]]},
    "in a list of tuples": lambda zero: {"entries": [(1.0,), (zero, 1), (2.0,)]},
    "in a dict": lambda zero: {"pairs": {"a": zero, "b": 1.0}},
    "in a large dict": lambda zero: {"pairs": {f"k{n}": zero for n in range(99)}},
    "in a record": lambda zero: {"inside": {1: Mutable(zero), 2: Mutable(1.0)}},
    "alone": lambda zero: {"last": zero},
    "in a tuple": lambda zero: {"last": (1, zero)},
    "in a set": lambda zero: {"names": {zero}},
    "as a key": lambda zero: {"pairs": {zero: 1, "b": 2}},
}


@pytest.mark.parametrize("where", ZEROS)
def test_a_zero_comes_back_with_its_sign(where: str):
    store = Store(**ZEROS[where](0.0))
    lasting = Lasting(KIND, store, known=[*ZEROS[where](0.0)])
    kept = lasting.all()
    for zero in (-0.0, 0.0):
        for name, value in ZEROS[where](zero).items():
            setattr(store, name, value)
        apply_all(kept, *lasting.changed())
        assert {name: repr(kept[name]) for name in kept} == {
            name: repr(store.__dict__[name]) for name in kept
        }
        assert lasting.changed() == ({}, ())
