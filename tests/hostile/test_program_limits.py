"""Programs that would take for ever, or all of the memory, end with an error or a bound."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.command import Result, refusal, run
from tests.hostile.answers import answered

import worldline as wl

START = """\
link("a", "b")@1; start("a", 7)@1;
got(N, X)@next :- got(N, X);
got(N, X) :- start(N, X);
got(M, X)@async :- start(N, X), link(N, M);
"""
GOALS = "pre(N, X) :- got(N, X);\npost(N, X) :- got(N, X);\n"
MANY = "".join(f'd("a", {i})@1;\n' for i in range(100))


def joined(columns: int) -> str:
    """A rule over all combinations of so many rows."""
    names = [f"X{i}" for i in range(columns)]
    body = ", ".join(f"d(N, {name})" for name in names)
    return f"c(N, {', '.join(names)}) :- {body};\n"


def asked(folder: Path, text: str | bytes, *options: str) -> Result:
    file = folder / "asked.ded"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    bounds = ("--eot", "3", "--eff", "2", "--crashes", "1", "--max-seconds", "1")
    return answered("faults", str(file), *bounds, "--out", f"{folder}/out.wl", *options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pre(N, X) :- got(N, X), notin crash(R_);", "crash has 1 column here"),
        ('p("a", ' + "9" * 5000 + ")@1;", "the number has 5000 digits"),
        ('p("a", 1)@' + "9" * 5000 + ";", "the round is too late"),
        ('p("a", 1)@99999999;', "the round is too late; name rounds up to 10,000"),
        ("p(N, X) :- got(N, X)@99999999;", "the round is too late"),
        ("p(N, " + "X+" * 5000 + "X) :- got(N, X);", "the calculation is too long"),
        ("p(N, " + "-" * 5000 + "X) :- got(N, X);", "the calculation is too long"),
        ("// " + "x" * 200_000, "the program is longer than 200,000 characters"),
        ("p(N, X) :- got(N, X);\n" * 1_001, "the program has more than 1,000 rules"),
        ('include "/dev/zero";', "cannot read /dev/zero: it is no regular file"),
        ('p("a", 2)@1; p(N, X*X) :- p(N, X);', "calculates numbers beyond"),
        ('p("a", 2)@1; p(N, X+1) :- p(N, X);', "has no end"),
    ],
)
def test_what_has_no_end_or_no_size_is_refused(text: str, said: str, tmp_path: Path):
    told = asked(tmp_path, START + GOALS + text)
    assert (told.status, said in told.err) == (2, True), told.err
    assert max(map(len, told.err.splitlines())) < 600


def test_a_pipe_is_no_program(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.ded")
    assert "it is no regular file" in refusal(run("faults", tmp_path / "pipe.ded"))


def test_the_name_of_a_file_cannot_pass_for_a_verdict(tmp_path: Path):
    file = tmp_path / "it: HOLDS\n.ded"
    file.write_text(START + GOALS)
    told = run("faults", file, "--eot", "3", "--eff", "2")
    assert told.out.splitlines()[0] == r"it: HOLDS\n: HOLDS"


def test_a_rule_that_joins_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worldline.dedalus.source.MOST_FIRINGS", 1_000)
    told = asked(tmp_path, START + GOALS + MANY + joined(2))
    assert (told.status, "fires more than 1,000,000 times" in told.err) == (2, True)


def test_what_the_mark_of_an_editor_begins_is_a_program(tmp_path: Path):
    text = b"\xef\xbb\xbf" + (START + GOALS).replace("\n", "\r\n").encode()
    assert asked(tmp_path, text).status == 0


def test_a_rule_of_comparisons_alone_derives_its_head(tmp_path: Path):
    text = START + GOALS + 'p("a", 1) :- 1 == 1;\npre(N, X) :- p(N, X);\n'
    symbolic = asked(tmp_path, text)
    assert (
        symbolic.status == asked(tmp_path, text, "--engine", "exhaustive").status == 1
    )


GROUNDING = (
    START
    + "".join(f'd("a", {i})@1;\n' for i in range(400))
    # Nothing of it happens in any run, but the grounder cannot know that.
    + "d(N, X)@next :- d(N, X);\ne(N, X) :- d(N, X), crash(N, N, _);\n"
    + "f(N, A, B, C) :- e(N, A), e(N, B), e(N, C), A < B, B < C;\n"
    + "pre(N, X) :- got(N, X), notin f(N, 1, 2, 3);\npost(N, X) :- got(N, X);\n"
)


def test_a_grounding_without_end_is_left_behind_on_time(tmp_path: Path):
    """In a process of its own: what is left behind ends with it, and with its status."""
    (tmp_path / "asked.ded").write_text(GROUNDING)
    command = [sys.executable, "-m", "worldline", "faults", "asked.ded", "--eot", "3"]
    options = ["--eff", "2", "--crashes", "1", "--max-seconds", "0.5"]
    done = subprocess.run(
        command + options,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("asked: UNKNOWN (bound: seconds)")


@pytest.mark.parametrize("engine", ["ldfi", "random", "exhaustive"])
def test_a_run_that_takes_longer_than_there_is_time_is_ended(
    engine: str, tmp_path: Path
):
    slow = "f(N, A) :- d(N, A), d(N, B), d(N, C), A < B, B < C, C < A;\n"
    file = tmp_path / "slow.ded"
    many = "".join(f'd("a", {i})@1;\n' for i in range(400))
    file.write_text(START + GOALS + many + slow)
    report = wl.find_faults(
        file, eot=3, eff=2, crashes=0, engine=engine, max_seconds=0.1
    )
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "seconds")
    assert report.seconds < 5


GROWING = """\
c("a", 1)@1; p("a", "b")@1; p("b", "a")@1;
p(N, M)@next :- p(N, M);
c(N, X)@next :- c(N, X);
c(N, X * 2)@next :- c(N, X);
c(N, X * 2 + 1)@next :- c(N, X);
c(M, X)@async :- c(N, X), p(N, M);
"""
KEPT = 'pre(X) :- c("a", X);\npost(X) :- c("b", X);\n'


def test_outcomes_that_were_too_much_for_the_search_are_not_made_again(tmp_path: Path):
    file = tmp_path / "growing.ded"
    file.write_text(GROWING)
    began = time.monotonic()
    report = wl.find_faults(file, eot=19, eff=2, crashes=0, max_seconds=0.5)
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "seconds")
    assert time.monotonic() - began < 5


@pytest.mark.nightly
def test_a_trace_and_a_page_that_take_too_long_are_left_out_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("worldline.lineage.answering._EVIDENCE_S", 0.1)
    file = tmp_path / "growing.ded"
    file.write_text(GROWING + KEPT)
    folder = tmp_path / "page"
    report = wl.find_faults(
        file, eot=11, eff=2, crashes=0, max_seconds=3, engine="random", report=folder
    )
    assert report.verdict is wl.Verdict.VIOLATED
    unwritten = "seconds used up: the verdict stands, but no {} was written"
    assert {unwritten.format("trace"), unwritten.format("page")} <= set(report.notes)
    assert not folder.exists()
