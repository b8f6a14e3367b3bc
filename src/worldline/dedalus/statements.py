"""Texts fall into statements before they are parsed, so that each has its own errors.

This knows where strings and comments end, and nothing else of the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from worldline.dedalus.problems import Problem
from worldline.dedalus.syntax import Span

_TOKEN = re.compile(
    r"""
      (?P<string>"[^"\n]*")
    | (?P<open_string>"[^\n]*)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<open_comment>/\*.*)
    | (?P<foreign>[\#%][^\n]*|--[^\n]*)
    | (?P<space>\s+)
    | (?P<word>[A-Za-z_][A-Za-z0-9_?.]*|[0-9]+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_IGNORED = {"comment", "space"}
_INCLUDING = re.compile(r"#\s*include\b")
_END = re.compile(r"[;.]\s*(//.*)?\Z")


@dataclass(frozen=True, slots=True)
class Statement:
    """The text of a statement, from its first word to its end, and where it begins."""

    text: str
    begin: Span

    def span(self, offset: int) -> Span:
        """Return the place of a character of the text."""
        line = self.text.count("\n", 0, offset)
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        if line == 0:
            column += self.begin.column - 1
        return Span(self.begin.file, self.begin.line + line, column)

    def last(self, offset: int) -> int:
        """Return where the last word or sign before a place ends."""
        end = 0
        for token in _TOKEN.finditer(self.text, 0, offset):
            if token.lastgroup not in _IGNORED:
                end = token.end()
        return end

    def rest(self, offset: int) -> Statement:
        """Return what begins at a place."""
        return Statement(self.text[offset:], self.span(offset))


class Statements:
    """The statements of a text, and what is wrong between them.

    Attributes
    ----------
    problems
        What was met on the way: strings and comments that have no end, or that are
        written as in other languages. A habit is told once.
    """

    def __init__(self, file: str, text: str) -> None:
        self.problems: list[Problem] = []
        self._file = file
        self._text = text
        self._habits: set[str] = set()
        self._line, self._counted, self._line_begin = 1, 0, 0
        self._parts: list[str] = []
        self._begin: Span | None = None
        self._broken = False

    def __iter__(self) -> Iterator[Statement]:
        """Yield those that can be parsed; without its semicolon the last may be."""
        position, before = 0, ""
        while match := _TOKEN.match(self._text, position):
            at, kind, text = position, match.lastgroup, match[0]
            if text.startswith("--") and self._begin is not None:
                kind, text = "sign", "-"  # of a number that is negative
            position += len(text)
            if kind in _IGNORED:
                self._parts += [text] * (self._begin is not None)
                continue
            if kind in {"foreign", "open_comment"}:
                self._comment(at, kind, text)
                continue
            if self._begin is None:
                self._begin = self._span(at)
            if kind == "open_string":
                self._open_string(at, text)
            ends = text == ";" or (kind == "open_string" and _END.search(text))
            if text == "." and self._is_full_stop(position, before):
                self._habit(at, "'.' ends no statement", "end each with ;")
                text, ends = ";", True
            self._parts.append(text)
            before = text
            if ends:
                yield from self._finished()
        yield from self._finished()

    def _is_full_stop(self, after: int, before: str) -> bool:
        follows = self._text[after : after + 1]
        return before == ")" or (before.isdigit() and not follows.isdigit())

    def _finished(self) -> Iterator[Statement]:
        if self._begin is not None and not self._broken:
            yield Statement("".join(self._parts), self._begin)
        self._parts, self._begin, self._broken = [], None, False

    def _comment(self, at: int, kind: str, text: str) -> None:
        """Leave out a comment that is none here."""
        if kind == "open_comment":
            self._tell(at, "the comment has no end", "close it with */")
            self._broken = True  # its end may be in what is left out
        elif _INCLUDING.match(text):
            self._habit(at, "'#include' is no word", 'write include "FILE.ded";')
        else:
            sign = "--" if text.startswith("--") else text[0]
            self._habit(at, f"'{sign}' begins no comment", "write // text")
        self._parts += [" " * len(text)] * (self._begin is not None)

    def _open_string(self, at: int, text: str) -> None:
        self._broken = True
        line = self._text.rfind("\n", 0, at) + 1
        quoted = self._text.find('\\"', line, at + len(text))
        if quoted >= 0:
            what = "a string ends at its first \", also after '\\'"
            self._tell(quoted, what, "write it without quotes in it")
        else:
            what, remedy = "the string has no end", 'close it with " on the same line'
            self._tell(at, what, remedy)

    def _habit(self, at: int, what: str, remedy: str) -> None:
        if what not in self._habits:
            self._habits.add(what)
            self._tell(at, what, remedy)

    def _tell(self, at: int, what: str, remedy: str) -> None:
        self.problems.append(Problem(self._span(at), what, remedy))

    def _span(self, at: int) -> Span:
        """Return the place of a character, not before the last one that was asked for.

        One that is before, on the same line, is found all the same.
        """
        if at > self._counted:
            self._line += self._text.count("\n", self._counted, at)
            newline = self._text.rfind("\n", self._counted, at)
            self._line_begin = newline + 1 if newline >= 0 else self._line_begin
            self._counted = at
        return Span(self._file, self._line, at - self._line_begin + 1)
