"""The check of a program, and what follows from its text alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldline.dedalus.columns import ColumnTypes
from worldline.dedalus.lints import suspicious
from worldline.dedalus.parse import parse_files
from worldline.dedalus.places import is_protocol, misplaced, odd_places, protocol
from worldline.dedalus.problems import Problem, raise_all, shown
from worldline.dedalus.safety import unsafe
from worldline.dedalus.strata import strata, unstratified
from worldline.dedalus.syntax import Atom, Program, Rule, Span
from worldline.dedalus.walk import CRASH, POST, PRE, literals


@dataclass(frozen=True)
class CheckedProgram:
    """A program that can be run.

    Attributes
    ----------
    nodes
        The nodes given, or those that the program names, in the order of its text.
    columns
        The arity and the types of its relations.
    strata
        Relations in the order of their derivation within a round; those in one group
        need each other.
    protocol
        For each rule, whether one node carries it out; else it is of the specification.
    warnings
        What is probably not meant.
    """

    program: Program
    nodes: tuple[str, ...]
    columns: ColumnTypes
    strata: tuple[tuple[str, ...], ...]
    protocol: tuple[bool, ...]
    warnings: tuple[Problem, ...]

    @property
    def uses_crash(self) -> bool:
        """Whether a rule asks which nodes crash."""
        return any(
            part.atom.relation == CRASH
            for rule in self.program.rules
            for part in literals(rule)
        )

    def warning_texts(self) -> list[str]:
        """Return the warnings as texts, each with its line of the program."""
        return [shown(problem, self.program) for problem in self.warnings]


def load(
    paths: Iterable[str | Path], nodes: Sequence[str] | None = None
) -> CheckedProgram:
    """Parse and check files; see `parse_files` and `check`."""
    return check(parse_files(paths), nodes)


def check(
    program: Program, nodes: Sequence[str] | None = None, *, goals: bool = True
) -> CheckedProgram:
    """Check a program.

    Parameters
    ----------
    nodes
        The nodes that there are; ``None`` for all locations that the program names.
    goals
        Whether the program has to define `pre` and `post`.

    Raises
    ------
    ProgramError
        With all errors, in the order of the text.
    """
    columns = ColumnTypes(program)
    groups = strata(program)
    problems = [
        # A place of another type than elsewhere is one error.
        *(list(odd_places(program)) or columns.problems),
        *_undefined(program),
        *unsafe(program),
        *unstratified(program, groups),
        *misplaced(program),
        *_reserved(program),
    ]
    if not columns.problems:
        # Else the types are not known: each would only repeat what is said already.
        problems += _foreign(program, columns, nodes)
        problems += _goals(program, columns) if goals and program.rules else ()
    raise_all(problems, program)
    readers = protocol(program)
    return CheckedProgram(
        program,
        tuple(nodes) if nodes is not None else _inferred(columns),
        columns,
        tuple(map(tuple, groups)),
        tuple(is_protocol(rule, readers) for rule in program.rules),
        tuple(suspicious(program)) if goals else (),
    )


def _undefined(program: Program) -> Iterator[Problem]:
    """Yield premises that no rule and no fact can ever provide."""
    defined = {CRASH, *(fact.relation for fact in program.facts)}
    defined |= {rule.head.relation for rule in program.rules}
    told: set[str] = set()
    for rule in program.rules:
        for part in literals(rule):
            name = part.atom.relation
            if name not in defined and name not in told:
                told.add(name)
                what = f"{name} is never defined"
                remedy = "check its name, or give a rule or a fact for it"
                yield Problem(part.atom.span, what, remedy)


def _reserved(program: Program) -> Iterator[Problem]:
    heads: list[Atom] = [rule.head for rule in program.rules]
    for atom in [*program.facts, *heads]:
        if atom.relation == CRASH:
            what = "crash is given by the faults, not by the program"
            yield Problem(atom.span, what, "use another name")


def _inferred(columns: ColumnTypes) -> tuple[str, ...]:
    constants = dict.fromkeys(str(constant.value) for constant, _ in columns.located())
    return tuple(constants)


def _foreign(
    program: Program, columns: ColumnTypes, nodes: Sequence[str] | None
) -> Iterator[Problem]:
    """Yield locations that are no node: what is there would silently not run."""
    if nodes is None:
        if not _inferred(columns):
            spans = [rule.head.span for rule in program.rules]
            spans += [Span(file, 1, 1) for file in program.files]
            where = next(iter(spans), None)
            yield Problem(where, "the program names no node", "give it facts")
        return
    names = ", ".join(nodes)
    for constant, atom in columns.located():
        if constant.value not in nodes:
            what = f'"{constant.value}" is a location, and no node; nodes are {names}'
            yield Problem(atom.span, what, "name it with --nodes")


def _goals(program: Program, columns: ColumnTypes) -> Iterator[Problem]:
    first: dict[str, Rule] = {}
    for rule in program.rules:
        first.setdefault(rule.head.relation, rule)
    facts = {fact.relation for fact in program.facts}
    for goal, other in ((PRE, POST), (POST, PRE)):
        if goal not in first and goal not in facts:
            where = first[other].span if other in first else None
            yield Problem(
                where,
                f"no rule defines {goal}",
                f"say with {PRE}(...) what is promised and with {POST}(...) that it "
                "came true, row by row",
            )
            return
    arity = columns.arity
    if arity[PRE] != arity[POST]:
        what = f"{PRE} has {arity[PRE]} columns and {POST} has {arity[POST]}"
        where = first[POST].span if POST in first else None
        yield Problem(where, what, "they are compared row by row")
