"""From a file to its lines: unpacked bit by bit, and no more of it than may be."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import final

from worldline.model.errors import InputError, WorldlineError
from worldline.model.programs import is_program_file
from worldline.trace.journal.segments import has_journals

_MAGIC = b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 20
_LARGEST_WINDOW = 1 << 27

LIMIT = "WORLDLINE_TRACE_MIB"
"""The environment variable that lets larger traces be read."""

_MIB = 1 << 20
LONGEST_LINE = 16 * _MIB
"""Bytes of a line of a trace: a step, or a state in which it begins."""

_LARGEST = 128
"""MiB of a trace that is read, unpacked."""

_SMALLEST_LIMIT = 16 * _MIB
_RATIO = 400
"""How much a trace may grow when it is unpacked, beyond that: real ones grow 100-fold."""

_VALUES_PER_MIB = 1 << 16
"""Values on average; each takes some 70 bytes of memory, however short it is."""

_MOST_IN_LINE = LONGEST_LINE // _MIB * _VALUES_PER_MIB


def holds_other(place: Path) -> bool:
    """Say whether something is at a place that is no trace, and no empty file either."""
    try:
        found = place.stat()
    except OSError:
        return False  # or nobody can look, and who writes there is told why
    mode = found.st_mode
    if stat.S_ISDIR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return True
    try:
        if not stat.S_ISREG(mode) or not found.st_size:
            return False
        with place.open("rb") as file:
            return file.read(len(_MAGIC)) != _MAGIC
    except OSError:
        return True


def lines(place: Path, *, kept: bool) -> Iterator[tuple[bytes, bool]]:
    """Yield each line of a file, and whether its newline is there; see `line_blocks`."""
    for block, is_whole in line_blocks(place, kept=kept):
        yield from ((line, is_whole) for line in block)


def line_blocks(place: Path, *, kept: bool) -> Iterator[tuple[list[bytes], bool]]:
    """Yield the lines of a file, some at a time, and whether their newlines are there.

    Only the last block may be one line without.

    Parameters
    ----------
    kept
        Whether the caller keeps what all lines say, which bounds the whole; else each
        line is bounded, and how much the file may grow.

    Raises
    ------
    InputError
        If there is no such file, or it is no trace, or takes too much.
    """
    torn: list[bytes] = []
    length = 0
    for chunk in _chunks(place, kept=kept):
        first, *rest = chunk.split(b"\n")
        torn.append(first)
        length += len(first)
        if length > LONGEST_LINE:
            raise InputError(
                f"{place} has a line of more than {LONGEST_LINE // _MIB} MiB",
                remedy="this is no trace that Worldline wrote",
            )
        if rest:
            line = b"".join(torn)
            if not kept and len(line) > _CHUNK and _values(line) > _MOST_IN_LINE:
                raise InputError(
                    f"{place} has a line of more than {_MOST_IN_LINE:,} values",
                    remedy="this is no trace that Worldline wrote",
                )
            *whole, last = rest
            yield [line, *whole], True
            torn, length = [last], len(last)
    if length:
        yield [b"".join(torn)], False


def _chunks(place: Path, *, kept: bool) -> Iterator[bytes]:
    import zstandard  # takes long, and a search reads no file

    try:
        if place.is_fifo():  # to open it is to wait for who writes into it
            raise InputError(
                f"{place} is a pipe, and no trace", remedy="give a file with a trace"
            )
        with place.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                if is_program_file(place):
                    raise InputError(
                        f"{place} is a Dedalus program, and no trace",
                        remedy=f"ask worldline faults {shlex.quote(str(place))}",
                    )
                file.seek(0)
                why = "not compressed with zstd" if file.read(1) else "empty"
                raise InputError(
                    f"{place} is not a trace: it is {why}",
                    remedy="give a file that worldline wrote, such as "
                    "worldline-out/NAME.wl",
                )
            file.seek(0)
            allowance = _Allowance(place, os.fstat(file.fileno()).st_size, kept=kept)
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
        if has_journals(place):
            again = f"worldline replay {shlex.quote(str(place))} TARGET"
            raise InputError(
                f"{place} is a recording, and no trace",
                remedy=f"make a trace of it first: {again}",
            ) from None
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
    """The memory that a file may still take when unpacked: a small one can take much.

    Parameters
    ----------
    size
        Its bytes, packed.
    kept
        Whether what is unpacked stays in memory. If not, only the time that it takes is
        bounded here, by how much the file grows.
    """

    def __init__(self, place: Path, size: int, *, kept: bool) -> None:
        self._place = place
        given = os.environ.get(LIMIT, "")
        most = (int(given) if given.isdecimal() else _LARGEST) * _MIB
        grown = max(size * _RATIO, _SMALLEST_LIMIT)
        allowed = min(grown, most) if kept else grown
        self._bytes = most if given.isdecimal() else allowed
        self._values = most // _MIB * _VALUES_PER_MIB if kept else None

    def take(self, chunk: bytes) -> None:
        """Count what was unpacked.

        Raises
        ------
        InputError
            If it is too much.
        """
        self._bytes -= len(chunk)
        if self._values is not None:
            self._values -= _values(chunk)
        if self._bytes < 0 or (self._values or 0) < 0:
            raise InputError(
                f"{self._place} takes too much memory when it is unpacked",
                remedy=f"if you trust it, allow it more: {LIMIT}=1024 (MiB)",
            )


def _values(text: bytes) -> int:
    # Every value but the first stands behind one of these.
    return sum(map(text.count, (b",", b"[", b"{", b":")))
