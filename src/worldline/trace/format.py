"""The trace file: JSON Lines in a zstd frame.

The first line is the header, then comes one line for each step, and a last one for
the end; the key ``record`` says which is which. Lines have no blanks and keep their
order of keys; nothing in them depends on time, host or place, so equal runs give
equal files. A reader believes nothing: `read` gives a `Trace` whose every field has
its type and range, or raises `InputError`. Nothing that is read is executed.

A recorder may write many frames, one after another, and die in the middle of one:
what its last complete line says is not lost.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias, final

import zstandard

from worldline.model.arguments import check_path
from worldline.model.errors import InputError, WorldlineError
from worldline.trace.assemble import Assembler, is_json
from worldline.trace.json_checks import Malformed
from worldline.trace.json_text import Json
from worldline.trace.records import (
    FORMAT,
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
from worldline.trace.schema import shallow
from worldline.trace.storing import store

__all__ = [
    "FORMAT",
    "End",
    "Explanation",
    "FailureRecord",
    "Header",
    "NodeRecord",
    "PropertyRecord",
    "SendRecord",
    "StepRecord",
    "TimerRecord",
    "Trace",
    "line_of",
    "lines_of",
    "read",
    "read_header",
    "write",
]

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=shallow)

Place: TypeAlias = str | os.PathLike[str]

_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
_LARGEST_WINDOW = 1 << 27
_LEVEL = 9

LIMIT = "WORLDLINE_TRACE_MIB"
"""The environment variable that lets larger traces be read."""

_MIB = 1 << 20
_LONGEST_LINE = 16 * _MIB
_LARGEST = 128
"""MiB of a trace that is read, unpacked."""

_SMALLEST_LIMIT = 16 * _MIB
_RATIO = 400
"""How much a trace may grow when it is unpacked, beyond that: real ones grow 100-fold."""

_VALUES_PER_MIB = 1 << 16
"""Values on average; each takes some 70 bytes of memory, however short it is."""


def line_of(record: Header | StepRecord | End) -> str:
    """Return the line of a file, without its newline, that says `record`."""
    kinds = {Header: "header", StepRecord: "step", End: "end"}
    content: dict[str, Json] = {"record": kinds[type(record)]}
    if isinstance(record, Header):
        content["format"] = FORMAT
    content.update(shallow(record))
    return _ENCODER.encode(content)


def lines_of(trace: Trace) -> Iterator[str]:
    """Yield the lines of a trace's file."""
    yield line_of(trace.header)
    yield from map(line_of, trace.steps)
    if trace.end is not None:
        yield line_of(trace.end)


def write(trace: Trace, path: Place) -> None:
    """Write a trace to a file, all of it or nothing.

    Parent directories are made. Another file of that name is replaced, in one step.

    Raises
    ------
    UsageError
        If the file cannot be written there.
    """
    content = "".join(f"{line}\n" for line in lines_of(trace)).encode("ascii")
    packer = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
    store(Path(path), packer.compress(content), "a trace")


def read(path: Place, *, partial: bool = False) -> Trace:
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
    check_path("the trace", path)
    place = Path(path)
    assembler = Assembler()
    with _explained(place, assembler):
        for line, whole in _lines(place):
            if whole or is_json(line):
                assembler.take(line)
    return assembler.finish(str(place), partial=partial)


def read_header(path: Place) -> Header:
    """Read what a trace is a run of, and no more of it.

    Raises
    ------
    InputError
        If there is no such file, or it does not begin as a trace does.
    """
    place = Path(path)
    assembler = Assembler()
    with _explained(place, assembler):
        for line, _ in _lines(place):
            assembler.take(line)
            break
    return assembler.finish(str(place), partial=True).header


@contextlib.contextmanager
def _explained(place: Path, assembler: Assembler) -> Iterator[None]:
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


def _lines(place: Path) -> Iterator[tuple[bytes, bool]]:
    """Yield each line, and whether its newline is there."""
    torn: list[bytes] = []
    length = 0
    for chunk in _chunks(place):
        first, *lines = chunk.split(b"\n")
        torn.append(first)
        length += len(first)
        if length > _LONGEST_LINE:
            raise InputError(
                f"{place} has a line of more than {_LONGEST_LINE // _MIB} MiB",
                remedy="this is no trace that Worldline wrote",
            )
        if lines:
            yield b"".join(torn), True
            *whole, last = lines
            yield from ((line, True) for line in whole)
            torn, length = [last], len(last)
    if length:
        yield b"".join(torn), False


def _chunks(place: Path) -> Iterator[bytes]:
    try:
        with place.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise InputError(
                    f"{place} is not a trace: it is not compressed with zstd",
                    remedy="give a file that worldline wrote, such as "
                    "worldline-out/NAME.wl",
                )
            file.seek(0)
            allowance = _Allowance(place, os.fstat(file.fileno()).st_size)
            unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
            with unpacker.stream_reader(file, read_across_frames=True) as stream:
                while chunk := stream.read(_CHUNK):
                    allowance.take(chunk)
                    yield chunk
    except FileNotFoundError:
        raise InputError(
            f"there is no trace {place}", remedy="check the path"
        ) from None
    except IsADirectoryError:
        raise InputError(
            f"{place} is a directory", remedy="give the trace file inside it"
        ) from None
    except (OSError, ValueError) as error:
        if isinstance(error, WorldlineError):
            raise
        said = error.strerror if isinstance(error, OSError) else None
        raise InputError(
            f"cannot read {str(place)!r}: {said or error}",
            remedy="check the path and its permissions",
        ) from error
    except zstandard.ZstdError as error:
        raise InputError(
            f"{place} is damaged: {error}",
            remedy="write the trace again; nothing in this file can be trusted",
        ) from None


@final
class _Allowance:
    """How much a file may still take when it is unpacked: a small one can take much.

    Parameters
    ----------
    size
        Its bytes, packed.
    """

    def __init__(self, place: Path, size: int) -> None:
        self._place = place
        given = os.environ.get(LIMIT, "")
        most = (int(given) if given.isdecimal() else _LARGEST) * _MIB
        grown = max(size * _RATIO, _SMALLEST_LIMIT)
        self._bytes = most if given.isdecimal() else min(grown, most)
        self._values = most // _MIB * _VALUES_PER_MIB

    def take(self, chunk: bytes) -> None:
        """Count what was unpacked.

        Raises
        ------
        InputError
            If it is too much.
        """
        self._bytes -= len(chunk)
        # Every value but the first stands behind one of these.
        self._values -= sum(map(chunk.count, (b",", b"[", b"{", b":")))
        if self._bytes < 0 or self._values < 0:
            raise InputError(
                f"{self._place} takes too much memory when it is unpacked",
                remedy=f"if you trust it, allow it more: {LIMIT}=1024 (MiB)",
            )
