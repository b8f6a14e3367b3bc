"""Journals that are torn, damaged, swapped, foreign or of another version."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.runs.recording import rounds
from tests.runs.recording.simulated import record
from tests.trace.journal.reframed import contents_of, raw_blocks, reframed

import worldline as wl
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.framing import MAGIC

SYSTEM = rounds.system(properties=[])


@pytest.fixture
def folder() -> Path:
    """A recording whose journals have a segment for each three seconds."""
    options: dict[str, Any] = {"seconds": 10, "rate": 0.0, "every": 3.0}
    return record(Path("run"), SYSTEM, segmented=True, **options)


def replayed(folder: Path, *, partial: bool = False) -> wl.ReplayedRecording:
    return replay_recording(folder, SYSTEM, partial=partial, traces=False)


def last_of(folder: Path, node: str) -> Path:
    return max(folder.joinpath(node).glob("*.wlj"), key=lambda file: file.name)


def last_block(data: bytes) -> int:
    """Return where the last block of a segment begins."""
    return len(data) - len(raw_blocks(data)[-1])


def test_wherever_its_last_block_is_cut_a_journal_is_replayed_up_to_there(folder: Path):
    journal = last_of(folder, "c")
    data = journal.read_bytes()
    whole = replayed(folder)
    for end in range(last_block(data) + 1, len(data), 2):
        journal.write_bytes(data[:end])
        found = replayed(folder)
        assert found.divergence is None
        assert found.nodes[2].torn > 0
        assert found.nodes[2].stopped == ""
        assert whole.nodes[2].events == found.nodes[2].events


def test_whichever_bit_of_its_last_block_is_another_only_that_is_lost(folder: Path):
    journal = last_of(folder, "c")
    data = journal.read_bytes()
    for at in range(last_block(data), len(data), 2):
        journal.write_bytes(
            data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :]
        )
        found = replayed(folder)
        assert found.divergence is None
        assert found.nodes[2].torn > 0
        assert "bytes at the end of its journal are torn" in str(found)


def otherwise(blocks: list[bytes], number: int) -> Iterator[list[bytes]]:
    """Yield blocks with one there twice, gone, behind the next one, and at the end."""
    one, rest = blocks[number], [*blocks[:number], *blocks[number + 1 :]]
    yield [*blocks[:number], one, *blocks[number:]]
    yield rest
    if number < len(rest):
        yield [*rest[: number + 1], one, *rest[number + 1 :]]
    yield [*blocks, one]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["1-0.wlj", "1-1.wlj", "1-3.wlj"])
def test_whichever_block_is_there_twice_gone_or_moved_no_run_is_made_up(
    folder: Path, which: str
):
    journal = folder / "b" / which
    is_last = journal == last_of(folder, "b")
    assert is_last == (which == "1-3.wlj")
    data, whole = journal.read_bytes(), replayed(folder)
    blocks = raw_blocks(data)
    for number in range(1, len(blocks)):
        for others in otherwise(blocks, number):
            journal.write_bytes(MAGIC + b"".join(others))
            if not is_last:
                with pytest.raises(wl.InputError, match=which):
                    replayed(folder)
                continue
            try:
                found = replayed(folder)
            except wl.InputError:
                continue
            assert found.nodes[1].torn or others == blocks[:-1]
            assert found.divergence is None
            assert found.events <= whole.events


def test_a_segment_without_its_end_is_told_and_partly_read(folder: Path):
    journal = folder / "b" / "1-1.wlj"
    data = journal.read_bytes()
    cut = data[: last_block(data)]
    journal.write_bytes(cut)
    said = f"1-1.wlj has {len(cut):,} bytes, and had {len(data):,} when the next"
    with pytest.raises(wl.InputError, match=said):
        replayed(folder)
    found = replayed(folder, partial=True)
    assert found.divergence is None
    (gap,) = found.nodes[1].gaps
    assert said in gap


def test_swapped_segments_are_told(folder: Path):
    first, second = folder / "b" / "1-0.wlj", folder / "b" / "1-1.wlj"
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    with pytest.raises(wl.InputError, match=r"1-0.wlj has the name of another segment"):
        replayed(folder)


def test_swapped_journals_are_told(folder: Path):
    shutil.move(folder / "a", folder / "x")
    shutil.move(folder / "b", folder / "a")
    shutil.move(folder / "x", folder / "b")
    with pytest.raises(wl.InputError, match="the journal in run of a is that of b"):
        replayed(folder)


def test_a_segment_of_another_node_among_those_of_one_is_told(folder: Path):
    shutil.copy(folder / "a" / "1-1.wlj", folder / "b" / "1-1.wlj")
    with pytest.raises(
        wl.InputError, match="has another node than the segments before"
    ):
        replayed(folder)


def with_header(journal: Path, **changes: Any) -> None:
    """Change the header of a segment."""
    header, *contents = contents_of(journal.read_bytes())
    said = json.dumps({**json.loads(header), **changes}).encode()
    journal.write_bytes(reframed([said, *contents]))


def test_a_segment_and_a_journal_of_another_run_are_told(folder: Path):
    with_header(folder / "b" / "1-1.wlj", run="another")
    with pytest.raises(wl.InputError, match="has another run than the segments before"):
        replayed(folder)
    for journal in (folder / "b").iterdir():
        with_header(journal, run="another")
    with pytest.raises(wl.InputError, match="run has journals of two runs, of a and b"):
        replayed(folder)


def test_a_journal_of_other_messages_is_told(folder: Path):
    for journal in (folder / "c").iterdir():
        with_header(journal, digest=["protocol 1", "node a"])
    with pytest.raises(wl.InputError, match="with other nodes or messages at c"):
        replayed(folder)


def test_an_unknown_version_is_refused_with_advice(folder: Path):
    with_header(folder / "a" / "1-0.wlj", version=5)
    with pytest.raises(wl.InputError, match="version 5; known are 1 to 4") as refused:
        replayed(folder)
    assert refused.value.remedy == "read it with the worldline that recorded it"


def packed(journal: Path) -> Path:
    """Compress a segment, as hosts do with closed ones."""
    place = journal.with_name(journal.name + ".zst")
    place.write_bytes(zstandard.ZstdCompressor(level=1).compress(journal.read_bytes()))
    journal.unlink()
    return place


def test_a_compressed_segment_is_read_like_any_other(folder: Path):
    whole = replayed(folder)
    packed(folder / "b" / "1-0.wlj")
    found = replayed(folder)
    assert (found.nodes, found.events) == (whole.nodes, whole.events)


def test_a_compressed_segment_that_is_torn_is_refused_and_partly_read(folder: Path):
    place = packed(folder / "b" / "1-0.wlj")
    data = place.read_bytes()
    for end in (len(data) - 1, len(data) // 2, 20, 6, 0):
        place.write_bytes(data[:end])
        with pytest.raises(wl.InputError, match=r"cannot unpack .*1-0.wlj.zst"):
            replayed(folder)
        found = replayed(folder, partial=True)
        assert found.divergence is None
        (gap,) = found.nodes[1].gaps
        assert "1-0.wlj.zst" in gap


def test_a_compressed_segment_that_expands_without_end_is_refused(folder: Path):
    bomb = zstandard.ZstdCompressor(level=1).compress(bytes(200 << 20))
    (folder / "b" / "1-0.wlj").unlink()
    (folder / "b" / "1-0.wlj.zst").write_bytes(bomb)
    with pytest.raises(wl.InputError, match="has more than 128 MiB"):
        replayed(folder)


def test_zeros_behind_a_journal_are_a_torn_end(folder: Path):
    """So a file system may leave a file of which the end was never written."""
    journal = last_of(folder, "c")
    whole = replayed(folder).events
    journal.write_bytes(journal.read_bytes() + bytes(4_000_000))
    found = replayed(folder)
    assert (found.events, found.nodes[2].torn) == (whole, 4_000_000)


def test_a_file_that_looks_like_blocks_all_over_is_refused_in_no_time(folder: Path):
    journal = last_of(folder, "c")
    noise = (b"\x00\x00\x01\x00" + b"\x93" * 12) * 300_000
    journal.write_bytes(journal.read_bytes() + noise)
    with pytest.raises(wl.InputError, match="goes on behind it"):
        replayed(folder)


def test_what_is_no_folder_of_a_recording_is_refused(folder: Path):
    (folder / "b" / "1-0.wlj").unlink()
    (folder / "b" / "1-0.wlj").mkdir()
    with pytest.raises(wl.InputError, match="is no regular file"):
        replayed(folder)
