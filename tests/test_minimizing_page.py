"""What docs/minimizing.md shows is what happens: its commands are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.test_readme import ROOT, blocks, commands, run, settled

import worldline as wl

PAGE = ROOT / "docs" / "minimizing.md"


def agrees(shown: str, printed: str) -> bool:
    """Whether a command prints what is shown, with anything where three dots are."""
    lines = settled(shown).splitlines()
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(f"{line}\n") for line in lines
    )
    return re.fullmatch(pattern, f"{settled(printed)}\n") is not None


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    page = commands(PAGE)
    assert len(page) >= 3
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"
    shown = head(blocks("python", PAGE)[0])
    assert head((tmp_path / "test_loop.py").read_text("utf-8")) == shown


def head(test: str) -> str:
    """A test without its comments, and with its first row alone."""
    text = re.sub(r"^\"\"\".*?^\"\"\"\n", "", test, flags=re.M | re.S)
    text = re.sub(r" *#.*", "", text)
    first, *_, last = re.split(r"(?<=\},)\n", text)
    return f"{first}\n{last}".replace("\n\n", "\n").replace("\n\n", "\n").strip()


def test_three_dots_stand_for_any_lines():
    assert agrees("a\n...\nb\n", "a\n1\n2\nb\n")
    assert agrees("a\n...\nb\n...", "a\nb\n")
    assert not agrees("a\n...\nb\n", "a\nc\n")


def test_the_numbers_that_it_names_are_those_of_the_source():
    from worldline.minimizing import aftermath

    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"runs of more than {aftermath._MOST_STEPS} steps" in text
    assert set(re.findall(r"`wl\.(\w+)", text)) <= set(wl.__all__)
