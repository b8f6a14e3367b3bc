"""What the guide shows is what happens: its files are written, its commands run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.guide.pages import GUIDE, Player, blocks, library

PAGES = sorted(GUIDE.glob("*.md"))
PLAYED = [page for page in PAGES if page.stem != "in-ci"]
"""All but one, whose commands run pytest: `tests/testing` has its test."""
LINK = re.compile(r"\]\((?!https?:)([\w./-]*)(?:#([\w-]+))?\)")
MOST_LINES = 280
MOST_LINES_FROM = 60


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return library(tmp_path_factory.mktemp("library"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.stem)
def test_a_page_shows_what_happens(
    page: Path, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setenv("NO_COLOR", "1")
    player = Player(tmp_path, files)
    player.play(page)
    told = "\n".join(f"$ {line}\n{printed}" for line, printed in player.mistakes)
    assert not player.mistakes, told


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short(page: Path):
    most = MOST_LINES_FROM if page.stem.startswith("from-") else MOST_LINES
    assert len(page.read_text("utf-8").splitlines()) <= most


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_links_to_exists(page: Path):
    for target, heading in LINK.findall(page.read_text("utf-8")):
        file = page.parent / target if target else page
        assert file.is_file(), target
        assert not heading or heading in headings(file), f"{target}#{heading}"


def headings(page: Path) -> set[str]:
    """The names by which the headings of a page are linked to."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", t).replace(" ", "-").lower() for t in titles}


def test_the_index_links_to_each_page():
    linked = re.findall(r"\]\((\S+\.md)\)", (GUIDE / "index.md").read_text("utf-8"))
    assert {page.name for page in PAGES} - {"index.md"} <= set(linked)
    assert len(linked) == len(set(linked))


def test_a_command_that_prints_something_else_is_noticed(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo a\na\n$ echo b\nc\n```\n", "utf-8")
    player = Player(tmp_path, {})
    player.play(page)
    assert player.mistakes == [("echo b", "b\n")]


def test_a_difference_changes_the_file_that_is_named(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "As `a.py`:\n\n```python\nx = 1\ny = 2\n```\n\n"
        "In `a.py`, twice as much:\n\n```diff\n x = 1\n-y = 2\n+y = 4\n```\n",
        "utf-8",
    )
    Player(tmp_path, {}).play(page)
    assert (tmp_path / "a.py").read_text("utf-8") == "x = 1\ny = 4\n"
    assert [block.file for block in blocks(page)] == ["a.py", "a.py"]
