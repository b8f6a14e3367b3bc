"""The journals of a recording, as they are read for a replay."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runs.recording.simulated import record

from worldline.loading.opening import open_system
from worldline.model.errors import InputError
from worldline.runs.recording import folder as journals
from worldline.runs.recording.folder import JournalFolder
from worldline.trace.journal.reading import Turn


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    record(tmp_path, open_system("zoo:toy", {}), seconds=5)
    return tmp_path


def opened(recorded: Path) -> JournalFolder:
    return JournalFolder(recorded, open_system("zoo:toy", {}))


def read(folder: JournalFolder, index: int = 0) -> list[Turn]:
    return [turn for life in folder.lives(index) or () for turn in life.turns()]


def without_files(recorded: Path) -> None:
    for file in recorded.rglob("*.wlj*"):
        file.unlink()


def test_what_was_read_is_read_once_more_without_its_file_and_then_no_more(
    recorded: Path,
):
    folder = opened(recorded)
    first = read(folder)
    assert first
    without_files(recorded)
    assert read(folder) == first
    with pytest.raises(InputError, match="cannot read"):
        read(folder)


def test_what_was_read_in_part_is_read_again(recorded: Path):
    folder = opened(recorded)
    life = (folder.lives(0) or [])[0]
    next(iter(life.turns()))
    assert read(folder) == read(opened(recorded))


def test_of_large_journals_nothing_is_kept(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(journals, "_KEPT_BYTES", 1)
    folder = opened(recorded)
    assert read(folder)
    without_files(recorded)
    with pytest.raises(InputError, match="cannot read"):
        read(folder)
