"""Python with -O removes asserts, and with them what properties say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAILING = """\
import worldline as wl

A, = wl.ids("a")

@wl.node
class One:
    count: int = 0

    @wl.call
    def add(self, ctx):
        self.count += 1

@wl.safety
def zero(view):
    assert view[A].count == 0

def system():
    return wl.System(
        {A: One()}, workload=[wl.script(A, [One.add])], properties=[zero]
    )
"""


def python(folder: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("verb", ["check", "walk", "faults", "replay", "debug"])
def test_the_command_refuses_python_without_asserts(tmp_path: Path, verb: str) -> None:
    (tmp_path / "one.py").write_text(FAILING, "utf-8")
    status, out, err = python(tmp_path, "-O", "-m", "worldline", verb, "one.py")
    assert (status, out) == (2, "")
    assert err.startswith("worldline: error: Python runs without asserts (-O")


def test_so_does_the_environments_flag(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(FAILING, "utf-8")
    arguments = "-m", "worldline", "check", "one.py"
    status, _, err = python(tmp_path, *arguments, PYTHONOPTIMIZE="2")
    assert status == 2
    assert "PYTHONOPTIMIZE" in err


@pytest.mark.parametrize(
    "call",
    [
        "wl.check(one.system())",
        "wl.walk(one.system())",
        "wl.find_faults(one.system())",
        "wl.replay('run.wl', one.system())",
    ],
)
def test_so_do_the_functions(tmp_path: Path, call: str) -> None:
    (tmp_path / "one.py").write_text(FAILING, "utf-8")
    program = f"import worldline as wl, one\ntry: {call}\n"
    program += "except wl.UsageError as error: print(error)"
    status, out, err = python(tmp_path, "-O", "-c", program)
    assert (status, err) == (0, "")
    assert out.startswith("Python runs without asserts")
