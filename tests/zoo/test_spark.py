"""Spark: the schedules made by hand violate as they should, the rest holds."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.zoo.spark_schedules import CASES, FIRST
from tests.zoo.walking import started, unsafe

import worldline as wl
from worldline.cli.main import main
from worldline.zoo import spark_master, spark_scheduler
from worldline.zoo._spark import messages
from worldline.zoo._spark.cluster import DRIVER, MASTER
from worldline.zoo._spark.driver import Driver
from worldline.zoo._spark.master import Master
from worldline.zoo._spark.tasks import Locality, TaskSet, job_of

COMMANDS = spark_master.BUGS["demi"] | spark_scheduler.BUGS["demi"]
SYSTEMS = {"scheduler": spark_scheduler.system, "master": spark_master.system}
DELIVERIES = (wl.Kind.DELIVER, wl.Kind.TIMER, wl.Kind.CALL)


@pytest.mark.parametrize("bug", CASES)
def test_a_schedule_made_by_hand_violates_at_its_last_event_and_not_before(bug: str):
    case = CASES[bug]
    system = case.system(bugs=(bug,))
    *before, last = case.schedule
    world = started(system, before)
    assert unsafe(world) == []
    world.prepare((last,))
    assert unsafe(world) == [case.violated]


@pytest.mark.parametrize("bug", CASES)
def test_without_the_bug_no_schedule_made_by_hand_violates(bug: str):
    case = CASES[bug]
    assert unsafe(started(case.system(), case.schedule)) == []


@pytest.mark.parametrize("bug", CASES)
def test_a_schedule_made_by_hand_has_the_size_that_is_said(bug: str):
    case = CASES[bug]
    kinds = [pattern.kind for pattern in case.schedule if pattern.kind is not None]
    assert sum(kind in DELIVERIES for kind in kinds) == case.deliveries
    assert len([kind for kind in kinds if kind.is_external]) == case.externals
    begun = [pattern.kind for pattern in case.system().prologue]
    assert sum(kind in DELIVERIES for kind in begun) == case.startup


@pytest.mark.parametrize("bug", CASES)
def test_no_run_of_a_small_cluster_violates_sooner(bug: str):
    case = CASES[bug]
    system = case.system(workers=1, jobs=1, bugs=(bug,))
    report = wl.check(system, traces=False)
    assert report.expect_violated(case.violated).steps == len(case.schedule)


@pytest.mark.parametrize(("name", "externals"), [("scheduler", 30), ("master", 20)])
def test_there_are_as_many_externals_as_in_the_evaluation(name: str, externals: int):
    system = SYSTEMS[name]()
    begun = {p.node for p in system.prologue if p.kind is wl.Kind.START}
    scripts = [one for one in system.workload if isinstance(one, wl.Script)]
    calls = sum(len(script.calls) for script in scripts)
    faults = (system.faults.crashes or 0) + (system.faults.restarts or 0)
    assert len(system.nodes) - len(begun) + calls + faults == externals


def test_a_submitted_driver_that_a_worker_runs_outlives_a_crash_of_the_master():
    settle = wl.events.settle()
    schedule = (
        wl.events.start(FIRST),
        settle,
        wl.events.call(MASTER, Master.request_submit_driver),
        settle,
        wl.events.crash(MASTER),
        wl.events.restart(MASTER),
        settle,
    )
    world = started(spark_master.system(workers=1, jobs=0), schedule)
    assert world.view[MASTER].placed == {"submitted": FIRST}
    assert world.view[FIRST].drivers == {"submitted"}


def test_an_application_that_asks_twice_is_registered_once():
    ask = wl.events.deliver(MASTER, messages.RegisterApplication)
    schedule = (
        wl.events.call(DRIVER, Driver.run),
        wl.events.timer(DRIVER, Driver.retry),
        *(ask, ask),
    )
    world = started(spark_master.system(), schedule)
    assert list(world.view[MASTER].files) == ["app-0-driver-1"]


def test_a_job_runs_near_its_data_first_and_anywhere_after_a_while():
    settle = wl.events.settle()
    schedule = (
        wl.events.start(FIRST),
        settle,
        wl.events.call(DRIVER, Driver.run, choices=[1]),
        settle,
    )
    world = started(spark_scheduler.system(workers=1, hosts=2, jobs=1), schedule)
    (left,) = world.view[DRIVER].jobs.values()
    assert [task.near for task in left.pending] == ["host2", "host2"]
    world.prepare((wl.events.timer(DRIVER, Driver.revive), settle) * 2)
    assert world.view[DRIVER].done == 1


HOSTS = ("here", "there")


def test_what_suits_a_host_best_is_never_worse_than_what_was_left():
    for near, most in itertools.product(HOSTS, Locality):
        tasks = job_of("pi", 1, 4, near)
        while (offer := tasks.find("here", most)) is not None:
            assert offer[0] == min(locality for locality, _ in tasks.offers("here"))
            tasks = tasks.launched(offer[1])


def test_a_copy_of_a_slow_task_comes_last_and_ends_it_like_the_first():
    one, two = job_of("pi", 1, 2, "there").pending
    tasks = TaskSet(4, (one,), (two,)).speculated()
    assert tasks.find("here", Locality.SPECULATIVE) == (Locality.ANY, one)
    assert tasks.find("here", Locality.NO_PREF) is None
    wrong = tasks.find("there", Locality.PROCESS_LOCAL, inverts=True)
    assert wrong == (Locality.SPECULATIVE, two)
    assert tasks.launched(two).finished(two) == TaskSet(4, (one,))


@pytest.mark.nightly
@pytest.mark.parametrize("bug", COMMANDS)
def test_the_command_of_each_bug_finds_it_and_its_control_nothing(
    bug: str, tmp_path: Path
):
    asked = [*shlex.split(COMMANDS[bug]), "--out", str(tmp_path / "found.wl")]
    assert main(asked) == 1
    asked[asked.index(f"bugs={bug}")] = "bugs="
    assert main(asked) == 3


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
def test_a_few_random_runs_do_not_accuse_the_fixed_cluster(make: Any):
    small = make(workers=3, jobs=3)
    report = wl.fuzz(small, events=400, traces=False, engine="python")
    assert (report.verdict, report.bound) == (wl.Verdict.UNKNOWN, "events")


@pytest.mark.parametrize("make", SYSTEMS.values(), ids=SYSTEMS)
def test_an_unknown_bug_is_refused_with_the_known_ones(make: Any):
    with pytest.raises(ValueError, match="there are spark-"):
        make(bugs=("spark-1",))


def test_a_cluster_without_workers_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        spark_scheduler.system(workers=0)
