"""What every command owes to whatever it is given: an answer, in time, and no traceback."""

from __future__ import annotations

import io
import sys
import time

from tests.cli.command import Result, run

SECONDS = 10.0


def answered(*arguments: str) -> Result:
    """Run a command in this process, and assert that it answers as it should."""
    began = time.monotonic()
    before, sys.stdin = sys.stdin, io.StringIO("")
    try:
        result = run(*arguments)
    finally:
        sys.stdin = before
    seconds = time.monotonic() - began
    shown = f"{arguments!r:.300}\n{result.out[-500:]}\n{result.err[-2500:]}"
    assert result.status in {0, 1, 2, 3}, shown
    assert result.out.strip() or result.err.strip(), shown
    assert "Traceback" not in result.err, shown
    assert "internal error" not in result.err, shown
    if result.status == 2 and not result.out:
        assert result.err.startswith("worldline: error: "), shown
    assert seconds <= SECONDS, f"{seconds:.1f} s\n{shown}"
    return result
