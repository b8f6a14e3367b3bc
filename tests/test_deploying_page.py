"""What docs/deploying.md shows is what happens: its commands are run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

from worldline.deploy.cluster import LEAST_SECRET
from worldline.deploy.running.options import RunOptions
from worldline.options.declaring import options_of

pytest.importorskip("msgspec")

OF_REPLAY = ("--partial", "--predicates", "--from", "--window", "--property")
PAGE = ROOT / "docs" / "deploying.md"


def roughly(text: str) -> str:
    """A text without its numbers, and as if all columns were narrow: no two runs are alike."""
    text = re.sub(r"for given = .*", "for given = ...", text)
    text = re.sub(r"\d[\d,.:]*", "N", text)
    return re.sub(r"(?<=\S) +", " ", re.sub(r"N [KM]iB", "N B", text))


@pytest.mark.slow
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    for name, text in zip(
        ("tickets.py", "program.py", "steered.py"), blocks("python", PAGE), strict=True
    ):
        (tmp_path / name).write_text(text)
    (tmp_path / "cluster.toml").write_text(blocks("toml", PAGE)[0])
    page = commands(PAGE)
    assert len(page) >= 10
    for command in page:
        printed = run(command.line, tmp_path)
        rough = roughly(f"{command.shown}."), roughly(f"{printed}.")  # one may be empty
        assert agrees(*rough), f"$ {command.line}\n{printed}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_a_node_answers_what_it_asks_with_curl(tmp_path: Path):
    pytest.importorskip("uvicorn")
    (tmp_path / "tickets.py").write_text(blocks("python", PAGE)[0])
    (script,) = blocks("sh", PAGE)
    words = ["run", "tickets.py", "--seconds", "60", "--control", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "worldline", *words], cwd=tmp_path
    ) as running:
        try:
            file = tmp_path / "worldline-out/tickets-run/control-ann.url"
            while not file.exists():
                assert running.poll() is None
                time.sleep(0.05)
            printed = run(
                script.replace("curl ", "curl -sS ").replace("\n", ";"), tmp_path
            )
        finally:
            running.terminate()
    assert '"class": "Customer"' in printed
    assert '"call": "draw", "answer": null' in printed


def test_it_names_flags_that_there_are():
    flags = {one.flag for one in options_of(RunOptions)}
    flags |= {"--help", "--out", *OF_REPLAY}
    assert set(re.findall(r"--[a-z][a-z-]*", PAGE.read_text("utf-8"))) <= flags


def test_the_numbers_that_it_names_are_those_of_the_source():
    assert f"at least {LEAST_SECRET} bytes" in PAGE.read_text("utf-8")
