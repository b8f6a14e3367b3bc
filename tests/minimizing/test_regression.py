"""Regression tests that are written: they fail with the bug, and pass without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run

import worldline as wl
from worldline.loading.loader import load
from worldline.minimizing.regression import test_text as text_of
from worldline.minimizing.regression import write_test
from worldline.trace.format import read

FALSE = "msg.value) if FIXED else msg.value"
"""The bug of the counter: a late message takes the total back."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "counter.py").write_text(COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)


def minimized(*more: str, source: str = "src/counter.py") -> None:
    """Leave a regression test of the counter behind, in a folder of tests."""
    run("walk", source, "--out", "run.wl", "--seed", "2")
    made = run("minimize", "run.wl", source, "--pytest", "tests/test_run.py", *more)
    assert made.status == 1, made.err
    assert "    test   tests/test_run.py" in made.out


def pytest_says() -> tuple[int, str]:
    """What pytest says of the test, run from anywhere."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rP", "tests/test_run.py"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return done.returncode, done.stdout


def changed(old: str, new: str) -> None:
    """Change the counter's source."""
    assert old in COUNTER
    Path("src/counter.py").write_text(COUNTER.replace(old, new), "utf-8")


@pytest.mark.slow
def test_it_fails_with_the_run_while_the_bug_is_there_and_passes_without_it():
    minimized()
    status, said = pytest_says()
    assert status == 1
    assert "counter: VIOLATED" in said
    assert "deliver Total(value=1) from primary" in said
    changed(FALSE, "msg.value)")
    status, said = pytest_says()
    assert status == 0
    assert "all steps happen still, and nothing is violated: it passes" in said


def followed() -> wl.Followed:
    """What the written test calls, called here."""
    known: dict[str, object] = {"__file__": str(Path("tests/test_run.py").resolve())}
    exec(Path("tests/test_run.py").read_text("utf-8"), known)
    steps, system = known["STEPS"], known["SYSTEM"]
    assert isinstance(steps, list)
    assert isinstance(system, str)
    violates = "replicas_agree_at_rest"
    return wl.follow(steps, system, violates=violates)


def test_it_passes_with_words_where_an_event_cannot_happen_any_more():
    minimized()
    assert followed().violated is not None
    changed("ctx.send(BACKUP, Total(self.total))", "ctx.send(BACKUP, Total(7))")
    report = followed()
    report.expect_no_violation()
    (note,) = report.notes
    assert note.endswith("at backup, cannot happen any more: it passes")
    assert report.happened < report.asked


def test_a_handler_that_fails_now_is_a_violation_too():
    minimized()
    changed(FALSE, "msg.value) / 0")
    report = followed()
    assert report.violated is not None
    assert (report.violated.name, report.violated.kind) == ("exception", "safety")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Total", "Sum", "Total"),
        ("def add", "def put", "primary has no call add"),
        ("def replicas_agree_at_rest", "def same", "no safety property"),
        ('"primary"', '"first"', "primary"),
        ("value: int", "value: int\n    term: int = 0", "Total"),
    ],
)
def test_a_name_that_is_gone_is_an_error_and_no_success(old: str, new: str, said: str):
    minimized()
    text = COUNTER.replace(old, new)
    if old == "def add":
        text = text.replace("Replica.add", "Replica.put")
    if old.startswith("def replicas"):
        text = text.replace("[replicas_agree_at_rest", "[same")
    Path("src/counter.py").write_text(text, "utf-8")
    with pytest.raises(wl.UsageError, match=said):
        followed()


def test_what_is_there_already_is_not_overwritten():
    Path("mine.py").write_text("assert True\n", "utf-8")
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    said = refusal(run("minimize", "run.wl", "src/counter.py", "--pytest", "mine.py"))
    assert said.startswith("mine.py is there already, and is not overwritten")
    assert Path("mine.py").read_text("utf-8") == "assert True\n"
    assert not Path("run-min.wl").exists()
    assert refusal(run("minimize", "run.wl", "src/counter.py", "--pytest", "src"))


@pytest.mark.parametrize("out", [["--out", "./one"], []])
def test_a_test_does_not_take_the_place_of_the_result(out: list[str]):
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    place = "one" if out else "run-min.wl"
    words = ["run.wl", "src/counter.py", *out, "--pytest", place]
    said = refusal(run("minimize", *words))
    wanted = "the test would take the place of the smaller run"
    assert said.startswith("out and pytest would both be" if out else wanted)
    assert not Path(place).exists()


def test_a_file_that_came_up_meanwhile_is_not_overwritten():
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    Path("mine.py").write_text("assert True\n", "utf-8")
    system = load("src/counter.py", {})
    with pytest.raises(wl.UsageError, match="there already, and is not overwritten"):
        write_test(read("run.wl"), system, Path("mine.py"), "")


def test_a_test_that_cannot_be_written_loses_no_result():
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    Path("file").write_text("", "utf-8")
    made = run("minimize", "run.wl", "src/counter.py", "--pytest", "file/test.py")
    assert made.status == 1
    assert "note: cannot write a test to file/test.py: Not a directory" in made.out
    assert Path("run-min.wl").exists()


def test_a_system_that_nothing_can_load_is_refused(tmp_path: Path):
    from tests.minimizing.test_minimize import till

    wl.walk(till(), out="till.wl", scheduler="uniform", seed=3)
    with pytest.raises(wl.UsageError, match="could not load it"):
        wl.minimize("till.wl", system=till(), pytest="test_till.py")


def test_the_json_names_the_test_and_the_command_is_in_the_file():
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    made = ("minimize", "run.wl", "src/counter.py", "--pytest", "test_it.py")
    assert json.loads(run(*made, "--json").out)["test"] == "test_it.py"
    text = Path("test_it.py").read_text("utf-8")
    assert f"    worldline {' '.join(made)}\n" in text
    assert "\ndef test_counter_replicas_agree_at_rest():\n" in text


ODD = '''\
"""What is hard to write into a file."""
import worldline as wl

A, B = wl.ids('a"b', "ü\\u202e")

@wl.message
class Odd:
    text: str
    many: tuple

@wl.node
class Odder:
    heard: int = 0

    @wl.call
    def say(self, ctx, text):
        to = [A, B][ctx.choose([0, 1])]
        ctx.send(to, Odd(text, ((2.5, None), frozenset({3}))))

    @wl.on(Odd)
    def hear(self, ctx, src, msg):
        self.heard += 1

@wl.safety
def quiet(view):
    assert view[B].heard < 1, 'a """quote""" and a \\\\ there'

def system(word: str = ""):
    said = wl.one_of("'\\"", "\\\\n\\n", word)
    return wl.System(
        {A: Odder(), B: Odder()},
        workload=[wl.whenever(Odder.say, text=said)],
        properties=[quiet],
        name='odd """',
    )
'''


def test_what_needs_quotes_and_escapes_is_written_as_it_is():
    Path("src/odd.py").write_text(ODD, "utf-8")
    word = "\U0001f600'\"\\"
    found = run("fuzz", "src/odd.py", "-p", f"word={word}", "--out", "odd.wl")
    assert found.status == 1
    run("minimize", "odd.wl", "src/odd.py", "--pytest", "tests/test_run.py")
    text = Path("tests/test_run.py").read_text("utf-8")
    assert "\u202e" not in text
    known: dict[str, object] = {"__file__": str(Path("tests/test_run.py").resolve())}
    exec(text, known)
    test = known["test_odd_quiet"]
    assert callable(test)
    with pytest.raises(AssertionError, match="odd"):
        test()


GAPS = '''\
"""A receiver that is told of each number, unless one is lost."""
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Number:
    value: int

@wl.node
class Counting:
    last: int = 0
    missed: bool = False

    @wl.call
    def tell(self, ctx):
        self.last += 1
        ctx.send(B, Number(self.last))

    @wl.on(Number)
    def hear(self, ctx, src, msg):
        self.missed = self.missed or msg.value > self.last + 1
        self.last = msg.value

@wl.safety
def none_is_missed(view):
    return not view[B].missed

def system():
    return wl.System(
        {A: Counting(), B: Counting()},
        network=wl.datagrams(reordering=False, duplication=False),
        workload=[wl.script(A, [wl.invoke(Counting.tell)] * 9)],
        properties=[none_is_missed],
        name="gaps",
    )
'''


def test_faults_that_were_injected_are_injected_again():
    Path("src/gaps.py").write_text(GAPS, "utf-8")
    given = ("--inject", "drops", "--weight", "drop=100", "--out", "run.wl")
    assert run("fuzz", "src/gaps.py", *given).status == 1
    made = run("minimize", "run.wl", "src/gaps.py", "--pytest", "tests/test_run.py")
    assert made.status == 1
    text = Path("tests/test_run.py").read_text("utf-8")
    assert 'FREE_FAULTS = ["drops"]' in text
    known: dict[str, object] = {"__file__": str(Path("tests/test_run.py").resolve())}
    exec(text, known)
    test = known["test_gaps_none_is_missed"]
    assert callable(test)
    with pytest.raises(AssertionError, match="gaps: VIOLATED"):
        test()


def test_the_start_is_written_where_it_says_something():
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    began = run("check", "src/counter.py", "--from", "run.wl:2", "--out", "later.wl")
    assert began.status == 1
    run("minimize", "later.wl", "src/counter.py", "--pytest", "tests/test_run.py")
    later = read("later-min.wl")
    assert [step.phase for step in later.steps].count("prologue") == 2
    assert followed().violated is not None
    assert 'phase": "prologue"' in Path("tests/test_run.py").read_text("utf-8")


def test_a_long_row_is_broken_before_its_payload():
    run("walk", "src/counter.py", "--out", "run.wl", "--seed", "2")
    trace = read("run.wl")

    text = text_of(trace, load("src/counter.py", {}), Path("test.py"), "made")
    widest = max(len(line) for line in text.splitlines())
    assert widest <= 88


SPINS = COUNTER.replace(
    "self.total = max(self.total, msg.value) if FIXED else msg.value",
    "self.total = msg.value\n        while self.total == 2:\n            pass",
)
DEAD = COUNTER.replace("* adds)]", "* adds + [wl.wait_until(lambda r: r.total > 9)])]")


@pytest.mark.parametrize(
    ("source", "ended", "fixed"),
    [
        # What never returns takes seconds to be known as such.
        pytest.param(SPINS, "divergence", ("== 2", "== 9"), marks=pytest.mark.nightly),
        (DEAD, "deadlock", ("> 9", "> 1")),
    ],
    ids=["divergence", "deadlock"],
)
def test_what_no_property_declares_is_followed_too(
    source: str, ended: str, fixed: tuple[str, str]
):
    assert fixed[0] in source
    Path("src/counter.py").write_text(source, "utf-8")
    search = ("check", "src/counter.py", "--property", "totals_are_positive")
    run(*search, "--deadlock", "--out", "run.wl")
    end = read("run.wl").end
    assert end is not None
    assert end.property == ended
    made = run("minimize", "run.wl", "src/counter.py", "--pytest", "tests/test_run.py")
    assert "    test   tests/test_run.py" in made.out
    assert "slipped" not in made.out
    known: dict[str, object] = {"__file__": str(Path("tests/test_run.py").resolve())}
    exec(Path("tests/test_run.py").read_text("utf-8"), known)
    test = known[f"test_counter_{ended}"]
    assert callable(test)
    with pytest.raises(AssertionError, match=f"{ended}  safety: violated"):
        test()
    Path("src/counter.py").write_text(source.replace(*fixed), "utf-8")
    test()
