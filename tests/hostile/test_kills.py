"""Killed while it writes a trace, a process leaves the old one or the new one, whole."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.trace.runs import random_trace
from tests.trace.scenes import lock

from worldline.trace.format import read, write

NIGHTLY, SHARE = 100, 4
LENGTHS = (5, 40)

# Slows every system call of a write down, and says when the first one comes.
WRITER = """
import os, sys, time
from pathlib import Path
from worldline.trace import format, storing

real, place, delay = os.write, sys.argv[1], float(sys.argv[2])
def slow(call):
    def run(*given, **named):
        time.sleep(delay)
        return call(*given, **named)
    return run
def write(descriptor, content):
    time.sleep(delay)
    return real(descriptor, content[:64])
os.fsync = slow(os.fsync)
Path.replace = slow(Path.replace)
traces = [format.read(name) for name in sys.argv[3:]]
os.write = write
real(1, b"ready")
while True:
    for trace in traces:
        format.write(trace, place)
"""


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return what a file may hold: one trace or the other."""
    monkeypatch.chdir(tmp_path)
    for number, length in enumerate(LENGTHS):
        write(random_trace(lock(), number, length), f"{number}.wl")
    return [Path(f"{number}.wl").read_bytes() for number in range(len(LENGTHS))]


def writers(count: int, delay: float) -> list[subprocess.Popen[bytes]]:
    """Start processes that write the two traces to one file, in turns, for ever."""
    command = [sys.executable, "-c", WRITER, "x.wl", str(delay), "0.wl", "1.wl"]
    found = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    for process in found:
        assert process.stdout is not None
        assert process.stdout.read(5) == b"ready"
    return found


def kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def killed(number: int, whole: list[bytes]) -> None:
    draw = random.Random(number)
    Path("x.wl").write_bytes(whole[0])
    together = writers(draw.choice((1, 1, 2)), delay=draw.choice((0, 0.0005, 0.002)))
    with contextlib.suppress(subprocess.TimeoutExpired):
        together[0].wait(draw.random() / 20)
    for process in together:
        kill(process)
    assert Path("x.wl").read_bytes() in whole, f"kill {number}"
    read("x.wl")
    # What is left of a draft is hidden, and in nobody's way.
    left = {path.name for path in Path().iterdir()} - {"x.wl", "0.wl", "1.wl"}
    assert all(name.startswith(".worldline-") for name in left)
    write(read("0.wl"), "x.wl")
    assert Path("x.wl").read_bytes() == whole[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(SHARE))
def test_a_share_of_kills_leaves_a_whole_trace(number: int, whole: list[bytes]):
    killed(number, whole)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(SHARE, NIGHTLY))
def test_kills_leave_a_whole_trace(number: int, whole: list[bytes]):
    killed(number, whole)


@pytest.mark.slow
def test_two_that_write_one_file_at_once_leave_one_of_the_two(whole: list[bytes]):
    together = writers(2, delay=0.0)
    try:
        for _ in range(200):
            if Path("x.wl").exists():
                assert Path("x.wl").read_bytes() in whole
    finally:
        for process in together:
            kill(process)
