"""Targets that name no system: a program, a folder, a file of another kind."""

from __future__ import annotations

import shlex
from pathlib import Path

from worldline.loading import builtin
from worldline.model.errors import UsageError
from worldline.model.programs import PROGRAM_SUFFIX, is_program_file


def refuse_program(target: str) -> None:
    """Refuse a Dedalus program where a Python system is needed.

    Raises
    ------
    UsageError
        If the target names one.
    """
    of_the_zoo = target.startswith(builtin.PREFIX)
    name = target.removeprefix(builtin.PREFIX)
    if target.endswith(PROGRAM_SUFFIX) or (of_the_zoo and name in builtin.programs()):
        raise UsageError(
            f"{target} is a Dedalus program, and no Python system",
            remedy=f"ask worldline faults {shlex.quote(target)}",
        )
    refuse_misnamed(target)


def refuse_misnamed(target: str) -> None:
    """Refuse a Dedalus program whose file is not called like one.

    Raises
    ------
    UsageError
        If the target names one.
    """
    path = Path(target)
    if not target.endswith(PROGRAM_SUFFIX) and is_program_file(path):
        named = path.with_suffix(PROGRAM_SUFFIX)
        raise UsageError(
            f"{target} is a Dedalus program by its text, and not by its name",
            remedy=f"name it {named}",
        )


def kind_of(target: str) -> str:
    """Return what is wrong with a target that cannot be loaded."""
    path = Path(target)
    if target and path.is_dir():
        return f"{target!r} is a folder"
    if path.is_file():
        return f"{target!r} is no file of a system or a program"
    return f"cannot load {target!r}"
