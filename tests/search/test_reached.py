"""A run that reaches what has to be true sometimes is written, named and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import run

import worldline as wl
from worldline.trace.format import read

REACHING = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Word:
    pass

@wl.node
class Talker:
    other: wl.NodeId
    heard: int = 0

    @wl.call
    def say(self, ctx):
        ctx.send(self.other, Word())

    @wl.on(Word)
    def hear(self, ctx, src, msg):
        self.heard += 1

@wl.sometimes
def two_are_heard(view):
    return view[A].heard == 2

@wl.safety
def few_are_heard(view):
    return view[A].heard < FEW

def system(few: int = 9):
    global FEW
    FEW = few
    return wl.System(
        {A: Talker(B), B: Talker(A)},
        network=wl.datagrams(),
        workload=[wl.script(B, [wl.invoke(Talker.say)] * 3)],
        properties=[two_are_heard, few_are_heard],
        name="words",
    )
"""
FILE = "worldline-out/words-two_are_heard.wl"


@pytest.fixture(autouse=True)
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.py").write_text(REACHING, "utf-8")


@pytest.mark.parametrize("engine", ["native", "python"])
def test_its_trace_is_named_and_replays(engine: Any):
    report = wl.check("words.py", engine=engine)
    assert report.verdict is wl.Verdict.HOLDS
    row = report.properties[0]
    assert (row.name, row.kind, row.steps) == ("two_are_heard", "sometimes", 4)
    assert row.trace == Path(FILE)
    assert row.minimize is None
    assert row.replay == f"worldline replay {FILE} words.py"
    assert (report.trace, report.replay) == (None, None)  # nothing is violated
    again = wl.replay(FILE, "words.py")
    assert again.verdict is wl.Verdict.HOLDS
    assert again.reproduced
    assert str(again).startswith("words: REACHED two_are_heard, reproduced\n")


def test_the_place_that_was_named_is_for_what_is_violated():
    report = wl.check("words.py", parameters={"few": 2}, out="mine.wl")
    reached, violated = report.properties
    assert (reached.trace, violated.trace) == (Path(FILE), Path("mine.wl"))
    assert report.violated is violated
    for file in (FILE, "mine.wl"):
        end = read(file).end
        assert end is not None
        assert end.verdict == ("violated" if file == "mine.wl" else "holds")


def test_no_trace_is_written_where_none_is_wanted():
    report = wl.check("words.py", traces=False)
    assert report.properties[0].steps == 4
    assert report.properties[0].trace is None
    assert not Path("worldline-out").exists()


def test_a_run_that_reaches_it_no_more_is_not_reproduced():
    assert run("check", "words.py").status == 0
    assert "REACHED two_are_heard (sometimes)" in run("show", FILE).out
    Path("words.py").write_text(REACHING.replace("== 2", "== 7"), "utf-8")
    done = run("replay", FILE, "words.py")
    assert done.status == 2
    assert "two_are_heard is false at the end" in done.out


@pytest.mark.parametrize("engine", ["native", "python"])
@pytest.mark.parametrize("verb", [wl.walk, wl.fuzz])
def test_a_walk_that_comes_by_is_made_once_more_and_written(verb: Any, engine: Any):
    report = verb("words.py", engine=engine, events=20_000)
    row = report.properties[0]
    assert (row.verdict, row.trace) == (wl.Verdict.HOLDS, Path(FILE))
    assert report.trace is None
    again = wl.replay(FILE, "words.py")
    assert again.reproduced
    assert again.verdict is wl.Verdict.HOLDS
    assert again.steps == row.steps + 2  # the starts
