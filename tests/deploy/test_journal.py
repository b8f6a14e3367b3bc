"""Journals as they are written, torn, and begun again."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.stores import (
    CODEC,
    EVERY,
    OPTIONS,
    PACKET,
    SYSTEM,
    A,
    B,
    Put,
    opened,
    read,
    receive,
    records,
    small_disk,
    synced,
    written,
)

from worldline.deploy import journal as journal_module
from worldline.deploy.journal import JournalFailure, JournalWriter
from worldline.deploy.journal_options import JournalOptions
from worldline.deploy.recovery import Restored
from worldline.deploy.segment_file import _compress
from worldline.model.errors import InputError, UsageError
from worldline.trace.journal.checkpoints import (
    NodeCheckpoint,
    SavedConnection,
    SavedTimer,
    pack_checkpoint,
    unpack_checkpoint,
)
from worldline.trace.journal.framing import MAGIC
from worldline.trace.journal.reading import nodes_of, read_node
from worldline.trace.journal.records import (
    CheckpointRecord,
    DeltaRecord,
    FiredRecord,
    GapRecord,
    JournalRecord,
    ReceivedRecord,
    StartedRecord,
    StoppedRecord,
)


def test_every_record_comes_back_as_it_was(tmp_path: Path) -> None:
    written(tmp_path, EVERY[:3], EVERY[3:])
    turns = read(tmp_path)
    assert [turn.records for turn in turns] == [EVERY[:3], EVERY[3:]]
    assert turns[0].monotonic_ns < turns[1].monotonic_ns
    assert [folder.name for folder in nodes_of(tmp_path)] == ["a"]


def test_names_of_nodes_make_no_paths(tmp_path: Path) -> None:
    writer, _ = opened(tmp_path, node=B)
    writer.commit(EVERY[:1])
    writer.close(None)
    (folder,) = nodes_of(tmp_path)
    assert folder.parent == tmp_path
    assert read_node(folder).node == B.name


def test_a_checkpoint_comes_back_as_it_was(tmp_path: Path) -> None:
    state = _checkpoint({"kept": {"k": b"v"}, "cached": 3})
    writer, _ = opened(tmp_path)
    writer.commit(EVERY[:1])
    writer.checkpoint(pack_checkpoint(state, CODEC))
    writer.close("done")
    _, second, third = records(read(tmp_path))
    assert isinstance(second, CheckpointRecord)
    assert unpack_checkpoint(second.state, CODEC) == state
    assert third == StoppedRecord("done")


def _checkpoint(fields: dict[str, Any]) -> NodeCheckpoint:
    timers = (SavedTimer("", "tick", None, 0.5),)
    links = (SavedConnection(1, True, 3, 4),)
    return NodeCheckpoint(1, 99, 12, fields, timers, (1, 0), PACKET, links)


def test_a_life_begins_with_the_durable_state_of_the_last(tmp_path: Path) -> None:
    kept = {"kept": {"k": b"v"}, "seen": 1}
    written(
        tmp_path,
        EVERY[:1],
        [ReceivedRecord(PACKET * 2), DeltaRecord(0, kept, 3)],
        [FiredRecord("", "tick", None), DeltaRecord(0, {"seen": 2}, 3)],
    )
    writer, restored = opened(tmp_path)
    # The start is 1, the messages of time 7 are 8 and 9, the timer is 10.
    assert restored == Restored(
        incarnation=2, lamport=10, counter=3, durable={"kept": {"k": b"v"}, "seen": 2}
    )
    writer.commit([StartedRecord(2, 10, 3, restored.durable, 1.0)])
    writer.close(None)
    _, again = opened(tmp_path)
    assert (again.incarnation, again.lamport) == (3, 11)
    assert again.durable == restored.durable


def test_a_durable_field_may_be_what_a_large_message_brought(tmp_path: Path) -> None:
    large = bytes(range(256)) * 200
    packet = CODEC.packet(1, 1, 7, 0, "", Put("k", large))
    turn: list[JournalRecord] = [
        ReceivedRecord(packet),
        DeltaRecord(0, {"kept": {"k": large}}, 0),
    ]
    writer, _ = opened(tmp_path, JournalOptions(run="r", sync="durable"))

    async def write() -> None:
        writer.commit(EVERY[:1])
        writer.commit(list(turn), durable=True)
        await synced(writer)

    asyncio.run(write())
    writer.close(None)
    assert writer.bytes_written < 1.1 * len(large) + 1000
    assert records(read(tmp_path))[1:] == turn
    _, restored = opened(tmp_path)
    assert restored.durable == {"kept": {"k": large}}


def test_a_segment_that_is_compressed_meanwhile_is_read_all_the_same(
    tmp_path: Path,
) -> None:
    path = written(tmp_path, EVERY[:3])
    journal = read_node(tmp_path / "a")
    _compress(path)
    assert not path.exists()
    (life,) = journal.incarnations
    assert records(list(life.turns(CODEC))) == EVERY[:3]


def test_messages_alone_are_written_as_any_turn_is(tmp_path: Path) -> None:
    writer, _ = opened(tmp_path)
    receive(writer, [PACKET])  # makes the file
    receive(writer, [PACKET] * 2)
    size = writer.bytes_written
    writer.close(None)
    expected = [ReceivedRecord(PACKET), ReceivedRecord(PACKET * 2)]
    assert records(read(tmp_path)) == expected
    assert writer.bytes_written == size == (tmp_path / "a" / "1-0.wlj").stat().st_size


def test_without_events_messages_alone_are_not_written(tmp_path: Path) -> None:
    writer, _ = opened(tmp_path, JournalOptions(run="r", events=False))
    receive(writer, [PACKET])
    assert writer.bytes_written == 0
    writer.close(None)


def test_a_full_segment_is_followed_by_one_that_begins_with_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 2_000)
    monkeypatch.setattr(journal_module, "compress_later", _compress_now)
    writer, _ = opened(tmp_path)
    writer.commit(EVERY[:1])
    for number in range(40):
        writer.commit([ReceivedRecord(PACKET)])
        if writer.needs_checkpoint:
            writer.checkpoint(
                pack_checkpoint(
                    _checkpoint({"kept": {"n": b"%d" % number}, "cached": 1}), CODEC
                )
            )
    writer.close(None)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names[0] == "1-0.wlj.zst"
    assert len(names) > 3
    received = [one for one in records(read(tmp_path)) if type(one) is ReceivedRecord]
    assert len(received) == 40
    _, restored = opened(tmp_path)
    assert restored.durable is not None
    assert set(restored.durable) == {"kept"}  # and not what does not outlive a life


def _compress_now(path: Path) -> None:
    from worldline.deploy.segment_file import _compress

    _compress(path)


def test_only_so_many_bytes_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "SEGMENT", 2_000)
    monkeypatch.setattr(journal_module, "compress_later", lambda path: None)
    writer, _ = opened(tmp_path, JournalOptions(run="r", sync="never", keep=6_000))
    writer.commit(EVERY[:1])
    for _ in range(100):
        writer.commit([ReceivedRecord(PACKET)])
        if writer.needs_checkpoint:
            writer.checkpoint(pack_checkpoint(_checkpoint({}), CODEC))
    writer.close(None)
    sizes = [path.stat().st_size for path in (tmp_path / "a").glob("*.wlj")]
    assert 2_000 < sum(sizes) <= 6_000 + 2_000
    assert type(records(read(tmp_path))[0]) is CheckpointRecord


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    writer, _ = opened(tmp_path)
    with pytest.raises(UsageError, match="another process"):
        opened(tmp_path)
    writer.close(None)
    opened(tmp_path)[0].close(None)


def _tails(data: bytes, last: int) -> Iterator[bytes]:
    """Yield a journal with its last block cut at every byte, and each of its bits flipped."""
    for end in range(last, len(data)):
        yield data[:end]
    for at in range(last, len(data)):
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


@pytest.mark.parametrize("alone", [False, True])
def test_of_a_journal_that_is_torn_at_its_end_the_last_block_is_lost_at_most(
    tmp_path: Path, *, alone: bool
) -> None:
    writer, _ = opened(tmp_path)
    writer.commit(EVERY[:1])
    writer.commit([ReceivedRecord(PACKET)])
    last = writer.bytes_written
    if alone:
        small = CODEC.packet(1, 1, 200, 0, "", Put("k", b"v"))
        receive(writer, [small] * 2)
    else:
        writer.commit(EVERY[2:4])
    writer.close(None)
    file = tmp_path / "a" / "1-0.wlj"
    for torn in _tails(file.read_bytes(), last):
        file.write_bytes(torn)
        (life,) = read_node(file.parent).incarnations
        assert records(list(life.turns(CODEC))) == [*EVERY[:1], ReceivedRecord(PACKET)]
        assert life.torn == len(torn) - last
    writer, restored = opened(tmp_path)
    writer.close(None)
    assert restored.torn == len(torn) - last
    assert file.stat().st_size == last


def test_damage_before_the_end_is_refused_and_said_where(tmp_path: Path) -> None:
    file = written(tmp_path, EVERY[:1], [ReceivedRecord(PACKET)], EVERY[2:4])
    data = bytearray(file.read_bytes())
    data[data.index(PACKET) + 20] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(InputError, match="damaged at byte"):
        read(tmp_path)
    with pytest.raises(InputError, match="damaged at byte"):
        opened(tmp_path)
    first, gap = records(read(tmp_path, partial=True))
    assert first == EVERY[0]
    assert isinstance(gap, GapRecord)
    assert "1-0.wlj is damaged at byte" in gap.reason


@pytest.mark.parametrize("data", [b"", b"\x00" * 40, MAGIC, MAGIC + b"\xff" * 40])
def test_what_is_no_journal_is_refused_or_torn(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1-0.wlj").write_bytes(data)
    if len(data) > len(MAGIC) and not data.startswith(MAGIC):
        with pytest.raises(InputError, match="no journal"):
            read(tmp_path)
    else:
        assert read(tmp_path) == []


@pytest.mark.parametrize("sync", ["durable", "always", "never"])
def test_what_has_to_be_on_the_disk_is_owed_to_it(tmp_path: Path, sync: str) -> None:
    async def run() -> None:
        writer, _ = opened(tmp_path, JournalOptions(run="r", sync=sync))
        for durable in (False, True):
            writer.commit(EVERY[:1], durable)
            if sync == "always" or (durable and sync == "durable"):
                await synced(writer)
            assert writer.disk.awaited(leaves=True) == 0
        writer.close("done")

    asyncio.run(run())


@pytest.fixture
def full_disk() -> Iterator[Callable[[int], None]]:
    """Give a function that limits the size of files."""
    with small_disk() as limit:
        yield limit


def test_on_a_full_disk_what_is_durable_stops_the_node(
    tmp_path: Path, full_disk: Any
) -> None:
    writer, _ = opened(tmp_path, JournalOptions(run="r", sync="durable"))
    writer.commit(EVERY[:1])
    size = (tmp_path / "a" / "1-0.wlj").stat().st_size
    full_disk(size + 40)
    turn: list[JournalRecord] = [DeltaRecord(0, {"seen": 1}, 0), ReceivedRecord(PACKET)]
    with pytest.raises(JournalFailure, match="cannot be written"):
        writer.commit(turn, durable=True)
    writer.close(None)
    assert (tmp_path / "a" / "1-0.wlj").stat().st_size == size
    assert records(read(tmp_path)) == EVERY[:1]


@pytest.mark.parametrize("alone", [False, True])
def test_on_a_full_disk_the_rest_goes_on_with_a_gap(
    tmp_path: Path, full_disk: Any, monkeypatch: pytest.MonkeyPatch, *, alone: bool
) -> None:
    monkeypatch.setattr(journal_module, "_AGAIN_S", 0.0)
    said: list[str] = []
    writer, _ = JournalWriter.open(
        tmp_path, SYSTEM, CODEC, A, OPTIONS, named=said.append
    )
    writer.commit(EVERY[:1])
    full_disk((tmp_path / "a" / "1-0.wlj").stat().st_size + 40)
    for _ in range(3):
        if alone:
            receive(writer, [PACKET] * 50)
            continue
        writer.commit([ReceivedRecord(PACKET * 50)])
    assert writer.needs_checkpoint
    writer.checkpoint(pack_checkpoint(_checkpoint({}), CODEC))
    full_disk(resource.RLIM_INFINITY)
    writer.commit([ReceivedRecord(PACKET)])
    writer.checkpoint(pack_checkpoint(_checkpoint({}), CODEC))
    writer.commit(EVERY[2:3])
    writer.close("done")
    kinds = [type(record) for record in records(read(tmp_path))]
    assert kinds == [
        StartedRecord,
        GapRecord,
        CheckpointRecord,
        FiredRecord,
        StoppedRecord,
    ]
    assert len(said) == 2


def test_without_events_what_outlives_a_life_is_written(tmp_path: Path) -> None:
    options = JournalOptions(run="r", sync="never", events=False)
    writer, _ = opened(tmp_path, options)
    writer.commit(EVERY[:1])
    writer.commit([ReceivedRecord(PACKET), DeltaRecord(0, {"seen": 1}, 2)])
    writer.close(None)
    assert [type(one) for one in records(read(tmp_path))] == [
        StartedRecord,
        DeltaRecord,
    ]
    assert opened(tmp_path, options)[1].durable == {"seen": 1}
