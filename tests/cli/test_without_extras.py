"""Commands that need no extra, where none is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = """
import sys
for name in ("msgspec", "duckdb", "pysat", "matplotlib", "starlette", "uvicorn"):
    sys.modules[name] = None
from worldline.cli.main import main
sys.exit(main())
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDDEN, *arguments, "zoo:randtree", "-p", "size=3"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


def test_a_simulation_needs_none(tmp_path: Path):
    done = run(tmp_path, "simulate", "--seconds", "2")
    assert done.returncode == 3, done.stderr
    assert "no_loops" in done.stdout


@pytest.mark.parametrize("mode", ["predict", "check", "steer"])
def test_one_with_a_mode_says_which_it_needs(tmp_path: Path, mode: str):
    done = run(tmp_path, "simulate", "--seconds", "2", "--mode", mode)
    assert done.returncode == 2
    assert "pip install 'worldline[deploy]'" in done.stderr
    assert "Traceback" not in done.stderr
