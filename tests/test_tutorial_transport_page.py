"""What docs/tutorial-transport.md shows is what happens: its commands are run, in order."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_readme import ROOT, commands, run, settled

PAGE = ROOT / "docs" / "tutorial-transport.md"


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(tmp_path: Path):
    found = commands(PAGE)
    assert len(found) >= 10
    for command in found:
        printed = settled(run(command.line, tmp_path))
        assert printed == settled(command.shown), command.line
