"""Reading commands: from a terminal, from a pipe, from the command line."""

from __future__ import annotations

import cmd
import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, final

from worldline.debug.answers import Answer
from worldline.debug.commands import COMMANDS, answer, find, split
from worldline.debug.session import Session
from worldline.debug.text import opening
from worldline.model.errors import InternalError, WorldlineError
from worldline.model.printable import one_line

_REMEMBERED = 1000
"""Lines of history."""


def script(session: Session, lines: Iterable[str]) -> Iterator[tuple[str, Answer]]:
    """Answer the commands of lines, until one is ``quit``.

    What begins with # is a comment.

    Raises
    ------
    UsageError
        At the first command that cannot be answered.
    """
    for line in lines:
        if line.lstrip().startswith("#"):
            continue
        for part in split(line):
            if is_quit(part):
                return
            yield part, answer(session, part)


def is_quit(line: str) -> bool:
    """Say whether a command line ends the session."""
    return line.split()[:1] != [] and line.split()[0] in COMMANDS["quit"].names


@final
class Repl(cmd.Cmd):
    """The debugger at a terminal: a face of `commands`, which do the work.

    Parameters
    ----------
    stdout
        Where answers go.
    """

    def __init__(self, session: Session, stdout: IO[str]) -> None:
        super().__init__(stdout=stdout)
        self.session = session
        self._set_prompt()

    def run(self) -> None:
        """Read and answer commands until the user leaves."""
        self._say(opening(self.session))
        with _history():
            while True:
                try:
                    self.cmdloop()
                    return
                except KeyboardInterrupt:
                    self._say([""])  # the line is given up, not the session

    def onecmd(self, line: str) -> bool:
        if line == "EOF":
            self._say([""])
            return True
        if not line.strip():
            return self.emptyline()
        self.lastcmd = line
        for part in split(line):
            if is_quit(part):
                return True
            if not self._answer(part):
                break
        self._set_prompt()
        return False

    def _answer(self, line: str) -> bool:
        """Answer one command; return whether that went well."""
        try:
            self._say(answer(self.session, line).lines)
        except InternalError:
            raise
        except WorldlineError as error:
            self._say([f"error: {error}"])
        except KeyboardInterrupt:
            self._say(["interrupted"])
        else:
            return True
        return False

    def completenames(self, text: str, *ignored: Any) -> list[str]:
        return [name for name in COMMANDS if name.startswith(text)]

    def completedefault(self, *ignored: Any) -> list[str]:
        """Complete nodes and, after ``help``, commands."""
        text, line = ignored[0], ignored[1]
        names: Iterable[str] = self.session.trace.header.names
        with contextlib.suppress(WorldlineError):
            if find(line.split()[0]).names[0] == "help":
                names = COMMANDS
        return [name for name in names if name.startswith(text)]

    def _set_prompt(self) -> None:
        self.prompt = f"(worldline {self.session.position}) "

    def _say(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(f"{one_line(line)}\n")
        self.stdout.flush()


def _history_file() -> Path:
    """Return where lines are remembered (XDG base directory specification)."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "worldline" / "debug_history"


@contextlib.contextmanager
def _history() -> Iterator[None]:
    """Remember lines from session to session, where that is possible."""
    try:
        import readline
    except ImportError:  # not every Python has it
        yield
        return
    place = _history_file()
    with contextlib.suppress(OSError):
        readline.read_history_file(place)
    try:
        yield
    finally:
        readline.set_history_length(_REMEMBERED)
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(place)
