"""The examples are what they say: short, of the public face alone, with bugs that are found."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from tests.test_house import ROOT, foreign_imports

EXAMPLES = ROOT / "examples"
SYSTEMS = sorted(
    path for path in EXAMPLES.glob("*.py") if not path.name.startswith("test_")
)
MAX_LINES = 250


def bugs(system: Path) -> set[str]:
    """The switches of an example."""
    return set(typing.get_args(importlib.import_module(system.stem).Bug)) - {"none"}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda path: path.stem)
def test_an_example_is_short_and_uses_only_the_public_face(system: Path):
    source = system.read_text("utf-8")
    assert len(source.splitlines()) <= MAX_LINES
    assert list(foreign_imports(source)) == []


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda path: path.stem)
def test_an_example_has_three_bugs_and_its_tests_find_each(system: Path):
    tests = (EXAMPLES / f"test_{system.name}").read_text("utf-8")
    assert len(bugs(system)) >= 3
    assert {bug for bug in bugs(system) if f'"{bug}"' not in tests} == set()


@pytest.mark.nightly
def test_pyright_accepts_the_examples(tmp_path: Path):
    """It is no dependency: it needs Node.js, and fetches that where there is none."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = str(tmp_path / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "pyright"]
    subprocess.run(install, check=True)
    checking = [python, "-m", "pyright", "--pythonpath", sys.executable, "examples"]
    checked = subprocess.run(
        checking, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "0 errors" in checked.stdout, checked.stdout


def test_the_readme_has_every_example():
    named = re.findall(r"^\| `(\w+\.py)`", (EXAMPLES / "README.md").read_text(), re.M)
    assert sorted(named) == [path.name for path in SYSTEMS]
