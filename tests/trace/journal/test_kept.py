"""Recordings that earlier versions of the format were written for, byte by byte."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.trace.journal.beats import system

from worldline.model.errors import InputError
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.reading import Incarnation, Turn, read_node
from worldline.trace.journal.records import (
    DeltaRecord,
    ReceivedRecord,
    StartedRecord,
    StoppedRecord,
)

KEPT = Path(__file__).parent / "kept"
VERSIONS = [1, 2, 3]
CODEC = Codec(system())


def life(folder: Path) -> Incarnation:
    (found,) = read_node(folder / "a").incarnations
    return found


def turns(folder: Path) -> list[Turn]:
    return list(life(folder).turns(CODEC))


@pytest.mark.parametrize(("version", "events"), [(1, 79), (2, 84), (3, 89)])
def test_a_recording_of_an_earlier_version_replays(version: int, events: int) -> None:
    found = replay_recording(KEPT / str(version), system(), traces=False)
    assert (found.divergence, found.events) == (None, events)
    assert [node.torn for node in found.nodes] == [0, 0]


@pytest.mark.parametrize("version", VERSIONS)
def test_its_turns_have_their_times_and_records(version: int) -> None:
    header = life(KEPT / str(version)).header
    assert header is not None
    assert (header.version, header.node, header.before) == (version, "a", None)
    found = turns(KEPT / str(version))
    assert isinstance(found[0].records[0], StartedRecord)
    assert isinstance(found[-1].records[-1], StoppedRecord)
    kinds = {type(record) for turn in found for record in turn.records}
    assert {ReceivedRecord, DeltaRecord} < kinds
    clocks = [turn.monotonic_ns for turn in found]
    assert clocks == sorted(clocks)
    assert 0.35e9 < clocks[-1] - clocks[0] < 0.6e9
    for turn in found:  # in 2026, by the clock on the wall
        assert 1_767_225_600 < turn.wall_ns / 1e9 < 1_798_761_600


@pytest.mark.parametrize("version", VERSIONS)
def test_its_end_may_be_torn_and_damage_before_is_told(
    version: int, tmp_path: Path
) -> None:
    folder = tmp_path / "kept"
    shutil.copytree(KEPT / str(version), folder)
    journal, whole = folder / "a" / "1-0.wlj", turns(folder)
    data = journal.read_bytes()
    journal.write_bytes(data[:-1])
    torn = life(folder)
    assert list(torn.turns(CODEC)) == whole[:-1]
    assert torn.torn > 0
    journal.write_bytes(data[:-200] + b"?" + data[-199:])
    with pytest.raises(InputError, match=r"is damaged at byte .* goes on behind it"):
        turns(folder)
