"""``worldline minimize``: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run

from worldline.runs.report import BASE


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of a system of one's own that violates something."""
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    return tmp_path / "run.wl"


def test_it_prints_sizes_and_steps_and_how_to_replay_the_result(counter: Path):
    result = run("minimize", "run.wl", "counter.py")
    assert result.status == 1
    first, second, *rest = result.out.splitlines()
    assert first == "counter: VIOLATED"
    assert "deliveries" in second
    assert "    replay worldline replay run-min.wl counter.py" in rest
    assert "the run" in rest
    assert run("replay", "run-min.wl", "counter.py").status == 1


def test_its_json_begins_as_that_of_every_verb(counter: Path):
    result = run("minimize", "run.wl", "counter.py", "--json", "--out", "short.wl")
    told = json.loads(result.out)
    assert tuple(told)[: len(BASE)] == BASE
    assert told["trace"] == "short.wl"
    assert told["steps"] == told["deliveries"]
    assert set(told["initial"]) == {"externals", "deliveries"}
    assert told["initial"]["deliveries"] >= told["deliveries"]
    assert {"name", "externals", "deliveries", "schedules", "seconds"} <= set(
        told["passes"][0]
    )
    assert (told["network"], told["certified"]) == ("declared", True)
    assert told["lower_bound"] == told["deliveries"]


def test_what_a_file_names_is_not_loaded_because_of_that(counter: Path):
    said = refusal(run("minimize", "run.wl"))
    assert "worldline minimize run.wl counter.py" in said


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path):
    (tmp_path / "run.wl").write_text("no trace", "utf-8")
    assert run("minimize", str(tmp_path / "run.wl"), "zoo:toy").status == 2


def test_what_is_no_trace_is_not_replaced_though_nobody_named_it(counter: Path):
    Path("run-min.wl").write_text("mine", "utf-8")
    said = refusal(run("minimize", "run.wl", "counter.py"))
    assert "run-min.wl is there already, and is no trace" in said
    assert Path("run-min.wl").read_text("utf-8") == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_where_the_result_goes_is_refused_and_not_waited_for(counter: Path):
    os.mkfifo("run-min.wl")
    assert "is no trace" in refusal(run("minimize", "run.wl", "counter.py"))
