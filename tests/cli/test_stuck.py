"""Calls into C that never end, and that no signal stops: the process begins anew."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.shares import share

from worldline.engine.native.library import available

pytestmark = pytest.mark.skipif(
    not available() or not hasattr(os, "fork"), reason="there is no watchdog here"
)

ENDLESS = """\
import itertools
import worldline as wl

A, B = wl.ids("a", "b")

@wl.message
class Poke:
    pass

@wl.node
class Counter:
    count: int = 0

    @wl.call
    def poke(self, ctx):
        ctx.send(B, Poke())

    @wl.on(Poke)
    def poked(self, ctx, src, msg):
        if ENDLESS == "handler":
            sum(itertools.count())
        self.count += 1

@wl.safety
def small(view):
    if ENDLESS == "property" and view[B].count == 1:
        sum(itertools.count())
    return view[B].count < 9

@wl.liveness
def counted(view):
    return view[B].count == 1

def system(endless: str = "handler"):
    global ENDLESS
    ENDLESS = endless
    return wl.System(
        {A: Counter(), B: Counter()},
        workload=[wl.script(A, [Counter.poke])],
        properties=[small, counted],
    )
"""

# As the command does, but with less patience.
COMMAND = (
    "from worldline.model.usercode import beat; beat.LIMIT_S = 0.2; "
    "from worldline.cli.stuck import entry; entry()"
)
SAID = "Counter.poked (0.2 s, by the clock)"


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    (folder / "endless.py").write_text(ENDLESS, "utf-8")
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str) -> tuple[int, str, str]:
    process = begin(folder, *arguments)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


@pytest.mark.parametrize("engine", share(["python", "native"], only=["native"]))
def test_check_reports_it_with_its_run_which_replays(
    tmp_path: Path, engine: str
) -> None:
    asked = "check", "endless.py", "--engine", engine, "--json", "--threads", "2"
    status, out, err = run(tmp_path, *asked)
    assert (status, err) == (1, "")
    found = json.loads(out)["properties"][0]
    assert (found["name"], found["explanation"]) == ("divergence", SAID)
    assert found["steps"] == 2
    status, out, err = run(tmp_path, "replay", found["trace"], "endless.py")
    assert (status, err) == (1, "")
    assert "reproduced" in out


@pytest.mark.parametrize("verb", share(["walk", "faults"], only=["walk"]))
def test_so_do_the_other_searches(tmp_path: Path, verb: str) -> None:
    status, out, err = run(tmp_path, verb, "endless.py")
    assert (status, err) == (1, "")
    assert SAID in out


def test_in_a_property_it_is_a_model_error(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, "check", "endless.py", "-p", "endless=property")
    assert (status, out) == (2, "")
    assert "property small (endless.py:24) did not return (0.2 s, by the clock)" in err


def test_what_ends_is_not_touched(tmp_path: Path) -> None:
    status, out, err = run(tmp_path, "check", "endless.py", "-p", "endless=nothing")
    assert (status, err) == (0, "")
    assert "HOLDS" in out


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_with_who_is_terminated_ends_the_process_that_does_the_work(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "sleeps.py").write_text(
        "import os, pathlib, time\n"
        "pathlib.Path('new').write_text(str(os.getpid()))\n"
        "pathlib.Path('new').rename('pid')\n"
        "time.sleep(100)\n"
    )
    program = "from worldline.cli import stuck; stuck._supervised()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "check", "sleeps.py"], cwd=tmp_path
    ) as process:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        process.send_signal(signal.Signals[name])
    assert process.returncode == 128 + signal.Signals[name]
    child = int((tmp_path / "pid").read_text())
    assert child != process.pid
    for _ in range(500):
        if not _is_there(child):
            return
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("it goes on")


def _is_there(process: int) -> bool:
    """Say whether a process runs: who is ended may not be waited for by anybody."""
    try:
        said = Path(f"/proc/{process}/stat").read_text("utf-8")
    except FileNotFoundError:
        return False
    return said.rpartition(")")[2].split()[0] != "Z"


ENDLESSLY = """\
import pathlib
import worldline as wl

(A,) = wl.ids("a")

@wl.node
class Clock:
    count: int = 0

    @wl.call
    def tick(self, ctx):
        self.count += 1

@wl.safety
def small(view):
    if view[A].count == 2000:
        pathlib.Path("begun").touch()
    return view[A].count >= 0

def system():
    return wl.System({A: Clock()}, workload=[wl.whenever(Clock.tick)],
                     properties=[small], name="clock")
"""


IGNORING = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]
"""Begins a command as ``&`` does in a script."""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("before", [[], IGNORING])
def test_a_search_that_is_terminated_prints_what_it_learned(
    tmp_path: Path, name: str, before: list[str]
) -> None:
    """Also where Ctrl-C is ignored, as with ``&`` in a script."""
    (tmp_path / "clock.py").write_text(ENDLESSLY)
    process = subprocess.Popen(
        [*before, sys.executable, "-m", "worldline", "check", "clock.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.Signals[name])
    out, _ = process.communicate(timeout=60)
    assert "clock: UNKNOWN (bound: interrupted)" in out
    assert process.returncode in (-signal.Signals[name], 128 + signal.Signals[name])


def test_processes_of_a_search_that_is_terminated_end_where_keys_are_ignored(
    tmp_path: Path,
) -> None:
    (tmp_path / "clock.py").write_text(ENDLESSLY)
    long = [
        "simulate",
        "clock.py",
        "--seconds",
        "1e9",
        "--seeds",
        "99",
        "--threads",
        "2",
    ]
    process = subprocess.Popen(
        [*IGNORING, sys.executable, "-m", "worldline", *long],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert "clock: UNKNOWN (bound: interrupted)" in out


def test_it_can_be_killed_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = begin(tmp_path, "check", "endless.py")
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=10)
    assert process.returncode != 0
