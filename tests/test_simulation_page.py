"""What docs/simulation.md shows is what happens: its commands are run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

PAGE = ROOT / "docs" / "simulation.md"


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    names = ("lease.py", "pair.py", "refined.py", "gossip.py")
    for name, text in zip(names, blocks("python", PAGE), strict=True):
        (tmp_path / name).write_text(text)
    (tmp_path / "storm.toml").write_text(blocks("toml", PAGE)[0])
    page = commands(PAGE)
    assert len(page) >= 14
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"
