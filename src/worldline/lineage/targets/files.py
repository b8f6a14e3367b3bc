"""The files of a Dedalus program, and what the program is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from worldline.loading import builtin
from worldline.loading.mistaken import refuse_misnamed
from worldline.model.errors import UsageError
from worldline.model.printable import one_line
from worldline.model.programs import PROGRAM_SUFFIX
from worldline.runs.loading import is_program


def files_of(names: Sequence[str]) -> list[Path]:
    """Return the files of a program.

    Raises
    ------
    UsageError
        If one of them names something else.
    """
    files = [program_file(name) for name in names]
    if not files or None in files:
        for name in names:
            refuse_misnamed(name)
        raise UsageError(
            f"{', '.join(names) or 'nothing'} cannot be read as one program",
            remedy=f"give one target, or several {PROGRAM_SUFFIX} files",
        )
    return [file for file in files if file is not None]


def name_of(names: Sequence[str]) -> str:
    """Return what a program is called: the names of its files, without their folders.

    It stands before a verdict: a name of several lines must not look like an answer.
    """
    stems = (Path(name.removeprefix(builtin.PREFIX)).stem for name in names)
    return one_line("+".join(stems))


def program_file(name: str) -> Path | None:
    """Return the file of a program; None for a Python system."""
    if not is_program(name):
        return None
    if not name.startswith(builtin.PREFIX):
        return Path(name)
    path: Path = builtin.programs()[name.removeprefix(builtin.PREFIX)].path
    return path
