"""Programs become text again, which parses to the same program."""

from __future__ import annotations

from worldline.dedalus.syntax import (
    UNNAMED,
    Aggregate,
    Arithmetic,
    Atom,
    BodyPart,
    Comparison,
    Constant,
    Program,
    Rule,
    Term,
    Value,
    Variable,
    When,
)
from worldline.model.errors import UsageError

_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}


def program_text(program: Program) -> str:
    """Return a program, one statement to a line: facts first, then rules.

    Raises
    ------
    UsageError
        If a string has a quote or a line break in it, which cannot be written.
    """
    facts = [f"{atom_text(fact)};" for fact in program.facts]
    return "\n".join([*facts, *(rule_text(rule) for rule in program.rules), ""])


def rule_text(rule: Rule) -> str:
    """Return a rule on one line, with its semicolon."""
    when = "" if rule.when is When.NOW else f"@{rule.when}"
    body = ", ".join(part_text(part) for part in rule.body)
    return f"{atom_text(rule.head)}{when} :- {body};"


def part_text(part: BodyPart) -> str:
    """Return one part of a body."""
    if isinstance(part, Comparison):
        return f"{term_text(part.left)} {part.operator} {term_text(part.right)}"
    return f"notin {atom_text(part.atom)}" if part.negated else atom_text(part.atom)


def atom_text(atom: Atom) -> str:
    """Return an atom, with its time if it has one."""
    terms = ", ".join(term_text(term) for term in atom.terms)
    time = "" if atom.time is None else f"@{atom.time}"
    return f"{atom.relation}({terms}){time}"


def term_text(term: Term) -> str:
    """Return a term, with no more parentheses than it needs."""
    if isinstance(term, Constant):
        return value_text(term.value)
    if isinstance(term, Variable):
        return "_" if term.name.startswith(UNNAMED) else term.name
    if isinstance(term, Aggregate):
        return f"{term.aggregator}<{term.of.name}>"
    binding = _BINDING[term.operator]
    left, right = term_text(term.left), term_text(term.right)
    if isinstance(term.left, Arithmetic) and _BINDING[term.left.operator] < binding:
        left = f"({left})"
    # Operators of equal binding associate to the left.
    if isinstance(term.right, Arithmetic) and _BINDING[term.right.operator] <= binding:
        right = f"({right})"
    return f"{left} {term.operator} {right}"


def value_text(value: Value) -> str:
    """Return a constant as it is written."""
    if isinstance(value, int):
        return str(value)
    if '"' in value or "\n" in value:
        raise UsageError(
            f"the string {value!r} cannot be written in a program",
            remedy="strings have no quotes and no line breaks",
        )
    return f'"{value}"'
