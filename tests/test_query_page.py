"""What docs/query.md shows is what happens: its commands are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

import worldline as wl
from worldline.querying import source
from worldline.querying.asking import MEMORY_MB
from worldline.querying.schema import TABLES, VIEWS

pytest.importorskip("duckdb")

PAGE = ROOT / "docs" / "query.md"


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """In order and in one folder, because each builds upon the ones before."""
    page = commands(PAGE)
    assert len(page) >= 8
    for command in page:
        printed = run(command.line, tmp_path)
        assert agrees(command.shown, printed), f"$ {command.line}\n{printed}"
    monkeypatch.chdir(tmp_path)
    for program in blocks("python", PAGE):
        exec(program, {"wl": wl})


def test_it_names_every_table_and_view():
    named = set(re.findall(r"`(\w+(?:\(\w+\))?)`", PAGE.read_text("utf-8")))
    assert {table.name for table in (*TABLES, *VIEWS)} <= named


def test_the_numbers_that_it_names_are_those_of_the_source():
    text = " ".join(PAGE.read_text("utf-8").split())
    assert f"more than {source._STRICT_LINES:,} lines" in text
    assert f"at most {MEMORY_MB:,} MiB" in text
