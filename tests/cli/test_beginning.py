"""``--from`` and ``--until``: where a search begins, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import refusal, run
from tests.cli.test_walk import LOSSY

GOALS = """
def is_lost(view):
    return view.is_finished(A) and not view.messages() and not view[B].heard
"""


@pytest.fixture(autouse=True)
def _a_run_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lossy.py").write_text(LOSSY + GOALS)
    monkeypatch.chdir(tmp_path)
    assert run("check", "lossy.py", "--out", "lost.wl").status == 1


def test_a_search_goes_on_from_a_step():
    result = run("check", "lossy.py", "--from", "lost.wl:1", "--out", "again.wl")
    assert result.status == 1
    assert "is_heard  liveness: violated after 1 step" in result.out
    assert "note: from step 1 of lost.wl on, with every fault as often" in result.out
    assert "prologue (its faults are not counted)" in result.out
    assert run("replay", "again.wl", "lossy.py").status == 1


@pytest.mark.parametrize("verb", ["check", "walk"])
def test_a_search_goes_on_from_a_state_that_was_kept(verb: str):
    kept = run("debug", "lost.wl", "lossy.py", "-c", "jump 1; save here.wl")
    assert "the state of step 1 is in here.wl" in kept.out
    result = run(verb, "lossy.py", "--from", "here.wl", "--out", "again.wl")
    assert result.status == 1
    assert "from the state in here.wl on, with every fault as often" in result.out
    assert run("replay", "again.wl", "lossy.py").status == 1
    shown = run("show", "again.wl").out
    assert "the state in which the run begins\n  a  up" in shown
    assert "Request() from a is under way" in shown
    asked = run("debug", "again.wl", "lossy.py", "-c", "jump first; state b")
    assert "Request() from a" in asked.out


def test_a_target_may_be_spelt_otherwise():
    place = str(Path("lossy.py").resolve())
    assert run("check", f"{place}:system", "--from", "lost.wl:1").status == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ["--from", "lost.wl:7"],
            "lost.wl has no step 7 to begin after; give one from 0",
        ),
        (["--from", "gone.wl"], "gone.wl"),
        (["--from", "lossy.py"], "lossy.py is not a trace"),
        (["-p", "drops=2", "--from", "lost.wl"], "no -p drops, not -p drops=2"),
        (["-p", "drops=2", "--from", "lost.wl"], "others need a run of their own"),
        (["--until", "is_found"], "has no property 'is_found' to search for; its prop"),
        (["--until", "lossy.py:is_found"], "lossy.py has no function 'is_found'"),
        (["--until", "gone.py:goal"], "gone.py does not exist"),
        (["--until", "view[b].heard +"], "is not a Python expression"),
        (["--until", "view[b]._world"], "the private name '_world'"),
        (["--until", "view[b].gone"], "is no field"),
        (["--until", "1 / 0"], "predicate 1 / 0 raised ZeroDivisionError"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "walk"])
def test_what_does_not_fit_is_refused(verb: str, options: list[str], text: str):
    assert text in refusal(run(verb, "lossy.py", *options))


def test_another_target_is_refused():
    text = refusal(run("check", "zoo:toy", "--from", "lost.wl"))
    assert "lost.wl is a run of lossy.py, not of zoo:toy; search lossy.py" in text


def test_a_run_that_goes_otherwise_now_is_refused():
    Path("lossy.py").write_text(LOSSY.replace("ctx.send(B, Request())", "pass"))
    text = refusal(run("check", "lossy.py", "--from", "lost.wl"))
    assert "lost.wl does not replay any more: at step 1, call ask() at a, sends" in text


def test_source_that_has_changed_is_no_matter_if_the_run_is_the_same():
    Path("lossy.py").write_text(LOSSY + "\n# no change\n")
    assert run("check", "lossy.py", "--from", "lost.wl").status == 1


@pytest.mark.parametrize(
    "goal",
    [
        "lossy.py:is_lost",
        "view.is_finished(a) and not view.messages(dst=b) and not view[b].heard",
    ],
)
def test_goals_are_functions_and_expressions(goal: str):
    result = run("check", "lossy.py", "--until", goal, "--out", "x.wl")
    assert f"from the first state where {goal.rpartition(':')[2]} is true" in result.out
    assert "after 0 steps, then nothing more for ever" in result.out


def test_a_goal_may_be_in_another_file():
    Path("goals.py").write_text("def finished(view):\n    return not view.messages()\n")
    result = run("check", "lossy.py", "--until", "goals.py:finished")
    assert "the first state where finished is true, at once" in result.out


@pytest.mark.parametrize("text", ["view.messages", "(n for n in view)"])
def test_an_expression_that_is_always_true_is_refused(text: str):
    result = run("check", "zoo:toy", "--until", text)
    assert result.status == 2
    assert "return a bool" in result.err
