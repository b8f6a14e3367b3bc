"""A Dedalus program as a target of fault injection."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import final

from worldline.dedalus.check import CheckedProgram, load
from worldline.dedalus.symbolic.frontier import frontier
from worldline.dedalus.symbolic.search import search
from worldline.dedalus.symbolic.solver import OutOfTime
from worldline.engine.bounds import BoundHit, Meter
from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import NO_FAULTS, CrashSemantics, FaultSet, Scope
from worldline.injection.subject import Goal, Pulse, Run
from worldline.lineage.engines.trials import FaultsProgress, SearchBudget, SearchResult
from worldline.lineage.explaining.cause import FaultCause
from worldline.lineage.explaining.explained import lineage_lines
from worldline.lineage.options import CONSERVATIVE, IGNORE
from worldline.lineage.targets.files import name_of
from worldline.lineage.targets.hardening import harden
from worldline.lineage.targets.program_cause import program_causes
from worldline.lineage.targets.program_history import ProgramHistory
from worldline.lineage.targets.program_subject import OWED, DedalusSubject
from worldline.lineage.targets.program_system import (
    ProgramRun,
    origin,
    what_is_owed_is_kept,
)
from worldline.lineage.targets.target import FaultQuery, ProgressCallback
from worldline.loading import builtin
from worldline.model.errors import UsageError
from worldline.model.usercode.interrupts import heard, pending
from worldline.model.verdicts import Verdict
from worldline.trace.records import Trace

EOT, EFF, CRASHES = 6, 4, 1
"""The scope where the user gives none: the example of the paper, section 2.1.1."""

_SYNCHRONOUS = "messages arrive in the next round"
_FOR_GOOD = "crashed nodes stay down"


@final
class DedalusTarget:
    """A program.

    Parameters
    ----------
    names
        What the user called its files; they are given back in commands.
    files
        The files.
    nodes
        Its nodes, where they are not to be inferred.
    properties
        Names of what is judged; it has one promise.
    """

    engine = "symbolic"
    semantics = CrashSemantics.MUTE
    can_harden = True
    may_crash: tuple[str, ...] | None = None

    def __init__(
        self,
        names: Sequence[str],
        files: Sequence[Path],
        nodes: tuple[str, ...] | None,
        properties: Sequence[str] | None = None,
    ) -> None:
        _refuse_other_promises(properties)
        self._names = tuple(names)
        self.default_scope = (EOT, EFF, CRASHES)
        if len(names) == 1 and names[0].startswith(builtin.PREFIX):
            program = builtin.programs()[names[0].removeprefix(builtin.PREFIX)]
            self.default_scope = (program.eot, program.eff, program.crashes)
            nodes = program.nodes if nodes is None else nodes
        self.checked = load(files, nodes)
        self.nodes = self.checked.nodes
        self.name = name_of(names)

    @property
    def properties(self) -> tuple[tuple[str, str], ...]:
        """Its one promise."""
        return ((what_is_owed_is_kept.name, what_is_owed_is_kept.kind.value),)

    def judging(self, names: Sequence[str]) -> DedalusTarget:
        """Return it, as it has that promise alone."""
        _refuse_other_promises(names)
        return self

    def promised(self, goal: Goal) -> str:
        """Return the name of that promise."""
        return what_is_owed_is_kept.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is probably not meant in the program."""
        return tuple(self.checked.warning_texts())

    def assumptions(self, scope: Scope) -> tuple[str, ...]:
        """Return under what a program holds."""
        late = f" or up to {scope.delay} later, if sent before EFF"
        return (_SYNCHRONOUS + late * (scope.delay > 0), _FOR_GOOD)

    @property
    def command(self) -> str:
        """What names it on a command line."""
        return shlex.join(self._names)

    def subject(self, scope: Scope, negation: str) -> DedalusSubject:
        """Return what the searches run."""
        return DedalusSubject(self.checked, scope, negation)

    def solve(
        self, scope: Scope, question: FaultQuery, report: ProgressCallback | None
    ) -> SearchResult:
        """Decide a scope by solving for all faults at once."""
        return _solved(
            self.checked, scope, question.budget, report, every=question.every
        )

    def frontier(self, scope: Scope, budget: SearchBudget) -> list[FrontierPoint]:
        """Return the resilience frontier, as far as time allows."""
        edges: list[FrontierPoint] = []
        try:
            edges.extend(frontier(self.checked, scope, look=_look(budget)))
        except OutOfTime:
            first = len(edges)
            edges += [
                FrontierPoint(crashes, None, None, None, exact=False)
                for crashes in range(first, scope.crashes + 1)
            ]
        return edges

    def audit(self, scope: Scope, falsifiers: Sequence[FaultSet]) -> tuple[str, ...]:
        """Return nothing: rules have no way to be impure."""
        return ()

    def trace(self, scope: Scope, faults: FaultSet, engine: str, seed: int) -> Trace:
        """Return the run under faults, with the relations as fields."""
        run = ProgramRun(self.checked, scope, faults, self.name)
        source = origin(self.command, scope, faults)
        return run.trace(source, engine=engine, seed=seed)

    def causes(self, scope: Scope, bad: Run, check: Pulse) -> list[FaultCause]:
        """Return why a run breaks what it breaks."""
        return program_causes(self.subject(scope, IGNORE), bad, check)

    def supports(self, scope: Scope, bad: Run, goal: Goal, meter: Meter) -> list[str]:
        """Return the messages that are enough for a goal without faults."""
        # With losses until the end, so that supports name all messages.
        widest = replace(scope, eff=scope.eot)
        good = self.subject(widest, CONSERVATIVE).run(NO_FAULTS)
        return list(lineage_lines(good, bad, scope, goal, meter))

    def history(
        self, scope: Scope, run: Run, goals: Collection[Goal]
    ) -> ProgramHistory:
        """Return all facts of a run, and from what they were derived."""
        return ProgramHistory(self.subject(scope, IGNORE), run)

    def harden(
        self, scope: Scope, falsifiers: Sequence[FaultSet], budget: SearchBudget
    ) -> list[str]:
        """Return rules to add, after which the program holds."""

        def certify(changed: CheckedProgram) -> SearchResult:
            # What breaks it now is tried first: to solve takes longer than to run.
            subject = DedalusSubject(changed, scope, IGNORE)
            if any(subject.run(faults).broken for faults in falsifiers):
                return SearchResult(verdict=Verdict.VIOLATED)
            return _solved(changed, scope, budget, None, every=False)

        def owed(changed: CheckedProgram) -> frozenset[Goal]:
            return DedalusSubject(changed, scope, IGNORE).run(NO_FAULTS).owed

        return [str(patch) for patch in harden(self.checked, certify, owed)]


def _refuse_other_promises(names: Sequence[str] | None) -> None:
    one = what_is_owed_is_kept.name
    others = [name for name in names or () if name != one]
    if others:
        raise UsageError(
            f"a Dedalus program has no property {others[0]!r}",
            remedy=f"leave --property out: it has one promise, {one}",
        )


def _solved(
    checked: CheckedProgram,
    scope: Scope,
    budget: SearchBudget,
    report: ProgressCallback | None,
    *,
    every: bool,
) -> SearchResult:
    def tell(phase: str) -> None:
        if report is not None:
            report(FaultsProgress(executions=0, found=0, seconds=0.0, phase=phase))

    try:
        with heard():
            solution = search(
                checked, scope, every=every, look=_look(budget), progress=tell
            )
        if solution.bound == "interrupted":
            pending()  # it is heeded now
    except (KeyboardInterrupt, MemoryError, OutOfTime) as end:
        # Before there was a question to be asked of the solver.
        pending()
        return SearchResult(verdict=Verdict.UNKNOWN, bound=_bound_of(end))
    return SearchResult(
        verdict=solution.verdict,
        falsifiers=solution.falsifiers,
        executions=solution.executions,
        seconds=solution.seconds,
        bound=solution.bound,
        unmet=(OWED,) if solution.vacuous else (),
        notes=solution.notes,
    )


def _look(budget: SearchBudget) -> Callable[[], None]:
    """Return what tells a solver that a bound was hit."""
    meter = budget.started()

    def look() -> None:
        try:
            meter.check()
        except BoundHit as hit:
            raise OutOfTime(hit.bound) from None

    return look


def _bound_of(end: BaseException) -> str:
    if isinstance(end, OutOfTime):
        return end.bound
    return "memory" if isinstance(end, MemoryError) else "interrupted"
