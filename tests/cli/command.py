"""Running the command line inside a test."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from worldline.cli.main import main

COUNTER = '''\
"""A backup that trusts the order of messages."""
import worldline as wl

PRIMARY, BACKUP = wl.ids("primary", "backup")

@wl.message
class Total:
    value: int

@wl.node
class Replica:
    total: int = 0

    @wl.call
    def add(self, ctx, amount):
        self.total += amount
        ctx.send(BACKUP, Total(self.total))

    @wl.on(Total)
    def copy(self, ctx, src, msg):
        self.total = max(self.total, msg.value) if FIXED else msg.value

FIXED = False

@wl.safety
def replicas_agree_at_rest(view):
    return bool(view.messages()) or view[PRIMARY].total == view[BACKUP].total

@wl.safety
def totals_are_positive(view):
    return all(view[node].total >= 0 for node in view)

def system(fixed: bool = False, adds: int = 2):
    global FIXED
    FIXED = fixed
    return wl.System(
        {PRIMARY: Replica(), BACKUP: Replica()},
        workload=[wl.script(PRIMARY, [wl.invoke(Replica.add, 1)] * adds)],
        properties=[replicas_agree_at_rest, totals_are_positive],
        name="counter",
    )
'''
"""A user's file with a bug: the shortest violation has 2 calls and 2 deliveries."""


@dataclass(frozen=True)
class Result:
    """What a command did."""

    status: int
    out: str
    err: str


def run(*arguments: str | Path) -> Result:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Result(status, out.getvalue(), err.getvalue())


def run_process(
    *arguments: str | Path, folder: Path, hash_seed: str = "random"
) -> Result:
    """Run a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "worldline", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def refusal(result: Result) -> str:
    """Return the one message of a refused command, without its prefix."""
    assert result.status == 2, result
    assert result.out == ""
    assert result.err.startswith("worldline: error: "), result.err
    assert result.err.count("\n") == 1, result.err
    return result.err.removeprefix("worldline: error: ").rstrip("\n")
