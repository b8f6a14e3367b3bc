"""The check of a program, and what follows from its text alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldline.dedalus.columns import ColumnTypes
from worldline.dedalus.crossing import apart, odd_places, unsent
from worldline.dedalus.lints import suspicious
from worldline.dedalus.parse import read_files
from worldline.dedalus.places import Places, places_of
from worldline.dedalus.problems import Problem, raise_all, shown
from worldline.dedalus.safety import unsafe
from worldline.dedalus.strata import strata, unstratified
from worldline.dedalus.syntax import Atom, Program, Rule, Span, Value, When
from worldline.dedalus.walk import CRASH, POST, PRE, is_persistence, literals

_PROMISE = (
    f"say with {PRE}(...) what is promised and with {POST}(...) that it came true, row "
    "by row"
)


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
        For each rule, whether nodes carry it out; else it is of the specification.
    placed
        The relations whose first column is a place.
    warnings
        What is probably not meant.
    outcomes
        Where it has no `pre` and no `post`: the relations that it keeps, whose rows are
        its promise (`worldline.dedalus.outcomes`).
    """

    program: Program
    nodes: tuple[str, ...]
    columns: ColumnTypes
    strata: tuple[tuple[str, ...], ...]
    protocol: tuple[bool, ...]
    placed: frozenset[str]
    warnings: tuple[Problem, ...]
    outcomes: tuple[str, ...] = ()

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
    """Parse and check files; see `read_files` and `check`."""
    program, problems = read_files(paths)
    return check(program, nodes, broken=problems)


def check(
    program: Program,
    nodes: Sequence[str] | None = None,
    *,
    goals: bool = True,
    broken: Sequence[Problem] = (),
) -> CheckedProgram:
    """Check a program.

    Parameters
    ----------
    nodes
        The nodes that there are; ``None`` for all places that the program names.
    goals
        Whether the program has to define `pre` and `post`.
    broken
        What is wrong with statements that are left out of the program; what these may
        have defined is not missed.

    Raises
    ------
    ProgramError
        With all errors, in the order of the text.
    """
    places = places_of(program, nodes)
    columns = ColumnTypes(program, places.relations)
    groups = strata(program)
    problems = [
        *broken,
        # A place of another type than elsewhere is one error.
        *(list(odd_places(program, places)) or columns.problems),
        *unsafe(program),
        *unstratified(program, groups),
        *unsent(program, places),
        *_reserved(program),
    ]
    if not broken and not columns.problems:
        # Else the types are not known: each would only repeat what is said already.
        problems += _foreign(program, places)
        says_something = goals and (program.rules or program.facts)
        problems += _goals(program, columns) if says_something else ()
    raise_all(problems, program)
    outcomes = _outcomes(program) if goals else ()
    return CheckedProgram(
        program,
        places.nodes,
        columns,
        tuple(map(tuple, groups)),
        places.acting,
        places.relations,
        (*suspicious(program, places, outcomes), *apart(program, places))
        if goals
        else (),
        outcomes,
    )


def _outcomes(program: Program) -> tuple[str, ...]:
    heads = {rule.head.relation for rule in program.rules}
    heads |= {fact.relation for fact in program.facts}
    return () if {PRE, POST} & heads else kept(program)


def kept(program: Program) -> tuple[str, ...]:
    """Return the relations that a rule keeps as they are, in the order of the text."""
    rules = filter(is_persistence, program.rules)
    return tuple(dict.fromkeys(rule.head.relation for rule in rules))


def _reserved(program: Program) -> Iterator[Problem]:
    heads: list[Atom] = [rule.head for rule in program.rules]
    for atom in [*program.facts, *heads]:
        if atom.relation == CRASH:
            what = "crash is given by the faults, not by the program"
            yield Problem(atom.span, what, "use another name")


def _foreign(program: Program, places: Places) -> Iterator[Problem]:
    """Yield places that are no node, once each: these would silently not run."""
    if not places.nodes:
        spans = [rule.head.span for rule in program.rules]
        spans += [Span(file, 1, 1) for file in program.files]
        remedy = "give it facts for what rules with @next or @async read"
        yield Problem(next(iter(spans), None), "the program names no node", remedy)
        return
    names = ", ".join(places.nodes)
    concluded = {id(rule.head) for rule in program.rules if rule.when is When.NOW}
    told: set[Value] = set()
    for constant, atom in places.foreign:
        if constant.value in told:
            continue
        told.add(constant.value)
        what = (
            f'"{constant.value}" is used as a place, and is no node; nodes are {names}'
        )
        remedy = "name it with --nodes, or write what is no node into another column"
        if id(atom) in concluded:
            remedy = "nodes act on it: write the node that concludes it, not a label"
        yield Problem(atom.span, what, remedy)


def _goals(program: Program, columns: ColumnTypes) -> Iterator[Problem]:
    first: dict[str, Rule] = {}
    for rule in program.rules:
        first.setdefault(rule.head.relation, rule)
    facts = {fact.relation for fact in program.facts}
    if not {PRE, POST} & (facts | first.keys()):
        if not kept(program):
            what = f"no rule defines {PRE} and {POST}, and no relation is kept"
            yield Problem(None, what, _PROMISE)
        return
    for goal, other in ((PRE, POST), (POST, PRE)):
        if goal not in first and goal not in facts:
            where = first[other].span if other in first else None
            yield Problem(
                where,
                f"no rule defines {goal}",
                _PROMISE,
            )
            return
    arity = columns.arity
    if arity[PRE] != arity[POST]:
        what = f"{PRE} has {arity[PRE]} columns and {POST} has {arity[POST]}"
        where = first[POST].span if POST in first else None
        yield Problem(where, what, "they are compared row by row")
