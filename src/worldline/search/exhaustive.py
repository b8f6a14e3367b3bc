"""Exhaustive search: every state that the faults, choices and bounds allow.

`check` is what users call. Breadth-first search gives the shortest counterexamples;
depth-first search is bounded by a depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.exploration import Exploration, Hit
from worldline.engine.profile import Profile
from worldline.engine.room import peak_memory_mb
from worldline.loading.opening import SystemTarget, open_system
from worldline.model.data.identity import without_order
from worldline.model.errors import InternalError, UsageError, refuse_no_asserts
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held
from worldline.model.verdicts import Verdict, combine
from worldline.options.declaring import verb
from worldline.runs.prefix import Prefix
from worldline.runs.report import PropertyReport
from worldline.runs.start import Start
from worldline.runs.timeless import without_timeless
from worldline.search.absence import ABSENT, of_absent, with_unseen
from worldline.search.asked import asked_by
from worldline.search.assumptions import (
    are_down,
    assumptions,
    conditions,
    folded,
    is_claimed,
)
from worldline.search.counterexample import Counterexamples, Finding
from worldline.search.cut import Cut
from worldline.search.engines import Chosen, choose, threads_of
from worldline.search.growth import growing
from worldline.search.liveness import Liveness
from worldline.search.options import CheckOptions
from worldline.search.question import Limits, SearchQuery, begun, chosen_properties
from worldline.search.report import Progress, Report
from worldline.search.stages import NO_GOAL, goals_of
from worldline.search.vacuity import (
    assumed_away,
    is_assumed_away,
    never,
    unjudged,
)
from worldline.worlds.purity.audit import audit_predicates

LEFT_OUT = "never true in any state that what is assumed leaves to be reached"
_GROWTH_BOUNDS = frozenset({"depth", "states", "seconds", "memory", "interrupted"})


@verb(CheckOptions, Prefix, Progress)
def check(system: SystemTarget, options: CheckOptions) -> Report:
    """Search every reachable state for violations.

    Parameters
    ----------
    system
        A system; a target, such as ``locks.py``; or a function that returns a system,
        with `parameters` for its arguments. What names a function, or is one, is
        written into traces, so that it stands in the command that replays them.

    Raises
    ------
    ModelError
        If the system is described wrongly, or a handler is not deterministic.
    UsageError
        If the options contradict each other, or say nothing of this system.
    """
    refuse_no_asserts()
    opened = open_system(system, options.parameters)
    return without_timeless(opened, options, _checked)


def _checked(made: System, options: CheckOptions) -> Report:
    _refuse_in_vain(made, options)
    cut = Cut(made, options.prune, options.assume)
    made = asked_by(made, options.until, cut.functions)
    folds = options.symmetry is not False and bool(made.symmetry)
    members = sum(map(len, made.symmetry)) if folds else 0
    depth_first, engine = options.depth_first, options.engine
    chosen = choose(engine, depth_first=depth_first, symmetric=members)
    bounds = Bounds(
        options.max_depth, options.max_states, options.max_seconds, options.max_memory
    )
    with held(), without_order(made.symmetry if folds else ()):
        limits = Limits(
            bounds=bounds,
            meter=Meter(bounds),
            progress=options.progress,
            deadlock=options.deadlock,
            keep_going=options.keep_going,
            threads=threads_of(options.threads),
            exact=options.exact,
        )
        question = SearchQuery(
            made,
            chosen_properties(made, options.properties),
            begun(made, options.from_),
            cut,
            folded=folds,
            profile=Profile() if options.profile else None,
        )
        question.stage(goals_of(made, options.until), limits, choose(engine).run)
        return _answer(question, limits, chosen, options)


_OF_LIVENESS = ("liveness", "max_liveness_states")


def _refuse_in_vain(system: System, options: CheckOptions) -> None:
    """Refuse what says nothing of a system, or is nothing without something else."""
    if options.symmetry and not system.symmetry:
        raise UsageError(
            f"{system.name} declares no symmetric nodes",
            remedy="leave symmetry out, or declare them: System(symmetry=[...])",
        )
    if options.depth_first and options.max_depth is None:
        raise UsageError("depth-first search has no bound", remedy="give max_depth")
    if options.liveness is False:
        options.refuse_given(
            ("max_liveness_states",), "has no meaning with no liveness"
        )
        return
    wanted = chosen_properties(system, options.properties)
    if all(prop.kind is not PropertyKind.LIVENESS for prop in wanted):
        why = f"has no meaning here: no liveness property of {system.name} is judged"
        options.refuse_given(_OF_LIVENESS, why)


def _answer(
    question: SearchQuery, limits: Limits, chosen: Chosen, options: CheckOptions
) -> Report:
    writer = question.writer(
        options.out, write=options.traces, chosen=chosen, seed=options.seed
    )
    search = question.staged.stopped
    wish = Liveness(
        options.liveness is not False, options.max_liveness_states, options.progress
    )
    with watched():
        if search is None:
            search = question.search(limits)
            search.run(chosen.run)
        question.verify(search)
        return _report(question, search, writer, chosen, wish)


def _report(
    question: SearchQuery,
    search: Exploration,
    writer: Counterexamples,
    chosen: Chosen,
    wish: Liveness,
) -> Report:
    statistics = search.statistics
    failed = [s for s in question.starts if s.failure is not None]
    complete = search.exhausted and not failed
    complete &= not ((statistics.pruned and question.cut.prunes) or question.absent)
    complete &= not is_assumed_away(question, search)
    rows = _undeclared(failed, search, writer)
    bound = search.bound
    seconds = search.meter.seconds
    if bound is None and not complete:
        bound = why_incomplete(question, search, has_failed=bool(failed))
    live = wish.judge(question.properties, question.world, search, writer, bound)
    if live.seconds is not None:
        audit_predicates(question.world, question.properties)
    rows += _declared(question, search, writer, live.rows, complete)
    verdict = combine([row.verdict for row in rows])
    if verdict is Verdict.UNKNOWN and bound is None and live.bound is None:
        bound = "assumed" if statistics.pruned else None
    if verdict is Verdict.HOLDS and (not complete or live.bound is not None):
        verdict = Verdict.UNKNOWN
    notes = _notes(question, search, chosen, complete)
    down = question.staged.beginning.down(question.system)
    scope = (*are_down(question.system, down), *question.staged.beginning.scope)
    premises = assumptions(question.system, search, question.cut.assumed, down)
    rest = conditions(question.system, rows)
    premises += rest + scope
    if not is_claimed(verdict, rows):
        # Where something holds, the assumptions say so.
        folds = () if search.symmetry is None else (folded(question.system),)
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


def why_incomplete(
    question: SearchQuery, search: Exploration, *, has_failed: bool
) -> str:
    """Return the bound of a search that went to its end and did not visit all."""
    if has_failed:
        return "boot failure"
    if question.absent:
        return ABSENT
    return "pruned" if question.cut.prunes else "assumed"


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


def _declared(
    question: SearchQuery,
    search: Exploration,
    writer: Counterexamples,
    live: Mapping[str, PropertyReport],
    complete: bool,
) -> Iterator[PropertyReport]:
    """Report each property that was asked for; `live` has the liveness properties."""
    numbers = {p.name: n for n, p in enumerate(question.searched)}
    statistics = search.statistics
    for p in question.properties:
        if p.name in live:
            yield live[p.name]
            continue
        hit = search.hits.get(numbers.get(p.name, -1))
        if p.kind is PropertyKind.SOMETIMES and not question.has_begun:
            hit = None  # the question is what can be reached from the goal on
        row = _verdict(writer, p, hit, complete, is_cut=bool(statistics.pruned))
        if question.absent:
            row = with_unseen(row, search.unseen[numbers[p.name]], statistics.states)
        yield row


def _verdict(
    writer: Counterexamples,
    prop: Property,
    hit: Hit | None,
    complete: bool,
    *,
    is_cut: bool,
) -> PropertyReport:
    kind = prop.kind.value
    if prop.kind is PropertyKind.SOMETIMES:
        if hit is not None:
            return writer.reached(hit, prop)
        verdict = Verdict.VIOLATED if complete and not is_cut else Verdict.UNKNOWN
        text = ""
        if verdict is Verdict.VIOLATED:
            text = "never true in any reachable state"
        elif complete:
            text = LEFT_OUT
        return PropertyReport(
            name=prop.name, kind=kind, verdict=verdict, explanation=text
        )
    if hit is not None:
        return writer.violated(Finding(prop.name, kind, "", hit, prop))
    verdict = Verdict.HOLDS if complete else Verdict.UNKNOWN
    return PropertyReport(name=prop.name, kind=kind, verdict=verdict)


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
    question: SearchQuery, search: Exploration, chosen: Chosen, complete: bool
) -> tuple[str, ...]:
    notes = [chosen.note] if chosen.note else []
    if question.absent:
        notes.append(of_absent(question, search))
        if question.system.symmetry:
            notes.append("no symmetry is used where nodes are absent")
    notes += [*question.staged.all_notes, *question.notes]
    notes += assumed_away(question, search)
    notes += unjudged(
        question.system, question.properties, deadlock=search.options.done is not None
    )
    if search.bound == "fingerprints":
        notes.append("two states have the same fingerprint: use the engine 'python'")
    if search.bound == "memory":
        notes.append(search.meter.spent_words())
    # After stages, values have the depths at which these met them.
    if search.bound in _GROWTH_BOUNDS and not question.is_staged:
        notes += growing(question.world, search.statistics.depth)
    if complete or search.bound in (*_GROWTH_BOUNDS, NO_GOAL):
        notes += never(question.world)
    return tuple(notes)
