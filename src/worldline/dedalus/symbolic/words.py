"""Names, values and terms of a program, as words of an answer-set program."""

from __future__ import annotations

from collections.abc import Sequence

from worldline.dedalus.syntax import (
    Aggregate,
    Comparison,
    Constant,
    Expression,
    Program,
    Term,
    Value,
    Variable,
)
from worldline.dedalus.walk import CRASH, literals

OPERATORS = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


class Relations:
    """Predicates for the relations of a program.

    Relations have names that answer-set programs do not allow, so they are numbered;
    the number is followed by what the name has of letters, for who reads the encoding.
    """

    def __init__(self, program: Program) -> None:
        names = dict.fromkeys(fact.relation for fact in program.facts)
        for rule in program.rules:
            names[rule.head.relation] = None
            names.update((part.atom.relation, None) for part in literals(rule))
        self._predicates = {
            name: f"r{number}_{''.join(filter(_plain, name))}"
            for number, name in enumerate(names)
            if name != CRASH
        }

    def predicate(self, relation: str) -> str:
        """Return the predicate of a relation; its last argument is the round."""
        return self._predicates[relation]

    def to_come(self, relation: str) -> str:
        """Return the predicate of what earlier rounds lead to; also with its round."""
        return f"n{self._predicates[relation]}"


class Words:
    """Terms of one rule: its variables are numbered.

    Parameters
    ----------
    place
        Where the rule is carried out; it is needed by name even if the text has ``_``.
    """

    def __init__(self, place: Term | None = None) -> None:
        self._place = place
        self._variables: dict[str, str] = {}

    def variable(self, name: str) -> str:
        """Return the name of a variable."""
        return self._variables.setdefault(name, f"X{len(self._variables)}")

    def term(self, term: Term) -> str:
        """Return a term of an atom; ``_`` where any value will do."""
        assert not isinstance(term, Aggregate)
        if isinstance(term, Variable) and term.wild and term != self._place:
            return "_"
        return self.expression(term)

    def terms(self, terms: Sequence[Term]) -> list[str]:
        """Return the terms of an atom."""
        return [self.term(term) for term in terms]

    def expression(self, expression: Expression) -> str:
        """Return a calculation; division rounds down, which clingo's does not."""
        if isinstance(expression, Constant):
            return value(expression.value)
        if isinstance(expression, Variable):
            return self.variable(expression.name)
        left = self.expression(expression.left)
        right = self.expression(expression.right)
        if expression.operator == "/":
            return divided(left, right)
        return f"({left}{expression.operator}{right})"

    def comparison(self, part: Comparison) -> str:
        """Return a comparison."""
        left, right = self.expression(part.left), self.expression(part.right)
        return f"{left}{OPERATORS[part.operator]}{right}"


def value(constant: Value) -> str:
    """Return a constant; text and numbers stay apart."""
    if isinstance(constant, int):
        return str(constant) if constant >= 0 else f"({constant})"
    text = constant.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'"{text}"'


def divided(left: str, right: str) -> str:
    """Return a quotient, rounded down."""
    remainder = f"((({left})\\({right}))+({right}))\\({right})"
    return f"((({left})-({remainder}))/({right}))"


def applied(predicate: str, arguments: Sequence[str]) -> str:
    """Return an atom."""
    return f"{predicate}({','.join(arguments)})"


def _plain(character: str) -> bool:
    return character.isascii() and character.isalnum()
