"""What a system, a call and a command line leave out of a search: assume and prune."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.command import refusal, run

import worldline as wl
from worldline.model.verdicts import Verdict

(A,) = wl.ids("a")


@wl.node
class Counter:
    """Counts to five."""

    value: int = 0

    @wl.call
    def add(self, ctx: wl.Context) -> None:
        self.value += 1


def at_most_two(view: wl.View) -> bool:
    return bool(view[A].value <= 2)


def at_least_three(view: wl.View) -> bool:
    return bool(view[A].value >= 3)


def is_one(view: wl.View) -> bool:
    return bool(view[A].value == 1)


@wl.safety
def below_four(view: wl.View) -> None:
    assert view[A].value < 4


def counting(**options: Any) -> wl.System:
    calls = [wl.invoke(Counter.add) for _ in range(5)]
    return wl.System(
        {A: Counter()},
        workload=[wl.script(A, calls)],
        properties=[below_four],
        name="counting",
        **options,
    )


def test_without_cuts_five_is_reached() -> None:
    assert wl.check(counting(), traces=False).violated is not None


@pytest.mark.parametrize("engine", ["python", "native"])
def test_an_assumption_of_the_system_is_that_of_a_call(engine: Any) -> None:
    own = wl.check(counting(assume=at_most_two), engine=engine)
    told = wl.check(counting(), assume=at_most_two, engine=engine)
    assert own.verdict is told.verdict is Verdict.HOLDS
    assert own.states == told.states == 4  # 0, 1, 2, and 3, which is not expanded
    assert own.assumptions == told.assumptions
    assert "at_most_two in every state" in own.assumptions


@pytest.mark.parametrize("option", ["assume", "prune"])
def test_an_expression_as_text_is_refused_with_the_function_to_write(option: str):
    text: Any = "view[a].value <= 2"
    for make in (
        lambda: wl.check(counting(), **{option: text}),
        lambda: counting(**{option: text}),
    ):
        with pytest.raises(wl.ModelError, match="which is no function") as caught:
            make()
        assert "lambda view: ...; text is for the command line" in caught.value.remedy


def test_a_prune_of_the_system_excludes_holds() -> None:
    report = wl.check(counting(prune=at_least_three))
    assert (report.verdict, report.bound) == (Verdict.UNKNOWN, "pruned")
    assert report.states == 4


def test_a_call_adds_to_what_the_system_says() -> None:
    system = counting(assume=at_most_two)
    assert wl.check(system, prune=is_one).states == 2
    both = wl.check(system, assume=lambda view: view[A].value <= 1)
    assert both.states == 3
    assert both.assumptions[-2:] == (
        "at_most_two in every state",
        "<lambda> in every state",
    )
    assert wl.check(counting(prune=at_least_three), prune=is_one).states == 2


def test_an_assumption_is_told_where_only_some_of_the_verdicts_are_known() -> None:
    @wl.sometimes
    def four(view: wl.View) -> bool:
        return bool(view[A].value == 4)

    made = counting().replace(properties=[below_four, four])
    report = wl.check(made, assume=at_most_two)
    verdicts = [row.verdict for row in report.properties]
    assert report.verdict is Verdict.UNKNOWN
    assert verdicts == [Verdict.HOLDS, Verdict.UNKNOWN]
    (line,) = [t for t in str(report).splitlines() if t.startswith("  assuming: ")]
    assert "at_most_two in every state" in line


def test_an_assumption_of_which_nothing_is_said_to_hold_is_not_told() -> None:
    report = wl.check(counting(), assume=at_most_two, max_depth=1)
    assert report.verdict is Verdict.UNKNOWN
    assert "assuming" not in str(report)


def test_an_assumption_that_is_made_twice_is_said_once() -> None:
    report = wl.check(counting(assume=at_most_two), assume=at_most_two)
    assert [t for t in report.assumptions if "at_most_two" in t] == [
        "at_most_two in every state"
    ]


def test_several_predicates_may_be_given() -> None:
    report = wl.check(counting(), assume=[at_most_two, below_four])
    assert report.assumptions[-2:] == (
        "at_most_two in every state",
        "below_four in every state",
    )


def test_a_property_that_asserts_can_be_assumed() -> None:
    report = wl.check(counting(assume=below_four), keep_going=True, traces=False)
    assert report.states == 5  # 4 is seen, and violates, but 5 does not follow
    assert report.verdict is Verdict.VIOLATED


def test_what_the_system_assumes_is_audited() -> None:
    seen: list[int] = []

    def moody(view: wl.View) -> bool:
        seen.append(1)
        return len(seen) < 3 or bool(view[A].value > 9)

    with pytest.raises(wl.Nondeterminism, match="prune or assume"):
        wl.check(counting(assume=moody))


def test_a_trace_is_replayed_without_cuts(tmp_path: Path) -> None:
    path = tmp_path / "run.wl"
    wl.check(counting(), out=path).expect_violated("below_four")
    replayed = wl.replay(path, counting(assume=is_one, prune=is_one))
    assert (replayed.reproduced, replayed.notes) == (True, ())


@pytest.mark.parametrize("name", ["assume", "prune"])
def test_a_cut_is_a_function_of_a_view(name: str) -> None:
    with pytest.raises(wl.ModelError, match=rf"System\({name}=...\) is 5"):
        counting(**{name: 5})
    with pytest.raises(
        wl.ModelError, match=rf"System\({name}=...\) has the parameters"
    ):
        counting(**{name: lambda: True})


@pytest.fixture
def _counting_py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(
        "from tests.search.test_cuts import *\nsystem = counting\n", "utf-8"
    )


@pytest.mark.usefixtures("_counting_py")
@pytest.mark.parametrize(
    ("options", "verdict", "states"),
    [
        (["--assume", "view[a].value <= 2"], "HOLDS", 4),
        (["--assume", "counting.py:at_most_two"], "HOLDS", 4),
        (
            ["--assume", "view[a].value < 3", "--assume", "view[a].value < 2"],
            "HOLDS",
            3,
        ),
        (["--prune", "view[a].value > 2"], "UNKNOWN (bound: pruned)", 4),
        (
            ["--prune", "view[a].value > 2", "--prune", "view[a].value == 1"],
            "UNKNOWN (bound: pruned)",
            2,
        ),
        (["--assume", "below_four"], "VIOLATED", 5),
    ],
)
def test_the_command_line_leaves_states_out(
    options: list[str], verdict: str, states: int
) -> None:
    result = run("check", "counting.py", *options)
    assert result.out.startswith(f"counting: {verdict}\n")
    assert f"  {states} states, " in result.out


@pytest.mark.usefixtures("_counting_py")
def test_the_command_line_says_what_was_assumed() -> None:
    result = run("check", "counting.py", "--assume", "view[a].value <= 2")
    assert "view[a].value <= 2 in every state" in result.out


@pytest.mark.usefixtures("_counting_py")
@pytest.mark.parametrize("option", ["--assume", "--prune"])
def test_what_is_no_predicate_is_refused(option: str) -> None:
    text = refusal(run("check", "counting.py", option, "unheard"))
    assert "counting has no property 'unheard'" in text
    text = refusal(run("check", "counting.py", option, "view[a].valu"))
    assert "is no field" in text
