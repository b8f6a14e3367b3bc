"""Random fault sets, until one breaks a goal: what guided search is measured against."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from worldline.engine.bounds import bound_that_ended
from worldline.injection.scope import Delay, Fault, FaultSet, Scope
from worldline.injection.subject import Subject
from worldline.lineage.engines.space import crashes, losses
from worldline.lineage.engines.trials import (
    FaultsProgress,
    FaultTrials,
    SearchBudget,
    SearchResult,
)


def randomly(
    subject: Subject,
    random: Random,
    *,
    failure_free_goals: bool = False,
    budget: SearchBudget | None = None,
    progress: Callable[[FaultsProgress], None] | None = None,
) -> SearchResult:
    """Run a subject under random fault sets until one of them breaks a goal.

    Never says HOLDS; without a budget it need not end.
    """
    trials = FaultTrials(
        subject,
        budget or SearchBudget(),
        progress,
        failure_free_goals=failure_free_goals,
    )
    bound = bound_that_ended(lambda: _run_until_broken(trials, random))
    return trials.outcome(bound, complete=False)


def _run_until_broken(trials: FaultTrials, random: Random) -> None:
    run = trials.first
    while not trials.broken(run):
        run = trials.run(draw(trials.subject.scope, random))
    trials.falsifiers.append(run.faults)


def draw(scope: Scope, random: Random) -> FaultSet:
    """Return a random fault set.

    Each message that may be lost is, with probability 1 / (2 EFF), as in the published
    tool's random strategy; where messages may be late, a fault is a loss or one of the
    delays, all as likely. Each of the crashes that there may be happens with probability
    1/2, to any node that may crash, at any time.
    """
    drawn: list[Fault] = []
    for loss in losses(scope):
        if random.random() * 2 * scope.eff < 1:
            by = random.randint(0, scope.delay)
            drawn.append(loss if by == 0 else Delay(loss.time, loss.src, loss.dst, by))
    for node in random.sample(scope.may_crash, scope.crashes):
        if random.random() < 0.5:
            drawn.append(random.choice(crashes(scope, node)))
    return frozenset(drawn)
