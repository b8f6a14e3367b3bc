"""A second reader of Dedalus, which shares nothing with the package.

Tokens by one regular expression, clauses by descent. What it does not understand, it
refuses by an assertion: the programs here are few, and all are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|(?P<text>\"[^\"]*\")|(?P<number>\d+)"
    r"|(?P<word>\w+)|(?P<sign>:-|==|!=|<=|>=|[-+*/<>(),;@])",
    re.DOTALL,
)
CALCULATING = ("+", "-", "*", "/")
COMPARING = ("==", "!=", "<=", ">=", "<", ">")
ANY = ("any",)

Term = tuple[Any, ...]
"""("any"), ("constant", value), ("name", name), ("all", function, name), or a sign and
two terms."""


@dataclass(frozen=True)
class Premise:
    """``[notin] relation(terms) [@ at]``; of facts and heads, too."""

    relation: str
    terms: tuple[Term, ...]
    at: int | None = None
    absent: bool = False


@dataclass(frozen=True)
class Clause:
    """``head [@when] :- premises, tests``; a test is a comparison of two terms."""

    head: Premise
    when: str
    premises: tuple[Premise, ...]
    tests: tuple[Term, ...]


class Reader:
    """The facts and clauses of files and of all that they include, each file once."""

    def __init__(self, *paths: Path) -> None:
        self.facts: list[Premise] = []
        self.clauses: list[Clause] = []
        self._read: set[Path] = set()
        for path in paths:
            self._file(path)

    def _file(self, path: Path) -> None:
        if path.resolve() in self._read:
            return
        self._read.add(path.resolve())
        tokens = self._tokens(path.read_text())
        while tokens:
            if tokens[0] == "include":
                self._file(path.parent / tokens[1].strip('"'))
                assert tokens[2] == ";"
                del tokens[:3]
            else:
                self._clause(tokens)

    def _tokens(self, text: str) -> list[str]:
        tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, text[at : at + 30]
            at = match.end()
            if match.lastgroup:
                tokens.append(match.group())
        return tokens

    def _clause(self, tokens: list[str]) -> None:
        head, when = self._premise(tokens), "now"
        if tokens[0] == "@" and tokens[1].isdigit():
            self.facts.append(Premise(head.relation, head.terms, int(tokens[1])))
            del tokens[:2]
        else:
            if tokens[0] == "@":
                when = tokens[1]
                del tokens[:2]
            self._body(head, when, tokens)
        assert tokens.pop(0) == ";"

    def _body(self, head: Premise, when: str, tokens: list[str]) -> None:
        premises, tests = [], []
        assert tokens[0] == ":-"
        while tokens[0] in (":-", ","):
            tokens.pop(0)
            absent = tokens[0] == "notin"
            del tokens[:absent]
            if tokens[1] != "(":
                tests.append(self._test(tokens))
                continue
            atom, at = self._premise(tokens), None
            if tokens[0] == "@":
                at = int(tokens[1])
                del tokens[:2]
            premises.append(Premise(atom.relation, atom.terms, at, absent))
        self.clauses.append(Clause(head, when, tuple(premises), tuple(tests)))

    def _premise(self, tokens: list[str]) -> Premise:
        relation = tokens.pop(0)
        terms: list[Term] = []
        assert tokens[0] == "("
        while tokens[0] in ("(", ","):
            tokens.pop(0)
            terms.append(self._term(tokens))
        assert tokens.pop(0) == ")"
        return Premise(relation, tuple(terms))

    def _test(self, tokens: list[str]) -> Term:
        left, sign = self._term(tokens), tokens.pop(0)
        assert sign in COMPARING
        return sign, left, self._term(tokens)

    def _term(self, tokens: list[str]) -> Term:
        """Read a term; signs bind from the left, none of them before another."""
        term = self._one(tokens)
        while tokens[0] in CALCULATING:
            term = tokens.pop(0), term, self._one(tokens)
        return term

    def _one(self, tokens: list[str]) -> Term:
        token = tokens.pop(0)
        if token == "_":
            return ANY
        if token.startswith('"'):
            return "constant", token[1:-1]
        if token.isdigit():
            return "constant", int(token)
        if tokens[0] == "<" and tokens[2] == ">":
            aggregate = "all", token, tokens[1]
            del tokens[:3]
            return aggregate
        assert token.isidentifier(), token
        return "name", token
