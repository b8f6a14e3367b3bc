"""Candidates in several processes: whoever runs them, the same comes of it."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.shrink.legality import events_of
from tests.shrink.test_passes import LIGHT, A, B, C, call, campaign, take, tell

import worldline as wl
from worldline.model.errors import UsageError
from worldline.shrink import crew, crews, forking
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import Candidate
from worldline.shrink.crossing import CannotCross, Crossing
from worldline.shrink.matching import EXACT, LAST
from worldline.shrink.steps import ShrunkStep

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

LONG = [tell(B, C, "x"), take(C, B, "x"), call(C, "toggle"), *LIGHT]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are begun before there is anything to do for them."""
    monkeypatch.setattr(crews, "WORTH_CREW", 0)
    monkeypatch.setattr(crews, "WORTH_TELLING", 0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random run that violates something, in a file."""
    out = tmp_path_factory.mktemp("crew") / "run.wl"
    wl.fuzz(
        "zoo:brokentree",
        parameters={"bugs": "bt2", "size": "5", "reorganisations": "3"},
        seed=3,
        scheduler="uniform",
        out=out,
    )
    return out


def all_of(report: wl.MinimizeReport) -> Any:
    """What is told of a minimisation, but how long it took."""
    passes = [(p.name, p.deliveries, p.schedules, p.events) for p in report.passes]
    numbers = report.schedules, report.events, report.bound, report.level
    return events_of(report), report.final, passes, numbers


def minimized(recorded: Path, threads: int, max_events: int = 1_500) -> Any:
    return all_of(
        wl.minimize(recorded, certify=0, threads=threads, max_events=max_events)
    )


def noted_forks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that are begun from now on."""
    pids: list[int] = []
    fork = forking.fork

    def noting() -> int:
        pids.append(fork())
        return pids[-1]

    monkeypatch.setattr(crew, "fork", noting)
    return pids


@pytest.mark.parametrize("threads", [2, 3])
def test_the_result_is_the_same_in_any_number_of_processes(
    recorded: Path, at_once: None, threads: int
):
    assert minimized(recorded, threads) == minimized(recorded, 1)


def test_events_are_used_up_at_the_same_candidate_in_any_number_of_processes(
    recorded: Path, at_once: None
):
    for most in (200, 1_001):
        alone = minimized(recorded, 1, max_events=most)
        assert minimized(recorded, 2, max_events=most) == alone


def test_a_process_that_is_killed_is_missed_by_nobody(
    recorded: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    begin = crew.Crew.begin
    killed: list[int] = []

    def begin_and_kill(self: crew.Crew, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        if not killed:
            killed.extend(self.pids)
            os.kill(self.pids[0], signal.SIGKILL)

    monkeypatch.setattr(crew.Crew, "begin", begin_and_kill)
    assert minimized(recorded, 2) == minimized(recorded, 1)
    assert killed


def test_where_there_is_no_more_room_other_processes_take_over(
    recorded: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(crew, "_ROOM", 20_000)
    pids = noted_forks(monkeypatch)
    assert minimized(recorded, 2) == minimized(recorded, 1)
    assert len(pids) > 1


def test_where_memory_is_short_one_process_goes_on_alone(
    recorded: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    pids = noted_forks(monkeypatch)
    with monkeypatch.context() as patched:
        patched.setattr(crews, "resident", lambda: 2**60)
        assert minimized(recorded, 2) == minimized(recorded, 1)
    assert pids == []
    monkeypatch.setattr(crews, "_LOOK_EVERY", 1)
    monkeypatch.setattr(crew.Crew, "resident", lambda self: 2**60)
    assert minimized(recorded, 2) == minimized(recorded, 1)
    assert len(pids) == 1


def test_no_process_is_left(
    recorded: Path, at_once: None, monkeypatch: pytest.MonkeyPatch
):
    pids = noted_forks(monkeypatch)
    minimized(recorded, 3)
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_few_events_are_run_in_one_process(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(crew, "fork", lambda: pytest.fail("forked"))
    minimized(recorded, 2, max_events=3_000)


def test_the_first_in_order_wins_whichever_is_finished_first(at_once: None):
    made = threaded(campaign(LONG), 2)
    steps = made.best.steps
    with contextlib.closing(made):
        won = made.first_of(
            Candidate([step for step in steps if step.place not in gone], EXACT)
            for gone in ([3], [4], [2], [0, 1, 2])
        )
    assert won == 2
    assert made.schedules == 3
    assert made.best.size.deliveries == 4


def test_after_the_end_no_process_is_begun(
    at_once: None, monkeypatch: pytest.MonkeyPatch
):
    made = threaded(campaign(LONG), 2)
    made.close()
    monkeypatch.setattr(crew, "fork", lambda: pytest.fail("forked"))
    assert made.first_of([Candidate(made.best.steps[3:], EXACT)]) == 0


def test_candidates_may_be_drawn_from_what_never_ends(at_once: None):
    made = threaded(campaign(LONG), 2)
    steps = made.best.steps
    with contextlib.closing(made):
        won = made.first_of(
            Candidate(steps[3:] if number == 40 else steps[:1] * number, EXACT)
            for number in itertools.count()
        )
    assert won == 40


def threaded(made: Campaign, threads: int) -> Campaign:
    """The same campaign in several processes."""
    return Campaign(made.runner, made.best, made.meter, threads=threads)


def test_what_crosses_comes_out_as_it_was():
    run = campaign(LONG)
    world, best = run.runner.world, run.best
    crossing = Crossing(world, campaign(LIGHT).best)  # most is new to the other side
    steps, places = crossing.read_run(crossing.spell_run(best))
    assert [(s.known.event, s.choices, s.sending, s.place) for s in steps] == [
        (s.known.event, s.choices, s.sending, s.place) for s in best.steps
    ]
    assert places == {mark.place for mark in best.marks}
    other = ShrunkStep(world.known(tell(A, B, "new")), (1,), None, 2)
    wanted = [*best.steps[3:], other, best.steps[1], best.steps[2], best.steps[0]]
    [read] = crossing.read(
        crossing.spell([Candidate(wanted, LAST)], best.steps), best.steps
    )
    assert read.matching == LAST
    assert [step.known for step in read.wanted] == [step.known for step in wanted]
    assert read.wanted[:2] == wanted[:2]
    assert read.wanted[2].choices == (1,)


def test_what_has_no_name_does_not_cross():
    @wl.message
    class Nameless:
        text: str

    made = campaign(LONG)
    event = wl.Event(wl.Kind.CALL, A, name="tell", payload=(B, Nameless("x")))
    step = ShrunkStep(made.runner.world.known(event), (), None, -1)
    with pytest.raises(CannotCross, match="Nameless"):
        Crossing(made.runner.world, made.best).spell(
            [Candidate([step], EXACT)], made.best.steps
        )


def test_too_many_processes_are_refused(recorded: Path):
    with pytest.raises(UsageError, match="threads=1000"):
        minimized(recorded, 1_000)
