"""Pipes, devices and files without end in place of files: refused, and not waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run
from tests.runs.recording.simulated import record

from worldline.loading.opening import open_system


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER, "utf-8")
    os.mkfifo("pipe.py")
    Path("zero.py").symlink_to("/dev/zero")
    with Path("huge.py").open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize("name", ["pipe.py", "zero.py", "huge.py"])
@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("simulate", "counter.py", "--predicates"),
        ("run", "counter.py", "--no-record", "--latency"),
    ],
)
def test_a_source_is_read_only_if_it_has_an_end(words: tuple[str, ...], name: str):
    place = f"{name}:latency" if words[-1] == "--latency" else name
    said = refusal(run(*words, place))
    assert name in said
    assert "is no regular file" in said or "has more than 16 MiB" in said


def test_a_trace_is_not_waited_for():
    said = refusal(run("show", "pipe.py"))
    assert said == "pipe.py is a pipe, and no trace; give a file with a trace"


@pytest.mark.parametrize("name", ["1-0.wlj", "1-0.wlj.zst"])
def test_a_journal_is_not_waited_for(name: str):
    record(Path("run"), open_system("zoo:paxos", {}), seconds=5)
    Path("run/p1/1-0.wlj").unlink()
    place = Path("run/p1", name)
    for make in (os.mkfifo, lambda each: each.symlink_to("/dev/zero")):
        make(place)
        assert f"{place} is no regular file" in refusal(run("replay", "run"))
        place.unlink()
