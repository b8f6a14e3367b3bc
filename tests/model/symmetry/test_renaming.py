"""Renaming frozen values: exact, invertible, and carried along by outlines."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.content import FROZENSET
from worldline.model.data.values import freeze, thaw
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import Envelope
from worldline.model.network.datagrams import Bag, Queues
from worldline.model.network.streams import Sockets
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.symmetry.renaming import Renamer, outlines, renamed

NODES = wl.ids("a", "b", "c", "d")
A, B, C, D = NODES


@wl.message
class Note:
    about: Any


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any


SCALARS = (
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([*NODES, Kind.DROP])
)


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        several.map(tuple),
        several.map(frozenset),
        st.builds(Point, inner, inner),
        st.builds(Note, inner),
        st.dictionaries(inner, inner, max_size=3).map(wl.FrozenMap),
        st.builds(
            lambda src, message: Envelope(src, "", message, freeze(message)),
            st.sampled_from(NODES),
            st.builds(Note, inner),
        ),
        inner.map(lambda payload: PendingTimer("", "ring", payload)),
    )


VALUES = st.recursive(SCALARS, grown, max_leaves=8).map(freeze)
NAMES = st.permutations(NODES).map(lambda image: dict(zip(NODES, image, strict=True)))


def undone(names: dict[wl.NodeId, wl.NodeId]) -> dict[wl.NodeId, wl.NodeId]:
    return {image: node for node, image in names.items()}


def replaced(value: Any, names: dict[wl.NodeId, wl.NodeId]) -> Any:
    """The same on thawed values, written again and plainly."""
    if isinstance(value, wl.NodeId):
        return names[value]
    if isinstance(value, tuple | frozenset):
        return type(value)(replaced(item, names) for item in value)
    if isinstance(value, wl.FrozenMap):
        pairs = value.items()
        return wl.FrozenMap({replaced(k, names): replaced(v, names) for k, v in pairs})
    if isinstance(value, Envelope):
        message = replaced(value.message, names)
        return Envelope(names[value.src], "", message, freeze(message))
    if isinstance(value, PendingTimer):
        return PendingTimer("", "ring", replaced(value.payload, names))
    if isinstance(value, Point):
        return Point(replaced(value.x, names), replaced(value.y, names))
    return Note(replaced(value.about, names)) if isinstance(value, Note) else value


@given(VALUES, NAMES)
def test_a_renaming_can_be_undone(value: Any, names: dict[wl.NodeId, wl.NodeId]):
    assert renamed(renamed(value, names), undone(names)) == value


@given(VALUES, NAMES)
def test_renaming_and_freezing_can_change_places(
    value: Any, names: dict[wl.NodeId, wl.NodeId]
):
    there = renamed(value, names)
    assert freeze(thaw(there)) == there
    assert there == freeze(replaced(thaw(value), names))


OTHERS = dict.fromkeys(NODES, b"(other)")


@given(VALUES, NAMES)
def test_what_is_mentioned_is_renamed(value: Any, names: dict[wl.NodeId, wl.NodeId]):
    there, here = (
        outlines(known, OTHERS, b"(self)", loose=False)[1].keys()
        for known in (renamed(value, names), value)
    )
    assert there == {names[node] for node in here}


@given(VALUES, NAMES, st.sampled_from(NODES), st.booleans())
def test_an_outline_moves_with_its_node(
    value: Any, names: dict[wl.NodeId, wl.NodeId], node: wl.NodeId, loose: bool
):
    def of(frozen: Any, chosen: wl.NodeId) -> bytes:
        common, told = outlines(frozen, OTHERS, b"(self)", loose=loose)
        return told.get(chosen, common)

    assert of(value, node) == of(renamed(value, names), names[node])
    words = {n: b"(self)" if n == node else b"(other)" for n in NODES}
    assert of(value, node) == outlines(value, words, b"", loose=loose)[0]


@given(st.lists(VALUES, min_size=2, max_size=2))
def test_outlines_without_words_tell_values_apart(values: list[Any]):
    one, other = (outlines(value, {}, b"", loose=False)[0] for value in values)
    assert (one == other) == (values[0] == values[1])


def test_ordered_things_keep_their_order_and_others_do_not():
    swap = {A: B, B: A}
    assert thaw(renamed(freeze((A, B)), swap)) == (B, A)
    assert renamed(freeze(frozenset([A, B])), swap) == freeze(frozenset([A, B]))
    assert renamed(freeze(frozenset([A, C])), swap) == (FROZENSET, B, C)


def envelope(src: wl.NodeId, about: Any = None) -> Envelope:
    return Envelope(src, "", Note(about), freeze(Note(about)))


def test_mailboxes_are_canonical_again():
    swap = {A: B, B: A}
    for box in (Bag(D), Queues(D), Sockets(D)):
        other: Any = type(box)(D)
        for src, about in itertools.product((A, C), (A, B, None)):
            box.put(envelope(src, about))
            there = None if about is None else swap[about]
            other.put(envelope(swap.get(src, src), there))
        found = renamed(box.freeze(), swap)
        assert found == other.freeze() != box.freeze()
        other.restore(found)
        assert other.freeze() == found


@wl.ignores(Note)
@wl.node
class Plain:
    pass


def test_events_keep_the_order_of_their_ends_and_deaf_peers():
    system = wl.System(
        dict.fromkeys(NODES, Plain()),
        faults=wl.Faults(partitions=1),
        symmetry=[wl.symmetric(NODES)],
    )
    rename = Renamer(system).event
    swap = {A: B, B: A}
    broken = Event(Kind.DISCONNECT, A, peer=B)
    assert rename(broken, swap) == broken
    deaf = Event(Kind.RESET, D, payload=(A, C))
    assert rename(deaf, {A: C, C: B, B: A}).payload == (B, C)
    for number, side in enumerate(system.cuts):
        cut = Event(Kind.PARTITION, payload=number)
        image = {swap.get(node, node) for node in side}
        assert system.cuts[rename(cut, swap).payload] in (image, set(NODES) - image)
        assert rename(rename(cut, swap), swap) == cut
