"""Measuring a command in a process of its own: what it says, and what that costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

RSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes in one of `ru_maxrss`."""


class Measured(NamedTuple):
    """What a process said and cost, with the processes that it waited for.

    Attributes
    ----------
    code
        Its exit code.
    output
        What it printed, errors among it.
    cpu, wall
        User and system time, and elapsed time, in seconds.
    peak
        The most resident memory of one process, in bytes. On Linux it is never less than
        what the caller holds, so this must stay small.
    """

    code: int
    output: str
    cpu: float
    wall: float
    peak: float


def measured(command: Sequence[str], directory: Path | None = None) -> Measured:
    """Run a command to its end.

    Python may keep what it has compiled, as it does where Worldline is installed.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    began = os.times().elapsed
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=kept,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    with process.stdout as pipe:
        output = pipe.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(
        code=process.returncode,
        output=output,
        cpu=usage.ru_utime + usage.ru_stime,
        wall=os.times().elapsed - began,
        peak=usage.ru_maxrss * RSS_UNIT,
    )
