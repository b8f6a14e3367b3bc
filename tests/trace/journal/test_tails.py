"""Segments and their tails: joined, as far as a tail has whole blocks in their places."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shares import share
from tests.trace.journal.reframed import contents_of, raw_blocks, reframed
from tests.trace.journal.test_blocks import (
    ALIKE,
    CODEC,
    FIRST,
    header,
    life,
    loads,
    read,
    turn,
)

from worldline.model.errors import InputError
from worldline.trace.journal.segments import opening
from worldline.trace.journal.tails import (
    TAIL_HEAD,
    TAIL_NAME,
    TAIL_ROOM,
    SegmentTail,
    joined,
    place,
    read_tail,
    whose,
)

STALE = bytes(range(1, 256)) * 4


def segment_of(loads: list[bytes], segment: int = 0) -> bytes:
    return reframed([*contents_of(opening(header(segment))), *map(turn, loads)])


WHOLE = segment_of(ALIKE)
BLOCKS = raw_blocks(WHOLE)


def where(number: int) -> int:
    """Return the offset of a block."""
    return len(WHOLE) - len(b"".join(BLOCKS[number:]))


def tail_of(
    number: int,
    end: int = len(BLOCKS),
    *,
    blocks: bytes | None = None,
    life: int = 1,
    segment: int = 0,
    offset: int | None = None,
    length: int | None = None,
) -> bytes:
    """Return a tail that begins with one block and ends before another; or that says otherwise."""
    if blocks is None:
        blocks = b"".join(BLOCKS[number:end])
    at = where(number) if offset is None else offset
    said = place(at, len(blocks) if length is None else length)
    head = whose(life, segment) + said.to_bytes(8, "little")
    return head.ljust(TAIL_HEAD, b"\0") + (blocks + STALE).ljust(TAIL_ROOM, b"\0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    return tmp_path / "a"


def put(folder: Path, tail: bytes) -> None:
    folder.joinpath(TAIL_NAME).write_bytes(tail)


def read_torn(folder: Path, *segments: bytes) -> tuple[list[bytes], int]:
    """Return what is read, and how many bytes at the end are torn."""
    found = life(folder, *segments)
    return loads(list(found.turns(CODEC))), found.torn


# ------------------------------------------------------------------------------ joined


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=8),
    first=st.integers(0, 8),
    written=st.floats(0, 1),
    stale=st.binary(max_size=300),
    data=st.data(),
)
def test_whatever_of_it_was_written_a_segment_is_whole_with_its_tail(
    sizes: list[int], first: int, written: float, stale: bytes, data: st.DataObject
) -> None:
    whole = segment_of([bytes([n]) * size for n, size in enumerate(sizes)])
    blocks = raw_blocks(whole)[1:]
    last = data.draw(st.integers(0, len(blocks)))
    kept = b"".join(blocks[min(first, last) : last])
    end = len(whole) - len(b"".join(blocks[last:]))
    offset = end - len(kept)
    tail = SegmentTail(1, 0, offset, len(kept), kept + stale)
    file = whole[: offset + round(written * len(kept))]
    assert joined(file, tail) == (whole[:end], 0)
    assert joined(whole, tail) == (whole, 0)  # more was written meanwhile


@pytest.mark.parametrize("number", range(1, len(BLOCKS) + 1))
def test_it_is_read_with_its_segment(folder: Path, number: int) -> None:
    put(folder, tail_of(number))
    for more in {0, 1, len(b"".join(BLOCKS[number:])) // 2}:
        assert read_torn(folder, WHOLE[: where(number) + more]) == (ALIKE, 0)
    assert read_torn(folder, WHOLE) == (ALIKE, 0)


def test_it_belongs_to_the_segment_that_it_names(folder: Path) -> None:
    second = reframed([*contents_of(opening(header(1, len(FIRST)))), turn(ALIKE[5])])
    behind = reframed([*contents_of(second), *map(turn, ALIKE[6:])])
    tail = behind[len(second) :]
    put(folder, tail_of(0, segment=1, offset=len(second), blocks=tail))
    assert read_torn(folder, FIRST, second) == (ALIKE, 0)


def test_a_segment_before_the_last_may_have_it(folder: Path) -> None:
    second = reframed([*contents_of(opening(header(1, len(FIRST)))), turn(ALIKE[5])])
    whole = raw_blocks(FIRST)
    put(folder, tail_of(3, 6))
    assert b"".join(BLOCKS[3:6]) == b"".join(whole[3:])
    assert read(folder, FIRST[: where(3)], second) == ALIKE[:6]


# ----------------------------------------------------------------------- torn, or damaged


@pytest.mark.parametrize("number", [1, 5, 9])
def test_cut_at_every_byte_it_loses_its_last_blocks_and_says_so(
    folder: Path, number: int
) -> None:
    tail, file = tail_of(number), WHOLE[: where(number)]
    for end in range(TAIL_HEAD, TAIL_HEAD + len(WHOLE) - len(file)):
        put(folder, tail[:end])
        whole = sum(
            TAIL_HEAD + where(n) - where(number) <= end for n in range(number, 10)
        )
        found, torn = read_torn(folder, file)
        assert found == ALIKE[: number - 2 + whole]
        assert torn == len(WHOLE) - where(number - 1 + whole)


@pytest.mark.parametrize("number", share([1, 7], only=[7]))
def test_of_a_bit_that_was_flipped_in_it_is_said_what_it_cost(
    folder: Path, number: int
) -> None:
    tail, file = tail_of(number), WHOLE[: where(number)]
    for at in range(TAIL_HEAD + len(WHOLE) - len(file)):
        is_every = at < TAIL_HEAD or number == 1
        for bit in range(8) if is_every else (at % 8,):
            put(folder, tail[:at] + bytes([tail[at] ^ 1 << bit]) + tail[at + 1 :])
            found, torn = read_torn(folder, file)
            assert found == ALIKE[: len(found)]
            if 32 <= at < TAIL_HEAD:  # where nothing is yet
                assert (found, torn) == (ALIKE, 0)
            elif 24 <= at < 27 and found == ALIKE:
                pass  # another length: what is whole counts
            else:
                assert len(found) < len(ALIKE)
                assert torn > 0
    # What it tells is what is missing.
    flipped = TAIL_HEAD + where(8) - where(number) + 20
    put(folder, tail[:flipped] + bytes([tail[flipped] ^ 1]) + tail[flipped + 1 :])
    assert read_torn(folder, file) == (ALIKE[:7], len(WHOLE) - where(8))


def test_what_belongs_further_on_than_the_file_goes_is_lost(folder: Path) -> None:
    put(folder, tail_of(6))
    lost = len(WHOLE) - where(6)
    assert read_torn(folder, WHOLE[: where(5)]) == (ALIKE[:4], lost)
    assert read_torn(folder, WHOLE[: where(5) + 3]) == (ALIKE[:4], lost + 3)
    assert read_torn(folder, b"") == ([], lost)


def test_one_that_is_not_like_its_file_is_lost(folder: Path) -> None:
    put(folder, tail_of(5, blocks=b"".join(BLOCKS[6:])))
    assert read_torn(folder, WHOLE) == (ALIKE, len(WHOLE) - where(6))


@pytest.mark.parametrize(("life", "segment"), [(2, 0), (1, 1), (0, 0)])
def test_one_of_another_segment_is_lost(folder: Path, life: int, segment: int) -> None:
    put(folder, tail_of(5, life=life, segment=segment))
    lost = len(WHOLE) - where(5)
    assert read_torn(folder, WHOLE[: where(5)]) == (ALIKE[:4], lost)
    put(folder, tail_of(5, 5, life=life, segment=segment))
    assert read_torn(folder, WHOLE[: where(5)]) == (ALIKE[:4], 0)


def test_before_the_last_segment_what_is_lost_is_damage(folder: Path) -> None:
    second = reframed([*contents_of(opening(header(1, len(FIRST)))), turn(ALIKE[5])])
    tail = bytearray(tail_of(3, 6))
    tail[TAIL_HEAD + 20] ^= 1
    put(folder, bytes(tail))
    with pytest.raises(InputError, match="and is not the end of the journal"):
        read(folder, FIRST[: where(3)], second)
    found = read(folder, FIRST[: where(3)], second, partial=True)
    assert found == [*ALIKE[:2], None, ALIKE[5]]


# ----------------------------------------------------------------------------- hostile


@pytest.mark.parametrize("length", [0, 1, TAIL_ROOM + 1, 2**24 - 1])
@pytest.mark.parametrize("offset", [0, 8, 100, 2**39, 2**40 - 1])
def test_whatever_place_it_says_the_file_is_read(
    folder: Path, offset: int, length: int
) -> None:
    put(folder, tail_of(5, offset=offset, length=length))
    found, torn = read_torn(folder, WHOLE[: where(5)])
    assert found == ALIKE[:4]
    assert torn == length or offset + length <= where(5)


@pytest.mark.parametrize("data", [b"", bytes(TAIL_HEAD), bytes(70_000)])
def test_what_nobody_has_begun_is_none(folder: Path, data: bytes) -> None:
    put(folder, data)
    assert read_tail(folder) is None
    assert read_torn(folder, WHOLE) == (ALIKE, 0)


@pytest.mark.parametrize("data", [b"x", b"no tail" * 20, tail_of(5)[:40]])
def test_what_is_no_tail_is_lost(folder: Path, data: bytes) -> None:
    put(folder, data)
    assert read_torn(folder, WHOLE) == (ALIKE, len(data))


@given(data=st.binary(max_size=300), at=st.integers(0, 2 * TAIL_HEAD))
def test_whatever_it_is_it_is_read_or_lost(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int
) -> None:
    folder = tmp_path_factory.mktemp("any") / "a"
    folder.mkdir()
    tail = tail_of(5)
    put(folder, tail[:at] + data + tail[at + len(data) :])
    found, _ = read_torn(folder, WHOLE[: where(5)])
    assert found == ALIKE[: len(found)]
    assert len(found) >= 4


def test_what_is_no_regular_file_is_refused(folder: Path, tmp_path: Path) -> None:
    elsewhere, tail = tmp_path / "elsewhere", folder / TAIL_NAME
    elsewhere.write_bytes(tail_of(5))
    for make in (
        lambda: tail.symlink_to(elsewhere),
        lambda: os.mkfifo(tail),
        tail.mkdir,
        lambda: tail.symlink_to(tail),
    ):
        make()
        with pytest.raises(InputError, match=r"cannot read .*tail"):
            read(folder, WHOLE)
        if tail.is_dir() and not tail.is_symlink():
            tail.rmdir()
        else:
            tail.unlink()
