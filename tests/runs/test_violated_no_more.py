"""Replays of a run whose violation is gone: what they say, and what a test expects."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import COUNTER

import worldline as wl


@pytest.fixture(autouse=True)
def _the_trace_of_a_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counter.py").write_text(COUNTER, "utf-8")
    assert wl.check("counter.py", out="run.wl").violated


def again(old: str, new: str) -> wl.Replayed:
    """Replay the trace after a change of the source."""
    assert old in COUNTER
    source = COUNTER.replace("    FIXED = fixed\n", "").replace(old, new)
    Path("counter.py").write_text(source, "utf-8")
    return wl.replay("run.wl", "counter.py")


def test_a_test_of_the_trace_fails_with_the_bug_and_passes_without_it():
    with pytest.raises(wl.PropertyFailed, match="reproduced"):
        again("FIXED = False", "FIXED = False").expect_no_violation()
    fixed = again("FIXED = False", "FIXED = True")
    fixed.expect_no_violation()
    assert (fixed.verdict, fixed.violated) == (wl.Verdict.UNKNOWN, None)
    assert (fixed.violates_no_more, fixed.exit_code) == (True, 2)


def test_so_does_one_whose_property_was_what_was_wrong():
    found = again("return bool(view.messages()) or", "return True or")
    found.expect_no_violation()
    assert found.divergence is None
    assert str(found).startswith("counter: NOT REPRODUCED: it no longer violates")


def test_code_that_fails_otherwise_is_no_success():
    found = again("ctx.send(BACKUP, Total(self.total))", "ctx.send(BACKUP, 1 / 0)")
    assert str(found).startswith(
        "counter: NOT REPRODUCED: it violates exception now, otherwise than recorded\n"
    )
    with pytest.raises(wl.PropertyFailed, match="ZeroDivisionError"):
        found.expect_no_violation()
    found = again("self.total += amount", "self.total -= amount")
    assert "it violates totals_are_positive now" in str(found)
    with pytest.raises(wl.PropertyFailed, match="totals_are_positive"):
        found.expect_no_violation()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("replicas_agree_at_rest", "another_name"),
        ("def add(", "def increase("),
    ],
)
def test_what_is_gone_by_its_name_is_no_success(old: str, new: str):
    source = COUNTER.replace(old, new).replace("Replica.add", "Replica.increase")
    if "def add" in source:
        source = source.replace("Replica.increase", "Replica.add")
    Path("counter.py").write_text(source, "utf-8")
    with pytest.raises(wl.WorldlineError):
        wl.replay("run.wl", "counter.py").expect_no_violation()
