"""Several failing runs: all are minimised, the smallest result counts, and is named."""

from __future__ import annotations

import os
import shutil
import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import worldline as wl
from worldline.minimizing import seeds
from worldline.model.errors import UsageError
from worldline.model.usercode.interrupts import held
from worldline.shrink.spread import Spread
from worldline.trace.format import read, write
from worldline.trace.json_text import Json


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
    assert report.original is not None
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
    assert report.original is not None
    assert read(report.original).header.options["drawn"] == drawn
    assert read(report.original).header.seed == report.seed != 3


POST = """
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Letter:
    number: int

@wl.node
class Writer:
    @wl.call
    def write(self, ctx, number):
        ctx.send(B, Letter(number))

@wl.node
class Reader:
    last: int = 0

    @wl.on(Letter)
    def read(self, ctx, src, msg):
        self.last = msg.number

@wl.safety
def the_last_has_not_come(view):
    return view[B].last < 3

def system(letters: int = 1):
    calls = [wl.invoke(Writer.write, n + 1) for n in range(letters)]
    return wl.System(
        {A: Writer(), B: Reader()}, network=wl.datagrams(reordering=False),
        workload=[wl.script(A, calls)], properties=[the_last_has_not_come], name="post")
"""


@pytest.mark.parametrize("count", [1, 2])
def test_what_a_reordering_network_made_is_replayed_by_no_command(
    count: int, tmp_path: Path
):
    file, out, short = (tmp_path / name for name in ("post.py", "run.wl", "short.wl"))
    file.write_text(POST)
    parameters = {"letters": "3"}
    wl.walk(str(file), parameters=parameters, events=200, out=out)
    found = wl.minimize(out, system=str(file), seeds=count, reorder=True, out=short)
    (row,) = found.properties
    assert (found.network, row.replay) == (
        "reordering",
        f"wl.replay({str(short)!r}, system=...)",
    )
    assert found.final.deliveries == 4
    kept = wl.minimize(out, system=str(file), seeds=count, out=short)
    assert kept.properties[0].replay == f"worldline replay {short} {file}"
    assert wl.replay(short, str(file)).reproduced


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


@pytest.fixture
def copied(recorded: Path, tmp_path: Path) -> Path:
    """The trace, alone in a folder."""
    return Path(shutil.copy(recorded, tmp_path / "run.wl"))


def test_the_run_of_another_seed_takes_the_place_of_nothing(
    copied: Path, report: wl.MinimizeReport
):
    place = copied.with_name(f"run-seed{report.seed}.wl")
    place.write_text("mine", "utf-8")
    other = minimized(copied, copied.with_name(f"run-seed{report.seed}-2.wl"), 1)
    assert place.read_text("utf-8") == "mine"
    assert other.original == copied.with_name(f"run-seed{report.seed}-3.wl")
    assert other.trace is not None
    assert len(read(other.trace).run) < len(read(other.original).run)


def test_a_run_of_another_seed_that_cannot_be_written_loses_no_result(
    copied: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(seeds, "why_unwritten", lambda run, file: f"no room for {file}")
    report = minimized(copied, copied.with_name("short.wl"), 1)
    assert report.original is None
    assert "another run, in no file" in str(report)
    assert "no room for" in report.notes[-1]
    assert report.to_json()["original"] is None
    assert wl.replay(copied.with_name("short.wl")).reproduced


def drawn_as(recorded: Path, changes: dict[str, Json]) -> None:
    """Let a trace say that its run was drawn otherwise."""
    trace = read(recorded)
    drawn = trace.header.options["drawn"]
    assert isinstance(drawn, dict)
    options = {**trace.header.options, "drawn": {**drawn, **changes}}
    write(replace(trace, header=replace(trace.header, options=options)), recorded)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_seed_that_fails_loses_no_other(copied: Path, threads: int):
    drawn_as(copied, {"max_steps": "many"})
    report = minimized(copied, copied.with_name("short.wl"), threads)
    assert "seed 4  failed: max_steps='many' is not a whole number" in str(report)
    assert "from 1 failing run" in str(report)
    assert report.trace is not None


@pytest.mark.parametrize("verb", ["os:system", [], {}, None])
def test_a_trace_drawn_by_no_verb_is_refused(copied: Path, verb: Json):
    drawn_as(copied, {"verb": verb})
    with pytest.raises(UsageError, match="which is no verb"):
        minimized(copied, copied.with_name("short.wl"), 1)


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
            time.sleep(0.2)  # the other has begun by then
            os.kill(parent, signal.SIGINT)
        return number

    with held():
        each: Spread[int] = Spread(work, 2, lambda number, result: told.append(number))
        each.run(5)
    assert told == [0, 1]


def test_ctrl_c_is_passed_on_once_since_a_second_one_would_lose_the_result():
    times: list[int] = []
    parent = os.getpid()

    def work(number: int) -> int:
        if number == 0:
            time.sleep(0.2)
            os.kill(parent, signal.SIGINT)
            return 0
        came = 0
        before = signal.getsignal(signal.SIGUSR1)

        def count(*_: object) -> None:
            nonlocal came
            came += 1

        signal.signal(signal.SIGUSR1, count)
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            time.sleep(0.01)
        signal.signal(signal.SIGUSR1, before)
        return came

    def done(number: int, came: int) -> None:
        each.stop()
        times.append(came)

    with held():
        each: Spread[int] = Spread(work, 2, done)
        each.run(2)
    assert times[1] <= 1


def test_what_died_after_ctrl_c_is_not_done_again():
    here = os.getpid()

    def work(number: int) -> int:
        assert os.getpid() != here
        if number == 0:
            time.sleep(0.2)
            os.kill(here, signal.SIGINT)
            return 0
        time.sleep(0.5)
        os._exit(1)

    told: list[int] = []
    with held():
        each: Spread[int] = Spread(work, 2, lambda number, result: told.append(number))
        each.run(3)
    assert told == [0]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_processes_end_with_the_one_that_began_them(tmp_path: Path):
    pid = os.fork()
    if not pid:
        work = partial(_sleep_in, tmp_path, os.getpid())
        Spread(work, 2, lambda number, result: None).run(2)
        os._exit(0)
    while len([*tmp_path.iterdir()]) < 2:
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    children = [int(file.name) for file in tmp_path.iterdir()]
    end = time.monotonic() + 10
    while any(map(_is_there, children)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(_is_there, children))


def _sleep_in(folder: Path, parent: int, number: int) -> None:
    if os.getpid() == parent:
        os._exit(0)
    (folder / str(os.getpid())).touch()
    time.sleep(60)


def _is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except FileNotFoundError:
        return False
    return state[0] != "Z"
