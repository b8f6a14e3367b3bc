"""From what random walks found to a confirmed report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from worldline.engine.expand import Expander, Path
from worldline.engine.exploration import Exploration, Hit
from worldline.model.counts import counted
from worldline.model.events import Event
from worldline.model.properties import Property, PropertyKind
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.search.counterexample import Counterexamples, EngineRun, Finding
from worldline.search.engines import Chosen
from worldline.search.exhaustive import boot_failure, failed_outcome
from worldline.search.walks.dead_state import Dead, Spot
from worldline.search.walks.report import CriticalTransition, WalkReport

AFTER = 10
"""Steps of a dead run that are shown after its critical transition."""


@final
@dataclass(frozen=True, slots=True)
class Unsafe:
    """A safety violation met on a walk.

    Attributes
    ----------
    prop
        The property; None if a handler failed.
    """

    hit: Hit
    prop: Property | None


@final
@dataclass(slots=True)
class Tally:
    """The tally of the walks so far; see `WalkReport` for the numbers.

    Attributes
    ----------
    live_runs
        Those that became live, each with the number of its initial state, if wanted.
    reached
        What must be true sometimes and was, with the steps that it took.
    """

    periphery: int = 0
    live: int = 0
    walks: int = 0
    steps: int = 0
    unresolved: int = 0
    probing_s: float = 0.0
    bound: str | None = None
    unsafe: Unsafe | None = None
    dead: tuple[Spot, Dead] | None = None
    notes: list[str] = field(default_factory=list)
    live_runs: list[tuple[int, Path]] = field(default_factory=list)
    reached: dict[str, int] = field(default_factory=dict)


def answer(
    search: Exploration,
    tally: Tally,
    wanted: list[Property],
    writer: Counterexamples,
    engine: Chosen,
) -> WalkReport:
    """Confirm what was found, write its traces, and say what was done."""
    critical = live_trace = case = None
    liveness = [p for p in wanted if p.kind is PropertyKind.LIVENESS]
    violated = _unsafe(search, tally, wanted, writer)
    notes = [engine.note] if engine.note else []
    if violated is None and tally.dead is not None:
        spot, dead = tally.dead
        cut = dead.path[: dead.position + AFTER]
        run = _run(search, spot.root, cut)
        violated = writer.dead(run, liveness, dead.position)
        critical = _critical(dead)
        if dead.live is not None and violated.trace is not None:
            live = _run(search, spot.root, dead.live)
            live_trace = writer.live(live, liveness, violated)
        case = "C1"
    elif violated is None and tally.unresolved:
        case = "C2"
        notes.append(
            f"{counted(tally.unresolved, 'walk')} neither became live nor hit a state "
            "that is surely dead (case C2): give more --max-steps"
        )
    safety = [p.name for p in wanted if p.kind is PropertyKind.SAFETY]
    if violated is None and safety:
        notes.append(
            "these walks look for liveness; random runs look for safety, if it is judged "
            f"alone: --property {safety[0]}"
        )
    if tally.bound == "memory":
        notes.append(search.meter.spent_words())
    runs = [_run(search, root, path) for root, path in tally.live_runs]
    live_traces = tuple(writer.live_runs(runs, liveness))
    statistics = search.statistics
    bound = tally.bound if violated is None else None
    return WalkReport(
        system=writer.system,
        verdict=Verdict.UNKNOWN if violated is None else Verdict.VIOLATED,
        properties=tuple(_with_bound(rows(wanted, violated, tally.reached), bound)),
        critical=critical,
        case=case,
        live_trace=live_trace,
        live_traces=live_traces,
        states=statistics.states,
        generated=statistics.generated,
        depth=statistics.depth,
        periphery=tally.periphery,
        live=tally.live,
        walks=tally.walks,
        steps=tally.steps,
        seconds=search.meter.seconds,
        bound=bound,
        engine=writer.engine,
        seed=writer.seed,
        notes=(*notes, *tally.notes, *writer.notes),
    )


def _with_bound(
    reports: list[PropertyReport], bound: str | None
) -> Iterator[PropertyReport]:
    """Yield the rows; of liveness it is said what ended the walks, if anything did."""
    for row in reports:
        is_open = row.kind == PropertyKind.LIVENESS.value
        if is_open and bound is not None and not row.explanation:
            said = f"not all walks were made (bound: {bound})"
            row = replace(row, explanation=said)
        yield row


def _unsafe(
    search: Exploration, tally: Tally, wanted: list[Property], writer: Counterexamples
) -> PropertyReport | None:
    """Report the first safety violation: on the way to the periphery, or on a walk."""
    failed = [start for start in writer.starts if start.failure is not None]
    if failed:
        return boot_failure(writer, failed[0])
    report = found_by_search(search, wanted, writer)
    if report is None and tally.unsafe is not None:
        report = found_on_walk(tally.unsafe, writer)
    return report


def found_by_search(
    search: Exploration, wanted: list[Property], writer: Counterexamples
) -> PropertyReport | None:
    """Report the first safety violation that an exhaustive search has met, if any."""
    safety = [p for p in wanted if p.kind is PropertyKind.SAFETY]
    unsafe = [number for number in sorted(search.hits) if number < len(safety)]
    for number in unsafe:
        prop, hit = safety[number], search.hits[number]
        return writer.violated(Finding(prop.name, prop.kind.value, "", hit, prop))
    for kind, hit in search.failures.items():
        return failed_outcome(writer, kind, hit)
    return None


def found_on_walk(unsafe: Unsafe, writer: Counterexamples) -> PropertyReport:
    """Report a safety violation that was met on a walk."""
    hit, met = unsafe.hit, unsafe.prop
    if met is not None:
        return writer.violated(Finding(met.name, met.kind.value, "", hit, met))
    return failed_outcome(writer, hit.path[-1][1].detail.failure.kind, hit)


def _run(search: Exploration, root: int, path: Path) -> EngineRun:
    expander, row = Expander(search.tables, search.service), search.roots[root]
    for entry, leaf in path:
        row = expander.after(row, entry, leaf)
    return EngineRun(root, path, row)


def _critical(dead: Dead) -> CriticalTransition:
    event: Event | None = None
    if dead.position:
        event = dead.path[dead.position - 1][0].event
    return CriticalTransition(
        step=dead.position,
        event="" if event is None else repr(event),
        certified=dead.probe.certified,
        states=dead.probe.certificate.states,
        walks=dead.probe.walks,
        recovered=dead.recovered,
        recovery_walks=dead.recovery_walks,
    )


def rows(
    wanted: list[Property],
    violated: PropertyReport | None,
    reached: dict[str, int],
    near: Mapping[str, object] | None = None,
) -> list[PropertyReport]:
    """Return what is said of each property.

    Parameters
    ----------
    reached
        What must be true sometimes and was, with the steps that it took.
    near
        How near the others were, in words.
    """
    reports = [_row(prop, reached, (near or {}).get(prop.name)) for prop in wanted]
    if violated is None:
        return reports
    if all(row.name != violated.name for row in reports):
        return [violated, *reports]
    return [violated if row.name == violated.name else row for row in reports]


def _row(
    prop: Property, reached: dict[str, int], near: object = None
) -> PropertyReport:
    """Return what walks say of a property that they do not violate."""
    verdict, said = Verdict.UNKNOWN, ""
    if prop.kind is PropertyKind.SOMETIMES:
        said = "not reached on these walks; 'worldline check' says if it can be"
        said += "" if near is None else f"\n{near}"
        if prop.name in reached:
            verdict, said = Verdict.HOLDS, "reached"
    return PropertyReport(
        name=prop.name,
        kind=prop.kind.value,
        verdict=verdict,
        steps=reached.get(prop.name),
        explanation=said,
    )
