"""Blocks as hosts write them: each bound to its place, whoever writes it and whatever failed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.stores import (
    CODEC,
    EVERY,
    PACKET,
    SYSTEM,
    A,
    Put,
    opened,
    read,
    receive,
    records,
    small_disk,
    synced,
)
from tests.trace.journal.reframed import contents_of, raw_blocks, reframed

from worldline.deploy import journal as journal_module
from worldline.deploy import turn_times
from worldline.deploy.journal import JournalFailure, JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.engine.native.library import KernelMissing
from worldline.model.errors import InputError
from worldline.trace.journal.framing import MAGIC
from worldline.trace.journal.reading import read_node
from worldline.trace.journal.records import (
    CheckpointRecord,
    DeltaRecord,
    JournalRecord,
    ReceivedRecord,
)

LARGE = bytes(range(256)) * 400


def write_all_kinds(place: Path) -> Path:
    """Write turns in every way that there is; return the file."""
    writer, _ = opened(place, JournalOptions(run="r", sync="durable"))
    large = CODEC.packet(1, 1, 7, 0, "", Put("k", LARGE))
    small = CODEC.packet(1, 1, 200, 0, "", Put("k", b"v"))

    async def write() -> None:
        writer.commit(EVERY[:1])
        for number in range(3):
            receive(writer, [small] * 2)  # the kernel, of packets
            writer.commit(EVERY[2:4])  # the kernel, of records
            receive(writer, [large])  # too much for it
            kept = {"kept": {"k": LARGE}, "seen": number}
            writer.commit(
                [ReceivedRecord(large), DeltaRecord(0, kept, 0)], durable=True
            )  # with what stands for bytes
            await synced(writer)

    asyncio.run(write())
    writer.close("done")
    return place / "a" / "1-0.wlj"


@pytest.mark.parametrize("by_kernel", [True, False])
def test_whoever_writes_them_blocks_are_where_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, by_kernel: bool
) -> None:
    def missing(name: str, address: int) -> Any:
        raise KernelMissing("it was not built", remedy="build it")

    if not by_kernel:
        monkeypatch.setattr(turn_times, "bound", missing)
    data = write_all_kinds(tmp_path).read_bytes()
    contents = contents_of(data)
    assert len(contents) == 1 + 14
    assert reframed(contents) == data
    assert len(read(tmp_path)) == 14


def test_a_segment_says_how_long_the_one_before_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 2_000)
    monkeypatch.setattr(journal_module, "compress_later", lambda path: None)
    writer, _ = opened(tmp_path)
    writer.commit(EVERY[:1])
    for _ in range(60):
        receive(writer, [PACKET])
        if writer.needs_checkpoint:
            writer.checkpoint(b"\x93\x01\x02\x03")
    writer.close(None)
    sizes: list[int | None] = [None]
    (life,) = read_node(tmp_path / "a").incarnations
    assert len(life.files) > 3
    for file in life.files:
        (only,) = read_node(tmp_path / "a").incarnations
        only.files = (file,)
        assert only.header is not None
        assert only.header.before == sizes[-1]
        sizes.append(file.path.stat().st_size)
    received = [r for r in records(read(tmp_path)) if type(r) is ReceivedRecord]
    assert len(received) == 60


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """Give a function that limits the size of files."""
    with small_disk() as limit:
        yield limit


@pytest.mark.parametrize("alone", [False, True])
def test_behind_a_full_disk_blocks_are_where_they_say(
    tmp_path: Path,
    full_disk: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    *,
    alone: bool,
) -> None:
    monkeypatch.setattr(journal_module, "_AGAIN_S", 0.0)
    monkeypatch.setattr(journal_module, "compress_later", lambda path: None)
    said: list[str] = []
    options = JournalOptions(run="r", sync="never")
    writer, _ = JournalWriter.open(
        tmp_path, SYSTEM, CODEC, A, options, named=said.append
    )
    writer.commit(EVERY[:1])
    receive(writer, [PACKET])
    first = tmp_path / "a" / "1-0.wlj"
    size = first.stat().st_size
    full_disk(size + 40)
    for _ in range(2):
        if alone:
            receive(writer, [PACKET] * 50)
        else:
            writer.commit([ReceivedRecord(PACKET * 50), *EVERY[2:4]])
    assert first.stat().st_size == size
    full_disk(-1)
    assert writer.needs_checkpoint
    writer.checkpoint(b"\x93\x01\x02\x03")
    receive(writer, [PACKET])
    writer.close("done")
    for path in (first, first.with_name("1-1.wlj")):
        data = path.read_bytes()
        assert reframed(contents_of(data)) == data
    kinds = [type(record) for record in records(read(tmp_path))]
    assert kinds.count(CheckpointRecord) == 1
    first.write_bytes(first.read_bytes()[: -len(raw_blocks(first.read_bytes())[-1])])
    with pytest.raises(InputError, match="when the next segment was begun"):
        read(tmp_path)


def test_a_node_does_not_begin_behind_a_block_that_is_there_twice(
    tmp_path: Path,
) -> None:
    path = write_all_kinds(tmp_path)
    blocks = raw_blocks(path.read_bytes())
    for number in range(1, len(blocks) - 1):
        twice = [*blocks[: number + 1], *blocks[number:]]
        path.write_bytes(MAGIC + b"".join(twice))
        with pytest.raises(InputError, match="is a copy of what") as refused:
            opened(tmp_path)
        assert "in an empty folder the node begins" in refused.value.remedy


def test_a_life_goes_on_behind_a_torn_end(tmp_path: Path) -> None:
    path = write_all_kinds(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    last = len(raw_blocks(data)[-1])
    writer, restored = opened(tmp_path)
    assert restored.torn == last - 1
    assert path.read_bytes() == data[:-last]
    writer.commit(EVERY[:1])
    writer.close(None)
    again = (tmp_path / "a" / "2-0.wlj").read_bytes()
    assert reframed(contents_of(again)) == again
    assert len(read(tmp_path)) == 14


def test_of_a_large_block_that_has_no_room_nothing_is_left(
    tmp_path: Path, full_disk: Callable[[int], None]
) -> None:
    large = CODEC.packet(1, 1, 7, 0, "", Put("k", LARGE))
    writer, _ = opened(tmp_path)
    writer.commit(EVERY[:1])
    size = (tmp_path / "a" / "1-0.wlj").stat().st_size
    for more in (3, 30, len(LARGE) // 2, len(large)):
        full_disk(size + more)
        turn: list[JournalRecord] = [
            ReceivedRecord(large),
            DeltaRecord(0, {"kept": {"k": LARGE}}, 0),
        ]
        with pytest.raises(JournalFailure, match="cannot be written"):
            writer.commit(turn, durable=True)
        assert (tmp_path / "a" / "1-0.wlj").stat().st_size == size
    full_disk(-1)
    receive(writer, [PACKET])
    writer.close(None)
    assert records(read(tmp_path)) == [*EVERY[:1], ReceivedRecord(PACKET)]
