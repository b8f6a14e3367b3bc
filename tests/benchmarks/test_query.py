"""The trace that queries are measured with is one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from benchmarks.query import QUESTIONS, measured, trace

from worldline.trace.format import read, write


def test_its_steps_are_those_of_a_run(tmp_path: Path):
    place = tmp_path / "run.wl"
    write(trace(300), place)
    back = read(place)
    assert back == trace(300)
    kinds = Counter(step.kind for step in back.run)
    assert sum(kinds.values()) == 300
    assert kinds["deliver"] > kinds["drop"] > 0


def test_every_question_is_measured(tmp_path: Path):
    place = tmp_path / "run.wl"
    write(trace(300), place)
    lines = [*measured(place, 300)]
    assert [line.split()[0] for line in lines] == ["load", *QUESTIONS, "peak"]
    assert not any(" 0 rows" in line for line in lines)
