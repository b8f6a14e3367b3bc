"""A run beside another: which steps stay, and what became of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import COUNTER, refusal, run
from tests.shrink.test_passes import A, B, C, call, desks, take, tell

import worldline as wl
from worldline.model.verdicts import Verdict
from worldline.runs.record import Ending, record
from worldline.show import beside as module
from worldline.show.beside import StepFate, beside, pairings
from worldline.trace.records import Trace
from worldline.worlds.direct import DirectWorld


def run_of(*events: wl.Event) -> Trace:
    system = desks()
    boot = [(event, ()) for event in DirectWorld(system).boot_events()]
    return record(
        DirectWorld(system),
        boot,
        [],
        [(event, ()) for event in events],
        ending=Ending(None, None, Verdict.UNKNOWN),
        engine="test",
        seed=None,
    )


LONG = run_of(
    tell(A, C, "one"),
    call(B, "look"),
    tell(A, C, "two"),
    take(C, A, "two"),
    call(B, "toggle"),
    take(C, A, "one"),
)


def fates(trace: Trace, other: Trace) -> list[tuple[int | None, StepFate]]:
    pairs = pairings(trace, other)
    return [(p.other.step if p.other else None, p.fate) for p in pairs]


def test_what_is_left_stays_where_only_other_steps_are_gone():
    short = run_of(tell(A, C, "one"), tell(A, C, "two"), take(C, A, "two"))
    assert fates(short, LONG) == [
        (1, StepFate.STAYS),
        (3, StepFate.STAYS),
        (4, StepFate.STAYS),
    ]


def test_a_step_out_of_order_is_moved():
    moved = run_of(call(B, "toggle"), tell(A, C, "one"), tell(A, C, "two"))
    assert fates(moved, LONG) == [
        (5, StepFate.MOVED),
        (1, StepFate.STAYS),
        (3, StepFate.STAYS),
    ]


def test_a_step_that_says_something_else_is_changed_and_one_without_equal_is_new():
    other = run_of(tell(A, C, "three"), take(C, A, "three"), call(C, "look"))
    assert fates(other, LONG) == [
        (1, StepFate.CHANGED),
        (4, StepFate.CHANGED),
        (None, StepFate.NEW),
    ]
    said = list(beside(other, LONG))
    assert said[1] == "  3 steps beside 6: 2 changed, 1 new"
    assert said[-2] == (
        "     2      4  c  deliver Note(text='three') from a  (was Note(text='two'))"
    )
    assert said[-1] == "     3      -  c  call look()  (new)"


def test_each_step_of_the_other_run_is_taken_once():
    twice = run_of(call(B, "look"), call(B, "look"))
    assert fates(twice, LONG) == [(2, StepFate.STAYS), (None, StepFate.NEW)]


def test_very_long_runs_are_paired_without_comparing_all_with_all(
    monkeypatch: pytest.MonkeyPatch,
):
    short = run_of(tell(A, C, "one"), tell(A, C, "two"), take(C, A, "two"))
    thoroughly = fates(short, LONG)
    monkeypatch.setattr(module, "_MOST_CELLS", 1)
    assert fates(short, LONG) == thoroughly


def test_a_minimised_run_is_shown_beside_its_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER, "utf-8")
    run("walk", "counter.py", "-p", "adds=9", "--out", "run.wl", "--seed", "2")
    run("minimize", "run.wl", "counter.py", "-p", "adds=9")
    done = run("show", "run-min.wl", "--beside", "run.wl")
    assert (done.status, done.err) == (0, "")
    first, second, *_ = done.out.splitlines()
    assert first == "counter: VIOLATED replicas_agree_at_rest (safety)"
    assert " steps beside " in second
    assert refusal(run("show", "run-min.wl", "--beside", "run.wl", "--dot"))
    run("walk", "zoo:brokentree", "-p", "bugs=bt2", "--out", "tree.wl")
    said = refusal(run("show", "run-min.wl", "--beside", "tree.wl"))
    assert said.startswith("tree.wl has other nodes than run-min.wl")
