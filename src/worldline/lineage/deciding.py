"""From a question to an outcome: which scope, and which engine searches it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
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
from worldline.lineage.engines.trials import Budget, Outcome
from worldline.lineage.targets.target import (
    CONSERVATIVE,
    IGNORE,
    SEARCHES,
    Question,
    Report,
    Target,
)
from worldline.model.amounts import (
    refuse_other_than_seconds,
    refuse_other_than_whole,
)
from worldline.model.errors import UsageError
from worldline.model.verdicts import Verdict


def question_of(
    *,
    nodes: Sequence[str] | None = None,
    properties: Sequence[str] | None = None,
    crash_nodes: Sequence[str] | None = None,
    eot: int | None = None,
    eff: int | None = None,
    crashes: int | None = None,
    crash_semantics: str | None = None,
    delay: int = 0,
    recovery: bool = False,
    engine: str | None = None,
    negation: str = CONSERVATIVE,
    goals: str = "all",
    every: bool = False,
    max_executions: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    seed: int = 0,
    sweep: float | None = None,
    frontier: bool = False,
    harden: bool = False,
) -> Question:
    """Return a question from the options of the command or of `faults`.

    Raises
    ------
    UsageError
        If an option has no such value.
    """
    refuse_other_than_whole(max_executions=max_executions, max_memory_mb=max_memory_mb)
    refuse_other_than_whole(least=0, eot=eot, eff=eff, crashes=crashes, delay=delay)
    refuse_other_than_seconds(max_seconds=max_seconds, sweep=sweep)
    return Question(
        nodes=None if nodes is None else _distinct(nodes, "--nodes"),
        properties=None if properties is None else _names("properties", properties),
        crash_nodes=(
            None if crash_nodes is None else _distinct(crash_nodes, "--crash-nodes")
        ),
        eot=eot,
        eff=eff,
        crashes=crashes,
        semantics=_semantics(crash_semantics),
        delay=delay,
        recovery=recovery,
        engine=engine,
        negation=_one_of("negation", negation, (CONSERVATIVE, IGNORE)),
        failure_free_goals=_one_of("goals", goals, ("all", "failure-free")) != "all",
        every=every,
        budget=Budget(
            executions=max_executions,
            seconds=max_seconds,
            memory_mb=max_memory_mb,
        ),
        seed=seed,
        sweep=sweep,
        frontier=frontier,
        harden=harden,
    )


def scope_of(target: Target, question: Question) -> Scope:
    """Return the scope of a question, with what the target says where it says nothing."""
    last, quiet, most = target.default_scope
    eot = last if question.eot is None else question.eot
    eff = min(quiet, max(eot - 1, 0)) if question.eff is None else question.eff
    named = _crash_nodes(target, question)
    most = min(most, len(target.nodes if named is None else named))
    return Scope(
        target.nodes,
        eot,
        eff,
        most if question.crashes is None else question.crashes,
        question.semantics or target.semantics,
        question.delay,
        question.recovery,
        named,
    )


def _crash_nodes(target: Target, question: Question) -> tuple[str, ...] | None:
    """Return the nodes that may crash, in order; None where all may."""
    asked = question.crash_nodes
    named = target.may_crash if asked is None else asked
    if named is None or set(named) == set(target.nodes):
        return None
    unknown = [name for name in named if name not in target.nodes]
    return (*(name for name in target.nodes if name in named), *unknown)


def decide(
    target: Target, scope: Scope, question: Question, progress: Report | None = None
) -> Outcome:
    """Search a scope; falsifiers have nothing to leave out, the smallest is first."""
    engine = question.engine or target.engine
    if engine == target.engine:
        if question.failure_free_goals:
            raise UsageError(
                f"the engine {engine} knows all goals only",
                remedy=f"choose one of {', '.join(SEARCHES)}, or --goals all",
            )
        found = _in_time(lambda: target.solve(scope, question, progress), question)
    else:
        found = _in_time(
            lambda: _search(target, scope, engine, question, progress), question
        )
    ordered = sorted(
        found.falsifiers,
        key=lambda one: (
            len(one),
            scope.ends_in_crash(one),
            [(f.time, str(f)) for f in in_order(one)],
        ),
    )
    return replace(found, falsifiers=tuple(ordered))


def _in_time(search: Callable[[], Outcome], question: Question) -> Outcome:
    """Return the outcome of a search; one without an outcome in time knows nothing."""
    began = time.monotonic()
    try:
        with ended_after(question.budget.started().seconds_left):
            return search()
    except BoundHit as hit:
        seconds = time.monotonic() - began
        return Outcome(verdict=Verdict.UNKNOWN, bound=hit.bound, seconds=seconds)


def _search(
    target: Target,
    scope: Scope,
    engine: str,
    question: Question,
    progress: Report | None,
) -> Outcome:
    subject = target.subject(scope, question.negation)
    goals, budget = question.failure_free_goals, question.budget
    if engine == "ldfi":
        found = loop(
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
        found = randomly(
            subject,
            Random(question.seed),
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
    if question.every or not found.falsifiers:
        return found
    return _smaller(subject, found, budget)


def _smaller(subject: Subject, found: Outcome, budget: Budget) -> Outcome:
    """Leave out of a falsifier what it does not need, as far as time allows.

    What then crashes in the last round crashes earlier, if that breaks it as well.
    """
    meter, began = _meter(budget), time.monotonic()
    least, bound = found.falsifiers[0], found.bound
    notes = found.notes

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
    if bound != found.bound:
        notes += ("fewer faults may do: the search ended before that was known",)
    return replace(
        found,
        falsifiers=(least,),
        bound=bound,
        notes=notes,
        seconds=found.seconds + time.monotonic() - began,
    )


def _meter(budget: Budget) -> Meter:
    """Return what watches over how long a falsifier is made smaller."""
    return budget.started()


def _semantics(name: str | None) -> CrashSemantics | None:
    if name is None:
        return None
    return CrashSemantics(_one_of("crash semantics", name, tuple(CrashSemantics)))


def _distinct(nodes: Sequence[str], option: str) -> tuple[str, ...]:
    named = _names("nodes", nodes)
    if not all(named) or len(set(named)) != len(named):
        raise UsageError(
            f"the nodes {','.join(named)!r} are not all named, or one is named twice",
            remedy=f"give each node once, as in {option} a,b,c",
        )
    return named


def _names(what: str, given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise UsageError(
            f"the {what} {given!r} are no list of names", remedy="give a list of texts"
        )
    return tuple(given)


def _one_of(what: str, given: str, allowed: Sequence[str]) -> str:
    if given not in allowed:
        raise UsageError(
            f"there are no {what} {given!r}", remedy=f"choose {' or '.join(allowed)}"
        )
    return given
