"""Regression tests of runs, by how their traces came about: all fail with the bug."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.command import run
from tests.runs.recording.simulated import record

import worldline as wl
from worldline.loading.loader import load
from worldline.model.system import System

RECEIVER = '''\
"""A receiver that is told of each number, unless one is lost or it forgets."""
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
    def tell(self, ctx, by):
        self.last += by
        ctx.send(B, Number(self.last))

    @wl.on(Number)
    def hear(self, ctx, src, msg):
        self.missed = self.missed or msg.value > self.last + 1
        self.last = msg.value

@wl.safety
def none_is_missed(view):
    return not view[B].missed

def system(by: str = "1,1,1,1,1", judged: bool = True):
    calls = [wl.invoke(Counting.tell, int(one)) for one in by.split(",")]
    return wl.System(
        {A: Counting(), B: Counting()},
        network=wl.datagrams(reordering=False, duplication=False),
        workload=[wl.script(A, calls)],
        faults=wl.Faults(drops=1, crashes=1, restarts=1),
        properties=[none_is_missed] if judged else [],
        name="receiver",
    )
'''

BUG, FIX = "msg.value > self.last + 1", "msg.value < 0"

PREDICATES = """\
import worldline as wl

@wl.gauge(initial=0)
def heard(value, step, view):
    return value + 1

@wl.safety
def nothing_is_missed(view):
    for node in view:
        assert not view[node].missed, f"{node} missed a number"
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("receiver.py").write_text(RECEIVER, "utf-8")
    Path("judged.py").write_text(PREDICATES, "utf-8")


def searched(verb: str, *more: str) -> Callable[[], None]:
    """Return what makes the trace by a verb that looks for violations."""

    def make() -> None:
        found = run(verb, "receiver.py", *more, "--out", "run.wl")
        assert found.status == 1, found.err

    return make


def recorded_with(by: str) -> None:
    """Leave a recording behind whose calls are not those that are declared."""
    made = load("receiver.py", {"by": by})
    assert made.origin is not None
    made.origin = replace(made.origin, parameters=())
    record(Path("folder"), made)


def recorded(by: str, *more: str) -> Callable[[], None]:
    """Return what makes the trace of a recording with calls from outside."""

    def make() -> None:
        recorded_with(by)
        found = run("replay", "folder", "receiver.py", "--out", "run.wl", *more)
        assert found.status == 1, found.err

    return make


JUDGED = ("--predicates", "judged.py")

WAYS = {
    "check": (searched("check"), ()),
    "walk": (searched("walk"), ()),
    "fuzz": (searched("fuzz"), ()),
    "faults": (searched("faults"), ()),
    "fuzz with faults": (
        searched("fuzz", "--inject", "drops", "--weight", "drop=100"),
        (),
    ),
    "recording": (recorded("7,1,1"), ()),
    "recording with predicates": (recorded("7,1,1", *JUDGED), JUDGED),
}


def written_test() -> Callable[[], None]:
    """Return the test in the file that was written."""
    known: dict[str, object] = {"__file__": str(Path("test_it.py").resolve())}
    exec(Path("test_it.py").read_text("utf-8"), known)
    (test,) = (value for name, value in known.items() if name.startswith("test_"))
    assert callable(test)
    return test


@pytest.mark.parametrize("way", WAYS)
def test_a_written_test_fails_with_the_bug_and_passes_with_the_fix(
    way: str, capsys: pytest.CaptureFixture[str]
):
    make, more = WAYS[way]
    make()
    made = run("minimize", "run.wl", "receiver.py", *more, "--pytest", "test_it.py")
    assert made.status == 1, made.err
    assert "    test   test_it.py" in made.out
    with pytest.raises(AssertionError, match=r"receiver: VIOLATED"):
        written_test()()
    assert BUG in RECEIVER
    Path("receiver.py").write_text(RECEIVER.replace(BUG, FIX), "utf-8")
    capsys.readouterr()
    written_test()()
    assert "nothing is violated: it passes" in capsys.readouterr().out


@pytest.mark.parametrize("way", WAYS)
def test_what_is_printed_replays_the_result(way: str):
    make, more = WAYS[way]
    make()
    made = run("minimize", "run.wl", "receiver.py", *more)
    lines = made.out.splitlines()
    commands = [line for line in lines if line.startswith("    replay ")]
    assert commands
    for again in commands:
        done = run(*again.partition(" worldline ")[2].split())
        assert done.status == 1, (again, done.err)


def test_calls_that_came_from_outside_are_called_so():
    recorded("7,1,1")()
    made = run("minimize", "run.wl", "receiver.py")
    assert "network declared, calls as they came from outside, " in made.out
    report = wl.minimize("run.wl", system="receiver.py", traces=False)
    assert report.to_json()["workload"] == "from outside"
    searched("check")()
    made = run("minimize", "run.wl", "receiver.py")
    assert "from outside" not in made.out


def test_a_call_that_is_declared_no_more_is_followed_where_runs_are_recorded():
    steps = [
        {"node": "a", "kind": "call", "name": "tell", "payload": {"$tuple": [7]}},
        {"node": "b", "kind": "deliver", "peer": "a",
         "payload": {"$is": "Number", "value": 7}},
    ]  # fmt: skip
    system: System = load("receiver.py", {})
    report = wl.follow(steps, system, violates="none_is_missed")
    assert (report.happened, report.violated) == (0, None)
    report = wl.follow(steps, system, violates="none_is_missed", recorded=True)
    assert report.violated is not None
    with pytest.raises(wl.UsageError, match="free_faults"):
        wl.follow(
            steps,
            system,
            violates="none_is_missed",
            recorded=True,
            free_faults=["drops"],
        )


def test_predicates_are_asked_for_where_they_are_missing():
    recorded("7,1,1", *JUDGED)()
    Path("plain.py").write_text(
        RECEIVER.replace("[none_is_missed] if judged else []", "[]"), "utf-8"
    )
    made = run("minimize", "run.wl", "plain.py")
    assert made.status == 2
    assert "add --predicates judged.py" in made.err
