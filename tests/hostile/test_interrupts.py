"""Ctrl-C at any moment: an answer or one line, never a traceback, never a torn file."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.runs.recording.simulated import record
from tests.shares import share

from worldline.loading.loader import load
from worldline.trace.format import read

COMMANDS = (
    "check zoo:randtree -p bugs=rt14",
    "check zoo:randtree -p bugs=rt14 --json --engine python",
    "check zoo:randtree -p bugs=rt14 --json --threads 2",
    "check zoo:twophase -p n=5 --no-symmetry --out OUT/a.wl",
    "check zoo:toy --json --out OUT/a.wl",
    "check zoo:abd --depth-first --max-depth 60",
    "check zoo:paxos -p bugs=cb2 -p resets=1 --out OUT/a.wl",
    "walk zoo:randtree -p bugs=rt13 -p start=rt13 -p resets=1 --out OUT/a.wl",
    "walk zoo:randtree -p resets=1 --json",
    "predict zoo:randtree -p size=5 --max-states 10000000 --out OUT/a.wl",
    "predict zoo:randtree -p bugs=cb6 -p start=cb6 --json --out OUT/a.wl",
    "walk zoo:paxos --property agreement --json",
    "fuzz zoo:randtree --inject all --out OUT/a.wl",
    "faults zoo:kafka --eot 20 --eff 18 --engine ldfi --all",
    "faults zoo:3pc --eot 30 --eff 28 --json --frontier",
    "faults zoo:retry-deliv --out OUT/a.wl --report OUT/report",
    "faults zoo:replication --json",
    "zoo run brokentree-bt1 brokentree-bt2",
    "zoo list --json",
    "show OUT/seen.wl",
    "replay OUT/seen.wl --json",
    "debug OUT/seen.wl -c where -c where",
    "simulate zoo:randtree -p size=5 -p recovery=18 --mode steer --seconds 3000 --json",
    "simulate zoo:randtree -p size=5 -p recovery=18 --mode predict --seconds 3000 --seeds 9",
)
LONGEST_S = 4.0
"""Ctrl-C comes before this; most commands are done by then, some never are."""

PATIENCE_S = 30.0
"""After Ctrl-C a command may take so long, on the busiest of machines."""


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str
    seconds: float  # after Ctrl-C


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a trace to look at."""
    import worldline as wl
    from worldline.loading.loader import load

    path = tmp_path_factory.mktemp("seen") / "a.wl"
    wl.check(load("zoo:brokentree", {"bugs": "bt2"}), out=path)
    return path.read_bytes()


def pressed(command: str, delay: float, folder: Path) -> Ended:
    """Run a command and press Ctrl-C some seconds after its first line was run."""
    words = command.replace("OUT", str(folder)).split()
    # What Python does before that is its own affair, so it tells what it imports.
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "worldline", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        encoding="utf-8",
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.rstrip().endswith("worldline._command"):
            break
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    finally:
        process.kill()
    told = [line for line in err.splitlines() if not line.startswith("import time:")]
    seconds = time.monotonic() - began
    return Ended(process.returncode, out, "\n".join(told), seconds)


def check_ending(command: str, ended: Ended, folder: Path) -> None:
    said = ended.out + ended.err
    assert ended.status in (0, 1, 3), said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    if ended.status == 3:
        assert "unknown" in said.lower() or "interrupted" in said
    if "--json" in command and ended.out:
        json.loads(ended.out)
    for trace in folder.glob("a*.wl"):
        read(trace)  # whole, or not there


def press_somewhere(number: int, folder: Path, seen: bytes) -> None:
    draw = random.Random(number)
    (folder / "seen.wl").write_bytes(seen)
    command = draw.choice(COMMANDS)
    # Start-up is short and has many stages, so it gets half of all.
    delay = draw.random() * draw.choice((0.5, LONGEST_S))
    check_ending(command, pressed(command, delay, folder), folder)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(100))
def test_ctrl_c_at_any_moment_ends_with_a_word(
    number: int, tmp_path: Path, seen: bytes
):
    press_somewhere(number, tmp_path, seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "delay"),
    [
        (COMMANDS[0], 0.0),
        (COMMANDS[7], 0.05),
        ("faults zoo:kafka --json", 0.2),
    ],
)
def test_ctrl_c_while_the_command_is_loaded_ends_it(
    command: str, delay: float, tmp_path: Path
):
    ended = pressed(command, delay, tmp_path)
    check_ending(command, ended, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "python"])
def test_an_interrupted_search_prints_its_object(engine: str, tmp_path: Path):
    command = f"check zoo:randtree -p bugs=rt14 --json --engine {engine}"
    ended = pressed(command, 1.2, tmp_path)
    check_ending(command, ended, tmp_path)


LOOPS = "print('loading', flush=True)\nwhile True:\n    pass\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "simulate zoo:paxos --predicates loops.py",
        pytest.param(
            "simulate zoo:paxos --latency loops.py:far", marks=pytest.mark.nightly
        ),
        "check loops.py",
    ],
)
def test_one_ctrl_c_ends_a_file_that_does_not_load(command: str, tmp_path: Path):
    (tmp_path / "loops.py").write_text(LOOPS)
    with subprocess.Popen(
        [sys.executable, "-m", "worldline", *command.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "loading\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 3
    assert "Traceback" not in err
    assert "interrupted" in err


@pytest.mark.slow
@pytest.mark.parametrize("number", share([signal.SIGINT, signal.SIGTERM], every=2))
def test_a_query_that_is_ended_leaves_no_draft(
    number: signal.Signals, tmp_path: Path, seen: bytes
):
    pytest.importorskip("duckdb")
    (tmp_path / "seen.wl").write_bytes(seen)
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    sql = "SELECT count(*) FROM range(10000000000) a, range(1000) b"
    ended(["query", "seen.wl", sql, "--threads", "1"], number, tmp_path, drafts)


BEATING = """
import worldline as wl

@wl.node
class Beating:
    beats: int = 0

    @wl.start
    def start(self, ctx):
        ctx.set_timer(Beating.beat, after=0.01)

    @wl.timer
    def beat(self, ctx):
        self.beats += 1
        ctx.set_timer(Beating.beat, after=0.01)

@wl.safety
def beats(view):
    return view[A].beats >= 0

(A,) = wl.ids("a")

def system():
    return wl.System({A: Beating()}, properties=[beats])
"""


@pytest.mark.slow
def test_a_recording_that_is_terminated_while_it_is_opened_leaves_no_draft(
    tmp_path: Path,
):
    (tmp_path / "beating.py").write_text(BEATING, "utf-8")
    system = load(str(tmp_path / "beating.py"), {})
    record(tmp_path / "run", system, seconds=200)
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    words = ["show", "run", "--target", "beating.py"]
    ended(words, signal.SIGTERM, tmp_path, drafts)


def ended(words: list[str], number: signal.Signals, folder: Path, drafts: Path) -> None:
    """End a command once it has a draft; it must leave none."""
    with subprocess.Popen(
        [sys.executable, "-m", "worldline", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(drafts)},
    ) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while not any(drafts.iterdir()) and time.monotonic() < until:
                time.sleep(0.02)
            time.sleep(0.3)  # somewhere while it works
            process.send_signal(number)
            _, err = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == (3 if number is signal.SIGINT else -number)
    assert "Traceback" not in err
    assert not [*drafts.iterdir()]
