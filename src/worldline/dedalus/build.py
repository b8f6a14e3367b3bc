"""Parse trees become syntax, and what the grammar leaves open is settled."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from worldline.dedalus.problems import Problem, ProgramError
from worldline.dedalus.syntax import (
    UNNAMED,
    Aggregate,
    Aggregator,
    Arithmetic,
    Atom,
    BodyPart,
    Comparison,
    Constant,
    Expression,
    Literal,
    Rule,
    Span,
    Term,
    Variable,
    When,
)
from worldline.dedalus.walk import variables

if TYPE_CHECKING:
    from lark import Token, Tree

    Node: TypeAlias = Tree[Token]

DEEPEST = 50
"""Operations in operations; and rules become Python, which nests no deeper than that."""
WIDEST = 18
"""Atoms in a body, each of which may become a loop: Python nests 20 blocks."""

DIGITS = 18
"""Of a number that is written in a program."""
LAST_ROUND = 10_000
"""The last round that a program may name: there are tables for all up to it."""


@dataclass(frozen=True, slots=True)
class Include:
    """Another file is to be read here."""

    path: str
    span: Span


def built(tree: Node, begin: Span) -> Rule | Atom | Include:
    """Return what a statement says.

    Parameters
    ----------
    tree
        Of one statement.
    begin
        Where it begins in its file.

    Raises
    ------
    ProgramError
        If it is well-formed but has no meaning.
    """
    builder = _Builder(begin)
    (part,) = _trees(tree)
    if part.data == "include":
        path = part.children[0]
        return Include(builder.string(path), builder.span(path))
    return builder.fact(part) if part.data == "fact" else builder.rule(part)


class _Builder:
    """Makes one statement; the names of ``_`` start again in every one."""

    def __init__(self, begin: Span) -> None:
        self._begin = begin
        self._wild = 0

    def fact(self, tree: Node) -> Atom:
        atom, when = self._atom(_trees(tree)[0])
        if when is not None:
            self._refuse(atom.span, f"a fact cannot be @{when}", "give a time: @1")
        for term in atom.terms:
            if isinstance(term, Variable):
                name = "_" if term.wild else term.name
                what = f"{name} is a variable, and a fact has constants only"
                self._refuse(atom.span, what, "put strings into quotes", name)
            elif not isinstance(term, Constant):
                self._refuse(atom.span, "a fact has constants only")
        if atom.time is None:
            self._refuse(
                atom.span, f"the fact {atom.relation} has no time", "add @1 to it"
            )
        elif atom.time < 1:
            self._refuse(atom.span, "round 1 is the first", "write @1 or later")
        return atom

    def rule(self, tree: Node) -> Rule:
        parts = _trees(tree)
        head, when = self._atom(parts[0])
        if head.time is not None:
            self._refuse(
                head.span,
                f"the head of a rule cannot hold at a fixed time, as @{head.time}",
                "write @next, @async or nothing",
            )
        body = _with_any(head, [self._part(part) for part in parts[1:]])
        if sum(isinstance(part, Literal) for part in body) > WIDEST:
            what = f"the rule has more than {WIDEST} premises"
            self._refuse(head.span, what, "derive some of them together first")
        return Rule(head, when or When.NOW, body, head.span)

    def _part(self, tree: Node) -> BodyPart:
        if tree.data == "comparison":
            left, operator, right = tree.children
            span = self.span(_first(left))
            return Comparison(
                str(operator), self._expression(left), self._expression(right), span
            )
        atom, when = self._atom(_trees(tree)[0])
        if when is not None:
            self._refuse(
                atom.span,
                f"@{when} belongs to the head of a rule",
                "all premises hold at the time of the rule",
            )
        for term in atom.terms:
            if isinstance(term, Aggregate):
                self._refuse(
                    atom.span,
                    f"{term.aggregator}<{term.of.name}> stands in a body",
                    "aggregate in the head of a rule of its own",
                    term.aggregator,
                )
        return Literal(atom, len(tree.children) == 2)

    def _atom(self, tree: Node) -> tuple[Atom, When | None]:
        """Return an atom, and its annotation if that is not a number."""
        name = tree.children[0]
        span = self.span(name)
        terms: list[Term] = []
        time: int | None = None
        when: When | None = None
        for part in _trees(tree):
            if part.data == "annotation":
                time, when = self._annotation(part.children[0])
            elif part.data == "aggregate":
                terms.append(self._aggregate(part))
            else:
                terms.append(self._expression(part))
        if not terms:
            self._refuse(
                span,
                f"{name} has no columns",
                "the first column of a relation is its location",
            )
        return Atom(str(name), tuple(terms), time, span), when

    def _annotation(self, token: Node | Token) -> tuple[int | None, When | None]:
        text = str(token)
        if text.isdigit():
            if len(text) > DIGITS or int(text) > LAST_ROUND:
                self._refuse(
                    self.span(token),
                    "the round is too late",
                    f"name rounds up to {LAST_ROUND:,}",
                )
            return int(text), None
        if text not in {When.NEXT, When.ASYNC}:
            self._refuse(
                self.span(token),
                f"@{text} is unknown",
                f"write {_annotation_like(text)}",
            )
        return None, When(text)

    def _aggregate(self, tree: Node) -> Aggregate:
        name, _less, of, _greater = tree.children
        if str(name) not in set(Aggregator):
            self._refuse(
                self.span(name),
                f"{name}<{of}> is no aggregate",
                f"use {', '.join(Aggregator)}",
            )
        if str(of) == "_":
            self._refuse(self.span(of), "an aggregate is over a named variable")
        return Aggregate(Aggregator(str(name)), Variable(str(of)))

    def _expression(self, tree: Node | Token, depth: int = 0) -> Expression:
        assert not isinstance(tree, str)
        if depth > DEEPEST:
            span = self.span(_first(tree))
            self._refuse(span, "the calculation is too long", "split the rule")
        if tree.data == "variable":
            return self._variable(str(tree.children[0]))
        if tree.data == "number":
            return self._number(tree.children[0])
        if tree.data == "string":
            return Constant(self.string(tree.children[0]))
        if tree.data == "minus":
            of = self._expression(_trees(tree)[0], depth + 1)
            if isinstance(of, Constant) and isinstance(of.value, int):
                return Constant(-of.value)
            return Arithmetic("-", Constant(0), of)
        left, operator, right = tree.children
        one = self._expression(left, depth + 1)
        return Arithmetic(str(operator), one, self._expression(right, depth + 1))

    def _number(self, token: Node | Token) -> Constant:
        digits = str(token).lstrip("0")
        if len(digits) > DIGITS:
            self._refuse(
                self.span(token),
                f"the number has {len(digits)} digits",
                f"numbers have up to {DIGITS}",
            )
        return Constant(int(digits or "0"))

    def string(self, token: Node | Token) -> str:
        text = str(token)[1:-1]
        if any(unicodedata.category(character) == "Cc" for character in text):
            self._refuse(
                self.span(token),
                "the string has a control character",
                "write it without",
            )
        return text

    def _variable(self, name: str) -> Variable:
        if name != "_":
            return Variable(name)
        self._wild += 1
        return Variable(f"{UNNAMED}{self._wild}", wild=True)

    def span(self, token: Node | Token) -> Span:
        assert isinstance(token, str)
        line, column = token.line or 1, token.column or 1
        if line == 1:
            column += self._begin.column - 1
        return Span(self._begin.file, self._begin.line + line - 1, column)

    def _refuse(
        self, span: Span | None, what: str, remedy: str = "", word: str = ""
    ) -> None:
        raise ProgramError([Problem(span, what, remedy, word=word)], {})


def _with_any(head: Atom, body: list[BodyPart]) -> tuple[BodyPart, ...]:
    """Take a variable that stands in one absence, and nowhere else, for any value.

    The public programs of the language write it so, where others write ``_``.
    """
    used = Counter(
        variable.name
        for part in body
        for term in _terms(part)
        for variable in variables(term)
    )
    used.update(v.name for term in head.terms for v in variables(term))
    return tuple(
        replace(part, atom=_loosened(part.atom, used))
        if isinstance(part, Literal) and part.negated
        else part
        for part in body
    )


def _terms(part: BodyPart) -> tuple[Term, ...]:
    if isinstance(part, Comparison):
        return part.left, part.right
    return part.atom.terms


def _loosened(atom: Atom, used: Counter[str]) -> Atom:
    terms = (
        replace(term, wild=True)
        if isinstance(term, Variable) and used[term.name] == 1
        else term
        for term in atom.terms
    )
    return replace(atom, terms=tuple(terms))


def _annotation_like(text: str) -> str:
    near = get_close_matches(text.lower(), [When.NEXT, When.ASYNC], 1)
    return f"@{near[0]}" if near else "@next, @async, or @ and a number"


def _first(node: Node | Token) -> Token:
    while not isinstance(node, str):
        node = node.children[0]
    return node


def _trees(tree: Node) -> list[Node]:
    return [child for child in tree.children if not isinstance(child, str)]
