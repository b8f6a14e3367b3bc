"""The tail of a journal as hosts write it: whoever ends them, whenever, nothing is lost."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.deploy.stores import (
    CODEC,
    EVERY,
    PACKET,
    Put,
    opened,
    read,
    receive,
    records,
    small_disk,
    synced,
)
from tests.trace.journal.reframed import contents_of, reframed

from worldline.deploy import journal as journal_module
from worldline.deploy import journal_tail, segment_file
from worldline.deploy.journal import JournalFailure, JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.engine.native.library import KernelMissing
from worldline.model.errors import InputError
from worldline.trace.journal.reading import read_node
from worldline.trace.journal.records import (
    DeltaRecord,
    FiredRecord,
    JournalRecord,
    ReceivedRecord,
    StartedRecord,
)
from worldline.trace.journal.tails import TAIL_NAME, TAIL_SIZE

LARGE = CODEC.packet(1, 1, 7, 0, "", Put("k", bytes(range(256)) * 36))
DURABLE = JournalOptions(run="r", sync="durable")


def begun(place: Path, options: JournalOptions = DURABLE) -> JournalWriter:
    writer, _ = opened(place, options)
    writer.commit(EVERY[:1])
    if not (place / "a" / TAIL_NAME).exists() and options.sync != "always":
        writer.close(None)
        pytest.skip("this file system has no tails, or there is no kernel")
    return writer


def tick(writer: JournalWriter, name: str = "tick") -> None:
    writer.commit([FiredRecord("", name, None)])


def file_of(place: Path, number: int = 0) -> Path:
    return place / "a" / f"1-{number}.wlj"


def copied(place: Path, to: Path) -> Path:
    """Return a copy of a recording, as it is when the process is killed now."""
    shutil.copytree(place, to)
    return to


def is_whole(place: Path, expected: list[JournalRecord]) -> None:
    """Check what is read of a journal that was not closed, and then by whoever goes on."""
    (life,) = read_node(place / "a").incarnations
    assert records(list(life.turns(CODEC))) == expected
    assert life.torn == 0
    writer, restored = opened(place, DURABLE)
    assert (restored.incarnation, restored.torn) == (2, 0)
    assert not (place / "a" / TAIL_NAME).exists()
    for file in life.files:
        data = file.path.read_bytes()
        assert reframed(contents_of(data)) == data
    writer.close(None)
    assert records(read(place)) == expected


def test_small_blocks_are_in_the_tail_and_a_clean_stop_leaves_none(
    tmp_path: Path,
) -> None:
    writer = begun(tmp_path)
    size = file_of(tmp_path).stat().st_size
    for _ in range(10):
        tick(writer)
        receive(writer, [PACKET])
    assert file_of(tmp_path).stat().st_size == size
    assert len(records(read(tmp_path))) == 21  # by others, meanwhile
    writer.close("done")
    assert sorted(each.name for each in (tmp_path / "a").iterdir()) == [
        "1-0.wlj",
        "lock",
    ]
    assert file_of(tmp_path).stat().st_size == writer.bytes_written
    assert len(records(read(tmp_path))) == 22


def turns() -> Iterator[tuple[list[JournalRecord], bool]]:
    """Yield the records of turns of all sizes and kinds, and whether they are durable."""
    for number in range(4):
        yield [FiredRecord("", f"tick{number}", None)], False
        yield [ReceivedRecord(PACKET)], False
        if number % 2:
            yield [ReceivedRecord(LARGE)], False
        yield [ReceivedRecord(PACKET), DeltaRecord(0, {"seen": number}, 0)], True
        yield [FiredRecord("", "tock", None)], False


def test_whenever_it_is_killed_all_that_was_written_is_there(tmp_path: Path) -> None:
    place, killed = tmp_path / "rec", tmp_path / "killed"
    writer, wanted = begun(place), EVERY[:1]
    number = 0
    for turn, durable in turns():
        before = copied(place, tmp_path / "before")
        writer.commit(list(turn), durable)
        old, new = (file_of(each).read_bytes() for each in (before, place))
        # Written into the file, and not begun anew: the tail of before, and any part of it.
        for end in sorted(
            {len(old), (len(old) + len(new)) // 2, len(new)} - {len(old)}
        ):
            copied(before, killed)
            file_of(killed).write_bytes(new[:end])
            (life,) = read_node(killed / "a").incarnations
            found = records(list(life.turns(CODEC)))
            assert found == wanted + (turn if end == len(new) else [])
            assert opened(killed, DURABLE)[1].torn == life.torn
            shutil.rmtree(killed)
        wanted = wanted + turn
        is_whole(copied(place, killed), wanted)
        shutil.rmtree(killed)
        shutil.rmtree(before)
        number += 1
    writer.close(None)
    assert number == 18


def test_what_is_durable_is_in_the_file_with_all_before_it(tmp_path: Path) -> None:
    writer = begun(tmp_path)

    async def keep() -> None:
        tick(writer)
        writer.commit(
            [ReceivedRecord(PACKET), DeltaRecord(0, {"seen": 1}, 0)], durable=True
        )
        assert file_of(tmp_path).stat().st_size == writer.bytes_written
        await synced(writer)
        tick(writer)
        assert file_of(tmp_path).stat().st_size < writer.bytes_written

    asyncio.run(keep())
    writer.close(None)


@pytest.mark.parametrize("sync", ["always", "never"])
def test_where_all_is_synced_there_is_none(tmp_path: Path, sync: str) -> None:
    writer = begun(tmp_path, JournalOptions(run="r", sync=sync))
    turn: list[JournalRecord] = [ReceivedRecord(PACKET), DeltaRecord(0, {"seen": 1}, 0)]
    if sync == "never":
        writer.commit(turn, durable=True)
        assert file_of(tmp_path).stat().st_size < writer.bytes_written
    assert (tmp_path / "a" / TAIL_NAME).exists() == (sync == "never")
    writer.close(None)


@pytest.mark.parametrize("why", ["kernel", "room", "system"])
def test_where_none_can_be_made_blocks_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    def fail(*given: object) -> None:
        raise (
            OSError(errno.ENOSPC, "No space left on device")
            if why == "room"
            else KernelMissing("it was not built", remedy="build it")
        )

    class Other:
        def wl_journal_mappable(self, fd: int) -> int:
            return 0

    if why == "room":
        monkeypatch.setattr(os, "posix_fallocate", fail)
    else:
        given = fail if why == "kernel" else Other
        monkeypatch.setattr(journal_tail, "library", given)
    writer, _ = opened(tmp_path, DURABLE)
    writer.commit(EVERY[:1])
    tick(writer)
    assert file_of(tmp_path).stat().st_size == writer.bytes_written
    assert sorted(each.name for each in (tmp_path / "a").iterdir()) == [
        "1-0.wlj",
        "lock",
    ]
    writer.close(None)


def test_a_new_segment_begins_behind_the_whole_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 2_000)
    monkeypatch.setattr(journal_module, "compress_later", segment_file._compress)
    place, ticks = tmp_path / "rec", 0
    writer = begun(place, JournalOptions(run="r", sync="never"))
    while writer._header.segment < 3:
        tick(writer)
        ticks += 1
        if writer.needs_checkpoint:
            writer.checkpoint(b"\x93\x01\x02\x03")
    tick(writer)
    killed = copied(place, tmp_path / "killed")
    found = [r for r in records(read(killed)) if type(r) is FiredRecord]
    assert len(found) == ticks + 1
    names = sorted(each.name for each in (killed / "a").iterdir())
    assert names == [
        *(f"1-{n}.wlj.zst" for n in range(3)),
        "1-3.wlj",
        "lock",
        TAIL_NAME,
    ]
    writer.close(None)


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """Give a function that limits the size of files."""
    with small_disk() as limit:
        yield limit


def fill(writer: JournalWriter, place: Path) -> int:
    """Let ticks be, until one has no room; return how many were written."""
    number = 0
    while not writer.unrecorded:
        assert (place / "a" / TAIL_NAME).stat().st_size == TAIL_SIZE
        tick(writer)
        number += 1
    return number - 1


def test_on_a_full_disk_what_is_in_it_stays(
    tmp_path: Path,
    full_disk: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(journal_module, "_AGAIN_S", 0.0)
    writer = begun(tmp_path, JournalOptions(run="r", sync="never"))
    size = file_of(tmp_path).stat().st_size
    full_disk(size + 1_000)
    ticks = fill(writer, tmp_path)
    assert ticks > 1_000
    assert file_of(tmp_path).stat().st_size == size
    assert len(records(read(tmp_path))) == 1 + ticks
    tick(writer)
    writer.checkpoint(b"\x93\x01\x02\x03")
    assert not file_of(tmp_path, 1).exists()  # it is begun behind a whole one alone
    full_disk(-1)
    killed = copied(tmp_path, tmp_path.with_name("killed"))
    full_disk(size + 1_000)
    with pytest.raises(InputError, match=r"cannot write what is in .*tail"):
        opened(killed)
    assert len(records(read(killed))) == 1 + ticks
    full_disk(-1)
    assert opened(killed)[1].torn == 0
    assert len(records(read(killed))) == 1 + ticks
    tick(writer)
    writer.checkpoint(b"\x93\x01\x02\x03")
    tick(writer)
    writer.close("done")
    kinds = [type(each).__name__ for each in records(read(tmp_path))]
    assert kinds[ticks:] == [
        "FiredRecord",
        "GapRecord",
        "CheckpointRecord",
        "FiredRecord",
        "StoppedRecord",
    ]
    shutil.rmtree(killed)


def test_a_stop_on_a_full_disk_leaves_it_for_the_next_life(
    tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    writer = begun(tmp_path)
    full_disk(file_of(tmp_path).stat().st_size + 10)
    tick(writer)
    turn: list[JournalRecord] = [DeltaRecord(0, {"seen": 1}, 0)]
    with pytest.raises(JournalFailure, match="cannot be written: File too large"):
        writer.commit(turn, durable=True)
    writer.close("done")
    kept = [*EVERY[:1], FiredRecord("", "tick", None)]
    assert records(read(tmp_path))[:2] == kept
    full_disk(-1)
    is_whole(tmp_path, records(read(tmp_path)))


def test_who_reads_meanwhile_reads_all_that_was_written_before(tmp_path: Path) -> None:
    writer = begun(tmp_path, JournalOptions(run="r", sync="never"))
    written, is_over = [1], threading.Event()

    def write() -> None:
        while not is_over.is_set():
            for _ in range(50):
                tick(writer)
                written[0] += 1
            if written[0] % 1_000 == 1:
                receive(writer, [LARGE])
                written[0] += 1

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(60):
            (life,) = read_node(tmp_path / "a").incarnations
            before = written[0]
            found = sum(len(turn.records) for turn in life.turns(CODEC))
            assert life.torn == 0
            assert before <= found
            if written[0] > 20_000:
                break
    finally:
        is_over.set()
        thread.join()
    writer.close(None)
    assert type(records(read(tmp_path))[0]) is StartedRecord


def test_a_life_begins_without_what_is_torn_of_it(tmp_path: Path) -> None:
    writer = begun(tmp_path)
    for _ in range(3):
        tick(writer)
    killed = copied(tmp_path, tmp_path.with_name("killed-torn"))
    writer.close(None)
    path = killed / "a" / TAIL_NAME
    data = bytearray(path.read_bytes())
    block = (writer.bytes_written - file_of(killed).stat().st_size) // 3
    data[64 + block + 20] ^= 1
    path.write_bytes(bytes(data))
    writer, restored = opened(killed)
    assert restored.torn == pytest.approx(2 * block, abs=8)
    assert records(read(killed)) == [*EVERY[:1], FiredRecord("", "tick", None)]
    writer.close(None)
    shutil.rmtree(killed)


@pytest.mark.parametrize(("begin", "end"), [(12, 13), (8, 16), (20, 30), (9, 90)])
def test_it_stays_where_the_header_of_its_segment_is_damaged(
    tmp_path: Path, begin: int, end: int
) -> None:
    writer = begun(tmp_path)
    for _ in range(3):
        tick(writer)
    killed = copied(tmp_path, tmp_path.with_name(f"killed-{begin}"))
    writer.close(None)
    whole = file_of(killed).read_bytes()
    zeros = bytes(end - begin)
    file_of(killed).write_bytes(whole[:begin] + zeros + whole[end:])
    for _ in range(2):
        with pytest.raises(InputError, match="is damaged at byte 8"):
            opened(killed)
    file_of(killed).write_bytes(whole)
    writer, restored = opened(killed)
    assert restored.torn == 0
    assert records(read(killed))[1:] == [FiredRecord("", "tick", None)] * 3
    writer.close(None)
    shutil.rmtree(killed)


@settings(deadline=None, max_examples=50)
@given(data=st.binary(max_size=200), at=st.integers(0, 300))
def test_whatever_has_become_of_it_a_life_begins(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int
) -> None:
    place = tmp_path_factory.mktemp("hostile")
    writer = begun(place)
    tick(writer)
    tick(writer)
    killed = copied(place, place / "killed")
    writer.close(None)
    path = killed / "a" / TAIL_NAME
    tail = path.read_bytes()
    path.write_bytes(tail[:at] + data + tail[at + len(data) :])
    writer, restored = opened(killed)
    assert restored.incarnation == 2
    assert not path.exists()
    found = records(read(killed))
    assert found == [*EVERY[:1], *[FiredRecord("", "tick", None)] * (len(found) - 1)]
    writer.close(None)
