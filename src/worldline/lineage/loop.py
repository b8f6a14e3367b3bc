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
from collections.abc import Callable
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.lineage.hazards import hazards
from worldline.lineage.trials import NO_FAULTS, Budget, Outcome, Progress, Trials
from worldline.model.errors import InternalError
from worldline.model.injection.formula import Formula, Some
from worldline.model.injection.renamed import Renamings
from worldline.model.injection.scope import Crash, Fault, FaultSet
from worldline.model.injection.subject import Run, Subject


def loop(
    subject: Subject,
    *,
    every: bool = False,
    symmetry: bool = True,
    first_send: bool | None = None,
    failure_free_goals: bool = False,
    budget: Budget | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Search for faults that undo a goal, guided by lineage.

    Parameters
    ----------
    every
        Whether to go on after the first falsifier.
    symmetry
        Whether one of all fault sets is run that differ in interchangeable nodes only.
    first_send
        Whether a crash before a node's first message is taken for one at it. That is
        wrong where faults make a node send earlier than without faults, so by default it
        is done where the answer cannot be HOLDS anyway, and not all sets are asked for.
    failure_free_goals
        Whether only what the run without faults keeps is a goal.

    Returns
    -------
    Outcome
        HOLDS only if the subject's supports are complete and no bound was hit. With
        `every`, the falsifiers that have no other one in them.
    """
    trials = Trials(
        subject,
        budget or Budget(),
        progress,
        failure_free_goals=failure_free_goals,
    )
    complete = subject.complete and not failure_free_goals
    if first_send is None:
        first_send = not complete and not every
    search = _Loop(trials, every=every, symmetry=symmetry, first_send=first_send)
    bound = None
    try:
        search.run()
    except BoundHit as hit:
        bound = hit.bound
    except KeyboardInterrupt:
        bound = "interrupted"
    if every:
        trials.falsifiers = smallest(search.renamings.all_of(trials.falsifiers))
    return trials.outcome(bound, complete=complete)


def smallest(sets: list[FaultSet]) -> list[FaultSet]:
    """Return the sets that have no other one in them, each once, small ones first."""
    found: list[FaultSet] = []
    for one in sorted(sets, key=len):
        if not any(known <= one for known in found):
            found.append(one)
    return found


@final
class _Loop:
    """One search: what was seen, and what waits."""

    def __init__(
        self, trials: Trials, *, every: bool, symmetry: bool, first_send: bool
    ) -> None:
        self._trials = trials
        self._every = every
        permutations = trials.subject.renamings() if symmetry else ()
        self.renamings = Renamings(permutations)
        self._first = _first_sends(trials.first) if first_send else None
        self._seen = {NO_FAULTS}
        self._waiting: deque[tuple[FaultSet, Formula]] = deque()

    def run(self) -> None:
        """Go on until a falsifier is found or none is left."""
        self._judge(self._trials.first)
        while self._waiting and not self._is_done():
            self._follow(*self._waiting.popleft())

    def _is_done(self) -> bool:
        return bool(self._trials.falsifiers) and not self._every

    def _follow(self, seed: FaultSet, support: Formula) -> None:
        """Run the hazards of a good run."""
        scope = self._trials.subject.scope
        for faults in hazards(support, scope, seed, self._is_allowed):
            if faults == seed:
                raise InternalError("the support of a goal is gone where it is kept")
            known = self.renamings.least(faults)
            if known in self._seen:
                continue
            self._seen.add(known)
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
            # The hazards of all goals at once: their smallest sets are those of one.
            parts = tuple(run.support(goal) for goal in trials.kept(run))
            self._waiting.append((run.faults, Some(parts)))

    def _is_allowed(self, fault: Fault) -> bool:
        if self._first is None or not isinstance(fault, Crash):
            return True
        # Of a node that never sends, the time of its crash makes no difference.
        first = self._first.get(fault.node)
        return fault.time == 1 if first is None else fault.time >= first


def _first_sends(run: Run) -> dict[str, int]:
    """Return when each node first sends to another."""
    first: dict[str, int] = {}
    for sent in run.sent:
        if sent.src != sent.dst:
            first[sent.src] = min(sent.time, first.get(sent.src, sent.time))
    return first
