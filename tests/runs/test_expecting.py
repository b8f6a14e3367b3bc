"""What tests expect of reports: when they fail, and what they say then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.search.test_cuts import A, Counter, below_four, counting

import worldline as wl
from worldline.show.steps import run_lines


@wl.safety
def below_forty(view: wl.View) -> bool:
    return bool(view[A].value < 40)


@wl.liveness
def reaches_nine(view: wl.View) -> bool:
    return bool(view[A].value == 9)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def long() -> wl.System:
    calls = [wl.invoke(Counter.add) for _ in range(50)]
    return counting().replace(
        workload=[wl.script(A, calls)], properties=[below_forty, below_four]
    )


def failure(expect: Callable[[], Any]) -> str:
    with pytest.raises(AssertionError) as caught:
        expect()
    return str(caught.value)


STEPS = """\

boot
0  a  start

the run
1  a  call add()
        value: 0 → 1
2  a  call add()
        value: 1 → 2
3  a  call add()
        value: 2 → 3
4  a  call add()
        value: 3 → 4"""


def test_a_failure_shows_the_report_and_the_steps() -> None:
    report = wl.check(counting())
    for expect in (report.expect_holds, report.expect_no_violation):
        assert failure(expect) == f"{report}\n{STEPS}"
    assert failure(lambda: report.expect_violated("deadlock")) == (
        f"deadlock was expected to be violated\n{report}\n{STEPS}"
    )


def test_of_a_long_run_the_beginning_and_the_end_are_shown() -> None:
    report = wl.check(long(), properties=["below_forty"])
    failed = report.expect_violated("below_forty")
    assert failed.run is not None
    lines = run_lines(failed.run)
    assert len(lines) == 84
    said = failure(report.expect_holds).removeprefix(f"{report}\n\n").splitlines()
    assert said[:10] == lines[:10]
    assert said[10] == (
        "... 45 lines left out; all of them: "
        "worldline show worldline-out/counting-below_forty.wl"
    )
    assert said[11:] == lines[-29:]


def test_without_a_run_there_are_no_steps() -> None:
    report = wl.check(counting(), traces=False)
    assert failure(report.expect_holds) == str(report)
    bounded = wl.check(counting(), max_depth=2)
    assert failure(bounded.expect_holds) == str(bounded)


def test_a_search_that_hit_its_bound_has_no_violation() -> None:
    report = wl.check(counting(), max_depth=2)
    assert report.verdict is wl.Verdict.UNKNOWN
    report.expect_no_violation()


def test_a_search_that_was_interrupted_says_nothing_of_violations() -> None:
    report = replace(wl.check(counting(), max_states=2), bound="interrupted")
    assert "interrupted before the bounds" in failure(report.expect_no_violation)


def test_what_holds_has_no_violation() -> None:
    wl.check(counting(assume=below_four), properties=[]).expect_no_violation()


def test_walks_are_expected_to_find_nothing() -> None:
    system = counting().replace(properties=[reaches_nine])
    report = wl.walk(system, depth=2)
    assert "reaches_nine" in failure(report.expect_no_violation)
    assert "5  a  call add()" in failure(report.expect_no_violation)
    assert report.expect_violated("reaches_nine") is report.violated
    wl.walk(system, depth=2, max_seconds=1e-9).expect_no_violation()


def test_faults_are_expected_not_to_be_found() -> None:
    scope: dict[str, Any] = {"eot": 3, "eff": 2, "traces": False}
    broken = wl.find_faults("zoo:broadcast", parameters={"variant": "simple"}, **scope)
    assert failure(broken.expect_no_violation) == str(broken)
    wl.find_faults("zoo:broadcast", **scope).expect_no_violation()
    bounded = wl.find_faults("zoo:broadcast", max_seconds=1e-9, **scope)
    assert bounded.verdict is wl.Verdict.UNKNOWN
    bounded.expect_no_violation()


def test_no_line_of_the_library_is_shown_by_pytest() -> None:
    report = wl.check(counting())
    faults = wl.find_faults("zoo:broadcast", parameters={"variant": "simple"}, eot=3)
    for expect in (
        report.expect_holds,
        report.expect_no_violation,
        lambda: report.expect_violated("deadlock"),
        lambda: report.expect_violated("misspelt"),
        faults.expect_holds,
        faults.expect_no_violation,
    ):
        with pytest.raises(wl.WorldlineError) as caught:
            expect()
        shown = [str(e.path) for e in caught.traceback.filter(caught)]
        assert [path for path in shown if "worldline/trace" in path] == []
        assert [path for path in shown if "worldline/search" in path] == []
        assert [path for path in shown if "lineage" in path] == []


def test_control_characters_reach_no_terminal() -> None:
    @wl.safety
    def fine(view: wl.View) -> None:
        assert view[A].value < 1, "\x1b[2J"

    report = wl.check(counting().replace(properties=[fine]))
    assert "\x1b" not in failure(report.expect_holds)
