"""``worldline run``: real processes on loopback, and what they leave."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command import Result, refusal, run

from worldline.deploy.ports import free_ports
from worldline.trace.format import read

ECHO = '''\
"""Somebody who counts, a mirror of it, and a mistake on request."""
import worldline as wl

A, B = wl.ids("a", "b")
print("loaded")

@wl.message
class Total:
    value: int

@wl.node
class Counter:
    total: int = wl.durable(default=0)

    @wl.call
    def add(self, ctx, amount):
        self.total += amount
        ctx.send(B if ctx.me == A else A, Total(self.total))
        if self.total >= WORST:
            raise ValueError("too much")

    @wl.on(Total)
    def copy(self, ctx, src, msg):
        self.total = max(self.total, msg.value)

WORST = 10**9

def system(worst: int = 10**9, network: str = "datagrams", adds: int = 3):
    global WORST
    WORST = worst
    return wl.System(
        {A: Counter(), B: Counter()},
        workload=[wl.script(A, [wl.invoke(Counter.add, 1)] * adds, on_reset="continue")],
        network=getattr(wl, network)(),
        name="echo",
    )
'''

REMOVING = """\
import shutil
import worldline as wl

A, B = wl.ids("a", "b")

@wl.node
class Quiet:
    @wl.start
    def start(self, ctx):
        ctx.set_timer(Quiet.remove, after=0.02)

    @wl.timer
    def remove(self, ctx):
        shutil.rmtree("{gone}", ignore_errors=True)

def system():
    return wl.System({{A: Quiet(), B: Quiet()}}, name="removing")
"""

STUCK = """\
import worldline as wl

A, = wl.ids("a")

@wl.node
class Stuck:
    @wl.start
    def start(self, ctx):
        ctx.set_timer(Stuck.work, after=0.01)

    @wl.timer
    def work(self, ctx):
        while True:
            pass

def system():
    return wl.System({A: Stuck()}, name="stuck")
"""


@pytest.fixture(autouse=True)
def _a_file_in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    monkeypatch.chdir(tmp_path)


def counts(result: Result) -> dict[str, dict]:
    return {node["node"]: node for node in json.loads(result.out)["nodes"]}


@contextlib.contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a command beside the test; it is ended in any case."""
    with subprocess.Popen(
        [sys.executable, "-m", "worldline", "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until_it_records(folder: str, nodes: int, seconds: float = 30.0) -> None:
    """Wait until each node has begun its journal: then it is up."""
    for _ in range(round(seconds / 0.02)):
        if len(list(Path(folder).glob("*/*.wlj"))) >= nodes:
            return
        time.sleep(0.02)
    raise AssertionError(f"{folder} has {list(Path(folder).glob('*'))}")


def children_of(pid: int) -> list[int]:
    """Return the processes that another one has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                found.append(int(stat.parent.name))
    return found


def has_ended(pid: int) -> bool:
    """Whether a process has: whoever is to ask for its exit code may not have yet."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] == "Z"


def wait_for_the_end_of(pids: list[int], seconds: float = 10.0) -> None:
    for _ in range(round(seconds / 0.02)):
        if all(map(has_ended, pids)):
            return
        time.sleep(0.02)
    raise AssertionError(f"{pids} are still there")


@pytest.mark.slow
def test_each_node_has_a_process_and_what_was_recorded_replays():
    result = run("run", "echo.py", "--seconds", "0.5", "--rate", "90", "--json")
    assert result.status == 0
    shown = json.loads(result.out)
    assert shown["recording"] == "worldline-out/echo-run"
    assert shown["replay"] == "worldline replay worldline-out/echo-run echo.py"
    assert counts(result)["a"]["sent"] == counts(result)["b"]["received"] == 3
    assert counts(result)["a"]["address"] != counts(result)["b"]["address"]
    replayed = run("replay", "worldline-out/echo-run", "echo.py", "--json")
    assert replayed.status == 0
    assert json.loads(replayed.out)["events"] >= 6


@pytest.mark.slow
def test_weather_kills_processes_and_a_script_that_goes_on_does():
    weather = "at 0.6s reset a"
    given = ("--seconds", "9", "--rate", "20", "--weather", weather, "--record", "rec")
    with running("echo.py", "-p", "network=streams", "-p", "adds=2", *given) as process:
        until_it_records("rec", 2)
        first = children_of(process.pid)
        until_it_records("rec", 3)
        time.sleep(0.3)  # for calls that it should not make
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert len(first) == 2
    assert re.search(r"^  a +127\S+ +2 ", out, re.M), out
    replayed = run("replay", "rec", "echo.py", "--json")
    shown = json.loads(replayed.out)
    nodes = shown["nodes"]
    assert [(node["node"], node["incarnations"]) for node in nodes] == [
        ("a", 2),
        ("b", 1),
    ]
    calls = [step for step in read(shown["trace"]).steps if step.kind == "call"]
    assert len(calls) == 2  # of both lives together


@pytest.mark.slow
def test_a_cut_reaches_the_processes_that_send():
    given = ("--rate", "20", "--seconds", "0.8", "--weather", "at 0s cut a")
    result = run("run", "echo.py", *given, "--json")
    assert counts(result)["a"]["sent"] == counts(result)["a"]["lost"] == 3
    assert counts(result)["b"]["received"] == 0


@pytest.mark.slow
def test_the_second_signal_does_not_wait():
    Path("stuck.py").write_text(STUCK)
    with running("stuck.py", "--together", "--record", "rec") as process:
        until_it_records("rec", 1)
        time.sleep(0.1)  # until it is stuck
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(0.1)  # two at once would be one
        _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (3, "worldline: interrupted\n")


@pytest.mark.slow
def test_ctrl_c_ends_it_as_its_time_would():
    with running("echo.py", "--rate", "50", "--record", "rec") as process:
        until_it_records("rec", 2)
        children = children_of(process.pid)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert out.startswith("loaded\necho: 2 nodes, ")
    assert out.endswith("  recording rec\n  replay    worldline replay rec echo.py\n")
    wait_for_the_end_of(children)


@pytest.mark.slow
def test_no_process_outlives_the_one_that_watches():
    with running("echo.py", "--rate", "50", "--record", "rec") as process:
        until_it_records("rec", 2)
        children = children_of(process.pid)
        assert len(children) == 2
        os.kill(process.pid, signal.SIGKILL)
        wait_for_the_end_of(children)


@pytest.mark.slow
def test_a_node_that_cannot_start_is_told_in_one_line():
    with socket.socket() as taken:
        port, other = free_ports("127.0.0.1", 2)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        Path("c.toml").write_text(
            f'[nodes]\na = "127.0.0.1:{port}"\nb = "127.0.0.1:{other}"\n'
        )
        given = ("-p", "network=streams", "--cluster", "c.toml")
        with running("echo.py", *given) as process:
            out, err = process.communicate(timeout=30)
    assert process.returncode == 2
    assert out == "loaded\n"
    told = [line for line in err.splitlines() if "loaded" not in line and line]
    assert told[0].startswith(
        f"worldline: error: a cannot listen at 127.0.0.1:{port}: "
    )
    assert len(told) == 1
    assert not Path("worldline-out/echo-run").exists()


def test_all_together_run_in_this_process():
    result = run("run", "echo.py", "--together", "--seconds", "0.1", "--rate", "50")
    assert result.status == 0
    lines = result.out.splitlines()
    assert lines[0] == "loaded"
    assert lines[1].startswith("echo: 2 nodes, 0.1 s, ")
    assert lines[-1] == "  replay    worldline replay worldline-out/echo-run echo.py"


def test_it_ends_when_every_node_has_stopped_and_a_handler_that_fails_is_1():
    weather = ("--weather", "at 0s crash b")
    result = run(
        "run", "echo.py", "-p", "worst=2", "--together", "--rate", "50", *weather
    )
    assert result.status == 1
    assert "  a failed: ValueError: too much (echo.py:20 in add)\n" in result.out
    assert result.err.startswith(
        "worldline: a handler of a failed: ValueError: too much"
    )
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        (
            "rec/b",
            "the recording rec has no journal of b any more; replay what is left",
        ),
        ("rec", "the recording rec is no more; run again"),
    ],
)
def test_a_journal_that_somebody_removed_is_missed_in_the_end(gone: str, said: str):
    Path("removing.py").write_text(REMOVING.format(gone=gone))
    given = ("--together", "--record", "rec", "--seconds", "0.1")
    result = run("run", "removing.py", *given)
    assert result.status == 2
    assert f"  it ended: {said}" in result.out
    is_left = gone != "rec"
    assert ("  recording rec\n" in result.out) is is_left


def test_what_user_code_raises_is_no_ctrl_c():
    raising = ECHO.replace('ValueError("too much")', "KeyboardInterrupt")
    Path("raising.py").write_text(raising)
    given = ("-p", "worst=2", "--together", "--rate", "50", "--no-record")
    result = run("run", "raising.py", *given, "--weather", "at 0s crash b")
    assert result.status == 1
    assert "  a failed: KeyboardInterrupt (raising.py:20 in add)\n" in result.out


def test_a_node_may_come_back_in_this_process_too():
    weather = "at 50ms reset b, at 60ms restart a, at 0s loss 0.5"
    given = ("--together", "--seconds", "0.2", "--no-record", "--weather", weather)
    result = run("run", "echo.py", *given, "--json")
    assert result.status == 0
    shown = json.loads(result.out)
    assert (shown["recording"], shown["replay"]) == (None, None)
    assert counts(result)["b"]["incarnations"] == 2
    assert shown["notes"] == [
        "nothing came of the weather: at 0.06 s restart a",
        "the command itself made no call of the workload; --rate R makes them",
    ]
    assert not Path("worldline-out").exists()


def test_one_node_of_a_cluster_goes_on_from_its_journal():
    one, other = free_ports("127.0.0.1", 2)
    Path("c.toml").write_text(
        f'[nodes]\na = "127.0.0.1:{one}"\nb = "127.0.0.1:{other}"\n'
    )
    given = ("--node", "a", "--cluster", "c.toml", "--seconds", "0.1", "--rate", "90")
    first = run("run", "echo.py", *given, "--json")
    again = run("run", "echo.py", *given, "--json")
    assert counts(first)["a"]["incarnations"] == 1
    assert counts(again)["a"]["incarnations"] == 2
    assert json.loads(again.out)["replay"] is None  # others have journals, too


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["nowhere.py"], "nowhere.py"),
        (["echo.py", "--node", "a"], "nothing says where the others are"),
        (["echo.py", "--weather", "at 1s rain"], "is no weather"),
        (["echo.py", "--loss", "2"], "is no number from 0 to 1"),
        (["echo.py", "--sync", "often"], "invalid choice"),
        (["echo.py", "--watch"], "unrecognized arguments: --watch"),
    ],
)
def test_what_is_not_understood_is_refused(given: list[str], said: str):
    result = run("run", *given)
    assert said in refusal(Result(result.status, "", result.err))


def test_its_help_teaches():
    told = run("run", "--help").out
    assert "The question: " in told
    assert "at 20s crash a b" in told
    assert "[nodes]" in told


def test_a_life_that_cannot_begin_ends_the_run_and_what_was_learned_is_told():
    port, other = free_ports("127.0.0.1", 2)
    Path("c.toml").write_text(
        f'[nodes]\na = "127.0.0.1:{port}"\nb = "127.0.0.1:{other}"\n'
    )
    weather = "at 50ms crash a, at 200ms restart a"
    given = ("--together", "--cluster", "c.toml", "--record", "rec", "--seconds", "20")
    with socket.socket(type=socket.SOCK_DGRAM) as taken:

        def take() -> None:
            until_it_records("rec", 2)
            while True:  # until the crash
                with contextlib.suppress(OSError):
                    taken.bind(("127.0.0.1", port))
                    return

        taking = threading.Thread(target=take)
        taking.start()
        result = run("run", "echo.py", *given, "--weather", weather)
        taking.join()
    assert result.status == 2
    said = f"  it ended: a cannot listen at 127.0.0.1:{port}: Address already in use; "
    assert said in result.out
    assert "  replay    worldline replay rec echo.py\n" in result.out
    assert result.out.startswith("loaded\necho: 2 nodes, 0.")
