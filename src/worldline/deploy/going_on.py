"""Going on in a folder: whether what begins there is of the run that it has already."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from worldline.model.errors import InputError
from worldline.model.printable import one_line
from worldline.model.system import System
from worldline.trace.journal.digest import Digest
from worldline.trace.journal.reading import is_recording, nodes_of, read_node
from worldline.trace.journal.segments import JournalHeader

_ELSEWHERE = "record into a new folder"
_NODE = "node "


def run_of(
    recording: Path | None,
    system: System,
    digest: Digest,
    wanted: str,
    drawn: str,
    say: Callable[[str], None],
) -> str:
    """Return the name of the run that goes on in a folder, or of a new one.

    Parameters
    ----------
    digest
        Of the system as it is recorded.
    wanted
        The name that the run is to have; empty for that of the folder, or any.
    drawn
        The name of a new one that is to have none.
    say
        Takes a line for whoever watches: where no replay will know all lives.

    Raises
    ------
    InputError
        If journals are there of a system with other nodes, or of another run: nobody could
        replay them and those of this one.
    """
    if recording is None or not is_recording(recording):
        return wanted or drawn
    other = None
    for header in _headers(recording):
        nodes = [line for line in header.digest if line.startswith(_NODE)]
        if nodes != [f"{_NODE}{node.name}" for node in system.ids]:
            names = ", ".join(one_line(line.removeprefix(_NODE)) for line in nodes)
            raise InputError(
                f"{recording} has a recording of other nodes: {names}",
                remedy=f"{_ELSEWHERE}; which nodes there are does not change in a run",
            )
        if wanted and header.run != wanted:
            raise InputError(
                f"{recording} has a recording of the run {one_line(header.run)}, not "
                f"{one_line(wanted)}",
                remedy=f"{_ELSEWHERE}, or give the run the name that it had",
            )
        wanted = header.run
        other = other or digest.difference(header.digest)
    if other is not None:
        say(
            f"{recording} has lives with other messages ({one_line(other)}): nodes go on "
            "from their durable fields, but no replay knows both; to have one, "
            f"{_ELSEWHERE}"
        )
    return wanted or drawn


def _headers(recording: Path) -> Iterator[JournalHeader]:
    """Yield the header of each node's last life that has one."""
    for folder in nodes_of(recording):
        for life in reversed(read_node(folder).incarnations):
            with contextlib.suppress(InputError):  # said by whoever opens the journal
                if life.header is not None:
                    yield life.header
                    break
