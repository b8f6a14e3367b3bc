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

import worldline as wl

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


@pytest.mark.parametrize(
    ("example", "parameters", "said"),
    [
        ("raft", {"servers": 1}, "servers=1: say at least 2"),
        ("raft", {"proposals": -1}, "proposals=-1: say at least 0"),
        ("outbox", {"orders": -1}, "orders=-1: say at least 0"),
        ("outbox", {"under_way": -1}, "under_way=-1: say at least 0"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(
    example: str, parameters: dict[str, int], said: str
):
    with pytest.raises(ValueError, match=said):
        importlib.import_module(example).system(**parameters)


@pytest.mark.parametrize("servers", [2, 3, 4, 5])
def test_as_many_servers_of_raft_as_asked_for_get_as_many_proposals_as_asked_for(
    servers: int,
):
    raft = importlib.import_module("raft")

    @wl.safety
    def the_first_does_not_lead(view: wl.View) -> bool:
        return bool(view[view.nodes[0]].role != "leader")

    system = raft.system(servers=servers, proposals=12)
    assert [len(script.calls) for script in system.workload] == [12] * servers
    asked = system.replace(properties=[the_first_does_not_lead])
    found = wl.check(asked, traces=False).expect_violated("the_first_does_not_lead")
    assert found.steps == 0  # after the prologue


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
