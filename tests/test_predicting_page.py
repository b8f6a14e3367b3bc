"""What docs/predicting.md shows is what happens: its commands are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.test_deploying_page import roughly
from tests.test_minimizing_page import agrees
from tests.test_readme import ROOT, blocks, commands, run

import worldline as wl
from worldline.options.declaring import options_of
from worldline.search.predicting.options import MAX_STATES, PredictOptions

pytest.importorskip("msgspec")

PAGE = ROOT / "docs" / "predicting.md"


@pytest.mark.nightly
def test_its_commands_print_what_it_shows(tmp_path: Path):
    """In order and in one folder, because each builds upon the ones before."""
    system, early, test, later = blocks("python", PAGE)
    (tmp_path / "tickets.py").write_text(system)
    (tmp_path / "early.py").write_text(early)
    (tmp_path / "test_tickets.py").write_text(f"{test}\n{later}")
    page = commands(PAGE)
    assert len(page) >= 8
    for command in page:
        printed = run(command.line, tmp_path)
        rough = roughly(f"{command.shown}."), roughly(f"{printed}.")  # one may be empty
        assert agrees(*rough), f"$ {command.line}\n{printed}"
    assert "2 passed" in run("python -m pytest -q test_tickets.py", tmp_path)


def test_it_names_flags_that_there_are():
    flags = {one.flag for one in options_of(PredictOptions)}
    flags |= {"--as-found", "--json", "--rate", "--seconds", "--predicates", "--out"}
    assert set(re.findall(r"--[a-z][a-z-]*", PAGE.read_text("utf-8"))) <= flags


def test_the_numbers_and_keys_that_it_names_are_those_of_the_source():
    text = PAGE.read_text("utf-8")
    assert f"`--max-states` ({MAX_STATES:,})" in text
    assert f"which is {PredictOptions().repeat_cost}." in text
    keys = wl.predict("zoo:toy", traces=False, max_states=10).to_json()
    table = text[text.index("| key | what |") :]
    named = re.findall(r"^\| (`.*?) \|", table, re.M)
    assert {name for line in named for name in re.findall(r"`(\w+)`", line)} <= {*keys}
