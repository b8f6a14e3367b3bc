"""Tests of the way from a trace to its system, and of the commands that name it."""

import shlex
from pathlib import Path

import pytest

import worldline as wl
from worldline.cli.main import main

SOURCE = """\
import worldline as wl

(A,) = wl.ids("a")

@wl.node
class Counter:
    limit: int
    count: int = 0

    @wl.call
    def add(self, ctx):
        self.count += 1

@wl.safety
def it_is_small(view):
    return view[A].count < 2

def system(limit: int = 5, names: str = ""):
    return wl.System({A: Counter(limit)}, name="counter", properties=[it_is_small],
                     workload=[wl.script(A, [Counter.add, Counter.add])])
"""


@pytest.mark.parametrize("limit", [9, 123_456])
def test_the_command_of_a_report_says_what_a_trace_may_not_ask_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
):
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(SOURCE)
    report = wl.check("counter.py", parameters={"limit": limit, "names": "x"})
    (row,) = report.properties
    assert row.replay is not None
    said = ["-p", "limit=123456"] if limit > 10_000 else []
    words = shlex.split(row.replay)
    assert words == ["worldline", "replay", str(row.trace), "counter.py", *said]
    assert main(words[1:]) == 1
