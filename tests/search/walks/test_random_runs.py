"""Random runs for safety: what is found, what ends them, and what does not matter."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.shares import share

import worldline as wl
from worldline.engine.bounds import BoundHit
from worldline.engine.native.library import KernelMissing, library
from worldline.engine.schedulers.protocol import Draw, Offer
from worldline.loading.loader import load
from worldline.search.report import Progress
from worldline.search.walks import handover as moving
from worldline.search.walks import random_runs, walk_search
from worldline.search.walks.portfolio import USUAL_STEPS, turns
from worldline.trace.format import read
from worldline.worlds import remembered_walks
from worldline.zoo import randtree

UNKNOWN, VIOLATED = wl.Verdict.UNKNOWN, wl.Verdict.VIOLATED
A, B = wl.ids("a", "b")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@wl.message
class Token:
    number: int


@wl.node
class Dicer:
    """Passes a token on; what it adds is a free choice."""

    total: int = 0
    goal: int = 30
    fails: str = ""

    @wl.call
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(B, Token(0))

    @wl.on(Token)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None:
        self.total = msg.number
        if self.fails and msg.number > 9:
            raise ValueError(self.fails)
        if msg.number < self.goal:
            ctx.send(src, Token(msg.number + ctx.choose([1, 2, 3])))


@wl.safety
def nobody_has_seventeen(view: wl.View) -> bool:
    return all(view[n].total != 17 for n in view)


@wl.sometimes
def somebody_has_twelve(view: wl.View) -> bool:
    return any(view[n].total == 12 for n in view)


@wl.sometimes
def somebody_has_ninety(view: wl.View) -> bool:
    return any(view[n].total == 90 for n in view)


def dicers(*properties: wl.Property, fails: str = "", **options: Any) -> wl.System:
    return wl.System(
        {A: Dicer(fails=fails), B: Dicer(fails=fails)},
        workload=[wl.script(A, [Dicer.begin])],
        properties=properties,
        name="dicers",
        **options,
    )


def facts(report: wl.WalkReport) -> dict[str, Any]:
    """What is the same on any machine, with any engine, on any number of threads."""
    found = report.to_json()
    for key in ("seconds", "engine", "misses", "hit_rate"):
        del found[key]
    for world in ("remembered", "direct"):
        del found[f"{world}_steps"]
    return found


# -------------------------------------------------------------------------- what is found


def test_a_violation_is_found_confirmed_cut_and_written():
    report = wl.walk(dicers(nobody_has_seventeen))
    found = report.expect_violated("nobody_has_seventeen")
    assert report.verdict is VIOLATED
    assert report.bound is None
    assert found.trace is not None
    trace = read(found.trace)
    assert len([step for step in trace.steps if step.step > 0]) == found.steps
    # Cut where it is violated first: 17 is 3 * 5 + 2 at least, and begin comes before.
    assert found.steps is not None
    assert found.steps >= 2 + 6
    replayed = wl.replay(found.trace, dicers(nobody_has_seventeen))
    assert replayed.reproduced


def test_an_exception_is_found():
    report = wl.walk(dicers(fails="too much"))
    found = report.expect_violated("exception")
    assert "ValueError: too much" in found.explanation


def test_what_is_true_sometimes_is_reached_and_ends_no_run():
    report = wl.walk(dicers(somebody_has_twelve, somebody_has_ninety), walks=200)
    twelve, ninety = report.properties
    assert (twelve.verdict, twelve.explanation) == (wl.Verdict.HOLDS, "reached")
    # The token, and at least four times three on it.
    assert twelve.steps is not None
    assert twelve.steps >= 2 + 4
    assert ninety.verdict is UNKNOWN
    assert report.verdict is UNKNOWN
    assert report.walks == 200


def test_what_holds_at_the_beginning_is_reached_after_no_step():
    nothing_yet = wl.sometimes(lambda view: view[B].total == 0)
    report = wl.walk(dicers(nothing_yet), walks=3)
    assert report.properties[0].steps == 0


def test_a_violation_at_the_beginning_takes_no_step():
    report = wl.walk(dicers(wl.safety(lambda view: view[B].total > 0)))
    assert report.violated is not None
    assert (report.walks, report.violated.steps) == (1, 0)


def test_faults_happen_within_their_budgets():
    @wl.sometimes
    def begun(view: wl.View) -> bool:
        return bool(view[B].total > 0)

    @wl.sometimes
    def crashed(view: wl.View) -> bool:
        return view.is_gone(B)

    faults = wl.Faults(crashes=1, nodes=(B,))
    report = wl.walk(dicers(begun, crashed, faults=faults), walks=1000)
    assert [p.verdict for p in report.properties] == [wl.Verdict.HOLDS] * 2
    assert report.coverage is not None
    assert report.coverage.faults == ("crash",)


def test_the_zoo_has_deep_bugs_that_are_found():
    report = wl.walk(load("zoo:single-copy", {"servers": "2"}), traces=False)
    assert report.violated is not None
    assert report.violated.name == "linearizable"
    fixed = wl.walk(load("zoo:single-copy", {}), traces=False, events=30_000)
    assert (fixed.verdict, fixed.bound) == (UNKNOWN, "events")


def test_only_named_properties_are_judged():
    tested = dicers(nobody_has_seventeen, somebody_has_twelve)
    report = wl.walk(tested, walks=50, properties=["somebody_has_twelve"])
    assert [p.name for p in report.properties] == ["somebody_has_twelve"]
    assert report.verdict is UNKNOWN


# ---------------------------------------------------------------------- what ends the runs


def test_runs_end_with_their_number():
    report = wl.walk(dicers(), walks=37)
    assert (report.walks, report.bound, report.verdict) == (37, "walks", UNKNOWN)


def test_runs_end_with_their_steps():
    report = wl.walk(dicers(), events=1_000)
    assert report.bound == "events"
    # The run that used it up is made to its end.
    assert 1_000 <= report.steps < 1_000 + USUAL_STEPS
    assert sum(report.schedulers.values()) == report.steps


def test_runs_end_with_the_time():
    report = wl.walk(dicers(), max_seconds=0.05)
    assert (report.verdict, report.bound) == (UNKNOWN, "seconds")


def test_a_run_ends_at_its_bound():
    report = wl.walk(dicers(nobody_has_seventeen), max_steps=6, walks=500)
    assert report.verdict is UNKNOWN
    assert report.steps == 500 * 6


def test_ctrl_c_ends_runs_with_what_they_learned():
    def interrupt(told: Progress) -> None:
        if told.walks >= 512:
            raise KeyboardInterrupt

    report = wl.walk(dicers(somebody_has_twelve), progress=interrupt)
    assert (report.verdict, report.bound) == (UNKNOWN, "interrupted")
    assert report.walks == 512
    assert report.properties[0].verdict is wl.Verdict.HOLDS


# ------------------------------------------------------------------------ where they begin


def test_runs_begin_where_a_stage_has_led():
    report = wl.walk(
        dicers(nobody_has_seventeen), until=[lambda view: view[A].total == 14]
    )
    found = report.expect_violated("nobody_has_seventeen")
    assert found.steps is not None
    assert found.steps <= 3
    assert "total == 14" in str(report) or "first state where" in str(report)


def test_runs_begin_where_a_trace_ends():
    first = wl.walk(dicers(nobody_has_seventeen))
    assert first.violated is not None
    assert first.violated.trace is not None
    cut = f"{first.violated.trace}:4"
    report = wl.walk(dicers(nobody_has_seventeen), from_=cut, walks=20_000)
    assert report.verdict is VIOLATED


def test_a_stage_that_is_never_reached_ends_the_matter():
    report = wl.walk(dicers(), until=[lambda view: view[A].total == 1000])
    assert (report.verdict, report.walks) == (UNKNOWN, 0)
    assert report.bound == "until"


# ------------------------------------------------------------------------- determinism


@pytest.mark.parametrize(
    "build",
    [
        lambda: dicers(nobody_has_seventeen, somebody_has_twelve, somebody_has_ninety),
        lambda: dicers(somebody_has_ninety, fails="too much"),
        lambda: load("zoo:toy", {}),
    ],
    ids=["violation", "exception", "toy"],
)
@pytest.mark.parametrize("scheduler", share([None, "pct:2", "pos"], but=["pct:2"]))
def test_engines_and_threads_do_not_matter(
    build: Callable[[], wl.System], scheduler: str | None
):
    try:
        library()
    except KernelMissing as missing:
        pytest.skip(str(missing))
    options: dict[str, Any] = {"scheduler": scheduler, "walks": 300, "traces": False}
    alone = wl.walk(build(), engine="python", **options)
    for threads in (1, 3):
        report = wl.walk(build(), engine="native", threads=threads, **options)
        assert facts(report) == facts(alone)


def test_threads_do_not_change_what_was_covered():
    reports = [
        wl.walk(dicers(somebody_has_twelve), walks=700, threads=threads)
        for threads in (1, 2)
    ]
    assert reports[0].coverage == reports[1].coverage


def test_the_least_violating_walk_is_reported():
    """Each walk alone says whether it violates; the first that does is the one."""
    options: dict[str, Any] = {"scheduler": "weighted", "traces": False, "seed": 4}
    found = wl.walk(dicers(nobody_has_seventeen), **options)
    assert found.walks > 1
    fewer = wl.walk(dicers(nobody_has_seventeen), **options, walks=found.walks - 1)
    assert fewer.verdict is UNKNOWN
    as_many = wl.walk(dicers(nobody_has_seventeen), **options, walks=found.walks)
    assert facts(as_many) == facts(found)


def test_another_seed_makes_other_runs():
    reports = [wl.walk(dicers(), walks=20, seed=seed) for seed in (1, 2)]
    assert reports[0].steps != reports[1].steps


def test_runs_in_the_remembering_world_are_the_same(monkeypatch: pytest.MonkeyPatch):
    options: dict[str, Any] = {"walks": 60, "traces": False, "seed": 5}
    over_tables = wl.walk(dicers(nobody_has_seventeen, somebody_has_twelve), **options)
    monkeypatch.setattr(moving, "WINDOW", 1)
    monkeypatch.setattr(moving, "MISSES_PER_STEP", 0)
    moved = wl.walk(dicers(nobody_has_seventeen, somebody_has_twelve), **options)
    assert moved.remembered_steps > 0
    assert facts(moved) == facts(over_tables)


@pytest.mark.parametrize("most", [1, 100_000])
def test_what_runs_in_the_remembering_world_is_covered(
    most: int, monkeypatch: pytest.MonkeyPatch
):
    system = functools.partial(randtree.system, size=3, resets=1)
    options: dict[str, Any] = {"walks": 30, "max_steps": 30, "properties": ["no_loops"]}
    over_tables = wl.walk(system(), **options)
    assert over_tables.remembered_steps == 0
    monkeypatch.setattr(moving, "WINDOW", 1)
    monkeypatch.setattr(moving, "MISSES_PER_STEP", 0)
    monkeypatch.setattr(remembered_walks, "MOST_RUNS", most)
    moved = wl.walk(system(), **options)
    assert moved.remembered_steps > 0
    assert moved.coverage == over_tables.coverage
    assert moved.coverage is not None
    assert moved.coverage.never_ran != ()
    assert moved.coverage.faults == ("reset",)


def test_where_tables_have_no_room_left_runs_go_on_without(
    monkeypatch: pytest.MonkeyPatch,
):
    options: dict[str, Any] = {"walks": 60, "traces": False, "seed": 5}
    expected = wl.walk(dicers(nobody_has_seventeen), **options)
    monkeypatch.setattr(random_runs, "TABLES_SHARE", 0.0)
    monkeypatch.setattr(random_runs, "give_back", lambda: None)  # all of this process
    found = wl.walk(dicers(nobody_has_seventeen), **options)
    assert found.direct_steps > 0
    # Coverage is of what was done over tables.
    assert {**facts(found), "coverage": None} == {**facts(expected), "coverage": None}
    assert found.coverage is not None
    assert found.coverage.never_ran == ()


# --------------------------------------------------------------------------- schedulers


class Last:
    """Always takes what comes last: a scheduler of a user's own."""

    name = "last"
    remembers = False
    native = None

    def __init__(self) -> None:
        self.begun = 0

    def begin(self, draw: Draw, most_steps: int) -> None:
        self.begun += 1

    def appeared(self, offer: Offer) -> None:
        raise AssertionError("it remembers nothing")

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        return offers[-1]


def test_a_scheduler_of_ones_own_decides():
    scheduler = Last()
    report = wl.walk(dicers(), scheduler=scheduler, walks=8)
    assert scheduler.begun == 8
    assert report.schedulers == {"last": report.steps}


def test_a_report_names_the_engine_that_a_scheduler_of_ones_own_walks_with():
    report = wl.walk(dicers(), scheduler=Last(), walks=1, traces=False)
    assert report.engine == "python"


class Bad(Last):
    """Does what a scheduler must not do."""

    def __init__(self, does: Callable[[Sequence[Offer]], Any]) -> None:
        super().__init__()
        self._does = does

    def choose(self, offers: Sequence[Offer], step: int, word: int) -> Offer:
        return self._does(offers)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("does", "text"),
    [
        (lambda offers: None, "chooses what was not offered, None"),
        (lambda offers: Offer(offers[0].traits), "chooses what was not offered"),
        (lambda offers: 1 // 0, "the scheduler last raised ZeroDivisionError"),
        (lambda offers: sys.exit(0), "the scheduler last raised SystemExit"),
    ],
)
def test_a_scheduler_is_held_to_its_offers(
    does: Callable[[Sequence[Offer]], Any], text: str
):
    with pytest.raises(wl.ModelError, match=text):
        wl.walk(dicers(), scheduler=Bad(does), walks=3)


@pytest.mark.parametrize("given", [Last, 5, lambda: None, object()])
def test_what_is_no_scheduler_is_refused(given: Any):
    with pytest.raises(wl.UsageError, match="no scheduler"):
        wl.walk(dicers(), scheduler=given, walks=3)


@pytest.mark.parametrize("ordered", [False, True])
def test_schedulers_take_turns_by_default(ordered: bool):
    made = turns(None, None, ordered=ordered)
    first = [next(made).scheduler.name for _ in range(13)]
    assert first[0] == "weighted"
    others = {"phased:5", "swarm", "pos", "pct:3", "delay:5"}
    # In order anyway, fifo would be as weighted.
    assert set(first) == {"weighted", *others} | (set() if ordered else {"fifo"})


def test_a_walk_takes_its_turns():
    report = wl.walk(load("zoo:toy", {}), walks=3_600, max_steps=50, traces=False)
    assert len(report.schedulers) > 2


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"scheduler": "fair"}, "no scheduler 'fair'"),
        ({"scheduler": "pos:3"}, "the scheduler pos has no number"),
        ({"scheduler": "pct:0"}, "'pct:0' is no scheduler"),
        ({"scheduler": "pct:1e3"}, "'pct:1e3' is no scheduler"),
        ({"walks": 0}, "walks=0 is not a whole number"),
        ({"events": 0}, "events=0 is not a whole number"),
        ({"weights": {"take": 2}}, "no events 'take' to weigh"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], text: str):
    with pytest.raises(wl.UsageError, match=text):
        wl.walk(dicers(), **options)


# --------------------------------------------------------------------------- the report


def test_a_report_says_what_was_covered_and_that_nothing_is_proved():
    report = wl.walk(dicers(somebody_has_ninety), walks=50)
    assert report.coverage is not None
    assert report.coverage.never_ran == ()
    assert set(report.coverage.handlers) == {"Dicer call begin", "Dicer message Token"}
    # B has 0, 1 to 32 at most; A the same.
    assert 2 < report.coverage.local_states <= 2 * 33
    text = str(report)
    assert "50 random runs" in text
    assert "which proves nothing" in text
    assert "2 handlers ran" in text


def test_a_handler_that_never_ran_is_named():
    report = wl.walk(dicers(), max_steps=1, walks=4)
    assert report.coverage is not None
    assert report.coverage.never_ran == ("Dicer message Token",)
    assert "never ran: Dicer message Token" in str(report)


@wl.sometimes
def both_have_twenty_and_the_token_is_away(view: wl.View) -> bool:
    return all(view[n].total == 20 for n in view) and not view.messages(dst=A)


def test_a_report_says_how_near_it_came_to_what_was_not_reached():
    report = wl.walk(dicers(both_have_twenty_and_the_token_is_away), walks=40)
    (near,) = report.properties
    assert near.verdict is UNKNOWN
    # One of the two has twenty now and then, and the other has less then.
    assert "at best 2 of 3 parts held (run " in near.explanation
    assert near.explanation.endswith("not view[n].total == 20")


@wl.node
class Climber:
    height: int = 0

    @wl.call
    def climb(self, ctx: wl.Context) -> None:
        if self.height == 3:
            raise ValueError("no further")
        self.height += 1


def test_a_step_that_fails_brings_a_run_no_nearer():
    @wl.sometimes
    def it_is_at_the_top(view: wl.View) -> bool:
        return all(view[A].height >= height for height in (1, 2, 3, 4, 5))

    climbs = wl.script(A, [Climber.climb] * 5)
    system = wl.System({A: Climber()}, workload=[climbs], properties=[it_is_at_the_top])
    report = wl.walk(system, traces=False)
    report.expect_violated("exception")
    (near,) = [p for p in report.properties if p.name == "it_is_at_the_top"]
    assert "at best 3 of 5 parts held (run 0, step 3)" in near.explanation


def test_runs_end_where_a_system_says_that_nothing_follows():
    def few(view: wl.View) -> bool:
        return all(view[n].total < 10 for n in view)

    def many(view: wl.View) -> bool:
        return not few(view)

    assumed = wl.walk(dicers(nobody_has_seventeen, assume=few), walks=500)
    assert assumed.verdict is UNKNOWN
    assert "assuming few in every state" in assumed.notes
    pruned = wl.walk(dicers(nobody_has_seventeen, prune=many), walks=500)
    assert pruned.verdict is UNKNOWN
    assert pruned.steps == assumed.steps


def test_a_stage_leaves_out_what_runs_leave_out():
    def few(view: wl.View) -> bool:
        return all(view[n].total < 10 for n in view)

    beyond = [lambda view: view[A].total > 18]
    report = wl.walk(dicers(nobody_has_seventeen, assume=few), until=beyond)
    assert (report.verdict, report.bound) == (UNKNOWN, "until")


def test_the_search_for_a_stage_tells_how_far_it_has_come():
    told: list[Progress] = []
    wl.walk(
        dicers(), until=[lambda view: view[A].total > 18], walks=1, progress=told.append
    )
    assert (told[0].states, told[0].walks) == (1, 0)


def test_where_nothing_can_happen_runs_end():
    idle = wl.System({A: Dicer(), B: Dicer()}, properties=[nobody_has_seventeen])
    report = wl.walk(idle)
    assert (report.verdict, report.bound) == (UNKNOWN, "nothing can happen")
    assert report.steps == 0


class Tight:
    """A meter of tables that have no room left again and again."""

    ceiling = None

    def __init__(self) -> None:
        self.looks = 0

    def check(self) -> None:
        self.looks += 1
        if self.looks % 400 == 0:
            raise BoundHit("memory")

    def need(self, more: int) -> None:
        pass


def test_where_tables_are_filled_anew_runs_and_coverage_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
):
    tested = dicers(somebody_has_twelve, somebody_has_ninety)
    options: dict[str, Any] = {"walks": 100, "engine": "python"}
    expected = wl.walk(tested, **options)
    monkeypatch.setattr(random_runs, "_meter_of_tables", lambda *_: Tight())
    monkeypatch.setattr(random_runs, "_LASTING", 0)
    begun: list[object] = []
    monkeypatch.setattr(random_runs, "give_back", lambda: begun.append(None))
    found = wl.walk(tested, **options)
    assert len(begun) > 3
    assert found.direct_steps == 0
    assert facts(found) == facts(expected)
    assert found.coverage == expected.coverage


def test_ctrl_c_is_heeded_while_what_is_given_up_is_audited(
    monkeypatch: pytest.MonkeyPatch,
):
    audited: list[object] = []

    def interrupted(*arguments: object, **_: object) -> tuple[str, ...]:
        audited.append(arguments)
        if len(audited) == 1:
            raise KeyboardInterrupt
        return ()

    monkeypatch.setattr(random_runs, "_meter_of_tables", lambda *_: Tight())
    monkeypatch.setattr(walk_search, "audit", interrupted)
    report = wl.walk(dicers(), walks=100, engine="python")
    assert (report.bound, len(audited)) == ("interrupted", 2)


def test_a_violation_whose_path_has_no_room_in_the_tables_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
):
    expected = wl.walk(dicers(nobody_has_seventeen), traces=False)
    path, refused = moving.Moving.path, list[int]()

    def without_room(walks: moving.Moving, start: Any, number: int) -> Any:
        if not refused:
            refused.append(number)
            raise BoundHit("memory")
        return path(walks, start, number)

    monkeypatch.setattr(moving.Moving, "path", without_room)
    found = wl.walk(dicers(nobody_has_seventeen), traces=False)
    assert refused
    assert {**facts(found), "coverage": 0} == {**facts(expected), "coverage": 0}


def test_a_test_passes_only_if_something_was_run():
    wl.walk(dicers(nobody_has_seventeen), max_steps=3, walks=5).expect_no_violation()
    idle = wl.System({A: Dicer(), B: Dicer()}, properties=[nobody_has_seventeen])
    with pytest.raises(AssertionError, match="no step was taken"):
        wl.walk(idle).expect_no_violation()
    with pytest.raises(wl.UsageError, match="never show that a property holds"):
        wl.walk(dicers(), walks=5).expect_holds()


def test_a_violation_on_the_way_to_a_stage_is_no_run():
    report = wl.walk(
        dicers(nobody_has_seventeen), until=[lambda view: view[A].total > 29]
    )
    assert report.violated is not None
    assert (report.walks, report.coverage) == (0, None)
    assert report.states > 10
    assert "random runs" not in str(report)


def test_a_handler_that_its_guard_never_lets_run_did_not_run():
    @wl.node
    class Shy:
        @wl.call
        def begin(self, ctx: wl.Context) -> None:
            ctx.send(B, Token(0))

        @wl.on(Token, when=lambda self, src, msg: False)
        def take(self, ctx: wl.Context, src: wl.NodeId, msg: Token) -> None: ...

    calls = [wl.script(A, [Shy.begin])]
    report = wl.walk(wl.System({A: Shy(), B: Shy()}, workload=calls), walks=4)
    assert report.coverage is not None
    assert report.coverage.never_ran == ("Shy message Token",)


def test_a_message_that_is_likelier_is_not_lost_as_often():
    lossy = dicers(somebody_has_twelve, faults=wl.Faults(drops=None))
    usual, likelier = (
        wl.walk(lossy, walks=300, weights=weights).steps
        for weights in (None, {"Token": 10_000})
    )
    # A run ends with the loss of its only token.
    assert likelier > usual


def test_what_a_run_began_with_is_not_overwritten():
    first = wl.walk(dicers(nobody_has_seventeen)).expect_violated(
        "nobody_has_seventeen"
    )
    assert first.trace is not None
    before = first.trace.read_bytes()
    found = wl.walk(dicers(nobody_has_seventeen), from_=f"{first.trace}:3")
    second = found.expect_violated("nobody_has_seventeen")
    assert second.trace == first.trace.with_name("dicers-nobody_has_seventeen-next.wl")
    assert first.trace.read_bytes() == before
