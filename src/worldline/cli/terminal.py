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


OUTPUT = "standard output"
"""What an error names as its file that comes from there."""


@final
class Guarded:
    """A stream that prints text as `printable` spells it; else as the one within.

    Parameters
    ----------
    name
        What errors name as the file that cannot be written. Empty for a stream that says
        nothing that is needed: what that cannot take is dropped.
    """

    def __init__(self, stream: IO[str], name: str = OUTPUT) -> None:
        self.within = stream
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.within, name)

    def write(self, text: str) -> int:
        try:
            return self._write(text)
        except OSError as error:
            self._note(error)
        return len(text)

    def flush(self) -> None:
        try:
            self.within.flush()
        except OSError as error:
            self._note(error)

    def _note(self, error: OSError) -> None:
        """Raise an error once more, with a name; drop it if nobody needs to know."""
        if self._name:
            error.filename = self._name
            raise error

    def _write(self, text: str) -> int:
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
    err: Any = Guarded(sys.stderr or io.StringIO(), "")
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


def cannot_print(error: OSError) -> str:
    """Return in words that standard output does not take what is printed, and why."""
    return f"cannot print to {OUTPUT}: {error.strerror or error}"


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Have a verdict printed while the block runs.

    That nobody can take it is said on standard error, and loses no exit code.
    """
    reclaim()
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename != OUTPUT:
            raise
        give_up_output()
        print(f"worldline: error: {cannot_print(error)}", file=sys.stderr)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, each of which stays one, whatever it quotes."""
    sys.stdout.writelines(f"{one_line(line)}\n" for line in lines)


def give_up_output() -> None:
    """Drop what nobody can take: Python would try again, and fail, at its end."""
    with contextlib.suppress(OSError, ValueError):
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, sys.stdout.fileno())
        os.close(sink)
