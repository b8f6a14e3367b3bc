"""``worldline run --mode``: node processes that predict, each with a process of its own."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from tests.cli.command import refusal, run
from tests.steer import words

WORDS = str(Path(words.__file__))


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def predictors() -> set[int]:
    """The predictors' processes that there are."""
    found = set()
    for place in Path("/proc").iterdir():
        try:
            command = (place / "cmdline").read_bytes()
        except OSError:
            continue
        if b"\0worldline.steer.process\0" in command:
            found.add(int(place.name))
    return found


@pytest.mark.nightly
def test_node_processes_predict_and_leave_no_process():
    before = predictors()
    words = [
        "--seconds",
        "5",
        "--rate",
        "20",
        "--mode",
        "steer",
        "--gather-every",
        "0.5",
        "--json",
    ]
    done = run("run", WORDS, *words, "--weather", "at 1s crash a, at 1.5s restart a")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["mode"] == "steer"
    for node in told["nodes"]:
        assert node["steering"]["snapshots"] > 0
    assert told["steering"]["predictions"] > 0
    assert told["steering"]["blocked"] + told["steering"]["refused"] > 0
    assert {one["property"] for one in told["predictions"]} == {"few_words_are_bad"}
    assert all(Path(one["trace"]).is_file() for one in told["predictions"][-1:])
    end = time.monotonic() + 10
    while predictors() > before and time.monotonic() < end:
        time.sleep(0.02)
    assert predictors() <= before


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--gather-every", "5"], "--gather-every has no meaning with mode off"),
        (["--mode", "check", "--gather-bandwidth", "x"], "'x' is no bandwidth"),
        (["--mode", "on"], "invalid choice: 'on'"),
        (
            ["--property", "few_words_are_bad"],
            "--property has no meaning with mode off",
        ),
        (["--mode", "check", "--property", "x"], "words has no property 'x'"),
    ],
)
def test_flags_that_mean_nothing_are_refused(flags: list[str], said: str):
    assert said in refusal(run("run", WORDS, *flags))


def test_the_help_says_why_it_is_off():
    said = " ".join(run("run", "--help").out.split())
    assert "This protects safety only, and may cost progress" in said
    assert "a neighbour that lies in its checkpoints" in said
