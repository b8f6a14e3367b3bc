"""``worldline minimize`` on what each verb writes, and ``--minimize`` of these verbs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run
from tests.cli.test_walk import LOSSY
from tests.minimizing.test_regression import GAPS

from worldline.trace.format import read

ROUNDS = GAPS.replace("Counting.tell)] * 9", "Counting.tell)] * 3")
"""Numbers of which the middle one has to be lost."""


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "counter.py").write_text(COUNTER, "utf-8")
    (tmp_path / "lossy.py").write_text(LOSSY, "utf-8")
    (tmp_path / "rounds.py").write_text(ROUNDS, "utf-8")
    (tmp_path / "gaps.py").write_text(GAPS, "utf-8")
    monkeypatch.chdir(tmp_path)


def kinds(place: str) -> list[str]:
    return [step.kind for step in read(place).run]


def test_a_run_of_losses_that_faults_has_found_is_minimised():
    found = run("faults", "rounds.py", "--out", "run.wl")
    assert found.status == 1
    assert run("minimize", "run.wl", "rounds.py").status == 1
    assert kinds("run-min.wl") == ["call", "call", "drop", "deliver"]
    assert run("replay", "run-min.wl", "rounds.py").status == 1


def test_a_run_that_begins_in_a_state_is_minimised_from_there():
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    saved = run("debug", "run.wl", "counter.py", "-c", "jump 1; save state.wl")
    assert saved.status == 0, saved.err
    assert run("walk", "counter.py", "--from", "state.wl", "--out", "on.wl").status == 1
    assert run("minimize", "on.wl", "counter.py").status == 1
    assert read("on-min.wl").state is not None
    assert run("replay", "on-min.wl", "counter.py").status == 1
    said = refusal(run("minimize", "on.wl", "counter.py", "--pytest", "test_it.py"))
    assert said.startswith("the run begins in a state, which a test file cannot hold")


@pytest.mark.parametrize(
    "search",
    [
        ("check", "lossy.py"),
        ("walk", "lossy.py", "--seed", "5"),
        ("faults", "zoo:simple-deliv"),
    ],
    ids=lambda search: search[0],
)
def test_what_no_state_shows_is_refused_in_one_line(search: tuple[str, ...]):
    found = run(*search, "--out", "run.wl", "--minimize")
    assert found.status == 1
    said = "violates the liveness property"
    assert f"note: not minimised: run.wl {said}" in " ".join(found.out.split())
    target = () if search[1].startswith("zoo:") else (search[1],)
    done = run("minimize", "run.wl", *target)
    assert done.status == 2
    assert done.err.splitlines()[-1].startswith(f"worldline: error: run.wl {said}")
    assert "which no state shows" in done.err
    assert "wl.check(...).expect_holds()" in done.err


def test_a_result_can_be_debugged_beside_its_original():
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    run("minimize", "run.wl", "counter.py")
    command = ("debug", "run-min.wl", "counter.py", "--beside", "run.wl")
    done = run(*command, "-c", "jump 3; why; compare")
    assert (done.status, done.err) == (0, "")


def test_a_search_offers_to_minimise_a_run_that_is_long():
    search = ("fuzz", "gaps.py", "--inject", "drops", "--weight", "drop=1")
    long = (*search, "--seed", "2", "--out", "run.wl")
    offered = "worldline minimize run.wl gaps.py"
    assert f"    short  {offered}\n" in run(*long).out
    (row,) = json.loads(run(*long, "--json").out)["properties"]
    assert row["minimize"] == offered
    (row,) = json.loads(run(*long[:-4], "--seed", "1", "--json").out)["properties"]
    assert row["minimize"] is None  # it has six steps


def test_what_is_minimised_already_is_not_offered():
    search = ("fuzz", "gaps.py", "--inject", "drops", "--weight", "drop=1")
    run(*search, "--seed", "2", "--out", "run.wl")
    done = run("minimize", "run.wl", "gaps.py", "--max-events", "1")
    assert "(bound: events)" in done.out
    assert "worldline minimize" not in done.out


@pytest.mark.parametrize(
    "search",
    [
        ("fuzz", "rounds.py", "--inject", "drops", "--weight", "drop=50"),
        ("walk", "counter.py", "--seed", "2"),
        ("check", "counter.py"),
        ("faults", "rounds.py"),
    ],
    ids=lambda search: search[0],
)
def test_a_search_minimises_at_once_what_it_finds(search: tuple[str, ...]):
    found = run(*search, "--out", "run.wl", "--minimize")
    assert found.status == 1
    assert "    replay worldline replay run.wl" in found.out
    assert "    replay worldline replay run-min.wl" in found.out
    assert "without it: " in found.out
    assert read("run-min.wl").header.engine == "minimize"


def test_the_json_of_a_search_has_that_of_the_minimisation():
    search = ("walk", "counter.py", "--seed", "2", "--out", "run.wl")
    told = json.loads(run(*search, "--minimize", "--json").out)
    assert told["trace"] == "run.wl"
    assert told["minimized"]["trace"] == "run-min.wl"
    assert told["minimized"]["steps"] <= told["steps"]


def test_where_nothing_is_found_there_is_nothing_to_minimise():
    search = ("check", "counter.py", "-p", "fixed=true", "--minimize")
    assert run(*search).status == 0
    assert json.loads(run(*search, "--json").out)["minimized"] is None


def test_a_run_that_could_not_be_written_is_not_minimised():
    found = run("walk", "counter.py", "--out", "lossy.py/x.wl", "--minimize")
    assert found.status == 1
    assert "no trace: cannot write" in found.out
    assert "\nthe run\n" in found.out


@pytest.fixture
def long_run() -> Path:
    """A run of Raft that takes a while."""
    # Found at once; what matters is that it is long.
    which = ("-p", "bugs=raft-66", "-p", "words=25", "--seed", "1")
    given = ("--max-steps", "2000", "--weight", "election=20", "--engine", "python")
    assert run("fuzz", "zoo:raft", *which, *given, "--out", "raft.wl").status == 1
    return Path("raft.wl")


@pytest.mark.nightly
def test_an_interrupt_writes_the_smallest_run_so_far(long_run: Path):
    command = [sys.executable, "-m", "worldline", "minimize", str(long_run)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "(bound: interrupted)" in out
    assert run("replay", "raft-min.wl").status == 1
    assert not list(Path().glob(".worldline*"))


def test_the_smaller_run_does_not_take_the_place_of_the_original():
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    before = Path("run.wl").read_bytes()
    said = refusal(run("minimize", "run.wl", "counter.py", "--out", "./run.wl"))
    assert said.startswith("the smaller run would take the place of run.wl")
    assert Path("run.wl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("missing.wl",), "missing.wl"),
        (("counter.py", "counter.py"), "counter.py"),
        (("run.wl", "lossy.py"), "the trace has the nodes"),
        (("run.wl", "missing.py"), "missing.py"),
        (("run.wl", "counter.py", "--out", "counter.py"), "is there already"),
        (("run.wl", "counter.py", "--same", "alike"), "alike"),
    ],
)
def test_what_cannot_be_used_is_refused_and_nothing_is_written(
    arguments: tuple[str, ...], said: str
):
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    files = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    done = run("minimize", *arguments)
    assert done.status == 2
    assert said in done.err
    assert {p: p.read_bytes() for p in Path().iterdir() if p.is_file()} == files


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no /dev/full")
def test_a_full_disk_loses_no_result():
    run("walk", "counter.py", "--out", "run.wl", "--seed", "2")
    done = run("minimize", "run.wl", "counter.py", "--out", "/dev/full")
    assert done.status == 1
    assert "no trace: cannot write a trace to /dev/full: No space left" in done.out
    assert "\nthe run\n" in done.out
    assert Path("run.wl").exists()
