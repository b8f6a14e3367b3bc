"""Dedalus programs among files, told from others without being parsed."""

from __future__ import annotations

import re
from pathlib import Path

PROGRAM_SUFFIX = ".ded"

_BEGINNING = 65_536
"""Bytes of a file that are looked at."""

# What every program has, and no other language: facts with a round, rules with a time,
# or at least another file.
_TIMED = re.compile(rb"\)[ \t]*@[ \t]*(\d+[ \t]*;|(next|async)\s*:-)")
_INCLUDE = re.compile(rb'^[ \t]*include[ \t]+"[^"\n]*"[ \t]*;', re.MULTILINE)


def is_program_text(data: bytes) -> bool:
    """Say whether the beginning of a file is that of a Dedalus program."""
    return bool(_TIMED.search(data) or _INCLUDE.search(data))


def is_program_file(path: Path) -> bool:
    """Say whether a file is a Dedalus program by its text, whatever it is called."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return is_program_text(file.read(_BEGINNING))
    except OSError:
        return False
