"""Parse trees become syntax, and what the grammar leaves open is settled."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from worldline.dedalus.problems import Problem, ProgramError
from worldline.dedalus.syntax import (
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


class Builder:
    """Makes the statements of one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._wild = 0

    def statements(self, tree: Node) -> list[Rule | Atom | Include]:
        """Return what a file says, in its order.

        Raises
        ------
        ProgramError
            If something is well-formed but has no meaning.
        """
        statements: list[Rule | Atom | Include] = []
        for part in _trees(tree):
            self._wild = 0  # the names of `_` start again in every statement
            if part.data == "include":
                path = part.children[0]
                statements.append(Include(self._string(path), self._span(path)))
            elif part.data == "fact":
                statements.append(self._fact(_trees(part)[0]))
            else:
                statements.append(self._rule(_trees(part)))
        return statements

    def _fact(self, tree: Node) -> Atom:
        atom, when = self._atom(tree)
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

    def _rule(self, parts: list[Node]) -> Rule:
        head, when = self._atom(parts[0])
        if head.time is not None:
            self._refuse(
                head.span,
                f"the head of a rule cannot hold at a fixed time, as @{head.time}",
                "write @next, @async or nothing",
            )
        body = tuple(self._part(part) for part in parts[1:])
        if sum(isinstance(part, Literal) for part in body) > WIDEST:
            what = f"the rule has more than {WIDEST} premises"
            self._refuse(head.span, what, "derive some of them together first")
        return Rule(head, when or When.NOW, body, head.span)

    def _part(self, tree: Node) -> BodyPart:
        if tree.data == "comparison":
            left, operator, right = tree.children
            span = self._span(_first(left))
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
        span = self._span(name)
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
                    self._span(token),
                    "the round is too late",
                    f"name rounds up to {LAST_ROUND:,}",
                )
            return int(text), None
        if text not in {When.NEXT, When.ASYNC}:
            self._refuse(
                self._span(token),
                f"@{text} is unknown",
                "write @next, @async, or @ and a number",
            )
        return None, When(text)

    def _aggregate(self, tree: Node) -> Aggregate:
        name, _less, of, _greater = tree.children
        if str(name) not in set(Aggregator):
            self._refuse(
                self._span(name),
                f"{name}<{of}> is no aggregate",
                f"use {', '.join(Aggregator)}",
            )
        if str(of) == "_":
            self._refuse(self._span(of), "an aggregate is over a named variable")
        return Aggregate(Aggregator(str(name)), Variable(str(of)))

    def _expression(self, tree: Node | Token, depth: int = 0) -> Expression:
        assert not isinstance(tree, str)
        if depth > DEEPEST:
            span = self._span(_first(tree))
            self._refuse(span, "the calculation is too long", "split the rule")
        if tree.data == "variable":
            return self._variable(str(tree.children[0]))
        if tree.data == "number":
            return self._number(tree.children[0])
        if tree.data == "string":
            return Constant(self._string(tree.children[0]))
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
                self._span(token),
                f"the number has {len(digits)} digits",
                f"numbers have up to {DIGITS}",
            )
        return Constant(int(digits or "0"))

    def _string(self, token: Node | Token) -> str:
        text = str(token)[1:-1]
        if any(unicodedata.category(character) == "Cc" for character in text):
            self._refuse(
                self._span(token),
                "the string has a control character",
                "write it without",
            )
        return text

    def _variable(self, name: str) -> Variable:
        if name != "_":
            return Variable(name)
        self._wild += 1
        return Variable(f"_#{self._wild}", wild=True)

    def _span(self, token: Node | Token) -> Span:
        assert isinstance(token, str)
        return Span(self._file, token.line or 1, token.column or 1)

    def _refuse(
        self, span: Span | None, what: str, remedy: str = "", word: str = ""
    ) -> None:
        raise ProgramError([Problem(span, what, remedy, word=word)], {})


def _first(node: Node | Token) -> Token:
    while not isinstance(node, str):
        node = node.children[0]
    return node


def _trees(tree: Node) -> list[Node]:
    return [child for child in tree.children if not isinstance(child, str)]
