"""Timers that a reset or a crash takes: `show` and the debugger say which."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import run

ALARM = """\
import worldline as wl

A, B = wl.ids("a", "b")

@wl.node
class Clock:
    rings: int = 0
    kept: int = wl.durable(default=0)

    @wl.start
    def begin(self, ctx):
        ctx.set_timer(Clock.ring, 1, after=1.0)
        ctx.set_timer(Clock.ring, 2, after=2.0)
        ctx.set_timer(Clock.rest, after=9.0)
        ctx.cancel_timer(Clock.rest)

    @wl.timer
    def ring(self, ctx, number):
        self.rings = self.kept = number

    @wl.timer
    def rest(self, ctx):
        pass

@wl.safety
def remembers(view):
    return view[A].rings == view[A].kept

def system():
    return wl.System(
        {A: Clock(), B: Clock()},
        faults=wl.Faults(resets=1, nodes=[A]),
        properties=[remembers],
        name="alarm",
    )
"""


@pytest.fixture(autouse=True)
def _a_run_with_a_reset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alarm.py").write_text(ALARM, "utf-8")
    assert run("check", "alarm.py", "--out", "run.wl").status == 1


def test_a_reset_shows_the_timers_that_were_pending():
    lines = run("show", "run.wl").out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.endswith("  a  reset"))
    # The other rang, a third was cancelled, and those of b go on.
    assert lines[at + 1].strip() == "timer lost: ring(2)"
    assert sum("lost" in line for line in lines) == 1


def test_so_does_the_debugger():
    out = run("debug", "run.wl", "alarm.py", "-c", "where").out
    assert "timer lost: ring(2)" in out


def test_of_a_state_the_timers_are_known():
    found = run("predict", "alarm.py", "--from", "run.wl:1", "--out", "next.wl")
    assert found.status == 1, found
    assert "timer lost: ring(2)" in run("show", "next.wl").out
