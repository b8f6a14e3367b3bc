"""The scenarios of steering: what they count, and that they show what they are for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from benchmarks.consequence import PUT_OFF
from benchmarks.steering_judge import Joins, Judge, mean_and_spread
from benchmarks.steering_rows import Setting, is_there, outcome_of
from benchmarks.steering_seeds import SeedRun, runs
from tests.shares import share

import worldline as wl
from benchmarks import steering_churn, steering_figures, steering_ring, steering_rounds
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

OFF = Setting(row="off")
SCRIPT = Path(steering_churn.__file__).with_name("steering.py")
needs_steering = pytest.mark.skipif(
    not is_there("steer"), reason="there is no steering yet"
)


@wl.node
class Counting:
    """Counts seconds, and begins anew at four."""

    seconds: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Counting.tick, after=1.0)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.seconds = (self.seconds + 1) % 4
        ctx.set_timer(Counting.tick, after=1.0)

    @wl.call
    def go(self, ctx: wl.Context) -> None:
        pass


@wl.safety
def is_low(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].seconds < 2)


@wl.safety
def is_not_three(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].seconds != 3)


def counting(*weather: WeatherEvent) -> Simulation:
    (node,) = wl.ids("a")
    system = wl.System(
        {node: Counting()},
        workload=[wl.script(node, [wl.invoke(Counting.go)])],
        properties=[is_low, is_not_three],
    ).under_injection("resets", ("resets",))
    latency = latency_of("constant 1ms")
    return Simulation(
        system, Conditions(latency=latency, weather=weather, rate=1e-12), 1
    )


def test_a_judge_counts_what_begins_and_how_many_states_it_lasts():
    """Of the seconds 1 to 10 the counts are 1, 2, 3, 0, 1, 2, 3, 0, 1, 2."""
    judge = Judge(simulation := counting(), [is_low, is_not_three])
    judge.run(10.5)
    assert judge.actions == 10
    assert judge.begun == Counter(is_low=3, is_not_three=2)
    assert judge.inconsistent == 5
    assert judge.first == {"is_low": 2.0, "is_not_three": 3.0}
    assert simulation.now == 10.5


def test_a_join_lasts_from_the_call_until_the_node_has_joined():
    simulation = counting(WeatherEvent(what="reset", time=5.5))
    for time in (0.25, 4.25, 5.75):
        simulation.agenda.note(time, 0, wl.invoke(Counting.go))
    joins = Joins(simulation, lambda node: node.seconds == 3)
    Judge(simulation, []).run(10.5, joins.note)
    # The second was reset at 5.5, and counts from there: 6.5, 7.5, 8.5.
    assert joins.seconds == [2.75, 2.75]
    assert mean_and_spread([1.0, 3.0]) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("violations", "counts", "outcome"),
    [
        (1, {"refused": 1}, "uncaught"),
        (0, {"refused": 1, "blocked": 1}, "check"),
        (0, {"blocked": 1}, "steered"),
        (0, {"predicted": 1}, "untouched"),
    ],
)
def test_a_run_has_one_outcome(violations: int, counts: dict[str, int], outcome: str):
    assert outcome_of(violations, Counter(counts)) == outcome


@pytest.mark.nightly
def test_churn_violates_what_randtree_promises_unless_its_bugs_are_fixed():
    churn = steering_churn.Churn(15.0, "half")
    found = steering_churn.run(churn, OFF, 0, 0.35)
    assert found.begun >= 1
    assert found.inconsistent >= found.begun
    # A reset each 15 s, and a join after each but perhaps the last ones.
    assert 0 <= 25 + 84 - len(found.joins) < 10
    fixed = steering_churn.run(steering_churn.FIXED[0], OFF, 0, 0.35)
    assert (fixed.begun, len(fixed.joins)) == (0, 25)
    together = steering_churn.together([found, fixed])
    assert together.actions == found.actions + fixed.actions
    assert steering_churn.line(churn, OFF, together).count("|") == 16


def test_half_of_the_resets_are_silent_or_all():
    times = {
        silent: sorted((one.time, one.every, one.silent) for one in churn.weather())
        for churn in steering_churn.CHURNS
        if churn.every == 15.0
        for silent in [churn.silent]
    }
    assert times["half"] == [(15.0, 30.0, 0.5), (30.0, 30.0, 0.0)]
    assert times["all"] == [(15.0, 15.0, 0.5)]


@pytest.mark.parametrize("bug", steering_rounds.BUGS)
def test_two_rounds_choose_two_values_unless_the_bug_is_fixed(bug: str):
    for gap in steering_rounds.gaps(bug, range(5)):
        found = steering_rounds.run(gap, OFF)
        assert found.outcome == "uncaught"
        assert found.violated == {"agreement": 1, "decisions_agree": 1}
        assert found.decided_s == 0.0  # both know, one of them wrongly
        fixed = steering_rounds.run(gap._replace(bug=""), OFF)
        assert fixed.outcome == "untouched"
        assert fixed.decided_s == 0.0


def test_gaps_are_drawn_from_all_of_20_seconds():
    gaps = [gap.seconds for gap in steering_rounds.gaps("cb1", range(100))]
    assert 0 < min(gaps) < 2
    assert 18 < max(gaps) < 20
    assert gaps[:5] == [gap.seconds for gap in steering_rounds.gaps("cb1", range(5))]


@pytest.mark.nightly
def test_the_ring_of_figure_11_breaks_its_promise_and_is_whole_later():
    for place in islice(steering_ring.places(), 3):
        found = steering_ring.run(place, OFF)
        assert found.violated["alone_on_both_sides"] == 1
        assert found.outcome == "uncaught"
        assert found.is_whole


@pytest.mark.nightly
@needs_steering
def test_the_check_alone_refuses_what_would_be_violated():
    setting = Setting(row="check")
    for bug in steering_rounds.BUGS:
        for gap in steering_rounds.gaps(bug, range(3)):
            found = steering_rounds.run(gap, setting)
            # Two majorities may have been: what they chose is learnt late, or never.
            assert found.outcome == "check" or found.later
    for place in islice(steering_ring.places(), 2):
        ring = steering_ring.run(place, setting)
        assert (ring.outcome, ring.is_whole) == ("check", True)


@needs_steering
@pytest.mark.nightly
def test_the_check_alone_keeps_randtree_sound_under_churn():
    churn, hours = steering_churn.Churn(15.0, "half"), 0.35
    found = steering_churn.run(churn, Setting(row="check"), 0, hours)
    assert found.begun == 0
    assert 0 < found.changed < found.actions / 100


def test_a_run_that_was_kept_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file, churn = tmp_path / "kept.jsonl", steering_churn.Churn(15.0, "half")
    first, second = (SeedRun(churn, OFF, seed, 0.01) for seed in range(2))
    made = dict(runs([first], 1, file))
    assert made[first].actions > 100
    assert made[first].joins
    run, seeds = steering_churn.run, list[int]()

    def noted(*given: Any) -> Any:
        seeds.append(given[2])
        return run(*given)

    monkeypatch.setattr(steering_churn, "run", noted)
    again = dict(runs([first, second], 1, file))
    assert seeds == [1]
    assert again[first] == made[first]
    assert dict(runs([second, first], 1, file)) == again
    assert seeds == [1]
    assert dict(runs([first], 1, None)) == made


@needs_steering
@pytest.mark.nightly
def test_a_ring_is_steered_and_is_whole_later():
    for place in islice(steering_ring.places(1_000), 2):
        setting = Setting(row="steer", states=steering_ring.STATES)
        ring = steering_ring.run(place, setting)
        assert (ring.outcome, ring.is_whole) == ("steered", True)


@needs_steering
@pytest.mark.nightly
def test_filters_change_nothing_where_there_is_no_bug():
    setting = Setting(row="steer", states=300)
    found = steering_churn.run(steering_churn.FIXED[-1], setting, 0, 0.03)
    assert found.actions > 300
    assert (found.begun, found.changed) == (0, 0)


@needs_steering
@pytest.mark.parametrize("bug", share(steering_rounds.BUGS, only=["cb1"]))
def test_two_rounds_are_steered_and_a_value_is_decided(bug: str):
    (gap,) = steering_rounds.gaps(bug, [0])
    setting = Setting(row="steer", states=steering_rounds.STATES)
    found = steering_rounds.run(gap, setting)
    assert (found.outcome, found.violated.total()) == ("steered", 0)
    assert found.decided_s is not None


def test_rows_are_told_as_a_table_and_to_programs(tmp_path: Path):
    file = tmp_path / "rows.json"
    command = [sys.executable, str(SCRIPT), "paxos", "--ci", "--seeds", "2"]
    done = subprocess.run(
        [*command, "--rows", "off", "--json", str(file)],
        check=True,
        capture_output=True,
        text=True,
    )
    assert "| cb1 | off |" in done.stdout
    assert "| cb2 | off |" in done.stdout
    rows = json.loads(file.read_text())
    assert [(row["bug"], row["outcomes"]["uncaught"]) for row in rows] == [
        ("cb1", 2),
        ("cb2", 2),
    ]
    assert [len(row["runs"]) for row in rows] == [2, 2]


def test_searches_are_drawn_by_the_depth_that_they_completed():
    found = {"prediction": steering_figures.reaches(PUT_OFF, (100, 300))}
    depths = [one.depth for one in found["prediction"]]
    assert depths == sorted(set(depths))
    drawn = steering_figures.figures(found)
    assert sorted(drawn) == [f"crystalball-figure-{n}.svg" for n in (13, 19, 20)]
    assert all("prediction</text>" in figure for figure in drawn.values())
    assert steering_figures.table(found).count("\n") == 1 + len(depths)
