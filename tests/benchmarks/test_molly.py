"""The measurements beside the paper's: its combinations, what is said of each search."""

from __future__ import annotations

import re
import sys

import pytest
from benchmarks.molly import PAPER, Drawn, as_printed, main

from worldline.injection.scope import Scope
from worldline.zoo.programs import PROGRAMS


@pytest.mark.parametrize("name", PAPER)
def test_the_combinations_are_the_printed_ones(name: str):
    known = PROGRAMS[name]
    scope = Scope(known.nodes, known.eot, known.eff, known.crashes)
    printed, *_ = PAPER[name]
    assert as_printed(scope.combinations(), printed) == (printed, True)


def test_other_combinations_are_not_equal():
    assert as_printed(25, "24") == ("25", False)
    assert as_printed(41_100, "4.10e4") == ("4.11e4", False)


def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *given: str
) -> list[str]:
    monkeypatch.setattr(sys, "argv", ["molly.py", *given])
    main()
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_every_search_is_in_the_tables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    lines = printed(monkeypatch, capsys, "2pc", "--seeds", "3")
    runs, seconds = (line.split(" | ") for line in lines if line.startswith("| 2pc |"))
    assert runs[1:6] == ["⟨5,0,1⟩", "24", "24", "yes", "2"]
    assert runs[6:9] == ["2 VIOLATED"] * 3
    assert seconds[1:3] == ["found", "VIOLATED"]
    assert re.fullmatch(r"crash \w@\d", seconds[3])  # of several, the solver picks one
    assert seconds[4] == "0.22"
    assert all(float(cell.strip(" |")) < 5 for cell in seconds[5:])
    assert len(seconds) == 11
    assert "Ended by the budget of 10 s: none." in lines


@pytest.mark.slow
def test_searches_that_a_budget_ended_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    lines = printed(monkeypatch, capsys, "redun-deliv", "--seconds", "0")
    said = "redun-deliv (symbolic, conservative, ignore, published)"
    assert f"Ended by the budget of 0 s: {said}." in lines
    (runs,) = (line for line in lines if "⟨11,10,1⟩" in line)
    assert runs.count("> 1 UNKNOWN") == 3


def test_where_most_random_searches_gave_up_more_runs_are_needed():
    assert str(Drawn(12.5, 0.1, missed=0, seeds=4)) == "12.5"
    assert str(Drawn(12.5, 0.1, missed=1, seeds=4)) == "12.5 (1 gave up)"
    assert str(Drawn(12.5, 0.1, missed=2, seeds=4)) == "> 12.5"
