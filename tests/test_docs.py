"""The documents name what there is: files, classes and functions of the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "worldline"
PAGES = [
    ROOT / "README.md",
    ROOT / "tests" / "README.md",
    ROOT / "examples" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

PATH = re.compile(r"(?<![\w./:-])(?:[\w-]+/)+[\w-]+\.(?:py|cpp|hpp|md|ded)\b")
INSIDE = ("contributing.md", "design.md", "glossary.md")
CLASS = re.compile(r"`(_?[A-Z][a-z]\w*)(?:\.\w+)?(?:\(.*?\))?`")
PLACEHOLDER = "NAME.py"

PYTHONS = {"GeneratorExit"}
"""Classes of Python that a page names and the source does not."""


def missing_files(text: str, files: list[str]) -> list[str]:
    """The paths in a text that no file of the repository ends with."""
    named = {path for path in PATH.findall(text) if not path.endswith(PLACEHOLDER)}
    return sorted(
        path for path in named if not any(file.endswith("/" + path) for file in files)
    )


@pytest.fixture(scope="module")
def files() -> list[str]:
    folders = ("src", "tests", "docs", "benchmarks", "scripts", "examples")
    return [
        path.as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*")
    ]


@pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_every_file_that_a_page_names_exists(page: Path, files: list[str]):
    assert missing_files(page.read_text("utf-8"), files) == []


def test_a_file_that_is_gone_is_noticed(files: list[str]):
    text = "see `model/gone.py` and `model/kinds.py`"
    assert missing_files(text, files) == ["model/gone.py"]


@pytest.mark.parametrize("name", INSIDE)
def test_every_class_that_a_page_about_the_inside_names_exists(name: str):
    sources = [*SOURCE.rglob("*.py"), *SOURCE.rglob("*.hpp"), *SOURCE.rglob("*.cpp")]
    known = set(re.findall(r"\w+", "\n".join(p.read_text("utf-8") for p in sources)))
    named = set(CLASS.findall((ROOT / "docs" / name).read_text("utf-8")))
    assert sorted(named - known - PYTHONS) == []
