"""The abstract syntax of a program, and where in its text each part stands.

The location of a fact is its first column. Time is not a column here: it stands in
`Atom.time` where the text names it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

Value: TypeAlias = str | int
"""A constant of a program; node names are strings. Text and numbers are never equal."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class When(StrEnum):
    """The place and time at which the head of a rule holds, relative to its body."""

    NOW = "now"
    NEXT = "next"
    ASYNC = "async"


class Aggregator(StrEnum):
    """A function that makes one value of a group of distinct ones."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    AVG = "avg"


UNNAMED = "_#"
"""With what the name of a variable begins that the text calls ``_``."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable; `wild` if it stands for any value, each as one of its own.

    That is every ``_`` of the text, and a name that is in one absence and nowhere else.
    """

    name: str
    wild: bool = False


@dataclass(frozen=True, slots=True)
class Constant:
    """A string or a number."""

    value: Value


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Arithmetic: ``+``, ``-``, ``*`` or ``/`` (of integers, rounded down)."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``count<X>`` in a head: over the distinct values of X for the other columns."""

    aggregator: Aggregator
    of: Variable


Expression: TypeAlias = Variable | Constant | Arithmetic
Term: TypeAlias = Variable | Constant | Arithmetic | Aggregate


@dataclass(frozen=True, slots=True)
class Atom:
    """A relation applied to terms.

    Attributes
    ----------
    time
        The round that the text names (``p(X)@3``), in facts always and in bodies
        seldom; ``None`` for the rule's own.
    """

    relation: str
    terms: tuple[Term, ...]
    time: int | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """An atom of a body, or its absence (``notin``)."""

    atom: Atom
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """``X < Y + 1``; the operator is one of ``== != < <= > >=``."""

    operator: str
    left: Expression
    right: Expression
    span: Span | None = field(default=None, compare=False)


BodyPart: TypeAlias = Literal | Comparison


@dataclass(frozen=True, slots=True)
class Rule:
    """``head@when :- body;``."""

    head: Atom
    when: When
    body: tuple[BodyPart, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Program:
    """Rules and facts of all files, in the order of their text.

    Facts hold at their `Atom.time` and have constants only.
    """

    rules: tuple[Rule, ...]
    facts: tuple[Atom, ...]
    files: tuple[str, ...] = ()
    texts: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """What each file says; messages quote it."""
