"""Progress is for terminals: one line there, nothing elsewhere."""

from __future__ import annotations

import dataclasses
import io
import sys

import pytest

from worldline.cli.progress import faults_line, line, shown
from worldline.lineage.engines.trials import FaultsProgress
from worldline.search.report import Progress

HALFWAY = Progress(
    states=1200, generated=5000, depth=7, frontier=90, seconds=2.0, memory_mb=41.7
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_says_how_far_a_search_is():
    assert line(HALFWAY) == "1,200 states, 600/s, depth 7, frontier 90, 42 MiB, 2 s"


def test_a_line_says_how_far_a_search_for_faults_is():
    searching = FaultsProgress(executions=1200, found=1, seconds=2.0)
    assert faults_line(searching) == "1,200 executions, 600/s, 1 found, 2 s"
    looping = FaultsProgress(executions=10, found=0, seconds=0.0, waiting=3)
    assert faults_line(looping) == (
        "10 executions, 0/s, 0 found, 3 good runs waiting, 0 s"
    )
    solving = FaultsProgress(executions=0, found=0, seconds=0.0, phase="round 3 of 9")
    assert faults_line(solving) == "round 3 of 9"


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch):
    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    with shown("toy") as progress:
        assert progress is None
    assert err.getvalue() == ""


def test_a_terminal_sees_the_line_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    err = Terminal()
    monkeypatch.setattr(sys, "stderr", err)
    with shown("toy") as progress:
        assert progress is not None
        progress(HALFWAY)
    assert "toy: " in err.getvalue()
    assert capsys.readouterr().out == ""


def test_a_line_says_how_far_the_walks_are():
    walking = dataclasses.replace(HALFWAY, walks=30, walk_steps=1500)
    assert line(walking) == "30 walks of 1,500 steps, 750/s, 42 MiB, 2 s"
