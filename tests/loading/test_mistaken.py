"""What is said of a target that is something else than it was taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldline.lineage.targets.opening import open_target
from worldline.loading.loader import find
from worldline.model.errors import UsageError
from worldline.model.programs import is_program_text
from worldline.trace.format import read_header

PROGRAM = '// A program.\nnode("a", "b")@1;\nlog(X, Y)@next :- node(X, Y);\n'
MISNAMED = ["prog.txt", "prog.dedalus", "prog", "prog.py"]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", MISNAMED)
def test_a_program_with_another_name_is_told_what_to_be_called(name):
    Path(name).write_text(PROGRAM)
    said = f"{name} is a Dedalus program by its text.*; name it prog.ded$"
    with pytest.raises(UsageError, match=said):
        find(name)
    with pytest.raises(UsageError, match=said):
        open_target(name, {}, None)
    with pytest.raises(UsageError, match=said):
        open_target(["other.ded", name], {}, None)


def test_a_program_is_no_system_and_no_trace():
    Path("my prog.ded").write_text(PROGRAM)
    asked = "ask worldline faults 'my prog.ded'$"
    with pytest.raises(UsageError, match=f"and no Python system; {asked}"):
        find("my prog.ded")
    with pytest.raises(UsageError, match=f"and no trace; {asked}"):
        read_header(Path("my prog.ded"))
    with pytest.raises(UsageError, match=r"ask worldline faults zoo:kafka$"):
        find("zoo:kafka")


def test_python_that_quotes_a_program_is_python():
    Path("prog.py").write_text(f"PROGRAM = {PROGRAM!r}\ndef system(): ...\n")
    assert find("prog.py").name == "prog.py:system"


@pytest.mark.parametrize(
    ("name", "said"),
    [("folder", "'folder' is a folder"), ("some.bin", "'some.bin' is no file of a")],
)
def test_other_things_are_said_to_be_what_they_are(name, said):
    Path("folder").mkdir()
    Path("some.bin").write_bytes(b"\x7fELF\x00")
    with pytest.raises(UsageError, match=said):
        find(name)
    with pytest.raises(UsageError, match=said):
        open_target(name, {}, None)


@pytest.mark.parametrize(
    ("text", "is_program"),
    [
        ('p("a")@1;', True),
        ("p(X)@async :-\n q(X);", True),
        (' include "util/timer.ded";\n', True),
        ('#include "timer.h"\n', False),
        ("p(X) :- q(X).\n", False),
        ("import worldline as wl\n\n@wl.node\nclass A: ...\n", False),
        ("", False),
    ],
)
def test_programs_are_told_from_other_texts(text, is_program):
    assert is_program_text(text.encode()) == is_program
