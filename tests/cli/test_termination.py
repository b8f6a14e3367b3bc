"""SIGTERM: a search that is sent it prints what it has learned, as after Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ENDED = """\
import os
import signal
import threading

import worldline as wl
from worldline.loading.loader import load

begun = []


def end():
    for _ in range(2):
        os.kill(os.getpid(), signal.SIGTERM)


@wl.safety
def never_ends(view):
    if not begun:
        begun.append(True)
        threading.Timer(0.2, end).start()
    return True


def watched(name, **parameters):
    known = load(name, parameters)
    known.properties = [never_ends]
    return known


def system():
    return watched("zoo:twophase", n="9")


def small():
    return watched("zoo:toy")
"""
"""Systems of millions of states or runs, sent SIGTERM twice, as ``timeout`` does."""


def _ignore_keys() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize(
    ("command", "prepare"),
    [
        ("check ended.py", None),
        ("check ended.py", _ignore_keys),
        ("check ended.py --engine python", None),
        ("walk ended.py", None),
        ("simulate ended.py:small --seeds 1000000", None),
        ("predict ended.py --max-states 100000000", None),
    ],
)
def test_what_was_learned_is_printed(
    command: str, prepare: Callable[[], None] | None, tmp_path: Path
) -> None:
    (tmp_path / "ended.py").write_text(ENDED, "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "worldline", *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=prepare,
    )
    assert (done.returncode, done.stderr) == (3, "")
    assert "UNKNOWN (bound: interrupted)" in done.stdout
