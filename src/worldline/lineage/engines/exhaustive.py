"""Every fault set of a scope, run one after another: slow, and beyond doubt."""

from __future__ import annotations

from collections.abc import Callable

from worldline.engine.bounds import bound_that_ended
from worldline.injection.scope import NO_FAULTS
from worldline.injection.subject import Subject
from worldline.lineage.engines.space import fault_sets
from worldline.lineage.engines.trials import (
    FaultsProgress,
    FaultTrials,
    SearchBudget,
    SearchResult,
)


def exhaustive(
    subject: Subject,
    *,
    every: bool = False,
    failure_free_goals: bool = False,
    budget: SearchBudget | None = None,
    progress: Callable[[FaultsProgress], None] | None = None,
) -> SearchResult:
    """Run a subject under every fault set, those with fewer faults first.

    Parameters
    ----------
    every
        Whether to go on after the first falsifier, which has the fewest faults. What
        contains a falsifier is not run: it could add no smallest one.
    """
    trials = FaultTrials(
        subject,
        budget or SearchBudget(),
        progress,
        failure_free_goals=failure_free_goals,
    )
    bound = bound_that_ended(lambda: _run_all(trials, every=every))
    return trials.outcome(bound, complete=not failure_free_goals)


def _run_all(trials: FaultTrials, *, every: bool) -> None:
    for faults in fault_sets(trials.subject.scope):
        if any(falsifier <= faults for falsifier in trials.falsifiers):
            continue
        run = trials.first if faults == NO_FAULTS else trials.run(faults)
        if trials.broken(run):
            trials.falsifiers.append(faults)
            if not every:
                return
