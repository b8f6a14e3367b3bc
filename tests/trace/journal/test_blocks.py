"""Blocks that are copied, left out, moved or changed: told, or a torn end; never read as turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trace.journal.beats import system
from tests.trace.journal.reframed import contents_of, raw_blocks, reframed

from worldline.model.errors import InputError
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.framing import HEAD, MAGIC, origin_of, salt_of, stamp
from worldline.trace.journal.messagepack import pack
from worldline.trace.journal.reading import Incarnation, Turn, read_node
from worldline.trace.journal.records import FiredRecord, GapRecord, spell
from worldline.trace.journal.segments import VERSION, JournalHeader, opening

CODEC = Codec(system())
ALIKE = [bytes([65 + number] * 30) for number in range(9)]
"""What timers have with them: all turns have one length, so that none betrays itself by it."""


def header(segment: int = 0, before: int | None = None) -> JournalHeader:
    return JournalHeader(
        version=VERSION,
        worldline="1",
        system="beats",
        target=None,
        parameters={},
        digest=CODEC.digest.lines,
        fields={},
        node="a",
        incarnation=1,
        segment=segment,
        run="r",
        seed=0,
        before=before,
    )


def turn(load: bytes) -> bytes:
    """Return what is in the block of a turn in which a timer fires."""
    return pack([7, 0, [spell(FiredRecord("", "tick", load), CODEC.values)]])


def segment_of(
    loads: list[bytes], segment: int = 0, before: int | None = None
) -> bytes:
    contents = list(map(turn, loads))
    return reframed([*contents_of(opening(header(segment, before))), *contents])


FIRST = segment_of(ALIKE[:5])
SECOND = segment_of(ALIKE[5:], 1, len(FIRST))
BLOCKS, OTHERS = raw_blocks(FIRST), raw_blocks(SECOND)
LAST = len(BLOCKS) - 1
PAIRS = list(combinations(range(1, LAST + 1), 2))


def joined(blocks: list[bytes]) -> bytes:
    return MAGIC + b"".join(blocks)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    return tmp_path / "a"


def life(folder: Path, *segments: bytes) -> Incarnation:
    for number, data in enumerate(segments):
        folder.joinpath(f"1-{number}.wlj").write_bytes(data)
    (found,) = read_node(folder).incarnations
    return found


def loads(turns: list[Turn]) -> list[Any]:
    """Return what timers had with them; None for a gap."""
    records: list[Any] = [record for turn in turns for record in turn.records]
    return [None if type(r) is GapRecord else r.payload for r in records]


def read(folder: Path, *segments: bytes, partial: bool = False) -> list[Any]:
    return loads(list(life(folder, *segments).turns(CODEC, partial=partial)))


def told(folder: Path, *segments: bytes) -> str:
    """Return why segments are refused; read in part, they end in a gap."""
    with pytest.raises(InputError) as refused:
        read(folder, *segments)
    assert "--partial" in refused.value.remedy
    found = read(folder, *segments, partial=True)
    if (
        found
    ):  # nothing is before damage in the first block, and a gap is behind something
        assert None in found
        assert [one for one in found if one is not None] == [
            one for one in ALIKE if one in found
        ]
    return refused.value.what


def where(number: int) -> int:
    """Return the offset of a block of the first segment."""
    return len(joined(BLOCKS[:number]))


# ------------------------------------------------------------------------- whole blocks


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_block_that_is_there_twice_is_told(folder: Path, number: int) -> None:
    twice = joined([*BLOCKS[: number + 1], *BLOCKS[number:]])
    said = f"damaged at byte {where(number + 1)}: what stands there is a copy of what"
    assert f"{said} stands at byte {where(number)}" in told(folder, twice)
    assert said in told(folder, twice, SECOND)


def test_a_last_block_that_is_there_twice_is_no_turn(folder: Path) -> None:
    one = life(folder, joined([*BLOCKS, BLOCKS[LAST]]))
    assert loads(list(one.turns(CODEC))) == ALIKE[:5]
    assert one.torn == len(BLOCKS[LAST])
    assert "damaged" in told(folder, joined([*BLOCKS, BLOCKS[LAST]]), SECOND)


@pytest.mark.parametrize("number", range(1, LAST - 1))
def test_a_block_that_is_missing_is_told(folder: Path, number: int) -> None:
    gone = joined([*BLOCKS[:number], *BLOCKS[number + 1 :]])
    here, there = where(number), where(number + 1)
    said = f"byte {here}: what stands at byte {here} was written at byte {there}"
    assert said in told(folder, gone)
    assert said in told(folder, gone, SECOND)


def test_what_stands_alone_behind_a_missing_block_is_a_torn_end(folder: Path) -> None:
    gone = joined([*BLOCKS[: LAST - 1], BLOCKS[LAST]])
    one = life(folder, gone)
    assert loads(list(one.turns(CODEC))) == ALIKE[:3]
    assert one.torn == len(BLOCKS[LAST])
    assert "is not the end of the journal" in told(folder, gone, SECOND)


@pytest.mark.parametrize("number", range(LAST + 1))
def test_a_segment_that_has_lost_its_end_is_told_where_another_follows(
    folder: Path, number: int
) -> None:
    if number == 0:
        assert "is damaged at byte 8" in told(folder, MAGIC, SECOND)
        return
    cut = joined(BLOCKS[:number])
    assert read(folder, cut) == ALIKE[: number - 1]
    (folder / "1-0.wlj").unlink()
    said = f"has {len(cut):,} bytes, and had {len(FIRST):,} when the next segment was"
    assert said in told(folder, cut, SECOND)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_blocks_in_another_order_are_told(folder: Path, one: int, other: int) -> None:
    swapped = list(BLOCKS)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    assert f"damaged at byte {where(one)}" in told(folder, joined(swapped))
    assert f"damaged at byte {where(one)}" in told(folder, joined(swapped), SECOND)


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_block_in_place_of_another_is_told(
    folder: Path, one: int, other: int
) -> None:
    for to, by in ((one, other), (other, one)):
        data = joined([*BLOCKS[:to], BLOCKS[by], *BLOCKS[to + 1 :]])
        if to < LAST:
            assert f"damaged at byte {where(to)}" in told(folder, data)
        else:
            assert read(folder, data) == ALIKE[:4]


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_block_of_another_segment_is_told(folder: Path, number: int) -> None:
    assert len(OTHERS) >= LAST
    data = joined([*BLOCKS[:number], OTHERS[number], *BLOCKS[number + 1 :]])
    assert f"damaged at byte {where(number)}" in told(folder, data)
    strange = joined([*BLOCKS[:number], *OTHERS[number:], *BLOCKS[number:]])
    assert f"damaged at byte {where(number)}" in told(folder, strange)


def test_of_a_header_before_blocks_of_another_segment_no_turn_is_read(
    folder: Path,
) -> None:
    one = life(folder, joined([BLOCKS[0], *OTHERS[1:]]))
    assert loads(list(one.turns(CODEC))) == []
    assert one.torn == len(joined(OTHERS[1:])) - len(MAGIC)
    assert "is not the end" in told(folder, joined([BLOCKS[0], *OTHERS[1:]]), SECOND)


# --------------------------------------------------------------------- bits and bytes


def flipped(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield data with one bit of each byte flipped, another one each time."""
    for at, byte in enumerate(data):
        yield at, data[:at] + bytes([byte ^ 1 << at % 8]) + data[at + 1 :]


@pytest.mark.slow
def test_wherever_a_bit_is_another_that_is_told_or_a_torn_end(folder: Path) -> None:
    for at, data in flipped(FIRST):
        one = life(folder, data)
        try:
            found = loads(list(one.turns(CODEC)))
        except InputError:
            assert at < where(LAST)
        else:
            assert at >= where(LAST)
            assert (found, one.torn) == (ALIKE[:4], len(BLOCKS[LAST]))


@pytest.mark.parametrize(
    ("begin", "end"),
    [(8, 16), (11, 13), (10, 40), (16, 17), (9, 150)],
    ids=["head", "both numbers", "head and content", "content", "most of it"],
)
def test_a_header_without_its_length_and_checksum_is_damaged(
    folder: Path, begin: int, end: int
) -> None:
    at = len(MAGIC) + HEAD
    zeros = bytes(end - begin)
    with pytest.raises(InputError, match=r"is damaged at byte 8, and goes on"):
        read(folder, FIRST[:begin] + zeros + FIRST[end:])
    # Of one block alone nobody knows whose it is, unless the content is there.
    alone = segment_of(ALIKE[:1])
    with pytest.raises(InputError, match=r"is damaged at byte 8, and goes on"):
        read(folder, alone[: len(MAGIC)] + bytes(HEAD) + alone[at:])


@pytest.mark.slow
def test_wherever_a_bit_is_another_in_a_segment_with_a_next_one_that_is_told(
    folder: Path,
) -> None:
    life(folder, FIRST, SECOND)
    for _, data in flipped(FIRST):
        with pytest.raises(InputError):
            read(folder, data)


@pytest.mark.slow
def test_wherever_a_segment_is_cut_its_end_is_torn(folder: Path) -> None:
    ends = [where(number) for number in range(1, LAST + 2)]
    for end in range(len(FIRST)):
        one = life(folder, FIRST[:end])
        whole = sum(each <= end for each in ends)
        assert loads(list(one.turns(CODEC))) == ALIKE[: max(whole - 1, 0)]
        begun = ends[whole - 1] if whole else len(MAGIC)
        assert one.torn == (end - begun if end >= begun else end)


@pytest.mark.slow
def test_the_end_of_a_large_segment_is_torn_whichever_bit_is_another(
    folder: Path,
) -> None:
    """Where most offsets are those of the file, none may be taken for that of another place."""
    contents = [turn(bytes(size)) for size in (4 << 20, 100, 100, 100)]
    large = reframed([contents_of(FIRST)[0], *contents])
    blocks = raw_blocks(large)
    begin = len(large) - len(blocks[-1])
    for at in range(begin, begin + 8):
        for bit in range(8):
            data = bytearray(large)
            data[at] ^= 1 << bit
            one = life(folder, bytes(data))
            assert len(list(one.turns(CODEC))) == 3
            assert one.torn == len(blocks[-1])


@pytest.mark.slow
def test_stamps_are_of_one_place_alone() -> None:
    salt = 0xDEADBEEF
    stamps = {stamp(salt, offset) for offset in range(0, 1 << 25, 97)}
    assert len(stamps) == len(range(0, 1 << 25, 97))
    offsets = [where(number) for number in range(1, LAST + 1)]
    salt = salt_of(FIRST)
    assert [origin_of(FIRST, offset, salt) for offset in offsets] == offsets


# ---------------------------------------------------------------------------- at random

PLACES = st.integers(0, len(FIRST) + 20)
BORDERS = st.sampled_from([where(number) for number in range(LAST + 2)])
EITHER = PLACES | BORDERS
CHANGES = st.one_of(
    st.tuples(st.just("gone"), EITHER, EITHER),
    st.tuples(st.just("twice"), EITHER, EITHER),
    st.tuples(st.just("zeros"), EITHER, EITHER),
    st.tuples(st.just("noise"), EITHER, st.binary(min_size=1, max_size=40)),
    st.tuples(st.just("moved"), EITHER, EITHER),
)


def changed(data: bytes, how: str, at: int, what: Any) -> bytes:
    """Return a segment of which something is gone, there twice, overwritten or elsewhere."""
    if how == "noise":
        noise = bytes(what)
        return data[:at] + noise + data[at + len(noise) :]
    begin, end = sorted((at, what))
    part = data[begin:end]
    if how == "gone":
        return data[:begin] + data[end:]
    if how == "twice":
        return data[:end] + part + data[end:]
    if how == "zeros":
        return data[:begin] + bytes(len(part)) + data[end:]
    rest = data[:begin] + data[end:]
    place = len(rest) // 2
    return rest[:place] + part + rest[place:]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(CHANGES, min_size=1, max_size=3), st.booleans())
def test_whatever_is_done_to_a_segment_no_turn_is_read_that_was_not_written(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Any], followed: bool
) -> None:
    data = FIRST
    for how, at, what in changes:
        data = changed(data, how, at, what)
    folder = tmp_path_factory.mktemp("changed") / "a"
    folder.mkdir()
    segments = (data, SECOND) if followed else (data,)
    before = segment_of(ALIKE[:5])
    try:
        found = read(folder, *segments)
    except InputError:
        found = read(folder, *segments, partial=True)
        found = [one for one in found if one is not None]
        assert [one for one in ALIKE if one in found] == found
        return
    if followed:
        assert data == before
    assert found == (ALIKE if followed else ALIKE[: len(found)])
