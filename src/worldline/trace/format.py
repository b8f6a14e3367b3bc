"""The trace file: JSON Lines in a zstd frame.

The first line is the header, then comes one line for each step, and a last one for
the end; the key ``record`` says which is which. Of a run that begins in a state, that
is the second line. Lines have no blanks and keep their order of keys; nothing in them
depends on host or place, nor on time where the run had no clock, so equal runs give
equal files. A reader believes nothing: `read` gives a `Trace` whose every field has
its type and range, or raises `InputError`. Nothing that is read is executed.

A recorder may write many frames, one after another, and die in the middle of one:
what its last complete line says is not lost.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from types import TracebackType
from typing import TypeAlias, final

from worldline.model.arguments import check_path
from worldline.model.errors import InputError, UsageError
from worldline.trace.assemble import Assembler, FileRecord, is_json
from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json
from worldline.trace.records import (
    FORMAT,
    STATE,
    End,
    Explanation,
    FailureRecord,
    Header,
    NodeRecord,
    PropertyRecord,
    SendRecord,
    StepRecord,
    TimerRecord,
    Trace,
)
from worldline.trace.schema import dump, shallow
from worldline.trace.state import StateRecord
from worldline.trace.storing import store
from worldline.trace.unpacking import LONGEST_LINE, lines

__all__ = [
    "FORMAT",
    "End",
    "Explanation",
    "FailureRecord",
    "Header",
    "NodeRecord",
    "PropertyRecord",
    "SendRecord",
    "StateRecord",
    "StepReader",
    "StepRecord",
    "TimerRecord",
    "Trace",
    "line_of",
    "lines_of",
    "packed",
    "read",
    "read_header",
    "read_steps",
    "to_json",
    "write",
]

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=shallow)

StrPath: TypeAlias = str | os.PathLike[str]

_LEVEL = 9


_KINDS = {Header: "header", StateRecord: "state", StepRecord: "step", End: "end"}


def line_of(record: FileRecord) -> str:
    """Return the line of a file, without its newline, that says `record`."""
    content: dict[str, Json] = {"record": _KINDS[type(record)]}
    if isinstance(record, Header):
        content["format"] = record.format
    content.update(shallow(record))
    return _ENCODER.encode(content)


def lines_of(trace: Trace) -> Iterator[str]:
    """Yield the lines of a trace's file."""
    yield line_of(trace.header)
    if trace.state is not None:
        yield line_of(trace.state)
    yield from map(line_of, trace.steps)
    if trace.end is not None:
        yield line_of(trace.end)


def to_json(trace: Trace) -> dict[str, Json]:
    """Return a trace as one object: the records of its file."""
    return {
        "header": dump(trace.header),
        **({} if trace.state is None else {"state": dump(trace.state)}),
        "steps": [dump(step) for step in trace.steps],
        "end": None if trace.end is None else dump(trace.end),
    }


def packed(trace: Trace) -> bytes:
    """Return the bytes of a trace's file.

    Raises
    ------
    UsageError
        If a line of it would be too long to be read again.
    """
    import zstandard  # a search that finds nothing writes nothing

    written = [*lines_of(trace)]
    longest = max(map(len, written))
    if longest > LONGEST_LINE:
        raise UsageError(
            f"a step or state of {longest / 2**20:.1f} MiB fits into no trace, where it "
            f"may have {LONGEST_LINE >> 20} MiB",
            remedy="keep what is so large out of nodes and messages; snapshots leave out "
            "what is declared by wl.field(checkpoint=False)",
        )
    content = "".join(f"{line}\n" for line in written).encode("ascii")
    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    return packer.compress(content)


def write(trace: Trace, path: StrPath) -> None:
    """Write a trace to a file, all of it or nothing.

    Parent directories are made. Another file of that name is replaced, in one step.

    Raises
    ------
    UsageError
        If the file cannot be written there.
    """
    store(Path(path), packed(trace), "a trace")


def read(path: StrPath, *, partial: bool = False) -> Trace:
    """Read a trace.

    Parameters
    ----------
    partial
        Whether a file that breaks off is taken for what it has, with an `end` of
        None; a line that is torn is left out.

    Raises
    ------
    InputError
        If there is no such file, or it is not a whole and right trace; the message
        says what is wrong, where, and what to do.
    """
    steps = _steps(path, partial=partial, kept=True)
    records = tuple(steps)
    return Trace(steps.header, records, steps.end, steps.state)


def read_header(path: StrPath) -> Header:
    """Read what a trace is a run of, and no more of it.

    Raises
    ------
    InputError
        If there is no such file, or it does not begin as a trace does.
    """
    place, assembler = Path(path), Assembler()
    with explained(place, assembler):
        for line, _ in lines(place, kept=False):
            assembler.take(line)
            break
    return assembler.beginning(str(place))


def read_steps(path: StrPath, *, partial: bool = False) -> StepReader:
    """Read a trace step by step, each when it is asked for.

    However many there are, no more of them is in memory than a few, and the file may be
    of any size; what a step says is checked as `read` does, when it is read.

    Parameters
    ----------
    partial
        As in `read`.

    Raises
    ------
    InputError
        As `read` does: here if the header or the state is wrong, else from the
        iteration.

    Examples
    --------
    >>> with read_steps("run.wl") as steps:  # doctest: +SKIP
    ...     sent = sum(len(step.sends) for step in steps)
    """
    return _steps(path, partial=partial, kept=False)


def _steps(path: StrPath, *, partial: bool, kept: bool) -> StepReader:
    check_path("the trace", path)
    return StepReader(Path(path), partial=partial, kept=kept)


@final
class StepReader:
    """The steps of a trace's file, to be iterated over once; a context manager.

    Attributes
    ----------
    header, state
        As in `Trace`.
    end
        The same; None until the last step was read.
    """

    def __init__(self, place: Path, *, partial: bool, kept: bool) -> None:
        self.end: End | None = None
        self._records = _records(place, partial=partial, kept=kept)
        first = next(self._records)
        assert isinstance(first, Header)
        self.header = first
        self.state: StateRecord | None = None
        if first.begins == STATE:
            second = next(self._records)
            assert isinstance(second, StateRecord)
            self.state = second

    def __iter__(self) -> Iterator[StepRecord]:
        return self

    def __next__(self) -> StepRecord:
        for record in self._records:
            if isinstance(record, StepRecord):
                return record
            assert isinstance(record, End)
            self.end = record
        raise StopIteration

    def __enter__(self) -> StepReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; there are no more steps then."""
        self._records.close()


def _records(
    place: Path, *, partial: bool, kept: bool
) -> Generator[FileRecord, None, None]:
    """Yield what a file says, line by line: a header, all that it needs, and steps."""
    assembler = Assembler()
    with explained(place, assembler):
        for line, is_whole in lines(place, kept=kept):
            if is_whole or is_json(line):
                yield assembler.take(line)
    assembler.finish(str(place), partial=partial)


@contextlib.contextmanager
def explained(place: Path, assembler: Assembler) -> Iterator[None]:
    """Say of an error in a file where it is, and what to do."""
    try:
        yield
    except Malformed as error:
        raise InputError(
            f"{place}, line {assembler.line}: {error}",
            remedy="the file is damaged or was edited; write the trace again",
        ) from None
    except RecursionError:
        raise InputError(
            f"{place}, line {assembler.line}: nested too deeply",
            remedy="this is no trace that Worldline wrote",
        ) from None
