"""What commands print and write is the same for every hash seed of the interpreter."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from worldline import zoo

QUICK = [
    "check zoo:paxos -p bugs=cb2 -p resets=1",
    "check zoo:single-copy -p servers=2 --json",
    "faults zoo:simple-deliv --report page",
    (
        "simulate zoo:paxos -p bugs=cb1 --seeds 80 --loss 0.2 --uplink 1kB --threads 1 "
        "--weather 'every 2s crash any, at 3s every 2s restart any'"
    ),
]
MORE = [
    *QUICK,
    "check zoo:randtree -p bugs=cb7 -p size=2 --max-depth 8",
    "check zoo:brokentree -p bugs=bt1",
    "faults zoo:2pc --report page",
    "faults zoo:broadcast -p variant=retry --eot 4 --eff 2 --crashes 1",
]


def outcomes(commands: list[str], folder: Path, seed: int) -> list[Any]:
    """Run commands in one process; return what each printed and wrote."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.cli.commands", str(folder / str(seed))],
        input=json.dumps([shlex.split(command) for command in commands]),
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def differing(commands: list[str], folder: Path, seeds: range) -> list[str]:
    """Return the commands that did different things under different seeds."""
    runs = [outcomes(commands, folder, seed) for seed in seeds]
    assert all(status in (0, 1, 3) for run in runs for status, _, _ in run)
    return [
        command
        for command, *seen in zip(commands, *runs, strict=True)
        if any(one != seen[0] for one in seen)
    ]


def test_quick_commands_do_the_same_for_every_hash_seed(tmp_path: Path):
    assert differing(QUICK, tmp_path, range(2)) == []


@pytest.mark.nightly
def test_more_commands_do_the_same_for_eight_hash_seeds(tmp_path: Path):
    assert differing(MORE, tmp_path, range(8)) == []


@pytest.mark.nightly
def test_every_bug_of_the_zoo_has_one_trace_for_eight_hash_seeds(tmp_path: Path):
    assert (
        differing([case.command for case in zoo.bugs().values()], tmp_path, range(8))
        == []
    )
