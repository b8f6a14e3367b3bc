"""What the README shows is what happens: its programs and commands are run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import worldline as wl

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
MAX_LINES = 150
MAX_PROGRAM_LINES = 25

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S)
FILE = re.compile(r"`(\w+\.py)`:\n\n```python\n")
VARIES = [
    (re.compile(r"\b\d+\.\d+ ?s\b"), "TIME"),
    (re.compile(r"[\d,]+/s"), "RATE"),
    (re.compile(r"[\d,]+ MiB"), "MEMORY"),
    (re.compile(r"engine (native|python)"), "ENGINE"),
    (re.compile(r"^ *note: engine python: .*\n", re.M), ""),
    (re.compile(r"^worldline: note: \S+ is loaded with .*\n", re.M), ""),
]
"""What differs from run to run or by machine, or is left out, of what is printed."""


@dataclass(frozen=True)
class Command:
    """A line after ``$`` and what the README says that it prints."""

    line: str
    shown: str


def blocks(language: str, page: Path = README) -> list[str]:
    text = page.read_text("utf-8")
    return [m["body"] for m in BLOCK.finditer(text) if m["language"] == language]


def programs() -> dict[str, str]:
    """Return each Python block by the file that the text before it names."""
    text = README.read_text("utf-8")
    return {
        m[1]: text[m.end() : text.index("```", m.end())] for m in FILE.finditer(text)
    }


def commands(page: Path = README) -> list[Command]:
    found = []
    for body in blocks("console", page):
        for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
            line, _, shown = part.partition("\n")
            found.append(Command(line, shown))
    return found


def settled(text: str) -> str:
    """Return a text without what varies, and without blanks at ends of lines."""
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def run(line: str, folder: Path) -> str:
    """Run a command as the README's reader would, and return what it prints."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.stdout


def test_the_readme_is_short():
    assert len(README.read_text("utf-8").splitlines()) <= MAX_LINES


def test_its_first_program_is_short_and_complete():
    program = programs()["counter.py"]
    lines = [line for line in program.splitlines() if line.strip()]
    assert len(lines) <= MAX_PROGRAM_LINES
    assert len(programs()) == len(blocks("python")) == 2


def test_every_target_of_make_that_it_names_exists():
    named = set(re.findall(r"`make (\w+)`", README.read_text("utf-8")))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert {"demo", "test"} <= named
    assert {
        name for name in named if not re.search(f"^{name}:", makefile, re.M)
    } == set()


def test_every_file_that_it_names_exists():
    named = re.findall(r"`((?:docs|src)/[\w./]+)`", README.read_text("utf-8"))
    assert len(named) >= 3
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.slow
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    for name, program in programs().items():
        (tmp_path / name).write_text(program, "utf-8")
    assert len(commands()) >= 4
    for command in commands():
        printed = settled(run(command.line, tmp_path))
        assert printed == settled(command.shown), command.line
    assert "1 passed" in run("python -m pytest -q test_counter.py", tmp_path)


@pytest.mark.slow
def test_its_test_fails_with_the_report_while_the_bug_is_there(tmp_path: Path):
    for name, program in programs().items():
        (tmp_path / name).write_text(program, "utf-8")
    printed = run("python -m pytest -q test_counter.py", tmp_path)
    assert "counter: VIOLATED" in printed
    assert "1 failed" in printed


def test_a_text_that_varies_is_settled():
    assert settled("a 0.01 s (1,234/s), 41 MiB \n1 passed in 0.01s") == (
        "a TIME (RATE), MEMORY\n1 passed in TIME"
    )


def test_the_random_runs_that_are_taught_find_the_bug() -> None:
    known: dict[str, Any] = {"__name__": __name__}
    taught, tested, scheduler = blocks("python", ROOT / "docs" / "random-runs.md")
    exec(taught, known)
    exec(scheduler, known)
    assert known["report"].verdict is wl.Verdict.VIOLATED
    report = wl.walk(known["system"], traces=False)
    report.expect_violated("stores_keep_the_largest")
    exec(tested, known)
    with pytest.raises(AssertionError, match="stores_keep_the_largest"):
        known["test_nothing_is_found"]()
