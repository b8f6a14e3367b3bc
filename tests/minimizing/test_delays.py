"""Runs that had a clock: what is said of the shorter one, and of a test of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run
from tests.cli.test_simulate import LEASE

import worldline as wl

NOT_KEPT = "its delays are not kept: by the clock this run may be impossible"
SIMULATE = ("simulate", "lease.py", "--seed", "73", "--seconds", "2")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lease.py").write_text(LEASE, "utf-8")
    monkeypatch.chdir(tmp_path)


def found(*more: str) -> None:
    """Leave the trace of a simulated run behind."""
    assert run(*SIMULATE, "--out", "run.wl", *more).status == 1


def test_a_run_that_is_made_short_is_said_to_have_lost_its_delays():
    found()
    made = run("minimize", "run.wl", "lease.py")
    assert made.status == 1, made.err
    assert f"  note: {NOT_KEPT}\n" in made.out
    notes = json.loads(run("minimize", "run.wl", "lease.py", "--json").out)["notes"]
    assert NOT_KEPT in notes
    again = run("minimize", "run-min.wl", "lease.py", "--out", "again.wl")
    assert f"  note: {NOT_KEPT}\n" in again.out


def test_so_is_one_that_is_made_short_at_once():
    made = run(*SIMULATE, "--minimize")
    assert f"  note: {NOT_KEPT}\n" in made.out


def test_a_run_that_had_no_clock_has_no_delays_to_lose():
    assert run("check", "lease.py", "--property", "mutex", "--out", "run.wl").status
    assert "delays" not in run("minimize", "run.wl", "lease.py").out


@pytest.mark.parametrize("trace", ["run.wl", "run-min.wl"])
def test_no_test_is_made_of_it_but_another_is_named(trace: str):
    found("-p", "network=streams")
    if trace != "run.wl":
        assert run("minimize", "run.wl", "lease.py").status == 1
    before = sorted(Path().iterdir())
    said = run("minimize", trace, "lease.py", "--pytest", "test_lease.py")
    assert (said.status, said.out) == (2, "")
    call = "wl.simulate('lease.py', parameters={'network': 'streams'}, seed="
    assert "none of its delays" in said.err
    assert call in said.err
    assert sorted(Path().iterdir()) == before


def test_the_test_that_is_named_fails_with_the_bug():
    found()
    said = refusal(run("minimize", "run.wl", "lease.py", "--pytest", "test_lease.py"))
    call = said[said.index("wl.simulate(") :].splitlines()[0]
    with pytest.raises(wl.PropertyFailed, match="mutex"):
        eval(call, {"wl": wl})
