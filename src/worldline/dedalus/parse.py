"""Texts of programs become syntax: Molly's language, and a little more.

What is more: ``<=`` and ``>=``, parentheses, precedence, negative numbers, and
``include`` relative to the including file and once only. What differs: ``@next`` and
``@async`` in a body, which Molly ignores, are refused.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, cast

from worldline.dedalus.problems import Problem, ProgramError
from worldline.dedalus.syntax import Atom, Program, Rule, Span
from worldline.model.errors import InputError, UsageError

if TYPE_CHECKING:
    import lark

MOST_TEXT = 200_000
"""Characters of a program; longer ones take more than seconds to read."""
MOST_RULES = 1_000
MOST_FILES = 100

_SHOWN = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "_INCLUDE": "'include'",
    "NOTIN": "'notin'",
    "_IMPLIES": "':-'",
    "_SEMICOLON": "';'",
    "_COMMA": "','",
    "_OPEN": "'('",
    "_CLOSE": "')'",
    "_AT": "'@'",
}
_ODD = {
    '"': ("the string has no end", 'close it with " on the same line'),
    "'": ("strings have double quotes", 'write "text"'),
    "/*": ("the comment has no end", "close it with */"),
    "<-": ("'<-' is no operator", "write head :- body;"),
    ":=": ("':=' is no operator", "write head :- body;"),
    "=": ("'=' is no operator", "compare with =="),
    "!": ("'!' is no operator", "write notin before an atom, != between values"),
}
_CALCULATE = {"PLUS", "MINUS", "TIMES", "DIVIDED"}


def parse_files(paths: Iterable[str | Path]) -> Program:
    """Parse files and what they include, as if they were one text.

    Parameters
    ----------
    paths
        The files, in order. Each is read once, however often it is named.

    Raises
    ------
    ProgramError
        If a text is not a program; the message has file, line, column and a caret.
    InputError
        If a file cannot be read.
    UsageError
        If the parser library is not installed.
    """
    reading = _Reading()
    for path in paths:
        reading.read(Path(path), None)
    return reading.program()


def parse_text(text: str, file: str = "<text>") -> Program:
    """Parse one text; what it includes is looked for beside `file`."""
    reading = _Reading()
    reading.take(text, file)
    return reading.program()


class _Reading:
    """Gathers statements over files."""

    def __init__(self) -> None:
        self._seen: set[Path] = set()
        self._texts: dict[str, str] = {}
        self._rules: list[Rule] = []
        self._facts: list[Atom] = []
        self._length = 0

    def program(self) -> Program:
        files, texts = tuple(self._texts), tuple(self._texts.values())
        return Program(tuple(self._rules), tuple(self._facts), files, texts)

    def read(self, path: Path, included: Problem | None) -> None:
        """Read a file if it is new; `included` says what to tell if it cannot be."""
        try:
            place = path.resolve()
            if place in self._seen:
                return
            self._seen.add(place)
            if len(self._seen) > MOST_FILES:
                raise ValueError(f"the program has more than {MOST_FILES} files")
            text = _text_of(path)
        except (OSError, UnicodeDecodeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if isinstance(error, UnicodeDecodeError):
                reason = "it is not UTF-8 text"
            what = f"cannot read {path}: {reason}"
            if included is not None and included.span is not None:
                problem = Problem(included.span, what)
                raise ProgramError([problem], self._texts) from error
            raise InputError(what, remedy="name an existing .ded file") from error
        self.take(text, str(path))

    def take(self, text: str, file: str) -> None:
        """Parse a text, reading what it includes where it includes it."""
        from worldline.dedalus.build import Builder, Include

        self._texts[file] = text
        self._length += len(text)
        if self._length > MOST_TEXT:
            what = f"the program is longer than {MOST_TEXT:,} characters"
            remedy = "write rules for what many facts say, or ask about a smaller case"
            problem = Problem(Span(file, 1, 1), what, remedy)
            raise ProgramError([problem], self._texts)
        try:
            statements: Sequence[Rule | Atom | Include]
            statements = Builder(file).statements(_parsed(text, file))
        except ProgramError as error:
            raise ProgramError(error.problems, self._texts) from None
        for statement in statements:
            if isinstance(statement, Rule):
                self._rules.append(statement)
                if len(self._rules) > MOST_RULES:
                    what = f"the program has more than {MOST_RULES:,} rules"
                    problem = Problem(statement.span, what, "let one rule do for many")
                    raise ProgramError([problem], self._texts)
            elif isinstance(statement, Atom):
                self._facts.append(statement)
            else:
                target = Path(file).parent / statement.path
                self.read(target, Problem(statement.span, ""))


def _text_of(path: Path) -> str:
    """Return the text of a file, without the mark with which some editors begin one.

    Raises
    ------
    ValueError
        If it is none that can be read to its end: a pipe, a device, a huge file; or if
        the path has a null character.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if path.exists() and not path.is_file():
        raise ValueError("it is no regular file")
    with path.open("rb") as file:
        data = file.read(4 * MOST_TEXT + 1)
    if len(data) > 4 * MOST_TEXT:
        raise ValueError(f"it is longer than {MOST_TEXT:,} characters")
    # As `open` does: every kind of line end is one.
    return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


@cache
def _grammar() -> lark.Lark:
    try:
        import lark
    except ImportError as error:
        raise UsageError(
            "Dedalus programs are parsed with lark, which is not installed",
            remedy="run pip install 'worldline[faults]'",
        ) from error
    text = resources.files("worldline.dedalus").joinpath("grammar.lark").read_text()
    return lark.Lark(text, parser="lalr", lexer="contextual")


def _parsed(text: str, file: str) -> lark.Tree[lark.Token]:
    grammar = _grammar()
    import lark

    try:
        return grammar.parse(text)
    except lark.exceptions.UnexpectedInput as error:
        raise ProgramError([_unexpected(error, text, file)], {}) from None


def _unexpected(
    error: lark.exceptions.UnexpectedInput, text: str, file: str
) -> Problem:
    """Say what the parser did not expect, and what it would have."""
    import lark

    position = cast("int | None", error.pos_in_stream) or 0
    token = getattr(error, "token", None)
    odd = _odd(text, position) if token != "" else None  # nothing stands at the end
    if odd or not isinstance(error, lark.exceptions.UnexpectedToken):
        what = f"the character {text[position]!r} has no meaning here"
        return Problem(Span(file, error.line, error.column), *(odd or (what,)))
    token, expected = error.token, set(error.accepts)
    at_end = token.type == "$END"
    if "_SEMICOLON" in expected:
        # What follows is fine by itself: the statement before it has no end.
        end = _last(text, len(text) if at_end else token.start_pos or 0)
        if at_end or end.line < (token.line or 0):
            return Problem(
                Span(file, end.line, end.column),
                "the statement has no ';' at its end",
                "add one",
            )
    if at_end:
        end = _last(text, len(text))
        span = Span(file, end.line, end.column)
        return Problem(span, f"the file ends where {_listed(expected)} is expected")
    span = Span(file, token.line or 1, token.column or 1)
    if token.type == "_IMPLIES" and "_INCLUDE" in expected:
        return Problem(span, "':-' without a head before it", "write head :- body;")
    if token.type == "NAME" and expected == {"_OPEN"}:
        return Problem(span, "notin belongs into a body", "write head :- body;")
    return Problem(span, f"found {str(token)!r} where {_listed(expected)} is expected")


def _odd(text: str, position: int) -> tuple[str, str] | None:
    """Say what is wrong with what other languages would write here."""
    rest = text[position:]
    return next((said for start, said in _ODD.items() if rest.startswith(start)), None)


def _last(text: str, position: int) -> Span:
    """Return the place just after the last character that is no space or comment."""
    end = 0
    for token in _grammar().lex(text[:position], dont_ignore=False):
        end = token.end_pos or end
    line = text.count("\n", 0, end) + 1
    return Span("", line, end - (text.rfind("\n", 0, end) + 1) + 1)


def _listed(expected: set[str]) -> str:
    """Name what is expected, the most likely first."""
    words = [word for name, word in _SHOWN.items() if name in expected]
    if "EQUAL" in expected:
        words.append("a comparison")
    if expected & _CALCULATE and not words:
        words.append("an operator")
    if len(words) < 2:
        return "".join(words) or "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"
