"""``worldline fuzz``, and ``walk`` for safety: verdicts, options, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run

from worldline.trace.format import read


@pytest.fixture(autouse=True)
def _a_file_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counter.py").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("verb", ["walk", "fuzz"])
def test_a_violation_is_printed_with_its_run_and_replays(verb: str):
    result = run(verb, "counter.py")
    assert result.status == 1
    assert result.out.startswith("counter: VIOLATED\n")
    command = next(
        line.split("worldline ")[1]
        for line in result.out.splitlines()
        if line.startswith("    replay ")
    )
    assert "found by weighted" in result.out
    assert "the run" in result.out
    again = run(*command.split())
    assert (again.status, "reproduced" in again.out) == (1, True)


@pytest.mark.parametrize("verb", ["walk", "fuzz"])
def test_nothing_found_is_unknown_with_its_budget(verb: str):
    result = run(verb, "counter.py", "--max-steps", "1", "--walks", "20")
    assert result.status == 3
    assert result.out.startswith("counter: UNKNOWN (bound: walks)\n")
    assert "20 random runs of 20 steps" in result.out
    assert not Path("worldline-out").exists()


def test_json_says_what_was_covered():
    result = run("fuzz", "counter.py", "--max-steps", "1", "--walks", "4", "--json")
    found = json.loads(result.out)
    assert (found["walks"], found["walk_steps"], found["bound"]) == (4, 4, "walks")
    assert found["coverage"]["handlers"] == {"Replica call add": 1}
    assert found["coverage"]["never_ran"] == ["Replica message Total"]
    assert found["coverage"]["handler_states"] == 1
    assert found["schedulers"] == {"weighted": 4}


def test_options_reach_the_runs():
    result = run(
        *("fuzz", "counter.py", "--scheduler", "pct:2", "--max-steps", "3"),
        *("--events", "30", "--weight", "Total=7", "--inject", "crashes,drops"),
        *("--threads", "1", "--engine", "python", "--seed", "9", "--json"),
    )
    found = json.loads(result.out)
    assert (found["engine"], found["seed"], found["bound"]) == ("python", 9, "events")
    assert list(found["schedulers"]) == ["pct:2"]


def test_out_names_the_trace():
    result = run("walk", "counter.py", "--out", "here.wl")
    assert result.status == 1
    assert read(Path("here.wl")).header.system == "counter"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--scheduler", "best"], "there is no scheduler 'best'"),
        (["--scheduler", "delay:"], "'delay:' is no scheduler"),
        (["--inject", "crash"], "counter has no faults 'crash' to inject"),
        (["--inject", ""], "counter has no faults '' to inject"),
        (["--weight", "Total"], "--weight 'Total' is not understood"),
        (["--walks", "0"], "'0' is not a whole number of at least 1"),
        (["--events", "many"], "'many' is not a whole number of at least 1"),
        (["--property", "nothing"], "counter has no property 'nothing'"),
    ],
)
def test_mistakes_are_usage_errors(arguments: list[str], text: str):
    assert text in refusal(run("fuzz", "counter.py", *arguments))
