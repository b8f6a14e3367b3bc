"""Exhaustive search: every state that the faults, choices and bounds allow.

`check` is what users call. Breadth-first search gives the shortest counterexamples;
depth-first search is bounded by a depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.room import peak_memory_mb
from worldline.loading.opening import Target, open_system
from worldline.model.amounts import (
    refuse_other_than_seconds,
    refuse_other_than_seed,
    refuse_other_than_whole,
)
from worldline.model.data.identity import without_order
from worldline.model.errors import InternalError, UsageError, refuse_no_asserts
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.model.verdicts import Verdict, combine
from worldline.runs.prefix import Prefix
from worldline.runs.report import PropertyReport
from worldline.runs.start import Start
from worldline.search.assumptions import assumptions, conditions, folded
from worldline.search.counterexample import Counterexamples, Finding
from worldline.search.cut import Predicates
from worldline.search.engines import Chosen, Engine, Strategy, choose, threads_of
from worldline.search.growth import growing
from worldline.search.liveness import MOST_STATES, Liveness
from worldline.search.question import Limits, Question
from worldline.search.report import Progress, Report
from worldline.search.stages import NO_GOAL, Goal, goals_of
from worldline.search.vacuity import never
from worldline.trace.format import Place
from worldline.worlds.purity.audit import audit_predicates

_GROWTH_BOUNDS = frozenset({"depth", "states", "seconds", "memory", "interrupted"})


def check(
    system: Target,
    *,
    parameters: Mapping[str, str] | None = None,
    strategy: Strategy = "breadth-first",
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    prune: Predicates | None = None,
    assume: Predicates | None = None,
    deadlock: bool = False,
    keep_going: bool = False,
    properties: list[str] | None = None,
    engine: Engine = "auto",
    threads: int | None = None,
    symmetry: bool = True,
    exact: bool = False,
    liveness: bool = True,
    max_liveness_states: int = MOST_STATES,
    seed: int = 0,
    out: Path | str | None = None,
    traces: bool = True,
    progress: Callable[[Progress], None] | None = None,
    profile: bool = False,
    from_: Prefix | Place | None = None,
    until: Iterable[Goal] = (),
) -> Report:
    """Search every reachable state for violations.

    Parameters
    ----------
    system, parameters
        A system; a target, such as ``locks.py``; or a function that returns a system.
        And arguments for the function, as text. What names a function, or is one, is
        written into traces, so that it stands in the command that replays them.
    strategy
        ``breadth-first`` for shortest paths; ``depth-first``, which only the Python
        engine has, needs `max_depth`.
    max_depth, max_states, max_seconds, max_memory_mb
        Bounds; one that is hit makes the verdict UNKNOWN. Depth counts states.
    prune, assume
        Predicates, one or several, beside those of the system: a state where any prune
        is true, or any assume false, is not expanded; a prune excludes HOLDS.
    deadlock, keep_going, profile
        Whether it is a violation that only faults can happen in an unfinished state,
        to search on after a violation, and to measure where the time goes.
    properties
        Names of the properties to check; all by default.
    engine
        ``native``, ``python``, or ``auto``: native where it was built.
    threads
        How many the native engine may use; one for each processor by default. No
        result depends on it.
    symmetry
        Whether to visit one of all states that differ in names of symmetric nodes.
    exact
        Whether to keep whole states, not only 64 bits of each.
    liveness, max_liveness_states
        Whether liveness properties are judged if the space is exhausted, and of how
        many states it may be then.
    out, traces
        Where the first trace is written, and whether any is.
    from_
        A trace, or ``TRACE:STEP``, to search on from: the last state of its run, or that
        after a step. Every fault may happen again as often as the system says.
    until
        Properties, by name, or predicates. The search first looks for a state in which
        the first of them is true, begins anew there, and so on. A trace has all of it.

    Raises
    ------
    ModelError
        If the system is described wrongly, or a handler is not deterministic.
    UsageError
        If the options contradict each other.
    """
    refuse_no_asserts()
    system = open_system(system, parameters)
    refuse_other_than_whole(max_liveness_states=max_liveness_states, threads=threads)
    refuse_other_than_seed(seed)
    bounds = _bounds(max_depth, max_states, max_seconds, max_memory_mb)
    folded = symmetry and bool(system.symmetry)
    members = sum(map(len, system.symmetry)) if folded else 0
    chosen = choose(strategy, engine, symmetric=members)
    if strategy == "depth-first" and max_depth is None:
        raise UsageError("depth-first search has no bound", remedy="give max_depth")
    with held(), without_order(system.symmetry if folded else ()):
        limits = Limits(
            bounds=bounds,
            meter=Meter(bounds),
            progress=progress,
            deadlock=deadlock,
            keep_going=keep_going,
            threads=threads_of(threads),
            exact=exact,
        )
        question = Question(
            system, properties, prune, assume, from_, folded=folded, profile=profile
        )
        whole = choose("breadth-first", engine)
        question.stage(goals_of(system, until), limits, whole.run)
        wish = Liveness(liveness, max_liveness_states, progress)
        return _answer(question, limits, chosen, wish, out, write=traces, seed=seed)


def _bounds(
    depth: int | None,
    states: int | None,
    seconds: float | None,
    memory_mb: int | None,
) -> Bounds:
    refuse_other_than_whole(max_depth=depth, max_states=states, max_memory_mb=memory_mb)
    refuse_other_than_seconds(max_seconds=seconds)
    return Bounds(depth, states, seconds, memory_mb)


def _answer(
    question: Question,
    limits: Limits,
    chosen: Chosen,
    wish: Liveness,
    out: Path | str | None,
    *,
    write: bool,
    seed: int,
) -> Report:
    writer = question.writer(out, write=write, chosen=chosen, seed=seed)
    search = question.staged.stopped
    with watched():
        if search is None:
            search = question.search(limits)
            search.run(chosen.run)
        question.verify(search)
        return _report(question, search, writer, chosen, wish)


def _report(
    question: Question,
    search: Exploration,
    writer: Counterexamples,
    chosen: Chosen,
    wish: Liveness,
) -> Report:
    statistics = search.statistics
    failed = [s for s in question.starts if s.failure is not None]
    complete = search.exhausted and not failed
    complete &= not (statistics.pruned and question.cut.prunes)
    rows = _undeclared(failed, search, writer)
    numbers = {p.name: n for n, p in enumerate(question.searched)}
    bound = search.bound
    seconds = search.meter.seconds
    if bound is None and not complete:
        bound = "boot failure" if failed else "pruned"
    live = wish.judge(question.properties, question.world, search, writer, bound)
    if live.seconds is not None:
        audit_predicates(question.world, question.properties)
    for p in question.properties:
        hit, is_cut = search.hits.get(numbers.get(p.name, -1)), bool(statistics.pruned)
        judged = live.rows.get(p.name)
        rows.append(judged or _verdict(writer, p, hit, complete, is_cut=is_cut))
    verdict = combine([row.verdict for row in rows])
    if verdict is Verdict.UNKNOWN and bound is None and live.bound is None:
        bound = "assumed" if statistics.pruned else None
    if verdict is Verdict.HOLDS and (not complete or live.bound is not None):
        verdict = Verdict.UNKNOWN
    notes = _notes(question, search, chosen, complete)
    premises = assumptions(question.system, search, question.cut.assumed)
    rest = conditions(question.system, rows)
    premises += rest + question.staged.beginning.scope
    if verdict is not Verdict.HOLDS:
        # Where it holds, the assumptions say so.
        folds = () if search.symmetry is None else (folded(question.system),)
        scope = question.staged.beginning.scope
        notes = (*folds, *scope, *notes, *rest)
    return Report(
        system=question.system.name,
        verdict=verdict,
        properties=tuple(rows),
        states=statistics.states,
        generated=statistics.generated,
        depth=statistics.depth,
        seconds=seconds,
        peak_mb=peak_memory_mb(),
        bound=bound or live.bound,
        engine=writer.engine,
        seed=writer.seed,
        assumptions=premises,
        notes=(*notes, *live.notes),
        profile=question.profile,
        liveness_s=live.seconds,
    )


def _undeclared(
    failed: list[Start], search: Exploration, writer: Counterexamples
) -> list[PropertyReport]:
    """Report what nobody has to declare: failures, and deadlocks."""
    rows = [boot_failure(writer, start) for start in failed[:1]]
    rows += [failed_outcome(writer, kind, hit) for kind, hit in search.failures.items()]
    if search.deadlock is not None:
        text = "only faults can happen and the system is not done"
        finding = Finding("deadlock", "safety", text, search.deadlock)
        rows.append(writer.violated(finding))
    return rows


def _verdict(
    writer: Counterexamples,
    known: Property,
    hit: Hit | None,
    complete: bool,
    *,
    is_cut: bool,
) -> PropertyReport:
    kind = known.kind.value
    if known.kind is PropertyKind.SOMETIMES:
        verdict = Verdict.VIOLATED if complete and not is_cut else Verdict.UNKNOWN
        if hit is not None:
            verdict = Verdict.HOLDS
        text = "reached" if hit is not None else ""
        if verdict is Verdict.VIOLATED:
            text = "never true in any reachable state"
        elif complete and hit is None:
            text = "never true in any state that what is assumed leaves to be reached"
        steps = None if hit is None else len(hit.path)
        return PropertyReport(
            name=known.name, kind=kind, verdict=verdict, explanation=text, steps=steps
        )
    if hit is not None:
        return writer.violated(Finding(known.name, kind, "", hit, known))
    verdict = Verdict.HOLDS if complete else Verdict.UNKNOWN
    return PropertyReport(name=known.name, kind=kind, verdict=verdict)


def failed_outcome(writer: Counterexamples, kind: str, hit: Hit) -> PropertyReport:
    """Report a handler that failed."""
    failure: Failure | None = hit.path[-1][1].detail.failure
    if failure is None:
        raise InternalError(f"a failed outcome without a failure at {hit.path[-1]}")
    return writer.violated(Finding(kind, "safety", str(failure), hit))


def boot_failure(writer: Counterexamples, start: Start) -> PropertyReport:
    """Report a handler that failed before the search began."""
    failure = start.failure
    if failure is None:
        raise InternalError("a start without a failure was reported as one")
    number = writer.starts.index(start)
    hit = Hit(number, [])
    return writer.violated(Finding(failure.kind, "safety", str(failure), hit))


def _notes(
    question: Question, search: Exploration, chosen: Chosen, complete: bool
) -> tuple[str, ...]:
    found = [chosen.note] if chosen.note else []
    found += [*question.staged.notes, *question.notes]
    if search.bound == "fingerprints":
        found.append("two states have the same fingerprint: use the engine 'python'")
    if search.bound == "memory":
        found.append(search.meter.spent_words())
    # After stages, values have the depths at which these met them.
    if search.bound in _GROWTH_BOUNDS and not question.is_staged:
        found += growing(question.world, search.statistics.depth)
    if complete or search.bound in (*_GROWTH_BOUNDS, NO_GOAL):
        found += never(question.world)
    return tuple(found)
