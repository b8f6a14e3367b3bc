"""A file that goes to another folder while it is loaded: the command stays where it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.command import COUNTER, run

from worldline.loading.files import staying
from worldline.loading.loader import load

LEAVING = "import os\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works beside a folder with a file that goes there."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "counter.py").write_text(LEAVING + COUNTER, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_trace_is_written_where_it_is_said_to_be_and_replays(folder: Path):
    words = ("sub/counter.py", "-p", "adds=3")
    assert run("check", *words, "--out", "x.wl").status == 1
    assert run("replay", "x.wl", "sub/counter.py").status == 1
    assert run("minimize", "x.wl", "sub/counter.py", "--out", "y.wl").status == 1
    assert [*folder.glob("sub/*.wl")] == []


def test_a_file_of_predicates_may_leave_as_well(folder: Path):
    (folder / "sub" / "more.py").write_text(
        LEAVING + "import worldline as wl\n\n@wl.safety\ndef more(view): return True\n",
        "utf-8",
    )
    words = ("sub/counter.py", "-p", "adds=3", "--predicates", "sub/more.py")
    assert run("simulate", *words, "--out", "x.wl", "--metrics", "m.csv").status in (
        1,
        3,
    )
    assert (folder / "m.csv").exists()


def test_what_it_opens_is_looked_for_where_it_went_while_it_is_loaded(folder: Path):
    head = "def system(fixed: bool = False, adds: int = 2):\n"
    assert head in COUNTER
    text = LEAVING + COUNTER.replace(head, f"{head}    os.stat('n')\n")
    (folder / "sub" / "counter.py").write_text(text, "utf-8")
    (folder / "sub" / "n").write_text("here", "utf-8")
    load("sub/counter.py", {"adds": "3"})
    assert Path.cwd() == folder


def test_where_the_folder_is_no_more_nobody_comes_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "gone").mkdir()
    monkeypatch.chdir(folder / "gone")
    with staying():
        (folder / "gone").rmdir()
        monkeypatch.chdir(folder)
    assert Path.cwd() == folder
