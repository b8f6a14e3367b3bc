"""Dedalus programs as subjects of fault injection."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import TypeVar, overload

from worldline.dedalus.check import CheckedProgram, check
from worldline.dedalus.compile import compile_program
from worldline.dedalus.derivations import Derivations, derivations
from worldline.dedalus.evaluate import Execution, evaluate
from worldline.dedalus.lineage import Negation, RunLineage
from worldline.dedalus.outcomes import with_outcomes
from worldline.dedalus.possible import PossibleFacts
from worldline.dedalus.provenance import Fact, Provenance
from worldline.dedalus.symmetry import renamings
from worldline.dedalus.syntax import Program
from worldline.dedalus.templates import FactRow
from worldline.dedalus.walk import POST, PRE
from worldline.injection.formula import Formula
from worldline.injection.scope import CrashSemantics, FaultSet, Scope
from worldline.injection.subject import CoverPoint, Goal, Pulse, Run, never_interrupt
from worldline.model.errors import UsageError

NOTHING_ELSE = "nothing else is owed"
"""The goal that no row of `pre` appears that is not there: kept in every run. Without
it a search would miss that faults make something owed."""

OWED = CoverPoint(
    PRE,
    f"{PRE} has no row at the end of any run",
    f"give a larger --eot, or see what keeps the rules that lead to {PRE} from firing",
)
"""Without it, a run keeps its promise because it promises nothing."""

Item = TypeVar("Item")


class Goals(StrEnum):
    """The rows that must be kept."""

    ALL = "all"
    """Every row of `pre`."""
    FAILURE_FREE = "failure-free"
    """Those that are in `post` without faults (as published; misses violations)."""


class DedalusSubject:
    """A program that runs under the faults of a scope.

    A goal is a row of `pre` and `post`, both read in the last round.

    Parameters
    ----------
    program
        Parsed, or also checked.
    scope
        The question; its nodes are all that there are.
    negation
        Whether supports contain what negated premises rest on.
    goals
        Which rows must be kept.

    Raises
    ------
    ProgramError
        If the program makes no sense, or names a node outside of the scope.
    UsageError
        If the scope asks for what a program has not: partial crashes, recovery.
    """

    def __init__(
        self,
        program: Program | CheckedProgram,
        scope: Scope,
        negation: str = Negation.CONSERVATIVE,
        goals: str = Goals.ALL,
    ) -> None:
        if scope.recovery or scope.semantics is CrashSemantics.PARTIAL:
            raise UsageError(
                "a Dedalus program has no durable fields and no partial crashes",
                remedy="use --crash-semantics mute or halt, without recovery",
            )
        if isinstance(program, CheckedProgram):
            program = program.program
        self.checked = with_outcomes(check(program, scope.nodes), scope)
        self._scope = scope
        self._compiled = compile_program(self.checked)
        self._possible = PossibleFacts(self.checked, scope)
        self._negation = Negation(negation)
        self._goals = Goals(goals)

    @property
    def scope(self) -> Scope:
        """The question."""
        return self._scope

    @property
    def complete(self) -> bool:
        """Whether supports miss no way to break a goal."""
        conservative = self._negation is Negation.CONSERVATIVE
        return conservative and self._goals is Goals.ALL

    @property
    def cases(self) -> Sequence[CoverPoint]:
        """What has to happen in some run: that something is owed."""
        return (OWED,)

    def execute(self, faults: FaultSet) -> Execution:
        """Run under faults, and return all that was derived."""
        scope = self._scope
        return evaluate(self._compiled, faults, scope.eot, scope.semantics)

    def run(self, faults: FaultSet) -> Run:
        """Execute under faults; the same faults give the same run."""
        execution = self.execute(faults)
        owed = frozenset(execution.rows(PRE, self._scope.eot))
        kept: frozenset[Goal] = frozenset(execution.rows(POST, self._scope.eot))
        if self._goals is Goals.FAILURE_FREE:
            owed, kept = owed & self._failure_free, kept & self._failure_free
        if self.complete:
            kept |= {NOTHING_ELSE}

        def lineage() -> RunLineage:
            return RunLineage(
                execution, faults, self._scope, self._negation, self._possible
            )

        support = _Support(execution, self._scope, self._negation, lineage)
        met = frozenset({PRE}) if owed else frozenset()
        return Run(faults, owed, kept, _Later(execution.messages), support, met)

    def derivations(
        self, faults: FaultSet, goals: Sequence[Goal] | None = None
    ) -> Derivations:
        """Return how a run derives rows of `pre` and `post`, for explanation.

        Parameters
        ----------
        goals
            The rows; ``None`` for all that the run has.
        """
        execution, eot = self.execute(faults), self._scope.eot
        roots = [
            Fact(relation, row, eot)
            for relation in (PRE, POST)
            for row in execution.rows(relation, eot)
            if goals is None or row in goals
        ]
        return derivations(Provenance(execution), roots)

    def renamings(self) -> Sequence[dict[str, str]]:
        """Return the permutations of nodes that change nothing, without the identity."""
        mortal = set(self._scope.may_crash)
        return [
            renaming
            for renaming in renamings(self.checked)
            if all(renaming.get(node, node) in mortal for node in mortal)
        ]

    @cached_property
    def _failure_free(self) -> frozenset[FactRow]:
        return frozenset(self.execute(frozenset()).rows(POST, self._scope.eot))


class _Support:
    """Formulas of the goals that a run kept."""

    def __init__(
        self,
        execution: Execution,
        scope: Scope,
        negation: Negation,
        make: Callable[[], RunLineage],
    ) -> None:
        self._eot = scope.eot
        self._negation = negation
        self._arity = execution.compiled.checked.columns.arity[PRE]
        self._pre = execution.rows(PRE, scope.eot)
        self._post = execution.rows(POST, scope.eot)
        self._make = make

    @cached_property
    def _lineage(self) -> RunLineage:
        return self._make()

    def __call__(self, goal: Goal, check: Pulse = never_interrupt) -> Formula:
        lineage = self._lineage
        if goal == NOTHING_ELSE:
            anything = (None,) * self._arity
            return lineage.appears(PRE, anything, self._eot, check)
        if not isinstance(goal, tuple) or goal not in self._post:
            raise UsageError(f"{goal!r} is no goal that this run keeps")
        falls = lineage.falls(Fact(POST, goal, self._eot), check)
        if goal in self._pre or self._negation is Negation.IGNORE:
            return falls
        # It is not owed either: both must change.
        unowed = lineage.appears(PRE, goal, self._eot, check)
        return lineage.circuit.every([falls, unowed])


class _Later(Sequence[Item]):
    """A sequence that is made when it is first looked at."""

    def __init__(self, make: Callable[[], Sequence[Item]]) -> None:
        self._make = make

    @cached_property
    def _items(self) -> Sequence[Item]:
        return self._make()

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        return self._items[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return list(self) == other if isinstance(other, list) else self is other

    __hash__ = None  # type: ignore[assignment]
