"""``--predicates`` and deadlines on the command line: what is printed, and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command import refusal, run

PAIR = '''\
"""A follower that forgets in a crash, and a leader that sends what is not acknowledged."""
import worldline as wl

L, F = wl.ids("leader", "follower")

@wl.message
class Value:
    value: int

@wl.message
class Ack:
    value: int

@wl.node
class Leader:
    value: int = 0
    acked: int = 0

    @wl.start
    def begin(self, ctx):
        ctx.set_timer(Leader.change, after=4.0)

    @wl.timer
    def change(self, ctx):
        self.value += 1
        ctx.send(F, Value(self.value))

    @wl.on(Ack)
    def has(self, ctx, src, msg):
        self.acked = max(self.acked, msg.value)

@wl.node
class Follower:
    value: int = 0

    @wl.on(Value)
    def take(self, ctx, src, msg):
        self.value = msg.value
        ctx.send(L, Ack(msg.value))

@wl.gauge(initial=0.0)
def last(value, step, view):
    return step.time

@wl.liveness(confidence=lambda view: min(1.0, (view.time - view.gauge("last")) / 10))
def agreement(view):
    return view[L].value == view[F].value

def system():
    return wl.System(
        {L: Leader(), F: Follower()}, properties=[agreement], gauges=[last], name="pair"
    )
'''

REFINED = """\
import worldline as wl
from pair import F, L

@wl.gauge(initial=None)
def restarted(value, step, view):
    return step.time if step.event.kind is wl.Kind.RESTART else value

@wl.liveness(confidence=lambda view: 0.5 if view.gauge("restarted") else 0.0)
def agreement(view):
    has, acked = view[F].value, view[L].acked
    assert view[L].value == has, f"{F} has {has}, and {L} believes {acked}"
"""

NEVER = """
import worldline as wl
from pair import F

@wl.safety
def early(view):
    return view.is_up(F)
"""

CRASH = ("--weather", "at 6s crash follower, at 7s restart follower")
ORDINARY = ("simulate", "pair.py", "--latency", "constant 20ms")


@pytest.fixture(autouse=True)
def _files_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pair.py").write_text(PAIR)
    (tmp_path / "refined.py").write_text(REFINED)
    monkeypatch.chdir(tmp_path)


def test_a_deadline_is_printed_shown_replayed_and_debugged():
    result = run(*ORDINARY, *CRASH)
    assert result.status == 1
    assert result.out.splitlines()[:10] == [
        "pair: VIOLATED",
        "  agreement  liveness: violated after 5 steps",
        "    deadline: false since step 5 (7 s), and sure at 17 s that it should be true",
        "    view[L].value == view[F].value is false",
        "      leader.value was 1",
        "      follower.value was 0",
        "    false 2 times; due once, else confidence 0.002 at most",
        "      4 s to 4.02 s, step 1, confidence 0.002, last 4",
        "      7 s to 17 s, step 5, confidence 1, last 7",
        "    trace  worldline-out/pair-agreement.wl",
    ]
    shown = run("show", "worldline-out/pair-agreement.wl")
    assert "  deadline: false since step 5 (7 s), and sure at 17 s" in shown.out
    assert "    gauge last = 7.0" in shown.out
    again = run("replay", "worldline-out/pair-agreement.wl", "pair.py")
    assert (again.status, "VIOLATED agreement, reproduced" in again.out) == (1, True)
    script = ("track view.gauge('last')", "print view.time", "state", "status")
    commands = [word for line in script for word in ("-c", line)]
    told = run("debug", "worldline-out/pair-agreement.wl", "pair.py", *commands)
    assert told.out.startswith("0  0.0\n1  4.0\n2  4.02\n")
    assert "\n17.0\n" in told.out
    assert "(gauges): last: 7.0" in told.out


def test_the_debugger_ends_at_the_deadline_and_tells_it():
    run(*ORDINARY, *CRASH)
    trace = ("debug", "worldline-out/pair-agreement.wl", "pair.py")
    words = [
        f"-c{one}" for one in ("info", "explain", "back", "step", "print view.time")
    ]
    told = run(*trace, *words)
    phrase = (
        "deadline: false since step 5 (7 s), and sure at 17 s that it should be true"
    )
    assert told.out.count(phrase) == 2
    assert told.out.endswith("\n17.0\n")
    words = [f"-c{one}" for one in ("explain", "back", "explain", "print view.time")]
    data = json.loads(run(*trace, *words, "--json").out)
    assert data["opened"]["deadline"]["due"] == 17.0
    at_end, _, before, time = (answer["result"] for answer in data["results"])
    assert (at_end["deadline"]["time"], before["deadline"]) == (7.0, None)
    assert time["value"] == 6.0


def test_spans_and_alarms_stand_in_the_json():
    result = run(*ORDINARY, *CRASH, "--json")
    (row,) = json.loads(result.out)["properties"]
    highest = pytest.approx(0.002)
    assert row["alarms"] == {"spans": 2, "reached": 1, "highest": highest, "in_run": 2}
    assert [list(span) for span in row["spans"]] == [
        [
            *("first", "last", "time", "until", "lamport", "confidence"),
            *("due", "gauges", "explanation"),
        ]
    ] * 2
    due = row["spans"][1]
    assert (due["first"], due["time"], due["due"], due["lamport"]) == (5, 7.0, 17.0, 5)
    assert due["gauges"] == {"last": 7.0}


def test_a_recorded_run_is_asked_another_question():
    run(*ORDINARY, *CRASH)
    asked = run(
        *("replay", "worldline-out/pair-agreement.wl", "pair.py"),
        *("--predicates", "refined.py"),
    )
    assert asked.status == 3
    lines = asked.out.splitlines()
    assert lines[0] == "pair: agreement false at the end, and not due"
    assert lines[2:5] == [
        "    false 2 times; due never, else confidence 0.5 at most",
        "      4 s to 4.02 s, step 1, confidence 0, last 4, restarted None",
        "      7 s to 17 s, step 5, confidence 0.5, last 7, restarted 7",
    ]
    assert lines[-1] == (
        "  note: agreement is that of refined.py, in the place of the system's"
    )
    told = run(
        *("replay", "worldline-out/pair-agreement.wl", "pair.py", "--json"),
        *("--predicates", "refined.py"),
    )
    report = json.loads(told.out)
    assert (report["verdict"], report["undecided"]) == ("unknown", ["agreement"])
    (row,) = report["properties"]
    assert row["spans"][1]["explanation"].startswith(
        "follower has 0, and leader believes 1"
    )


def test_a_run_that_goes_otherwise_judges_nothing():
    run(*ORDINARY, *CRASH)
    Path("pair.py").write_text(PAIR.replace("self.value += 1", "self.value += 2"))
    asked = run(
        *("replay", "worldline-out/pair-agreement.wl", "pair.py"),
        *("--predicates", "refined.py"),
    )
    assert asked.status == 2
    assert asked.out.startswith("pair: NOT REPRODUCED\n")


def test_a_simulation_asks_what_the_file_says():
    result = run(*ORDINARY, *CRASH, "--predicates", "refined.py")
    assert (result.status, "pair: UNKNOWN" in result.out) == (3, True)
    text = REFINED.replace("0.5 if", "1.0 if")
    Path("refined.py").write_text(text)
    result = run(*ORDINARY, *CRASH, "--predicates", "refined.py")
    assert result.status == 1
    assert "follower has 0, and leader believes 1" in result.out
    assert "pair-agreement.wl pair.py --predicates refined.py\n" in result.out
    trace = "worldline-out/pair-agreement.wl"
    without = run("replay", trace, "pair.py")
    assert (without.status, "NOT REPRODUCED" in without.out) == (2, True)


MISSING = "what the run violates was declared elsewhere; add --predicates refined.py"


def test_a_run_of_a_file_of_predicates_asks_for_it():
    Path("refined.py").write_text(REFINED + NEVER)
    found = run(*ORDINARY, *CRASH, "--predicates", "refined.py")
    assert "early      safety: violated after 4 steps" in found.out
    trace = ("worldline-out/pair-early.wl", "pair.py")
    again = run("replay", *trace)
    assert (again.status, MISSING in again.out) == (2, True)
    note = run("debug", *trace, "-c", "info").out
    assert f"note: pair has no property 'early': {MISSING}" in note
    said = "pair has no property 'early': what the run violates was declared elsewhere"
    told = run("debug", *trace, "-c", "status early")
    assert (told.status, f"error: {said}" in told.err) == (2, True)
    assert said in refusal(run("minimize", *trace))
    asked = ("print view.gauge('restarted')", "status", "explain early")
    commands = [word for line in asked for word in ("-c", line)]
    told = run("debug", *trace, "--predicates", "refined.py", *commands)
    assert (told.status, told.err.count("declared elsewhere")) == (0, 0)
    assert "agreement is that of refined.py" in told.err
    assert told.out.startswith("None\n")
    assert "early" in told.out


def test_so_does_one_of_which_the_system_has_another_kind():
    other = NEVER.replace("early", "agreement")
    Path("refined.py").write_text(other)
    found = run(*ORDINARY, *CRASH, "--predicates", "refined.py")
    assert "worldline minimize" not in found.out
    trace = ("worldline-out/pair-agreement.wl", "pair.py")
    said = (
        "agreement of pair is a liveness property, and the one that the run violates "
    )
    for verb in ("replay", "debug"):
        words = () if verb == "replay" else ("-c", "info")
        assert f"{said}a safety property: {MISSING}" in run(verb, *trace, *words).out
    assert said in refusal(run("minimize", *trace))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["simulate", "pair.py", "--predicates", "no.py"], "no.py does not exist"),
        (
            ["simulate", "pair.py", "--predicates", "own.py"],
            "declares no property and no",
        ),
        (["simulate", "pair.py", "--property", "x"], "pair has no property 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(words: list[str], said: str):
    Path("own.py").write_text("from pair import agreement\n")
    assert said in refusal(run(*words))
