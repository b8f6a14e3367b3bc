"""A target of fault injection: all that differs between a program and a system.

`program` and `rounds` are the two kinds; everything else about faults
knows a subject only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, final

from worldline.engine.bounds import Meter
from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import CrashSemantics, FaultSet, Scope
from worldline.injection.subject import Goal, Pulse, Run, Subject
from worldline.lineage.engines.trials import FaultsProgress, SearchBudget, SearchResult
from worldline.lineage.explaining.cause import FaultCause
from worldline.lineage.explaining.exports import ExportedHistory
from worldline.lineage.options import FaultOptions
from worldline.trace.records import Trace

ProgressCallback = Callable[[FaultsProgress], None]

SEARCHES = ("ldfi", "random", "exhaustive")
"""The engines that run a subject, whatever it is."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultQuery:
    """A question to a target: as the user asks it, or of one of several scopes.

    Attributes
    ----------
    every
        Whether all falsifiers are wanted that have no other one in them.
    """

    options: FaultOptions
    budget: SearchBudget
    every: bool

    @classmethod
    def of(cls, options: FaultOptions) -> FaultQuery:
        """Return what a user asks."""
        budget = SearchBudget(
            executions=options.max_executions,
            seconds=options.max_seconds,
            memory_mb=options.max_memory,
        )
        return cls(options=options, budget=budget, every=options.all)

    @property
    def failure_free_goals(self) -> bool:
        """Whether only what the run without faults keeps is a goal."""
        return self.options.goals != "all"


class Target(Protocol):
    """A Dedalus program or a Python system, opened."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Its nodes, in the order of their ids."""

    @property
    def may_crash(self) -> tuple[str, ...] | None:
        """The nodes that may crash where the user names none; None means all."""

    @property
    def default_scope(self) -> tuple[int, int, int]:
        """EOT, EFF and crashes where the user gives none."""

    @property
    def semantics(self) -> CrashSemantics:
        """What a crash means where the user does not say."""

    @property
    def engine(self) -> str:
        """The name of its own engine, which is the default."""

    @property
    def can_harden(self) -> bool:
        """Whether changes to it can be tried."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is probably not meant."""

    @property
    def properties(self) -> tuple[tuple[str, str], ...]:
        """The name and the kind of each property that it promises or must reach."""

    def judging(self, names: Sequence[str]) -> Target:
        """Return it with these of its properties alone."""

    def promised(self, goal: Goal) -> str:
        """Return the name of the property that a goal belongs to."""

    def assumptions(self, scope: Scope) -> tuple[str, ...]:
        """What is true of every run that is looked at, beside the scope."""

    @property
    def command(self) -> str | None:
        """What names it on a command line; None for one that was made by a program."""

    def subject(self, scope: Scope, negation: str) -> Subject:
        """Return it as what the searches run."""

    def solve(
        self, scope: Scope, question: FaultQuery, report: ProgressCallback | None
    ) -> SearchResult:
        """Decide a scope with its own engine."""

    def audit(self, scope: Scope, falsifiers: Sequence[FaultSet]) -> tuple[str, ...]:
        """Check on a sample of runs that they are functions of their faults.

        Returns what could not be checked, as notes.
        """

    def trace(self, scope: Scope, faults: FaultSet, engine: str, seed: int) -> Trace:
        """Return the run under faults as a trace."""

    def frontier(
        self, scope: Scope, budget: SearchBudget
    ) -> list[FrontierPoint] | None:
        """Return the resilience frontier, if its own engine knows a way to find it."""

    def causes(self, scope: Scope, bad: Run, check: Pulse) -> list[FaultCause]:
        """Return why a run breaks what it breaks; goals with one cause together.

        Parameters
        ----------
        bad
            Under a falsifier: with any of its faults left out, nothing is broken.
        check
            Called now and then; what it raises ends the work.
        """

    def supports(self, scope: Scope, bad: Run, goal: Goal, meter: Meter) -> list[str]:
        """Return what keeps a goal without faults that a run breaks, in words."""

    def history(
        self, scope: Scope, run: Run, goals: Collection[Goal]
    ) -> ExportedHistory:
        """Return all that a run derived, as far as it can be told.

        Parameters
        ----------
        goals
            Those that are asked about.
        """

    def harden(
        self, scope: Scope, falsifiers: Sequence[FaultSet], budget: SearchBudget
    ) -> list[str]:
        """Return changes, as text, after which it holds in a scope.

        Parameters
        ----------
        falsifiers
            Fault sets that break it now.
        """
