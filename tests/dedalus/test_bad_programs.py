"""What is said of programs that make no sense: one message each, at its place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from worldline.dedalus.check import load
from worldline.dedalus.problems import ProgramError

BAD = Path(__file__).parent / "bad"
PROGRAMS = sorted(BAD.glob("*.ded"))


def message(path: Path) -> str:
    with pytest.raises(ProgramError) as caught:
        load([path])
    return str(caught.value).replace(f"{BAD}/", "")


def test_messages_are_as_they_were_last_read():
    """After a change: read the new ones before they replace the old."""
    found = "\n\n".join(message(path) for path in PROGRAMS) + "\n"
    assert found == (BAD / "messages.txt").read_text("utf-8")


def test_there_are_many_kinds_and_no_two_say_the_same():
    said = {re.sub(r"^\S+:\d+:\d+: ", "", message(path)) for path in PROGRAMS}
    assert len(said) == len(PROGRAMS) > 70


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_message_has_a_place_and_a_caret_under_it(path: Path):
    first, *shown = message(path).split("\n")
    found = re.match(rf"{path.name}:(\d+):(\d+): \S", first)
    assert found is not None
    line, caret = shown
    assert line == f"  {path.read_text('utf-8').splitlines()[int(found[1]) - 1]}"
    assert caret == " " * (int(found[2]) + 1) + "^"
