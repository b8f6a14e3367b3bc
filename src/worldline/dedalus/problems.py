"""Errors of a program, each shown at its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from worldline.dedalus.syntax import Program, Span
from worldline.model.errors import InputError

_LONGEST = 400
"""Characters of a message."""
_WIDEST = 400
"""Characters that are shown of a line."""
_MOST = 20
"""Problems that are shown at once."""
ENOUGH = 1_000
"""Problems after which no more are looked for: each takes a fraction of a millisecond."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ProgramError(InputError):
    """A Dedalus program that cannot be run.

    Parameters
    ----------
    problems
        What is wrong, and where, in the order in which it is told; at least one.
    texts
        The texts of the files that they stand in, by name, where there are any.
    """

    has_lines = True

    def __init__(self, problems: Sequence[Problem], texts: Mapping[str, str]) -> None:
        lines = [each.shown(texts.get(each.file)) for each in problems[:_MOST]]
        if len(problems) > _MOST:
            least = "at least " if len(problems) >= ENOUGH else ""
            lines.append(f"and {least}{len(problems) - _MOST} more")
        super().__init__("\n".join(lines))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning.

    Attributes
    ----------
    span
        Where; ``None`` for what is missing as a whole.
    what, remedy
        What is wrong, and what to do about it.
    fatal
        Whether the program cannot be run.
    word
        A name that the caret should stand under, at or after the span.
    """

    span: Span | None
    what: str
    remedy: str = ""
    fatal: bool = True
    word: str = ""

    @property
    def file(self) -> str:
        """The file that it stands in; empty if it is missing as a whole."""
        return "" if self.span is None else self.span.file

    def shown(self, text: str | None = None) -> str:
        """Return the message, with its line of the text and a caret where known."""
        what = self.what
        if len(what) > _LONGEST:
            what = f"{what[:_LONGEST]}..."
        message = f"{what}; {self.remedy}" if self.remedy else what
        if self.span is None:
            return message
        span = self.narrowed(text).span or self.span
        line = "" if text is None else _line(text, span.line)
        if not line.strip():
            return f"{span}: {message}"
        line, at = _excerpt(line, span.column - 1)
        # Tabs stay tabs, so that the caret stands where the terminal puts the word;
        # what else would move it, or command the terminal, is not printed.
        blank = re.sub(r"[^\t]", " ", line[:at])
        line = _CONTROL.sub("\ufffd", line)
        return f"{span}: {message}\n  {line}\n  {blank}^"

    def narrowed(self, text: str | None) -> Problem:
        """Return the problem at its word, where that stands in its statement."""
        if self.span is None or text is None or not self.word:
            return self
        return replace(self, span=_narrowed(self.span, self.word, text), word="")


def raise_all(problems: Iterable[Problem], program: Program) -> None:
    """Raise all errors at once, in the order of the text, if there are any.

    Of several at one place the first is told: the others mostly follow from it.

    Raises
    ------
    ProgramError
        If a problem is fatal.
    """
    texts = texts_of(program)
    told: dict[Span | None, Problem] = {}
    for problem in problems:
        if problem.fatal:
            narrow = problem.narrowed(texts.get(problem.file))
            told.setdefault(narrow.span, narrow)
    if told:
        files = program.files
        ordered = sorted(told.values(), key=lambda problem: _place(problem, files))
        raise ProgramError(ordered, texts)


def shown(problem: Problem, program: Program) -> str:
    """Return a problem as text, with the line of the program that it is about."""
    return problem.shown(texts_of(program).get(problem.file))


def texts_of(program: Program) -> dict[str, str]:
    """Return the texts of a program's files, as far as they were kept."""
    return dict(zip(program.files, program.texts, strict=False))


def _place(problem: Problem, files: tuple[str, ...]) -> tuple[int, int, int]:
    span = problem.span
    if span is None:
        return len(files), 0, 0
    file = files.index(span.file) if span.file in files else len(files)
    return file, span.line, span.column


def _narrowed(span: Span, word: str, text: str) -> Span:
    """Find a word at or after a place, within its statement."""
    lines = _lines(text)
    pattern = re.compile(rf"(?<![\w?.]){re.escape(word)}(?![\w?.])")
    start = span.column - 1
    for number in range(span.line, len(lines) + 1):
        line = lines[number - 1]
        end = line.find(";", start)
        if match := pattern.search(line, start, end if end >= 0 else len(line)):
            return Span(span.file, number, match.start() + 1)
        if end >= 0:
            break
        start = 0
    return span


@lru_cache(maxsize=8)
def _lines(text: str) -> list[str]:
    return text.split("\n")


def _line(text: str, number: int) -> str:
    """Return a line of a text; an empty one if it has none of that number."""
    lines = _lines(text)
    return lines[number - 1] if 1 <= number <= len(lines) else ""


def _excerpt(line: str, at: int) -> tuple[str, int]:
    """Return as much of a line as can be shown around a place, and where that is then."""
    if len(line) <= _WIDEST:
        return line, at
    begin = max(0, min(at - _WIDEST // 2, len(line) - _WIDEST))
    end = begin + _WIDEST
    before = "..." if begin else ""
    after = "..." if end < len(line) else ""
    return f"{before}{line[begin:end]}{after}", at - begin + len(before)
