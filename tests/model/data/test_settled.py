"""Whatever travels or is kept iterates in one order: frozensets, wherever they are."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.model.data.nested import Entry

import worldline as wl
from worldline.model.data.canonical import CanonicalFrozenset, CanonicalSet
from worldline.model.data.canonical_dict import CanonicalDict
from worldline.model.data.parting import settle_fields
from worldline.model.data.settling import settled
from worldline.model.data.values import freeze, thaw
from worldline.model.errors import ModelError
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.workload import invoke
from worldline.worlds.direct import DirectWorld

WORDS = ["heron", "ibis", "coot", "smew", "teal", "rail", "knot", "ruff"]
"""Eight, of which a plain set is in order for one hash seed in 40,320."""

OPERATORS = ("__or__", "__and__", "__sub__", "__xor__")
METHODS = ("union", "intersection", "difference", "symmetric_difference")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass(frozen=True)
class Fixed:
    words: frozenset[str]


@dataclasses.dataclass
class Loose:
    words: Any


@wl.message
class News:
    words: Any


@wl.node
class Keeper:
    """Puts frozensets where a field does not see them come in."""

    rows: list[Any] = wl.field(default_factory=list)
    seen: set[Any] = wl.field(default_factory=set)
    table: dict[Any, Any] = wl.field(default_factory=dict)
    read: tuple[Any, ...] = ()

    @wl.call
    def keep(self, ctx: wl.Context, words: frozenset[str]) -> None:
        plain = frozenset(list(words))
        self.rows.append(plain)
        self.seen.add(plain)
        self.table[plain] = [plain]
        self.table[1] = {}
        self.table[1][plain] = {plain}

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        kept = [*self.rows, *self.seen, *self.table[self.rows[0]], *self.table[1]]
        kept += [*self.table[1][self.rows[0]], next(k for k in self.table if k != 1)]
        self.read = tuple(map(tuple, kept))


def is_in_order(value: Any) -> bool:
    return list(value) == sorted(value)


@given(st.frozensets(st.text(max_size=3)), st.frozensets(st.text(max_size=3)))
def test_operators_of_a_canonical_frozenset_agree_with_the_plain_ones(
    one: Any, two: Any
) -> None:
    mine = CanonicalFrozenset(one)
    assert mine == one
    assert hash(mine) == hash(one)
    for name in (*OPERATORS, *METHODS):
        made = getattr(mine, name)(two)
        assert made == getattr(one, name)(two)
        assert type(made) is CanonicalFrozenset
        assert is_in_order(made)
    for made in (two | mine, two & mine, two - mine, two ^ mine, mine.copy()):
        assert type(made) is CanonicalFrozenset
    assert two - mine == two - one
    assert freeze(mine) == freeze(one)


def test_a_canonical_frozenset_refuses_what_a_plain_one_refuses():
    letters: Any = CanonicalFrozenset("ab")
    for name in (*OPERATORS, "__rsub__"):
        assert getattr(letters, name)(["a"]) is NotImplemented
    with pytest.raises(TypeError):
        letters | ["a"]


def test_a_canonical_frozenset_prints_like_a_plain_one_in_order():
    assert repr(CanonicalFrozenset("ba")) == "frozenset({'a', 'b'})"
    assert repr(CanonicalFrozenset()) == "frozenset()"
    assert isinstance(CanonicalFrozenset(), frozenset)


def test_frozensets_of_frozensets_and_of_enums_are_in_order():
    nested = settled(frozenset({frozenset(WORDS[:4]), frozenset(WORDS[4:])}))
    assert all(type(inner) is CanonicalFrozenset for inner in nested)
    assert [list(inner) for inner in nested] == sorted(map(sorted, nested))
    assert list(settled(frozenset(Colour))) == list(Colour)


PLACES: dict[str, Callable[[Any], Any]] = {
    "a message": lambda words: News(words).words,
    "a tuple in a message": lambda words: News((1, (words,))).words[1][0],
    "a record in a message": lambda words: News(Fixed(words)).words.words,
    "a message in a message": lambda words: News(News(words)).words.words,
    "a map": lambda words: News(wl.FrozenMap({1: words})).words[1],
    "the key of a map": lambda words: next(iter(News(wl.FrozenMap({words: 1})).words)),
    "a payload": lambda words: PendingTimer("", "tick", words).payload,
    "part of a payload": lambda words: PendingTimer("", "tick", (words,)).payload[0],
    "an argument": lambda words: invoke(Keeper.keep, words).arguments[0],
    "the key of a dict": lambda words: next(iter(CanonicalDict({words: 1}))),
    "a tuple in a dict": lambda words: CanonicalDict[Any, Any]({1: (words,)})[1][0],
    "a thawed value": lambda words: thaw(freeze((words,)))[0],
    "a list in a list": lambda words: settled([[words]])[0][0],
    "a loose record": lambda words: settled(Loose(words)).words,
    "a dict in a loose record": lambda words: (
        settled(Loose({1: [Fixed(words)]})).words[1][0].words
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_frozenset_is_in_order_wherever_it_is_kept(place: str):
    found = PLACES[place](frozenset(WORDS))
    assert isinstance(found, frozenset)
    assert is_in_order(found)


def test_plain_sets_and_dicts_inside_a_record_become_canonical_too():
    assert type(settled(Loose({"a"})).words) is CanonicalSet
    assert type(settled(Loose({"a": 1})).words) is CanonicalDict


def test_what_is_settled_already_is_not_copied():
    for value in (News((1, 2)), (1, ("a",)), Fixed(CanonicalFrozenset("ab")), 7):
        assert settled(value) is value


def test_a_list_that_holds_itself_is_left_to_whoever_freezes_it():
    endless: list[Any] = []
    endless.append(endless)
    assert settled(endless) is endless


def test_views_of_a_canonical_dict_have_the_operators_of_sets():
    one: CanonicalDict[str, int] = CanonicalDict(dict.fromkeys(WORDS, 1))
    two: CanonicalDict[str, int] = CanonicalDict({"teal": 1, "a": 2})
    assert set(one.keys() & two.keys()) == {"teal"}
    assert is_in_order(one.keys() | two.keys())
    assert type(one.keys() - {"teal"}) is CanonicalSet
    assert type(one.items() ^ two.items()) is CanonicalSet
    assert two.keys() == dict(two).keys()
    assert is_in_order(wl.FrozenMap(one).keys() | {"a"})
    assert is_in_order({"b": 1, "z": 2} | two)


def test_both_worlds_read_what_a_handler_put_into_collections_in_order():
    (a,) = wl.ids("a")
    calls = [wl.invoke(Keeper.keep, frozenset(WORDS)), wl.invoke(Keeper.look)]
    system = wl.System({a: Keeper()}, workload=[wl.script(a, calls)])
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    for _ in range(2):
        (event,) = world.enabled()
        world.step(event)
    assert world.nodes[0].read == (tuple(sorted(WORDS)),) * 6
    wl.check(system, traces=False).expect_holds()


def test_a_history_and_a_choice_are_in_order():
    (a,) = wl.ids("a")
    seen: list[Any] = []

    @wl.node
    class Chooser:
        words: tuple[str, ...] = ()

        @wl.call
        def pick(self, ctx: wl.Context) -> None:
            self.words = tuple(ctx.choose([frozenset(WORDS), frozenset(WORDS[:5])]))

    def fold(value: Any, taken: int) -> Any:
        seen.append(list(value))
        return frozenset([*value, *WORDS[: 6 + taken]])

    watcher = wl.Observer(
        "words", frozenset(WORDS[:5]), lambda step: len(step.choices), fold
    )

    @wl.safety
    def ordered(view: wl.View) -> bool:
        return all(map(is_in_order, (view.history("words"), view[a].words)))

    system = wl.System(
        {a: Chooser()},
        workload=[wl.script(a, [Chooser.pick])],
        observers=[watcher],
        properties=[ordered],
    )
    wl.check(system, traces=False).expect_holds()
    assert all(map(is_in_order, seen))


def holders(words: frozenset[str]) -> dict[str, Any]:
    """Return values with a list in each, and what these get later on."""
    return {
        "a list of tuples": [(1, "a"), (2, words)],
        "a list of records": [Fixed(CanonicalFrozenset("a")), Fixed(words)],
        "a list of tuples and nothing": [None, (1, (2, "a")), 3, (4, (5, words))],
        "a list of records of tuples": [Fixed((1, "a")), Fixed((2, (words,)))],  # type: ignore[arg-type]
        "a list of both": [(1, words), Fixed(words), Loose(words)],
        "a tuple of tuples": ((1, "a"), (2, (words,))),
    }


@pytest.mark.parametrize("name", holders(frozenset()))
def test_of_many_entries_each_is_settled(name: str):
    expected = freeze(value := holders(frozenset(WORDS))[name])
    fresh = settled(value)
    assert freeze(fresh) == expected
    assert all(type(found) is CanonicalFrozenset for found in _frozensets(fresh))


def test_what_comes_into_a_dict_of_what_can_change_later_is_settled():
    table: CanonicalDict[str, Any] = CanonicalDict({"a": (1, [])})
    table["b"] = Fixed(Loose([]))  # type: ignore[arg-type]
    assert not table.is_plain
    table["a"][1].append(frozenset(WORDS))
    table["b"].words.words.append((frozenset(WORDS),))
    settle_fields({"table": table})
    assert all(type(found) is CanonicalFrozenset for found in _frozensets(table))


@pytest.mark.parametrize("empty", [[], set(), {}], ids=repr)
def test_what_comes_into_the_collections_of_a_dict_is_settled(empty: Any):
    table: CanonicalDict[str, Any] = CanonicalDict({"a": empty, "b": empty})
    for number, words in enumerate([frozenset("a"), (1, frozenset(WORDS))]):
        held = table["ab"[number]]
        if isinstance(held, dict):
            held[number] = []
            held[number].append(words)
        else:
            (held.append if isinstance(held, list) else held.add)(words)
        settle_fields({"table": table})
        assert len(_frozensets(table)) == number + 1
        assert all(type(found) is CanonicalFrozenset for found in _frozensets(table))


def test_a_dict_of_what_cannot_change_has_nothing_to_settle():
    table: CanonicalDict[str, Any] = CanonicalDict({"a": (1, (frozenset(WORDS),))})
    table["b"] = Fixed(frozenset(WORDS))
    table["c"] = wl.FrozenMap({"d": frozenset(WORDS)})
    assert table.is_plain
    assert all(type(found) is CanonicalFrozenset for found in _frozensets(table))
    others: list[Any] = [[], {}, set(), Loose(1), (1, [2]), Fixed(Loose(1))]  # type: ignore[arg-type]
    for value in others:
        assert not CanonicalDict({"a": value}).is_plain


def test_what_a_set_holds_is_settled_where_no_field_sees_it_come_in():
    fields: dict[str, Any] = {"loose": Loose({frozenset(WORDS), (frozenset(WORDS),)})}
    settle_fields(fields)
    held = list(fields["loose"].words)
    assert len(_frozensets(held)) == 2
    assert all(type(found) is CanonicalFrozenset for found in _frozensets(held))


def _frozensets(value: Any) -> list[Any]:
    found = [value] if isinstance(value, frozenset) else []
    if isinstance(value, dict | wl.FrozenMap):
        inside: Any = [value[key] for key in value]
    elif isinstance(value, list | tuple | set):
        inside = value
    elif dataclasses.is_dataclass(value):
        inside = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        inside = ()
    return found + [one for item in inside for one in _frozensets(item)]


def _ring(count: int) -> Entry:
    """Return the first of some records that each hold the next and the one before."""
    entries = [Entry() for _ in range(count)]
    for place, entry in enumerate(entries):
        entry.key, entry.values = entries[place - 1], entries[(place + 1) % count]
    return entries[0]


def _knot() -> list[Any]:
    """Return a list that holds itself, twice."""
    knot: list[Any] = []
    knot += [knot, knot]
    return knot


def _nest() -> list[Any]:
    """Return a list that a dict holds that it holds itself, twice."""
    nest: list[Any] = []
    nest += [{"a": nest}, {"a": nest}]
    return nest


MAKES = {
    "one": lambda: _ring(1),
    "three": lambda: _ring(3),
    "fifty": lambda: _ring(50),
    "list": _knot,
    "dicts": _nest,
}


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES.keys())
def test_what_holds_itself_is_given_up(make: Any):
    fields = {"one": make(), "two": [frozenset(WORDS)]}
    settle_fields(fields)
    assert type(fields["two"][0]) is CanonicalFrozenset
    with pytest.raises(ModelError):
        freeze(fields["one"])


@pytest.mark.parametrize("depth", [7, 8, 9, 40])
def test_records_inside_many_others_are_settled(depth: int):
    inner = Entry(values=frozenset(WORDS))
    value = inner
    for _ in range(depth):
        value = Entry(1, value)
    assert settled([value]) == [value]
    assert type(inner.values) is CanonicalFrozenset
