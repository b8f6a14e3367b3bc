"""What docs/steering.md shows is what happens: its commands are run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

from worldline.zoo.randtree.protocol import RandTree

PAGE = ROOT / "docs" / "steering.md"


@pytest.mark.slow
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    page = commands(PAGE)
    assert len(page) >= 3
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"


def test_the_neighbours_that_it_shows_are_those_of_the_source():
    shown = blocks("python", PAGE)[0]
    source = Path(RandTree.relatives.__code__.co_filename).read_text("utf-8")
    lines = [line.strip() for line in source.splitlines()]
    assert all(line.strip() in lines for line in shown.splitlines())
