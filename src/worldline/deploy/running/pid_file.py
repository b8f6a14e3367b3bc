"""The file with the number of a node's process, as long as there is one.

A number that stays where its process has ended is that of another one some day, which
whoever reads it would kill.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from worldline.model.data.identity import NodeId
from worldline.trace.journal.segments import folder_of


def pid_file(folder: Path, node: NodeId) -> Path:
    """Return where the number of a node's process stands in the folder of its run."""
    return folder / f"{folder_of(folder, node.name).name}.pid"


def write_pid(file: Path, pid: int) -> None:
    """Write a number: whole, or not at all.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    draft = file.with_name(f"{file.name}.new")
    try:
        draft.write_text(f"{pid}\n")
        draft.replace(file)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def forget_pid(file: Path, pid: int) -> None:
    """Remove a file, if it has this number still."""
    with contextlib.suppress(OSError, ValueError):
        if int(file.read_text()) == pid:
            file.unlink()
