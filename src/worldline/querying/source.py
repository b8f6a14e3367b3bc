"""A trace looked over before DuckDB reads it, and spelt so that it can.

DuckDB takes some files for right that are not: of a frame that is cut off it makes no rows
and no error. So every line is seen here first. What no table relies on is checked of the
first lines alone; `strictly` checks all, and takes twenty times as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.model.printable import printable
from worldline.trace.assemble import Assembler, is_json
from worldline.trace.format import explained, read_steps
from worldline.trace.records import End, Header
from worldline.trace.schema import load
from worldline.trace.state import StateRecord
from worldline.trace.unpacking import line_blocks

_STRICT_LINES = 5_000
"""Lines that are checked as every other verb checks all: a fifth of a second."""

_SURROGATE = b"\\ud"
"""How the escape of half a character begins, which may lack its other half."""


@final
@dataclass(frozen=True, slots=True)
class TraceSource:
    """A file as DuckDB can read it.

    Attributes
    ----------
    place
        A name without characters that mean something to DuckDB.
    packed
        Whether it is compressed.
    header, state, end
        As in `Trace`.
    steps
        How many steps it has, with those before the run.
    longest
        The length of its longest line in bytes.
    """

    place: Path
    packed: bool
    header: Header
    state: StateRecord | None
    end: End | None
    steps: int
    longest: int


def source(path: Path, folder: Path, *, partial: bool) -> TraceSource:
    """Look a trace over.

    Parameters
    ----------
    folder
        Where a link to it, or a copy, is made.
    partial
        Whether a file that breaks off is taken for what it has.

    Raises
    ------
    InputError
        As `worldline.trace.format.read` does.
    """
    assembler = Assembler()
    state, end = None, None
    count = longest = 0
    last = b""
    needs_copy = False
    with explained(path, assembler):
        # In batches: a look at each of a million lines takes a second.
        for batch, is_whole in _batches(path):
            needs_copy = needs_copy or not is_whole or _SURROGATE in b"".join(batch)
            for line in batch[: max(_STRICT_LINES - count, 0)]:
                record = assembler.take(line)
                if isinstance(record, StateRecord):
                    state = record
                elif isinstance(record, End):
                    end = record
            count += len(batch)
            longest = max(longest, *map(len, batch), 0)
            last = batch[-1] if batch else last
    header = assembler.beginning(str(path))
    if count <= _STRICT_LINES:
        assembler.finish(str(path), partial=partial)
    else:
        end = _end(path, last)
    if end is None and not partial:
        strictly(path, partial=False)
    place = folder / "trace"
    packed = not needs_copy and end is not None
    if packed:
        place.symlink_to(path.absolute())
    else:
        longest = _copy(path, place)
    steps = count - 1 - (state is not None) - (end is not None)
    return TraceSource(place, packed, header, state, end, steps, longest)


def _batches(path: Path) -> Iterator[tuple[list[bytes], bool]]:
    """Yield the whole lines of a file, many at a time, and whether none is torn."""
    singly = _STRICT_LINES
    for block, is_whole in line_blocks(path, kept=False):
        if not is_whole and not is_json(block[-1]):
            yield [], False
            return
        # The first ones singly, so that what is wrong is met in the order of all readers.
        yield from (([line], True) for line in block[:singly])
        if len(block) > singly:
            yield block[singly:], True
        singly = max(singly - len(block), 0)


def strictly(path: Path, *, partial: bool) -> None:
    """Read a trace as every other verb does, for the error that it has.

    Raises
    ------
    InputError
        If it has one.
    """
    with read_steps(path, partial=partial) as steps:
        for _ in steps:
            pass


def _end(path: Path, line: bytes) -> End | None:
    """Return what the last line says, if it is the end."""
    try:
        content = json.loads(line)
        if content.pop("record") != "end":
            return None
        return load(End, content)
    except Exception:  # whatever it is, the reader of all verbs has words for it
        strictly(path, partial=False)
        raise


def _copy(path: Path, place: Path) -> int:
    """Write the whole lines of a trace, with half characters spelt out."""
    longest = 0
    with place.open("xb") as file:
        for batch, _ in _batches(path):
            for line in batch:
                if _SURROGATE in line:
                    content = spelt_out(_parsed(path, line))
                    line = json.dumps(content, separators=(",", ":")).encode()
                longest = max(longest, len(line))
                file.write(line + b"\n")
    return longest


def _parsed(path: Path, line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        strictly(path, partial=True)
        raise


def spelt_out(value: Any) -> Any:
    """Return a value whose texts have an encoding: half characters are spelt out."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return printable(value)
        return value
    if isinstance(value, list):
        return [spelt_out(item) for item in value]
    if isinstance(value, dict):
        return {spelt_out(key): spelt_out(item) for key, item in value.items()}
    return value
