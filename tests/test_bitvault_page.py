"""What docs/bitvault.md shows is what happens: its commands are run."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

PAGE = ROOT / "docs" / "bitvault.md"


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    (tmp_path / "owners.py").write_text(blocks("python", PAGE)[0])
    page = commands(PAGE)
    assert len(page) == 5
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"
