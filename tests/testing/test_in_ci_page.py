"""What docs/guide/in-ci.md shows is what happens: its files are written, its commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, commands, run

PAGE = ROOT / "docs" / "guide" / "in-ci.md"
FILE = re.compile(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", re.M | re.S)
PLUGIN = ROOT / "src" / "pytest_worldline.py"


@pytest.mark.slow
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    for name, text in FILE.findall(PAGE.read_text("utf-8")):
        (tmp_path / name).write_text(text, "utf-8")
    page = commands(PAGE)
    assert len(page) == 5
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"


def test_it_names_every_option_of_the_plugin():
    options = set(re.findall(r'"(--worldline-[\w-]+)",$', PLUGIN.read_text(), re.M))
    assert len(options) == 4
    assert options == set(re.findall(r"`(--worldline-[\w-]+)", PAGE.read_text("utf-8")))
