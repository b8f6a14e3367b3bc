"""Values and frames as bytes and back: nothing is lost, nothing is trusted."""

from __future__ import annotations

import contextlib
import enum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worldline as wl
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.digest import Digest
from worldline.trace.journal.frames import (
    COUNTS,
    Extensions,
    MessageFrame,
    in_one,
    numbers_of,
    split,
)
from worldline.trace.journal.messagepack import pack
from worldline.trace.journal.values import RECORD
from worldline.trace.json_checks import Malformed


class Color(enum.Enum):
    RED = "red"
    BLUE = 2


class Told(Exception):
    """Somebody ran code of a class while it was decoded."""


@wl.message
class Leaf:
    value: Any = None


@wl.message
class Typed:
    number: int
    text: str
    raw: bytes
    flag: bool
    share: float
    node: wl.NodeId | None
    color: Color
    nodes: frozenset[wl.NodeId]
    pairs: tuple[tuple[int, str], ...]
    leaf: Leaf | None
    some: tuple[Leaf, ...]
    nothing: None = None


@wl.message
class Alarmed:
    """A message that would tell if it were made by its own code."""

    value: int

    def __post_init__(self) -> None:
        if self.value == 666:
            raise Told


@wl.node
class Holder:
    kept: int = 0

    @wl.on(Typed)
    def typed(self, ctx: wl.Context, src: wl.NodeId, msg: Typed) -> None: ...
    @wl.on(Leaf)
    def leaf(self, ctx: wl.Context, src: wl.NodeId, msg: Leaf) -> None: ...
    @wl.on(Alarmed)
    def alarmed(self, ctx: wl.Context, src: wl.NodeId, msg: Alarmed) -> None: ...


A, B = wl.ids("a", "b")
SYSTEM = wl.System({A: Holder(), B: Holder()})
CODEC = Codec(SYSTEM)

NODES = st.sampled_from([A, B])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
    | st.binary()
    | NODES
    | st.sampled_from(Color)
)
KEYS = st.recursive(
    SCALARS, lambda one: st.tuples(one) | st.frozensets(one), max_leaves=4
)
VALUES = st.recursive(
    SCALARS,
    lambda one: (
        st.lists(KEYS)
        | st.lists(one).map(tuple)
        | st.sets(KEYS)
        | st.frozensets(KEYS)
        | st.dictionaries(KEYS, one)
    ),
    max_leaves=12,
)
INSIDE = st.recursive(KEYS, lambda one: one.map(Leaf), max_leaves=3)
TYPED = st.builds(
    Typed,
    st.integers() | SCALARS,
    st.text(st.characters(codec=None)) | SCALARS,
    st.binary(),
    st.booleans(),
    st.floats(allow_nan=False) | st.integers(),
    NODES | st.none(),
    st.sampled_from(Color),
    st.frozensets(NODES),
    st.lists(st.tuples(st.integers(), st.text())).map(tuple),
    st.none() | INSIDE.map(Leaf),
    st.lists(INSIDE.map(Leaf)).map(tuple),
)


def frame_of(packet: bytes) -> bytes:
    """Return the one frame in a packet."""
    ((begin, end),) = split(packet)
    return packet[begin:end]


@given(VALUES)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert freeze(CODEC.decode(CODEC.encode(value))) == freeze(value)


@given(
    TYPED | INSIDE.map(Leaf),
    st.integers(0, 2**44 - 1),
    st.dictionaries(st.integers(0, 9), st.integers(0, 2**50)) | st.none(),
)
def test_a_message_comes_back_as_it_was(
    message: Any, lamport: int, beside: dict[int, int] | None
) -> None:
    frame = CODEC.frame(frame_of(CODEC.packet(1, 3, lamport, 2, "", message, beside)))
    assert isinstance(frame, MessageFrame)
    assert freeze(frame.message) == freeze(message)
    assert frame[:6] == (1, 3, lamport, 2, beside, "")


@pytest.mark.parametrize(
    ("short", "numbers"),
    [
        (COUNTS[0].pack(4, 9, 0), {1: 4, 3: 9, 2: 0}),
        (COUNTS[1].pack(4, 9, 8, 3), {1: 4, 3: 9, 2: 8, 7: 3}),
        (in_one(4, 9, None), {1: 4, 3: 9}),
        (in_one(4, 9, 4), {1: 4, 3: 9, 7: 4}),
        (in_one(4, 9, 0), {1: 4, 3: 9, 7: 0}),
        (in_one((1 << 20) - 1, 9, None), {1: (1 << 20) - 1, 3: 9}),
        (in_one(3000, 9, 3000 - 2046), {1: 3000, 3: 9, 7: 3000 - 2046}),
        ({1: 4, 3: 9}, {1: 4, 3: 9}),
        (None, {}),
    ],
)
def test_numbers_have_a_short_form(
    short: Extensions | None, numbers: dict[int, int]
) -> None:
    assert numbers_of(short) == numbers
    frame = CODEC.frame(frame_of(CODEC.packet(1, 3, 1, 2, "", Leaf(1), short)))
    assert isinstance(frame, MessageFrame)
    assert frame.extensions == short


@pytest.mark.parametrize("size", [0, 8, 11, 13, 15, 17, 24])
def test_numbers_of_another_size_are_malformed(size: int) -> None:
    packet = CODEC.packet(1, 3, 1, 2, "", Leaf(1), bytes(size))
    with pytest.raises(Malformed, match="something else beside it"):
        CODEC.frame(frame_of(packet))


@pytest.mark.parametrize(
    "said", [(1 << 20, 1, None), (3000, 1, 3000 - 2047), (1, 1 << 31, None)]
)
def test_numbers_for_which_one_has_no_room_have_none(said: Any) -> None:
    assert in_one(*said) == -1


@pytest.mark.parametrize("beside", [-1, 1 << 63, True, 1.0, "1", [1]])
def test_something_else_beside_a_message_is_malformed(beside: Any) -> None:
    packet = CODEC.packet(1, 3, 1, 2, "", Leaf(1), beside)
    with pytest.raises(Malformed, match="something else beside it"):
        CODEC.frame(frame_of(packet))


def test_hello_control_and_bye_come_back() -> None:
    hello = CODEC.frame(frame_of(CODEC.hello(1, 4, 0, b"proof")))
    assert hello == (1, CODEC.digest.raw, 1, 4, 0, b"proof")
    assert CODEC.frame(frame_of(CODEC.control(0, 1, "name", b"x"))) == (
        0,
        1,
        "name",
        b"x",
    )
    assert CODEC.frame(frame_of(CODEC.bye(0, 7))) == (0, 7)


def test_no_code_of_a_message_class_runs() -> None:
    packet = CODEC.packet(0, 1, 1, 0, "", Alarmed(665))
    fields = frame_of(packet).replace(b"\xcd\x02\x99", b"\xcd\x02\x9a")
    frame = CODEC.frame(fields)
    assert isinstance(frame, MessageFrame)
    assert frame.message.value == 666
    with pytest.raises(Told):
        Alarmed(666)


@given(st.binary(max_size=60))
def test_what_is_no_frame_is_malformed(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        CODEC.frame(data)


@settings(max_examples=60)
@given(TYPED, st.data())
def test_a_frame_that_was_changed_is_a_frame_or_malformed(
    message: Typed, data: st.DataObject
) -> None:
    frame = bytearray(frame_of(CODEC.packet(1, 3, 9, 2, "", message)))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(
            st.integers(0, 255)
        )
    with contextlib.suppress(Malformed):
        read = CODEC.frame(bytes(frame))
        if isinstance(read, MessageFrame):
            freeze(read.message)


def _holding(value: Any) -> Leaf:
    """Return a message that holds anything: one that is made as it should be refuses."""
    leaf = Leaf(0)
    object.__setattr__(leaf, "value", value)
    return leaf


@pytest.mark.parametrize("value", [[1], {1}, {1: 2}, (1, [2]), _holding([1])])
def test_what_can_be_changed_is_in_no_message(value: Any) -> None:
    with pytest.raises(ModelError, match=r"a message holds a (list|set|dict)"):
        CODEC.packet(1, 3, 9, 2, "", _holding(value))
    spelt = CODEC.values.spell(value)
    number = CODEC.vocabulary.messages.index(Leaf)
    with pytest.raises(Malformed):
        CODEC.frame(pack([1, 0, 1, 1, 0, None, "", number, spelt]))


def test_no_node_is_data() -> None:
    number = CODEC.vocabulary.number[Holder]
    with pytest.raises(Malformed, match="a class that the system does not have"):
        CODEC.values.read([RECORD, number, 0])


@pytest.mark.parametrize(
    "spelt",
    [
        [1, -1, 1, 1, 0, None, "", 0, None],
        [1, 2, 1, 1, 0, None, "", 0, None],
        [1, 0, 1, True, 0, None, "", 0, None],
        [1, 0, 1, 1, 0, {"a": 1}, "", 0, None],
        [1, 0, 1, 1, 0, None, "no part", 0, None],
        [1, 0, 1, 1, 0, None, "", -1, None],
        [1, 0, 1, 1, 0, None, "", 99, None],
        [1, 0, 1, 1, 0, None, "", 0],
        [9],
        [],
        {},
        None,
    ],
)
def test_a_frame_that_says_what_no_frame_can_is_malformed(spelt: Any) -> None:
    with pytest.raises(Malformed):
        CODEC.frame(pack(spelt))


@pytest.mark.parametrize(
    "spelt",
    [
        [RECORD, -1],
        [7, -1, 0],
        [6, 2],
        [99],
        [4, 1],
        [2, [1, 1]],
        [1, [2]],
        [-1],
        [0.5],
    ],
)
def test_a_value_that_says_what_no_value_can_is_malformed(spelt: Any) -> None:
    with pytest.raises(Malformed):
        CODEC.decode(pack(spelt))


def test_what_is_nested_too_deeply_is_refused_either_way() -> None:
    deep: Any = 1
    for _ in range(150):
        deep = (deep,)
    with pytest.raises(ModelError):
        CODEC.encode(deep)
    with pytest.raises(Malformed):
        CODEC.decode(b"\x92\x00" * 150 + b"\x01")
    with pytest.raises(Malformed):
        CODEC.decode(b"\x91" * 100_000)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(ModelError, match="NaN"):
        CODEC.encode(float("nan"))


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@wl.node
class Guard:
    rights: Right = wl.durable(default=Right.READ)


def test_a_combination_of_flags_without_a_name_is_refused() -> None:
    codec = Codec(wl.System({A: Guard()}))
    assert codec.decode(codec.encode(Right.WRITE)) is Right.WRITE
    with pytest.raises(ModelError, match="is no member of Right"):
        codec.encode(Right.READ | Right.WRITE)


def test_another_field_makes_another_digest_and_is_named() -> None:
    other = Digest((*CODEC.digest.lines[:-1], "enum Color(RED)"), b"")
    said = CODEC.digest.difference(other.lines)
    assert said == "here enum Color(RED, BLUE), there enum Color(RED)"
    assert Codec(SYSTEM).digest == CODEC.digest


def test_packets_are_split_where_they_end() -> None:
    packets = CODEC.bye(0, 1) + CODEC.bye(1, 2)
    whole = [CODEC.frame(packets[a:b]) for a, b in split(packets)]
    assert whole == [(0, 1), (1, 2)]
    for end in range(len(packets)):
        assert len(list(split(packets[:end]))) == (end >= len(packets) // 2)
    with pytest.raises(Malformed):
        list(split(b"\xff\xff\xff\xff"))
