"""`worldline replay` of a recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.runs.recording.simulated import record

from worldline.cli.main import main
from worldline.loading.opening import open_system


@pytest.fixture(autouse=True)
def _recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(Path("run"), open_system("zoo:paxos", {}), seconds=20, loss=0.2)


def test_a_recording_of_the_zoo_is_replayed_by_itself_and_told_as_json(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["replay", "run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["recording"], said["system"]) == ("run", "paxos")
    assert said["target"] == "zoo:paxos"
    assert said["verdict"] == "unknown"
    assert [node["node"] for node in said["nodes"]] == ["p1", "p2", "p3"]
    assert said["network"]["as_declared"] is True
    assert (said["divergence"], said["unknown"], said["undecided"]) == (None, [], [])
    assert main(["show", said["trace"]]) == 0
    assert main(["replay", said["trace"]]) == 0


def test_a_window_and_its_file_can_be_chosen(capsys: pytest.CaptureFixture[str]):
    assert main(["replay", "run", "--window", "2:5", "--out", "part.wl"]) == 0
    assert "trace  part.wl (steps 2 to 5)" in capsys.readouterr().out
    assert main(["replay", "part.wl"]) == 0
    assert main(["replay", "part.wl", "--window", "1:2"]) == 2
    assert "--window is for recordings" in capsys.readouterr().err


def test_other_parameters_make_another_system(capsys: pytest.CaptureFixture[str]):
    assert main(["replay", "run", "-p", "size=4", "--no-trace"]) == 2
    assert "was recorded with other nodes" in capsys.readouterr().err
