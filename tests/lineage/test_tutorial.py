"""What docs/faults.md shows is what happens: its programs are written, its commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.shares import share
from tests.test_readme import BLOCK, ROOT, commands, run, settled

from worldline.dedalus.check import load

PAGE = ROOT / "docs" / "faults.md"
FILE = re.compile(r"`(\w+\.ded)`")
LANGUAGE = ROOT / "docs" / "dedalus.md"
MOST_LINES = 250


def programs() -> dict[str, str]:
    """Return each program of the page by the last file that is named before it."""
    text = PAGE.read_text("utf-8")
    return {
        FILE.findall(text[: block.start()])[-1]: block["body"]
        for block in BLOCK.finditer(text)
        if block["language"] == "dedalus"
    }


def test_the_page_is_short():
    assert len(PAGE.read_text("utf-8").splitlines()) <= MOST_LINES


def test_its_programs_are_those_of_the_match_and_nothing_in_them_is_suspicious(
    tmp_path: Path,
):
    found = programs()
    for name, text in found.items():
        (tmp_path / name).write_text(text, "utf-8")
    assert [*found] == [
        *("world.ded", "simple.ded", "retry.ded", "redun.ded", "sooner.ded", "ack.ded")
    ]
    for name in [*found][1:]:
        assert load([tmp_path / name]).warning_texts() == []


def test_the_grammar_has_every_word_of_the_language():
    text = LANGUAGE.read_text("utf-8")
    (grammar,) = (b["body"] for b in BLOCK.finditer(text) if b["language"] == "text")
    words = ["include", "notin", "@next", "@async", ":-", "count", "sum", "min", "max"]
    words += ["avg", "==", "!=", "<=", ">="]
    assert [word for word in words if word not in grammar] == []


@pytest.mark.slow
@pytest.mark.parametrize("half", share([0, 1], only=[0]))
def test_its_commands_print_what_it_shows(half: int, tmp_path: Path):
    for name, text in programs().items():
        (tmp_path / name).write_text(text, "utf-8")
    found = commands(PAGE)
    assert len(found) >= 18
    # What comes after the first command about redun.ded reads nothing of what was before.
    middle = next(n for n, c in enumerate(found) if "redun.ded" in c.line)
    for command in found[middle:] if half else found[:middle]:
        printed = settled(run(command.line, tmp_path))
        assert printed == settled(command.shown), command.line
    assert (tmp_path / "page" / "index.html").exists() == bool(half)
