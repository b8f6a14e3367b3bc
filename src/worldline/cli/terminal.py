"""The terminal or file that the command line writes to.

All that is printed passes here, so no name, message or log line can do more to a
terminal than be read, and nothing is lost because an encoding lacks a character.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any, final

from worldline.model.printable import one_line, printable

_PLAIN = {
    "→": "->",
    "…": "...",
    "·": ".",
    "○": "o",
    "●": "*",
    "✗": "x",
    "─": "-",
    "═": "=",
    "│": "|",
    "┊": ":",
    "└": "`",
    "├": "|",
    "┤": "|",
    "┼": "+",
    "╪": "+",
    "▶": ">",
    "◀": "<",
}
"""What our drawings are made of where an encoding has no lines and arrows."""


@final
class Guarded:
    """A stream that prints text as `printable` spells it; else as the one within."""

    def __init__(self, stream: IO[str]) -> None:
        self.within = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.within, name)

    def write(self, text: str) -> int:
        shown = printable(text)
        try:
            return self.within.write(shown)
        except UnicodeEncodeError as error:
            plain = "".join(_PLAIN.get(character, character) for character in shown)
            escaped = plain.encode(error.encoding, "backslashreplace")
            return self.within.write(escaped.decode(error.encoding))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)


class _Streams:
    """The command's own streams, whatever a user's code has done to `sys`."""

    out: Any = None
    err: Any = None


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Guard standard output and standard error while the block runs."""
    # A stream that is closed from the beginning is None.
    out: Any = Guarded(sys.stdout or io.StringIO())
    err: Any = Guarded(sys.stderr or io.StringIO())
    _Streams.out, _Streams.err = out, err
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            yield
    finally:
        _Streams.out = _Streams.err = None


def set_aside() -> None:
    """Have what a user's code prints from now on on standard error: JSON stands alone."""
    sys.stdout = _Streams.err or sys.stderr


def reclaim() -> None:
    """Have the command print again, where it did in the beginning."""
    if _Streams.out is not None:
        sys.stdout, sys.stderr = _Streams.out, _Streams.err


def unguarded(stream: Any) -> IO[str]:
    """Return a stream without its guard, for what moves the cursor."""
    within: IO[str] = stream.within if isinstance(stream, Guarded) else stream
    return within


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, each of which stays one, whatever it quotes."""
    sys.stdout.writelines(f"{one_line(line)}\n" for line in lines)


def give_up_output() -> None:
    """Drop what nobody can take: Python would try again, and fail, at its end."""
    with contextlib.suppress(OSError, ValueError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
