"""Several failing runs: all are minimised, the smallest result counts, and is named."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import worldline as wl
from worldline.model.errors import UsageError
from worldline.model.usercode.interrupts import held
from worldline.shrink.spread import Spread
from worldline.trace.format import read


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random run that violates something, in a file."""
    out = tmp_path_factory.mktemp("seeds") / "run.wl"
    wl.fuzz(
        "zoo:brokentree",
        parameters={"bugs": "bt2", "size": "5", "reorganisations": "3"},
        seed=3,
        scheduler="uniform",
        out=out,
    )
    return out


def minimized(recorded: Path, out: Path, threads: int) -> wl.MinimizeReport:
    return wl.minimize(
        recorded, seeds=3, threads=threads, max_events=3_000, certify=0, out=out
    )


@pytest.fixture(scope="module")
def report(recorded: Path) -> wl.MinimizeReport:
    """What comes of three seeds in one process."""
    return minimized(recorded, recorded.with_name("short.wl"), 1)


def test_the_smallest_result_of_several_seeds_is_the_result(
    recorded: Path, report: wl.MinimizeReport
):
    assert [one.seed for one in report.runs] == [3, 4, 5]
    sizes = [one.final.deliveries for one in report.runs if one.final is not None]
    assert report.final.deliveries == min(sizes) < sizes[0]
    assert f"another run, in {report.original}" in str(report)
    assert wl.replay(report.original).reproduced
    assert report.trace == recorded.with_name("short.wl")
    assert wl.replay(report.trace).reproduced
    assert report.to_json()["runs"][0]["final"]["deliveries"] == sizes[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_several_seeds_have_the_same_result_on_any_number_of_cores(
    recorded: Path, report: wl.MinimizeReport, tmp_path: Path
):
    other = minimized(recorded, tmp_path / "other.wl", 2)
    assert (other.runs, other.events) == (report.runs, report.events)
    assert report.trace is not None
    assert read(tmp_path / "other.wl").steps == read(report.trace).steps


def test_other_runs_are_drawn_as_the_first_was(
    recorded: Path, report: wl.MinimizeReport
):
    drawn = read(recorded).header.options["drawn"]
    assert read(report.original).header.options["drawn"] == drawn
    assert read(report.original).header.seed == report.seed != 3


def test_a_run_that_was_not_drawn_has_no_other_seeds(tmp_path: Path):
    out = tmp_path / "run.wl"
    wl.check("zoo:brokentree", parameters={"bugs": "bt2"}, out=out)
    with pytest.raises(UsageError, match="of which random runs it is one"):
        wl.minimize(out, seeds=2)


def test_a_run_from_a_state_has_no_other_seeds(recorded: Path, tmp_path: Path):
    out = tmp_path / "run.wl"
    system = "zoo:brokentree"
    wl.fuzz(
        system,
        parameters={"bugs": "bt2", "size": "5", "reorganisations": "3"},
        from_=f"{recorded}:1",
        scheduler="uniform",
        out=out,
    )
    with pytest.raises(UsageError, match="of which random runs it is one"):
        wl.minimize(out, seeds=2)


def test_a_seed_that_meets_nothing_says_so():
    run = wl.SeedRun(seed=7, initial=None, final=None)
    assert str(run) == "seed 7  met no such violation"


# ---------------------------------------------------------------------------- processes


def spread(work: object, processes: int, count: int) -> list[object]:
    """What comes of some numbered work, in the order in which it is told."""
    told: list[object] = []
    Spread(work, processes, lambda number, result: told.append(result)).run(count)  # type: ignore[arg-type]
    return told


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_results_come_in_order(processes: int):
    assert spread(lambda number: number * number, processes, 4) == [0, 1, 4, 9]


def test_what_a_process_did_not_finish_is_done_again():
    here = os.getpid()

    def work(number: int) -> int:
        if number == 1 and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    assert spread(work, 2, 3) == [0, 1, 2]


def test_an_error_of_some_work_is_raised():
    def work(number: int) -> int:
        raise UsageError("no", remedy="")

    with pytest.raises(UsageError):
        spread(work, 2, 2)


def test_what_has_not_begun_is_left_out_after_ctrl_c():
    told: list[int] = []
    parent = os.getpid()

    def work(number: int) -> int:
        if number == 0:
            os.kill(parent, signal.SIGINT)
        return number

    with held():
        each: Spread[int] = Spread(work, 2, lambda number, result: told.append(number))
        each.run(5)
    assert told == [0, 1]
