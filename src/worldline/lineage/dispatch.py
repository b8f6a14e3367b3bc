"""From a question to an outcome: which scope, and which engine searches it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random

from worldline.engine.bounds import BoundHit, Meter, bound_that_ended
from worldline.injection.scope import CrashSemantics, FaultSet, Scope, in_order
from worldline.injection.subject import Subject
from worldline.lineage.alarm import ended_after
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.minimal import earlier, minimal
from worldline.lineage.engines.randomly import randomly
from worldline.lineage.engines.trials import SearchBudget, SearchResult
from worldline.lineage.targets.target import (
    SEARCHES,
    FaultQuery,
    ProgressCallback,
    Target,
)
from worldline.model.errors import UsageError
from worldline.model.verdicts import Verdict


def scope_of(target: Target, question: FaultQuery) -> Scope:
    """Return the scope of a question, with what the target says where it says nothing."""
    last, quiet, most = target.default_scope
    asked = question.options
    eot = last if asked.eot is None else asked.eot
    eff = min(quiet, max(eot - 1, 0)) if asked.eff is None else asked.eff
    named = _crash_nodes(target, question)
    most = min(most, len(target.nodes if named is None else named))
    return Scope(
        target.nodes,
        eot,
        eff,
        most if asked.crashes is None else asked.crashes,
        CrashSemantics(asked.crash_semantics or target.semantics),
        asked.delay,
        asked.recovery,
        named,
    )


def _crash_nodes(target: Target, question: FaultQuery) -> tuple[str, ...] | None:
    """Return the nodes that may crash, in order; None where all may."""
    asked = question.options.crash_nodes
    named = target.may_crash if asked is None else asked
    if named is None or set(named) == set(target.nodes):
        return None
    unknown = [name for name in named if name not in target.nodes]
    return (*(name for name in target.nodes if name in named), *unknown)


def decide(
    target: Target,
    scope: Scope,
    question: FaultQuery,
    progress: ProgressCallback | None = None,
) -> SearchResult:
    """Search a scope; falsifiers have nothing to leave out, the smallest is first."""
    engine = question.options.engine or target.engine
    if engine == target.engine:
        if question.failure_free_goals:
            raise UsageError(
                f"the engine {engine} knows all goals only",
                remedy=f"choose one of {', '.join(SEARCHES)}, or --goals all",
            )
        result = _in_time(lambda: target.solve(scope, question, progress), question)
    else:
        result = _in_time(
            lambda: _search(target, scope, engine, question, progress), question
        )
    ordered = sorted(
        result.falsifiers,
        key=lambda one: (
            len(one),
            scope.ends_in_crash(one),
            [(f.time, str(f)) for f in in_order(one)],
        ),
    )
    return replace(result, falsifiers=tuple(ordered))


def _in_time(search: Callable[[], SearchResult], question: FaultQuery) -> SearchResult:
    """Return the outcome of a search; one without an outcome in time knows nothing."""
    began = time.monotonic()
    try:
        with ended_after(question.budget.started().seconds_left):
            return search()
    except BoundHit as hit:
        seconds = time.monotonic() - began
        return SearchResult(verdict=Verdict.UNKNOWN, bound=hit.bound, seconds=seconds)


def _search(
    target: Target,
    scope: Scope,
    engine: str,
    question: FaultQuery,
    progress: ProgressCallback | None,
) -> SearchResult:
    subject = target.subject(scope, question.options.negation)
    goals, budget = question.failure_free_goals, question.budget
    if engine == "ldfi":
        result = loop(
            subject,
            every=question.every,
            failure_free_goals=goals,
            budget=budget,
            progress=progress,
        )
    elif engine == "random":
        if question.every:
            raise UsageError(
                "random search cannot tell that it found all falsifiers",
                remedy="choose another engine, or leave --all out",
            )
        result = randomly(
            subject,
            Random(question.options.seed),
            failure_free_goals=goals,
            budget=budget,
            progress=progress,
        )
    elif engine == "exhaustive":
        return exhaustive(
            subject,
            every=question.every,
            failure_free_goals=goals,
            budget=budget,
            progress=progress,
        )
    else:
        raise UsageError(
            f"{target.name} cannot be searched by the engine {engine!r}",
            remedy=f"choose one of {', '.join((target.engine, *SEARCHES))}",
        )
    if question.every or not result.falsifiers:
        return result
    return _smaller(subject, result, budget)


def _smaller(
    subject: Subject, result: SearchResult, budget: SearchBudget
) -> SearchResult:
    """Leave out of a falsifier what it does not need, as far as time allows.

    What then crashes in the last round crashes earlier, if that breaks it as well.
    """
    meter, began = _meter(budget), time.monotonic()
    least, bound = result.falsifiers[0], result.bound
    notes = result.notes

    def falls(faults: FaultSet) -> bool:
        nonlocal least
        meter.check()
        is_broken = bool(subject.run(faults).broken)
        if is_broken and len(faults) < len(least):
            least = faults
        return is_broken

    def shrink() -> None:
        nonlocal least
        least = minimal(falls, least)
        least = earlier(falls, least, subject.scope.eot)

    bound = bound_that_ended(shrink) or bound
    if bound != result.bound:
        notes += ("fewer faults may do: the search ended before that was known",)
    return replace(
        result,
        falsifiers=(least,),
        bound=bound,
        notes=notes,
        seconds=result.seconds + time.monotonic() - began,
    )


def _meter(budget: SearchBudget) -> Meter:
    """Return what watches over how long a falsifier is made smaller."""
    return budget.started()
