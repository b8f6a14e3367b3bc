"""Exhaustive search: every state that the faults, choices and bounds allow.

`check` is what users call. Breadth-first search gives the shortest counterexamples;
depth-first search is bounded by a depth.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, final

from worldline.engine.bounds import Bounds, memory_mb, peak_memory_mb
from worldline.engine.decisions import Decision
from worldline.engine.exploration import (
    Check,
    Exploration,
    Hit,
    Options,
    Statistics,
)
from worldline.engine.profile import UNTIMED, Profile
from worldline.engine.tables import Service
from worldline.engine.unfold import unfold
from worldline.model.divergence import watched
from worldline.model.errors import InternalError, UsageError
from worldline.model.execute import Failure
from worldline.model.identity import without_order
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.verdicts import Verdict, combine
from worldline.model.view import View
from worldline.search.counterexample import Counterexamples, Finding
from worldline.search.engines import Chosen, Engine, Strategy, choose, processors
from worldline.search.growth import growing
from worldline.search.report import Progress, PropertyReport, Report
from worldline.search.start import Start, starts
from worldline.search.vacuity import never
from worldline.worlds.alike import Alike
from worldline.worlds.audit import audit
from worldline.worlds.profiled import ProfiledWorld
from worldline.worlds.tabulated import TabulatedWorld

_GROWTH_BOUNDS = frozenset({"depth", "states", "seconds", "memory", "interrupted"})


def check(
    system: System,
    *,
    strategy: Strategy = "breadth-first",
    max_depth: int | None = None,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_memory_mb: int | None = None,
    prune: Callable[[View], bool] | None = None,
    assume: Callable[[View], bool] | None = None,
    deadlock: bool = False,
    keep_going: bool = False,
    properties: list[str] | None = None,
    engine: Engine = "auto",
    threads: int | None = None,
    symmetry: bool = True,
    seed: int = 0,
    out: Path | str | None = None,
    traces: bool = True,
    progress: Callable[[Progress], None] | None = None,
    profile: bool = False,
) -> Report:
    """Search every reachable state for violations.

    Parameters
    ----------
    strategy
        ``breadth-first`` for shortest paths; ``depth-first`` needs `max_depth`.
    max_depth, max_states, max_seconds, max_memory_mb
        Bounds; one that is hit makes the verdict UNKNOWN. Depth counts states.
    prune, assume
        States that are, or are not, so are not expanded; a prune excludes HOLDS.
    deadlock, keep_going, profile
        Whether it is a violation that only faults can happen in an unfinished state,
        to search on after a violation, and to measure where the time goes.
    properties
        Names of the properties to check; all by default.
    engine
        ``native``, ``python``, or ``auto``: native where it was built.
    threads
        How many the native engine may use in a breadth-first search; one for each
        processor by default. No result depends on it.
    symmetry
        Whether to visit one of all states that differ in names of symmetric nodes.
    out, traces
        Where the first trace is written, and whether any is.

    Raises
    ------
    ModelError
        If the system is described wrongly, or a handler is not deterministic.
    UsageError
        If the options contradict each other.
    """
    folded = symmetry and bool(system.symmetry)
    chosen = choose(strategy, engine, symmetry=folded)
    if strategy == "depth-first" and max_depth is None:
        raise UsageError("depth-first search has no bound", remedy="give max_depth")
    bounds = Bounds(max_depth, max_states, max_seconds, max_memory_mb)
    with without_order(system.symmetry if folded else ()):
        question = _Question(
            system, properties, prune, assume, folded=folded, profile=profile
        )
        search = question.search(
            bounds,
            progress,
            deadlock=deadlock,
            keep_going=keep_going,
            threads=threads or processors(),
        )
        writer = question.writer(out, write=traces, chosen=chosen, seed=seed)
        return _answer(question, search, writer, chosen)


def chosen_properties(system: System, names: list[str] | None) -> list[Property]:
    """Return the properties of these names; all without names."""
    if names is None:
        return list(system.properties)
    known = {declared.name: declared for declared in system.properties}
    for name in names:
        if name not in known:
            raise UsageError(
                f"{system.name} has no property {name!r}",
                remedy=f"its properties are {', '.join(known) or 'none'}",
            )
    return [known[name] for name in names]


@final
class _Question:
    """What is asked of a system: where to begin and what to evaluate."""

    def __init__(
        self,
        system: System,
        names: list[str] | None,
        prune: Callable[[View], bool] | None,
        assume: Callable[[View], bool] | None,
        *,
        folded: bool,
        profile: bool,
    ) -> None:
        self.profile = Profile() if profile else None
        self.system = system
        self.properties = chosen_properties(system, names)
        self.searched = [
            p for p in self.properties if p.kind is not PropertyKind.LIVENESS
        ]
        self.world = TabulatedWorld(system, self.profile or UNTIMED)
        with watched():
            self.starts = starts(system)
        self.prune = prune
        self.assume = assume
        self.alike = Alike(self.world) if folded else None
        self.decisions: dict[str, Decision] = {}

    def search(
        self,
        bounds: Bounds,
        progress: Callable[[Progress], None] | None,
        *,
        deadlock: bool,
        keep_going: bool,
        threads: int,
    ) -> Exploration:
        world, service = self.world, self._service()
        checks = [
            Check(
                world.decision(p),
                target=p.kind is PropertyKind.SOMETIMES,
                fatal=p.kind is PropertyKind.SAFETY,
            )
            for p in self.searched
        ]
        done = world.decision(self.system.done or _all_done) if deadlock else None
        cut = None
        if self.prune is not None or self.assume is not None:
            cut = world.decision(self._is_cut)
        names = [p.name for p in self.searched]
        decisions = [check.decision for check in checks]
        self.decisions = dict(zip(names, decisions, strict=True))
        if done is not None:
            self.decisions["done"] = done
        if cut is not None:
            self.decisions["prune or assume"] = cut
        return Exploration(
            world.tables,
            service,
            [world.encode(s.snapshot) for s in self.starts if s.snapshot is not None],
            checks,
            bounds=bounds,
            options=Options(
                prune=cut, done=done, keep_going=keep_going, threads=threads
            ),
            progress=None if progress is None else reporter(progress),
            symmetry=None if self.alike is None else self.alike.symmetry,
            profile=self.profile or UNTIMED,
        )

    def verify(self, search: Exploration) -> None:
        """Check on samples what the search took for granted; make its paths runs."""
        audit(self.world)
        if self.alike is not None:
            self.alike.check_steps(search.expanded.rows())
            self.alike.check_verdicts(search.examined.rows(), self.decisions)
            unfold(search)

    def _service(self) -> Service:
        if self.profile is None:
            return self.world
        return ProfiledWorld(self.world, self.profile)

    def writer(
        self, out: Path | str | None, *, write: bool, chosen: Chosen, seed: int
    ) -> Counterexamples:
        """Return who writes what is found."""
        file = None if out is None else Path(out)
        return Counterexamples(
            self.world, self.starts, file, write=write, engine=chosen.engine, seed=seed
        )

    def _is_cut(self, view: View) -> bool:
        if self.prune is not None and self.prune(view):
            return True
        return self.assume is not None and not self.assume(view)


def _all_done(view: View) -> bool:
    """Say whether every script is finished and nothing is in flight."""
    return all(map(view.is_finished, view.nodes)) and not view.messages()


def reporter(
    progress: Callable[[Progress], None],
) -> Callable[[Statistics, float], None]:
    """Return what tells a user's function how far a search has come."""

    def report(statistics: Statistics, seconds: float) -> None:
        progress(
            Progress(
                states=statistics.states,
                generated=statistics.generated,
                depth=statistics.depth,
                frontier=statistics.frontier,
                seconds=seconds,
                memory_mb=memory_mb(),
            )
        )

    return report


def _answer(
    question: _Question, search: Exploration, writer: Counterexamples, chosen: Chosen
) -> Report:
    with watched():
        search.run(chosen.run)
        question.verify(search)
        return _report(question, search, writer, chosen)


def _report(
    question: _Question,
    search: Exploration,
    writer: Counterexamples,
    chosen: Chosen,
) -> Report:
    statistics = search.statistics
    failed = [s for s in question.starts if s.failure is not None]
    complete = search.exhausted and not failed
    complete &= not (statistics.pruned and question.prune is not None)
    rows = [boot_failure(writer, start) for start in failed[:1]]
    rows += [failed_outcome(writer, kind, hit) for kind, hit in search.failures.items()]
    if search.deadlock is not None:
        text = "only faults can happen and the system is not done"
        finding = Finding("deadlock", "safety", text, search.deadlock)
        rows.append(writer.violated(finding))
    numbers = {p.name: n for n, p in enumerate(question.searched)}
    rows += [
        _verdict(writer, p, search.hits.get(numbers.get(p.name, -1)), complete)
        for p in question.properties
    ]
    verdict = combine([row.verdict for row in rows])
    if verdict is Verdict.HOLDS and not complete:
        verdict = Verdict.UNKNOWN
    notes = _notes(question, search, chosen, complete)
    if search.symmetry is not None and verdict is not Verdict.HOLDS:
        # Where it holds, the assumptions say so.
        notes = (_folded(question.system), *notes)
    bound = search.bound
    if bound is None and not complete:
        bound = "boot failure" if failed else "pruned"
    return Report(
        system=question.system.name,
        verdict=verdict,
        properties=tuple(rows),
        states=statistics.states,
        generated=statistics.generated,
        depth=statistics.depth,
        seconds=search.meter.seconds,
        peak_mb=peak_memory_mb(),
        bound=bound,
        engine=writer.engine,
        seed=writer.seed,
        assumptions=_assumptions(question, search),
        notes=notes,
        profile=question.profile,
    )


def _verdict(
    writer: Counterexamples, known: Property, hit: Hit | None, complete: bool
) -> PropertyReport:
    kind = known.kind.value
    if known.kind is PropertyKind.LIVENESS:
        return PropertyReport(name=known.name, kind=kind, verdict=Verdict.NOT_SEARCHED)
    if known.kind is PropertyKind.SOMETIMES:
        verdict = Verdict.VIOLATED if complete else Verdict.UNKNOWN
        if hit is not None:
            verdict = Verdict.HOLDS
        text = "reached" if hit is not None else ""
        if verdict is Verdict.VIOLATED:
            text = "never true in any reachable state"
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


def _folded(system: System) -> str:
    orders = " · ".join(f"{len(group)}!" for group in system.symmetry)
    return f"symmetry: {orders} folded"


def _assumptions(question: _Question, search: Exploration) -> tuple[str, ...]:
    system = question.system
    faults = system.faults
    amounts: list[str] = []
    for name in faults.possible():
        amount: Any = getattr(faults, name)
        limit = "without limit" if amount is None else f"at most {amount}"
        amounts.append(f"{name} {limit}")
    collision = search.statistics.states**2 / 2**65
    found = [
        f"network {system.network.name}",
        f"faults: {', '.join(amounts) or 'none'}",
        f"expected fingerprint collisions {collision:.1e}",
    ]
    if search.symmetry is not None:
        found.append(_folded(system))
    if question.assume is not None:
        found.append(f"{getattr(question.assume, '__name__', 'assume')} in every state")
    return tuple(found)


def _notes(
    question: _Question, search: Exploration, chosen: Chosen, complete: bool
) -> tuple[str, ...]:
    found = [chosen.note] if chosen.note else []
    if search.bound in _GROWTH_BOUNDS:
        found += growing(question.world)
    if complete or search.bound in _GROWTH_BOUNDS:
        found += never(question.world)
    return tuple(found)
