"""Turns in which messages alone come in: how short they are, and that they come back."""

from __future__ import annotations

import random
import time
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deploy.stores import receive

import worldline as wl
from worldline.deploy import turn_times
from worldline.deploy.journal import JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.engine.native.library import KernelMissing, available, library, why_not
from worldline.trace.journal.alike import ALIKE, packets_of
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.messagepack import pack
from worldline.trace.journal.reading import Turn, read_node
from worldline.trace.journal.records import ReceivedRecord, StartedRecord
from worldline.trace.json_checks import Malformed

NODES = wl.ids(*(f"n{number}" for number in range(130)))
"""More than one byte tells apart."""


@wl.message
class Put:
    key: int
    value: bytes
    before: int


@wl.message
class Beat: ...


@wl.node
class Part:
    @wl.on(Beat)
    def beat(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None: ...


@wl.node
class Store:
    part: Part = wl.part(Part)

    @wl.on(Put)
    def put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None: ...

    @wl.on(Beat)
    def beat(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None: ...


CODEC = Codec(SYSTEM := wl.System({node: Store(Part()) for node in NODES}))
VALUE = b"v" * 100


def put(number: int, sender: int = 1) -> bytes:
    """Return the packet of an entry."""
    return CODEC.packet(sender, 1, number, 0, "", Put(number, VALUE, number - 1))


def opened(place: Path) -> JournalWriter:
    """Begin a journal; its first segment is there."""
    options = JournalOptions(run="r", sync="never")
    writer, _ = JournalWriter.open(place, SYSTEM, CODEC, NODES[0], options)
    writer.commit([StartedRecord(1, 0, 0, None, 1.0)])
    return writer


def turns(place: Path) -> list[Turn]:
    (life,) = read_node(place / "n0").incarnations
    return list(life.turns(CODEC))


def came(turn: Turn) -> bytes:
    assert all(type(record) is ReceivedRecord for record in turn.records)
    return b"".join(record.packets for record in turn.records)  # type: ignore[union-attr]


TIMES = st.one_of(st.integers(0, 400), st.sampled_from([2**16, 2**32, 2**40]))
PACKETS = st.builds(
    CODEC.packet,
    st.sampled_from([1, 2, 127, 128]),
    st.sampled_from([1, 1, 1, 200]),
    st.builds(int.__add__, TIMES, TIMES),
    st.sampled_from([0, 0, 0, 1, 300]),
    st.just(""),
    st.builds(Put, st.integers(0, 2**64), st.binary(max_size=300), st.integers()),
    st.sampled_from([None, None, None, {1: 7}]),
)
BEATS = st.builds(
    CODEC.packet,
    st.just(1),
    st.just(1),
    TIMES,
    st.just(0),
    st.sampled_from(["", "part"]),
    st.just(Beat()),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(PACKETS | BEATS, min_size=1, max_size=20), max_size=4))
def test_what_came_in_comes_back_byte_for_byte(given: list[list[bytes]]) -> None:
    with TemporaryDirectory() as name:
        writer = opened(Path(name))
        for packets in given:
            receive(writer, packets)
        writer.close(None)
        _, *read = turns(Path(name))
    assert [came(turn) for turn in read] == [b"".join(packets) for packets in given]


@pytest.mark.skipif(not available(), reason=str(why_not()))
def test_of_messages_that_are_alike_hardly_more_than_their_fields_is_written(
    tmp_path: Path,
) -> None:
    writer = opened(tmp_path)
    for turn in (4, 16, 64):
        packets = [put(100_000 + number) for number in range(turn)]
        fields = len(pack([100_000, VALUE, 100_000])) - 1
        before = writer.bytes_written
        receive(writer, packets)
        written = writer.bytes_written - before
        assert written < turn * (fields + 1) + 40
    writer.close(None)


def test_a_great_turn_is_written_too(tmp_path: Path) -> None:
    packets = [put(number) for number in range(1_000, 2_000)]
    writer = opened(tmp_path)
    receive(writer, packets)
    writer.close(None)
    assert came(turns(tmp_path)[1]) == b"".join(packets)


@pytest.mark.skipif(not available(), reason=str(why_not()))
@pytest.mark.parametrize("by_tables", [0, 1])
def test_the_kernel_has_the_checksum_of_zlib(by_tables: int) -> None:
    content = random.Random(1).randbytes(5_000)
    for size in (*range(200), 5_000):
        checksum = library().wl_crc32(content, size, by_tables)
        assert checksum == zlib.crc32(content[:size])


def test_without_the_kernel_messages_are_written_as_they_came_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str, address: int) -> Any:
        raise KernelMissing("it was not built", remedy="build it")

    monkeypatch.setattr(turn_times, "bound", missing)
    packets = [put(number) for number in range(1_000, 1_004)]
    writer = opened(tmp_path)
    receive(writer, packets)
    writer.close(None)
    assert turns(tmp_path)[1].records == [ReceivedRecord(b"".join(packets))]


def test_turns_have_their_times_whoever_writes_them(tmp_path: Path) -> None:
    began, wall = time.monotonic_ns(), time.time_ns()  # noqa: TID251 -- of records
    writer = opened(tmp_path)
    for number in range(1_000, 1_003):
        receive(writer, [put(number)])
        writer.commit([ReceivedRecord(put(number))])
    writer.close(None)
    read = turns(tmp_path)
    clocks = [began, *(turn.monotonic_ns for turn in read), time.monotonic_ns()]
    assert clocks == sorted(clocks)
    for turn in read:
        assert abs(turn.wall_ns - wall - (turn.monotonic_ns - began)) < 1e9


ONE = [ALIKE, 1, 1, 3, 0, 1, 1_000, 5, VALUE, 4]


@pytest.mark.parametrize(
    "spelt",
    [
        ONE[:6],
        [*ONE[:3], -1, *ONE[4:]],
        [*ONE[:3], True, *ONE[4:]],
        [*ONE[:6], b"1", *ONE[7:]],
        ONE[:-1],
        [*ONE, 1],
        [*ONE, -1, 5, VALUE, 4],
        [*ONE, b"1", 5, VALUE, 4],
        [*ONE, 2**64 - 1, 5, VALUE, 4],
    ],
)
def test_a_record_of_messages_that_are_not_alike_is_refused(spelt: list[Any]) -> None:
    with pytest.raises(Malformed):
        packets_of(spelt)


def test_a_record_of_messages_that_are_alike_stands_for_their_packets() -> None:
    second = CODEC.packet(1, 1, 1_127, 0, "", Put(6, b"", 5))
    number = CODEC.vocabulary.messages.index(Put)
    spelt = [*ONE[:5], number, 1_000, 1_000, VALUE, 999, 127, 6, b"", 5]
    assert packets_of(spelt) == put(1_000) + second
