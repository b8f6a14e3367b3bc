"""The pytest plugin: budgets reach searches, and a failure shows its run made short."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.show.steps import steps
from worldline.testing.budgets import WorldlineBudget
from worldline.testing.running import RunningTest
from worldline.trace.format import read, write
from worldline.trace.records import Trace

pytest_plugins = ["pytester"]

SYSTEM = """
import worldline as wl

PRIMARY, BACKUP = wl.ids("primary", "backup")

@wl.message
class Total:
    value: int

@wl.node
class Replica:
    total: int = 0
    calls: int = 0

    @wl.call
    def add(self, ctx: wl.Context, amount: int) -> None:
        self.total += amount
        ctx.send(BACKUP, Total(self.total))

    @wl.call(when=lambda self: self.calls < 9)
    def idle(self, ctx: wl.Context) -> None:
        self.calls += 1

    @wl.on(Total)
    def copy(self, ctx: wl.Context, src: wl.NodeId, msg: Total) -> None:
        self.total = msg.value

@wl.safety
def agree_at_rest(view: wl.View) -> bool:
    return bool(view.messages()) or view[PRIMARY].total == view[BACKUP].total

@wl.liveness
def ends_at_nine(view: wl.View) -> bool:
    return view[BACKUP].total == 9

def system() -> wl.System:
    calls = [wl.invoke(Replica.add, 5), wl.invoke(Replica.add, 3)]
    return wl.System({PRIMARY: Replica(), BACKUP: Replica()}, name="counter",
                     workload=[wl.script(PRIMARY, calls), wl.whenever(Replica.idle)],
                     properties=[agree_at_rest])
"""


@pytest.fixture(scope="module")
def loaded() -> None:
    """Load what sessions in this process load late: each would do so, and unload it."""
    known: dict[str, Any] = {"__name__": __name__}
    exec(SYSTEM, known)
    test = RunningTest("test", WorldlineBudget())
    with tempfile.TemporaryDirectory() as folder, test.holding():
        report = wl.fuzz(known["system"], out=Path(folder) / "run.wl")
        with pytest.raises(wl.PropertyFailed) as caught:
            report.expect_no_violation()
        assert test.explained(caught.value, seconds=1.0)
        wl.check(known["system"], traces=False)
        wl.walk(known["system"], traces=False)
        wl.simulate(known["system"], seconds=1, traces=False)


@pytest.fixture
def project(
    loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> pytest.Pytester:
    """A user's folder with a system; the plugin is loaded as in any other session."""
    # On a build server pytest's summary repeats each failure whole.
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyfile(counter=SYSTEM)
    pytester.syspathinsert()
    pytester.makeini("[pytest]\naddopts = -p no:hypothesispytest -p no:cacheprovider")
    return pytester


def ran(project: pytest.Pytester, source: str, *options: str) -> pytest.RunResult:
    project.makepyfile(test_counter=f"import pytest\nimport worldline as wl\n{source}")
    return project.runpytest_inprocess(*options)


FUZZ = """
from counter import system
def test_totals_agree():
    wl.fuzz(system, events=5000, threads=1).expect_no_violation()
"""


def test_a_failure_shows_its_run_made_short_and_what_replays_it(
    project: pytest.Pytester,
):
    result = ran(project, FUZZ)
    result.assert_outcomes(failed=1)
    place = "worldline-out/test_counter-test_totals_agree/counter-agree_at_rest"
    result.stdout.fnmatch_lines(
        [
            "E * counter: VIOLATED",
            "*- worldline -*",
            "agree_at_rest, shortened in * s: * -> 4 (2)*",
            f"  replay worldline replay {place}-min.wl counter:system",
        ]
    )
    report = wl.replay(f"{place}-min.wl", "counter.py")
    assert report.verdict is wl.Verdict.VIOLATED


def test_it_says_when_time_was_up(project: pytest.Pytester):
    result = ran(project, FUZZ, "--worldline-minimize", "0.000001")
    result.stdout.fnmatch_lines(["  cut off (bound: seconds); with more time: *"])


def test_it_says_why_the_short_run_is_in_no_file(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    def full(run: Trace, file: Path) -> None:
        if file.stem.endswith("-min"):
            raise wl.UsageError("the disk is full")
        write(run, file)

    monkeypatch.setattr("worldline.runs.evidence.write", full)
    result = ran(project, FUZZ)
    result.stdout.fnmatch_lines(["*shortened in*", "  no trace: the disk is full"])


def test_no_run_is_made_short_if_that_is_not_wanted(project: pytest.Pytester):
    result = ran(project, FUZZ, "--worldline-minimize", "0")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*- worldline -*")


def test_steps_that_the_report_left_out_are_shown(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    known = "worldline.testing.shortening.is_shown_whole"
    monkeypatch.setattr(known, lambda run: False)
    source = FUZZ.replace("wl.fuzz(system, events=5000, threads=1)", "wl.check(system)")
    result = ran(project, source)
    result.stdout.fnmatch_lines(
        [
            "  nothing shorter was found; the report leaves some of its steps out*",
            " 4  *deliver Total*",
            "*without it: *",
        ]
    )


def test_steps_are_not_shown_twice(project: pytest.Pytester):
    source = FUZZ.replace("wl.fuzz(system, events=5000, threads=1)", "wl.check(system)")
    result = ran(project, source)
    result.stdout.fnmatch_lines(
        [
            "agree_at_rest, shortened in * s: 4 deliveries (2 externals) -> 4 (2), *",
            "  nothing shorter was found: these are the steps that the report has",
        ]
    )
    assert str(result.stdout).count("1  primary  call add(5)") == 1


@pytest.mark.parametrize(
    "raised",
    [
        "KeyError('x') from error",
        "ExceptionGroup('x', [KeyError(), error])",
        "error from error",
    ],
)
def test_what_was_raised_for_a_failure_shows_its_run_too(
    project: pytest.Pytester, raised: str
):
    source = f"""
from counter import system
def test_totals_agree():
    try:
        wl.check(system).expect_holds()
    except wl.PropertyFailed as error:
        raise {raised}
"""
    result = ran(project, source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["agree_at_rest, shortened in *"])


def test_a_system_that_no_target_names_is_made_short_too(project: pytest.Pytester):
    result = ran(project, FUZZ.replace("fuzz(system", "fuzz(system()"))
    result.stdout.fnmatch_lines(
        ["agree_at_rest, shortened in *", "  replay wl.replay('*', system=...)"]
    )


def test_a_run_by_a_clock_becomes_one_by_none(project: pytest.Pytester):
    source = FUZZ.replace("fuzz(system, events=5000, ", "simulate(system, rate=50, ")
    result = ran(project, source)
    result.stdout.fnmatch_lines(
        [
            "agree_at_rest, shortened in * -> 4 (2)*",
            "  its delays are not kept: by the clock this run may be impossible",
        ]
    )


def test_other_failures_and_expected_ones_are_left_alone(project: pytest.Pytester):
    source = """
from counter import system
def test_wrong():
    assert wl.check(system).verdict is wl.Verdict.HOLDS
@pytest.mark.xfail(strict=True)
def test_gap():
    wl.check(system).expect_holds()
def test_not_violated():
    wl.check(system, max_depth=1).expect_violated("agree_at_rest")
"""
    result = ran(project, source)
    result.assert_outcomes(failed=2, xfailed=1)
    result.stdout.no_fnmatch_line("*- worldline -*")


def test_no_two_tests_share_a_folder():
    parameters = [
        "1.5",
        "1-5",
        "1_5",
        "a/b",
        "a b",
        "a-b",
        "-a",
        "a",
        "A",
        "",
        "é",
        ".",
    ]
    names = [
        *(f"test_a.py::test_b[{one}]" for one in parameters),
        *("test_a.py::test_b", "test_a.py::test_B", "test_a.py::test_b::a"),
        *("test_a/test_b.py::a", "test_a-test_b.py::a", "test_a.test_b.py::a"),
        *(f"test_a.py::{'b' * 200}[{one}]" for one in (1, 2)),
    ]
    folders = {WorldlineBudget().folder(name).name.lower() for name in names}
    assert len(folders) == len(names)
    assert all(len(folder) < 120 for folder in folders)


def test_searches_of_one_test_keep_the_runs_of_each_other(project: pytest.Pytester):
    source = """
from counter import system
def test_totals_agree():
    first = wl.fuzz(system, seed=3, threads=1)
    second = wl.fuzz(system, seed=4, threads=1)
    assert first.trace.stem + "-2" == second.trace.stem
    assert wl.replay(first.trace, system).seed == 3
    first.expect_no_violation()
"""
    result = ran(project, source)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  replay * */counter-agree_at_rest-min.wl *"])
    result = ran(project, source)  # those of the last session make room
    result.stdout.fnmatch_lines(["  replay * */counter-agree_at_rest-min.wl *"])


def test_of_many_runs_in_one_test_the_latest_stay(project: pytest.Pytester):
    source = """
from counter import system
def test_totals_agree():
    reports = [wl.fuzz(system, seed=seed, threads=1) for seed in range(23)]
    assert len({report.trace for report in reports[-20:]}) == 20
    assert len(list(reports[0].trace.parent.iterdir())) <= 21
"""
    ran(project, source).assert_outcomes(passed=1)


CTRL_C = """
import signal
from counter import system
PRESSED = []
def ctrl_c():
    if not PRESSED:
        PRESSED.append(signal.raise_signal(signal.SIGINT))
@wl.safety
def fine(view):
    ctrl_c()
    return True
def search():
    return wl.check(system().replace(properties=[fine]), threads=1)
"""


@pytest.mark.parametrize("expected", [".expect_no_violation()", ""])
def test_ctrl_c_in_a_search_ends_the_session(project: pytest.Pytester, expected: str):
    source = f"{CTRL_C}def test_long(): search(){expected}\ndef test_next(): pass"
    result = ran(project, source)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(**{"failed" if expected else "passed": 1})
    result.stdout.fnmatch_lines(["!*Ctrl-C ended a search*!"])
    if expected:
        result.stdout.fnmatch_lines(
            ["E *interrupted before *", "E * counter: UNKNOWN*"]
        )


def test_ctrl_c_while_a_run_is_made_short_ends_the_session(project: pytest.Pytester):
    source = f"""{CTRL_C}
@pytest.fixture(autouse=True)
def _pressed(monkeypatch):
    from worldline.minimizing import minimize
    shrink = minimize._shrink
    monkeypatch.setattr(minimize, "_shrink", lambda *a: (ctrl_c(), shrink(*a)))
def test_long(): wl.check(system).expect_holds()
def test_next(): pass
"""
    result = ran(project, source)
    assert result.ret is pytest.ExitCode.INTERRUPTED
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  cut off (bound: interrupted); *"])
    result.stdout.fnmatch_lines(["!*Ctrl-C ended a search*!"])


BUDGETS = """
from counter import system
def seed_and_bound(report):
    return report.seed, report.bound
def test_options(worldline_budget):
    assert worldline_budget.seed == 7
    assert wl.check(system, deadlock=True, max_depth=2).seed == 7
@pytest.mark.worldline(seed=8)
class TestNearest:
    @pytest.mark.worldline(max_seconds=20)
    def test_markers(self, worldline_budget):
        assert worldline_budget == worldline_budget.__class__(seed=8, max_seconds=20)
        assert wl.walk(system, events=9).seed == 8
    @pytest.mark.worldline(seed=9)
    def test_calls(self):
        assert wl.walk(system, events=9).seed == 9
        assert wl.walk(system, events=9, seed=3).seed == 3
"""


def test_budgets_come_from_the_call_then_markers_then_options(project: pytest.Pytester):
    options = "--worldline-seed", "7", "--worldline-max-seconds", "30"
    ran(project, BUDGETS, *options).assert_outcomes(passed=3)


def test_a_bound_that_a_marker_sets_ends_a_search(project: pytest.Pytester):
    source = """
from counter import system
@pytest.mark.worldline(max_seconds=0.1)
def test_bound():
    assert wl.fuzz(system().replace(properties=[])).bound == "seconds"
"""
    ran(project, source).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (
            "@pytest.mark.worldline(5)\ndef test_a(): pass",
            (),
            "*takes no 5; write max*",
        ),
        ("@pytest.mark.worldline(sed=5)\ndef test_a(): pass", (), "*takes no sed; wr*"),
        (
            "@pytest.mark.worldline(seed='x')\ndef test_a(): pass",
            (),
            "*seed='x' is not a whole*",
        ),
        ("", ("--worldline-seed", "x"), "*: 'x' is no seed of 64 bits"),
        ("", ("--worldline-seed", f"{2**64}"), "*' is no seed of 64 bits"),
        ("", ("--worldline-max-seconds", "0"), "*: '0' is not a positive number of s*"),
        (
            "",
            ("--worldline-minimize", "abc"),
            "*: 'abc' is not a positive number of s*",
        ),
    ],
)
def test_a_wrong_budget_is_refused(
    project: pytest.Pytester, source: str, options: tuple[str, ...], said: str
):
    result = ran(project, source, *options)
    shown = result.outlines + result.errlines
    pytest.LineMatcher(shown).fnmatch_lines([said])


@pytest.mark.parametrize(
    "options", [(), pytest.param(("-n1",), marks=pytest.mark.slow)]
)
def test_a_wrong_marker_is_an_error_of_its_file(
    project: pytest.Pytester, options: tuple[str, ...]
):
    source = """
@pytest.mark.worldline(5)
class TestWrong:
    def test_a(self): pass
"""
    result = ran(project, source, *options)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR collecting *", "*::test_a: *takes no 5; *"])
    result.stdout.no_fnmatch_line("*INTERNALERROR*")


@pytest.mark.slow
def test_workers_have_the_options_and_do_not_write_over_each_other(
    project: pytest.Pytester,
):
    source = """
import worldline as wl
from counter import PRIMARY, Replica, system
@pytest.mark.parametrize("amount", [1, 2, 3, 4])
def test_totals_agree(amount):
    calls = [wl.invoke(Replica.add, amount), wl.invoke(Replica.add, 1)]
    report = wl.check(system().replace(workload=[wl.script(PRIMARY, calls)]))
    assert report.seed == 6
    report.expect_holds()
"""
    options = "-n", "2", "--worldline-seed", "6", "--worldline-out", "traces"
    project.makepyfile(test_counter=f"import pytest\n{source}")
    result = project.runpytest_subprocess(*options)
    result.assert_outcomes(failed=4)
    assert str(result.stdout).count("shortened in") == 4
    for amount in range(1, 5):
        folder = Path("traces") / f"test_counter-test_totals_agree-{amount}"
        for name in ("counter-agree_at_rest.wl", "counter-agree_at_rest-min.wl"):
            shown = "\n".join(steps(read(folder / name)))
            assert f"1  primary  call add({amount})" in shown
    assert not Path("worldline-out").exists()


@pytest.mark.slow
def test_a_session_without_systems_loads_nothing_of_worldline(
    pytester: pytest.Pytester,
):
    pytester.makepyfile(
        """
        import sys
        def test_nothing_is_loaded():
            assert "pytest_worldline" in sys.modules
            assert "worldline" not in sys.modules
        """
    )
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=1)
