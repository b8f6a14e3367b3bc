"""Processes that are started: no file that merely lies in the folder is run there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from worldline.loading.processes import environment

COMMAND = (sys.executable, "-P", "-m", "worldline")
SENTINEL = 'import pathlib\npathlib.Path(__file__).with_suffix(".ran").touch()\n'
NAMES = ("worldline", "asyncio", "queue", "json", "threading", "dataclasses", "secrets")


@pytest.mark.parametrize(
    "words",
    [
        "run zoo:toy --seconds 1 --record run",
        "run zoo:toy --seconds 2 --record run --together --mode predict",
        "zoo run brokentree-bt2",
    ],
    ids=["nodes", "predictor", "bugs"],
)
def test_no_file_of_the_folder_is_taken_for_a_module(words: str, tmp_path: Path):
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(SENTINEL, "utf-8")
    done = subprocess.run(
        [*COMMAND, *words.split()],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert not [*tmp_path.glob("*.ran")]
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)


def test_a_file_may_have_the_name_of_this_package(tmp_path: Path):
    text = "from worldline.zoo.toy import system\n"
    (tmp_path / "worldline.py").write_text(text, "utf-8")
    words = "run worldline.py --seconds 1 --record run"
    done = subprocess.run(
        [*COMMAND, *words.split()],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_process_finds_the_modules_that_this_one_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    odd = tmp_path / f"a{os.pathsep}b"
    places = [str(tmp_path), "", odd, str(odd)]
    monkeypatch.setattr(sys, "path", [*places, *sys.path])
    told = environment(MORE="1")
    assert told["MORE"] == "1"
    first, second, *others = told["PYTHONPATH"].split(os.pathsep)
    assert (first, second) == (str(tmp_path), os.curdir)
    assert others == sys.path[len(places) :]
