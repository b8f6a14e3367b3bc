"""Texts of programs become syntax: Molly's language, and a little more.

What is more: ``<=`` and ``>=``, parentheses, precedence, negative numbers, and
``include`` relative to the including file and once only. What differs: ``@next`` and
``@async`` in a body, which Molly ignores, are refused.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from worldline.dedalus.mistakes import begins_statement, between, mistake, python_text
from worldline.dedalus.problems import ENOUGH, Problem, ProgramError, raise_all
from worldline.dedalus.statements import Statement, Statements
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
        If a text is not a program; with every place where it is none.
    InputError
        If a file cannot be read.
    UsageError
        If the parser library is not installed.
    """
    program, problems = read_files(paths)
    raise_all(problems, program)
    return program


def parse_text(text: str, file: str = "<text>") -> Program:
    """Parse one text; what it includes is looked for beside `file`."""
    reading = _Reading()
    reading.take(text, file)
    raise_all(reading.problems, reading.program())
    return reading.program()


def read_files(paths: Iterable[str | Path]) -> tuple[Program, list[Problem]]:
    """Parse files as `parse_files` does, as far as they can be parsed.

    Returns
    -------
        The statements that are well-formed, and what is wrong with the others.
    """
    reading = _Reading()
    for path in paths:
        reading.read(Path(path), None)
    return reading.program(), reading.problems


class _Reading:
    """Gathers statements over files.

    Attributes
    ----------
    problems
        What is wrong with those that are not gathered.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._seen: set[Path] = set()
        self._texts: dict[str, str] = {}
        self._rules: list[Rule] = []
        self._facts: list[Atom] = []
        self._length = 0

    def program(self) -> Program:
        files, texts = tuple(self._texts), tuple(self._texts.values())
        return Program(tuple(self._rules), tuple(self._facts), files, texts)

    def read(self, path: Path, included: Span | None) -> None:
        """Read a file if it is new; `included` is where it is asked for, if it is."""
        try:
            place = path.resolve()
            if place in self._seen:
                return
            self._seen.add(place)
            if len(self._seen) > MOST_FILES:
                raise ValueError(f"the program has more than {MOST_FILES} files")
            text = _text_of(path)
        except (OSError, RuntimeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            if isinstance(error, UnicodeDecodeError):
                reason = "it is not UTF-8 text"
            if isinstance(error, RuntimeError):  # of pathlib, before Python 3.13
                reason = os.strerror(errno.ELOOP)
            what = f"cannot read {path}: {reason}"
            if included is None:
                raise InputError(what, remedy="name an existing .ded file") from error
            remedy = "name a file, relative to the one that includes it"
            self.problems.append(Problem(included, what, remedy))
            return
        self.take(text, str(path))

    def take(self, text: str, file: str) -> None:
        """Parse a text, reading what it includes where it includes it."""
        self._texts[file] = text
        self._length += len(text)
        if self._length > MOST_TEXT:
            what = f"the program is longer than {MOST_TEXT:,} characters"
            remedy = "write rules for what many facts say, or ask about a smaller case"
            self._stop(Problem(Span(file, 1, 1), what, remedy))
        if problem := python_text(text, file):
            self.problems.append(problem)
            return
        statements = Statements(file, text)
        for statement in statements:
            if len(self.problems) >= ENOUGH:
                break
            self._take(statement)
        self.problems += statements.problems

    def _take(self, statement: Statement) -> None:
        """Take a statement, and those that follow it without a semicolon between."""
        from worldline.dedalus.build import Include, built

        rest: Statement | None = statement
        while rest is not None:
            begin = rest.begin
            tree, problem, rest = _parsed(rest)
            if tree is None:
                self.problems += [problem] if problem is not None else []
                continue
            try:
                made = built(tree, begin)
            except ProgramError as error:
                self.problems += error.problems
                return
            if isinstance(made, Include):
                target = Path(made.span.file).parent / made.path
                self.read(target, made.span)
            elif isinstance(made, Atom):
                self._facts.append(made)
            else:
                self._rule(made)

    def _rule(self, rule: Rule) -> None:
        self._rules.append(rule)
        if len(self._rules) > MOST_RULES:
            what = f"the program has more than {MOST_RULES:,} rules"
            self._stop(Problem(rule.span, what, "let one rule do for many"))

    def _stop(self, problem: Problem) -> None:
        raise_all([problem, *self.problems], self.program())


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


def _parsed(
    statement: Statement,
) -> tuple[lark.Tree[lark.Token] | None, Problem | None, Statement | None]:
    """Return the tree of a statement, or what is wrong with it.

    Returns
    -------
        The tree or the problem; and the statement that begins where this one should
        have ended, if the problem is its missing semicolon.
    """
    grammar = _grammar()
    import lark

    try:
        return grammar.parse(statement.text), None, None
    except lark.exceptions.UnexpectedToken as error:
        at_end = error.token.type == "$END"
        at = len(statement.text) if at_end else error.token.start_pos or 0
        expected = set(error.accepts)
        word = str(error.token)
    except lark.exceptions.UnexpectedCharacters as error:
        at, at_end, expected, word = error.pos_in_stream, False, set(error.allowed), ""
    said = None if at_end else mistake(statement, at)
    if said is None and "_SEMICOLON" in expected:
        end = statement.last(at)
        if at_end or (word and "\n" in statement.text[end:at]):
            return None, *_endless(statement, end, at)
    if said is None:
        said = between(statement, at, expected)
    if said is None:
        what = f"found {word!r} where {_listed(expected)} is expected"
        if at_end:
            at, what = statement.last(at), f"the file ends where {_listed(expected)} is"
            what += " expected"
        elif not word:
            what = f"the character {statement.text[at]!r} has no meaning here"
        said = Problem(statement.span(at), what)
    return None, said, None


def _endless(
    statement: Statement, end: int, at: int
) -> tuple[Problem, Statement | None]:
    """Say that a statement has no semicolon, and return what follows if it is one."""
    rest = statement.rest(at)
    if rest.text and not begins_statement(rest.text):
        what = "the premise has no ',' after it, or the statement no ';'"
        return Problem(statement.span(end), what, "add one"), None
    what, remedy = "the statement has no ';' at its end", "add one"
    if statement.text[:end].endswith("."):
        end, what, remedy = end - 1, "'.' ends no statement", "end each with ;"
    return Problem(statement.span(end), what, remedy), rest if rest.text else None


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
