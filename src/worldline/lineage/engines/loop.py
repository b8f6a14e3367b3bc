"""The loop of lineage-driven fault injection: backwards to hazards, forwards to runs.

A run without faults shows why each goal holds. Only a fault set that removes all of that
support can undo the goal, so the smallest such sets are run. Where the goal falls, a
falsifier is found; where it holds for another reason, that reason is treated in the same
way, with the faults of the run as a seed.

Notes
-----
If supports miss nothing, neither does the loop. Let D be a falsifier of which no part is
one. The empty set is in D. For every F in D that was run and is good, the support of the
goal that D breaks is true of D and, since the goal is kept there, false of F; so one of
its smallest models that contain F lies in D, and is larger than F. It is run in turn, and
where it is a falsifier it is D.

References
----------
Alvaro, Rosen, Hellerstein, "Lineage-driven Fault Injection", SIGMOD 2015: section 3.2,
section 4.3, Algorithm 1 and theorem B.2. The queue and the seeds are those of the
published tool.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import final

from worldline.engine.bounds import bound_that_ended
from worldline.injection.formula import Some
from worldline.injection.renamed import Renamings
from worldline.injection.scope import NO_FAULTS, Crash, Fault, FaultSet, Scope
from worldline.injection.subject import Run, Subject
from worldline.lineage.engines.hazards import hazards
from worldline.lineage.engines.trials import (
    FaultsProgress,
    FaultTrials,
    SearchBudget,
    SearchResult,
)
from worldline.model.errors import InternalError

_WHOLE = 64
"""So many good runs wait as they are; of others the faults, as runs take memory."""


def loop(
    subject: Subject,
    *,
    every: bool = False,
    symmetry: bool = True,
    while_sending: bool | None = None,
    failure_free_goals: bool = False,
    budget: SearchBudget | None = None,
    progress: Callable[[FaultsProgress], None] | None = None,
) -> SearchResult:
    """Search for faults that undo a goal, guided by lineage.

    Parameters
    ----------
    every
        Whether to go on after the first falsifier.
    symmetry
        Whether one of all fault sets is run that differ in interchangeable nodes only.
    while_sending
        Whether a node crashes only when it sends something in the good run that is
        followed: at another time the next messages are the first that are missing. That
        is wrong where more faults make it send earlier, so by default it is done where
        the answer cannot be HOLDS anyway, and not all sets are asked for. The published
        tool prunes so before a node's first message.
    failure_free_goals
        Whether only what the run without faults keeps is a goal.

    Returns
    -------
    Outcome
        HOLDS only if the subject's supports are complete and no bound was hit. With
        `every`, the falsifiers that have no other one in them.
    """
    trials = FaultTrials(
        subject,
        budget or SearchBudget(),
        progress,
        failure_free_goals=failure_free_goals,
    )
    complete = subject.complete and not failure_free_goals
    if while_sending is None:
        while_sending = not complete and not every
    search = _Loop(trials, every=every, symmetry=symmetry, while_sending=while_sending)
    bound = bound_that_ended(search.run)
    if every:
        trials.falsifiers = smallest(search.renamings.all_of(trials.falsifiers))
    return trials.outcome(bound, complete=complete)


def smallest(sets: list[FaultSet]) -> list[FaultSet]:
    """Return the sets that have no other one in them, each once, small ones first."""
    kept: list[FaultSet] = []
    for one in sorted(sets, key=len):
        if not any(smaller <= one for smaller in kept):
            kept.append(one)
    return kept


@final
class _Loop:
    """One search: what was seen, and what waits."""

    def __init__(
        self, trials: FaultTrials, *, every: bool, symmetry: bool, while_sending: bool
    ) -> None:
        self._trials = trials
        self._every = every
        permutations = trials.subject.renamings() if symmetry else ()
        self.renamings = Renamings(permutations)
        self._while_sending = while_sending
        self._seen = {NO_FAULTS}
        self._waiting: deque[Run | FaultSet] = deque()

    def run(self) -> None:
        """Go on until a falsifier is found or none is left."""
        self._judge(self._trials.first)
        while self._waiting and not self._is_done():
            self._follow(self._waiting.popleft())

    def _is_done(self) -> bool:
        return bool(self._trials.falsifiers) and not self._every

    def _follow(self, good: Run | FaultSet) -> None:
        """Run the hazards of a good run."""
        trials = self._trials
        trials.check()
        # Lineage is worked out now: many a run is never followed.
        run = good if isinstance(good, Run) else trials.subject.run(good)
        seed = run.faults
        # The hazards of all goals at once: their smallest sets are those of one.
        support = Some(tuple(run.support(g, trials.check) for g in trials.kept(run)))
        allowed = _while_sending(run) if self._while_sending else _anything
        scope = trials.subject.scope
        candidates = hazards(support, scope, seed, allowed, trials.check)
        for faults in _late_ones_last(candidates, scope):
            if faults == seed:
                raise InternalError("the support of a goal is gone where it is kept")
            least = self.renamings.least(faults)
            if least in self._seen:
                continue
            self._seen.add(least)
            if any(falsifier <= faults for falsifier in self._trials.falsifiers):
                continue
            self._judge(self._trials.run(faults, len(self._waiting)))
            if self._is_done():
                return

    def _judge(self, run: Run) -> None:
        trials = self._trials
        if trials.broken(run):
            trials.falsifiers.append(run.faults)
        else:
            whole = len(self._waiting) < _WHOLE
            self._waiting.append(run if whole else run.faults)


def _late_ones_last(candidates: Iterator[FaultSet], scope: Scope) -> Iterator[FaultSet]:
    """Yield the sets that have a crash in the last round after the others."""
    late = []
    for faults in candidates:
        if scope.ends_in_crash(faults):
            late.append(faults)
        else:
            yield faults
    yield from late


def _anything(fault: Fault) -> bool:
    return True


def _while_sending(run: Run) -> Callable[[Fault], bool]:
    """Return what allows the crashes of nodes that send something at that time.

    Of a node that never sends, the time of its crash makes no difference.
    """
    times: dict[str, set[int]] = {}
    for sent in run.sent:
        if sent.src != sent.dst:
            times.setdefault(sent.src, set()).add(sent.time)

    def allowed(fault: Fault) -> bool:
        if not isinstance(fault, Crash):
            return True
        return fault.time in times.get(fault.node, {1})

    return allowed
