"""Simulation: what happens to a system by the clock, for many seeds.

`simulate` is what users call. It finds runs that violate a property at the times at
which things happen to real systems; it never proves that there are none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from worldline.engine.bounds import BoundHit, Bounds, Meter, bound_that_ended
from worldline.engine.room import memory_mb, peak_memory_mb
from worldline.loading.loader import function_for, is_function
from worldline.loading.opening import SystemTarget, open_system
from worldline.loading.predicates import with_predicates
from worldline.model.counts import counted
from worldline.model.data.identity import NodeId
from worldline.model.errors import Nondeterminism, UsageError, refuse_no_asserts
from worldline.model.network import Capability, permits
from worldline.model.properties import Property, PropertyKind
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import held, unheard
from worldline.model.verdicts import Verdict
from worldline.options.declaring import verb
from worldline.runs.alarms import Alarms
from worldline.runs.elsewhere import asked_with
from worldline.runs.evidence import Evidence
from worldline.runs.record import Ending
from worldline.runs.report import PropertyReport
from worldline.runs.start import Beginning
from worldline.runs.unjudged import telling_where
from worldline.search.engines import threads_of
from worldline.search.question import safety_alone
from worldline.search.report import Progress
from worldline.search.simulating.notes import notes_of
from worldline.search.simulating.options import SimulateOptions
from worldline.search.simulating.recording import Recording
from worldline.search.simulating.report import SimulateReport
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.tally import MakeCompanions, Question, SeedTally
from worldline.search.simulating.writing import refuse_no_place, written
from worldline.shrink.spread import Spread
from worldline.worlds.access_links import capacity_of
from worldline.worlds.companions import Companion
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import (
    Latency,
    LatencyBetween,
    between,
    latency_of,
)
from worldline.worlds.refusing import able_to_refuse
from worldline.worlds.weather_file import (
    faults_of,
    read_weather,
    weather_of,
)

_CHUNK = 32
"""Seeds that one process runs, at most, before it says what came of them."""

_FAULTS = {"loss": "drops", "duplicate": "duplicates"}
"""The faults, by their names in `Faults`, that options need."""


@verb(SimulateOptions, Progress, NodeId)
def simulate(system: SystemTarget, options: SimulateOptions) -> SimulateReport:
    """Run a system by the clock, once for each seed, until one run violates a property.

    Messages arrive after their latency, timers fire after their delay, calls are made
    at a rate, and faults are what loss, duplication and weather say; budgets of the
    system do not count. Same seed, same run.

    Parameters
    ----------
    system
        What to run; see `check`.

    Raises
    ------
    UsageError
        If the options say nothing of this system, or it cannot be run by a clock.
    """
    made = open_system(system, options.parameters)
    return simulate_beside(made, options, None)


def simulate_beside(
    made: System,
    options: SimulateOptions,
    companions: MakeCompanions | None,
    tell: Callable[[Sequence[Companion]], Any] | None = None,
) -> SimulateReport:
    """Do as `simulate` does with what it opens, and something beside the nodes.

    See `Question` for what stands there.
    """
    return telling_where(lambda s, o: _simulated(s, o, companions, tell), made, options)


def _simulated(
    made: System,
    options: SimulateOptions,
    companions: MakeCompanions | None,
    tell: Callable[[Sequence[Companion]], Any] | None,
) -> SimulateReport:
    refuse_no_asserts()
    _refuse_timeless(made)
    notes: tuple[str, ...] = ()
    if options.predicates is not None:
        made, notes = with_predicates(made, options.predicates)
    wanted, judged = safety_alone(made, options.properties, "a simulation", timed=True)
    question = _question(made, judged, options, is_steered=companions is not None)
    question = replace(question, companions=companions, tell=tell)
    refuse_no_place(options, made)
    with held(), watched():
        seeds = _Seeds(question, options)
        seeds.run()
        report = seeds.answer(wanted)
    if options.predicates is None:
        return report
    rows = [asked_with(row, options.predicates) for row in report.properties]
    return replace(report, properties=tuple(rows), notes=(*report.notes, *notes))


def _refuse_timeless(system: System) -> None:
    """Refuse a system whose events have no time."""
    why = ""
    if Capability.HOLDS_FOR_EVER in system.network.capabilities:
        why = "in a message set nothing is ever over"
    elif system.prologue:
        why = "its prologue has no times"
    if why:
        raise UsageError(
            f"{system.name} cannot be run by a clock: {why}",
            remedy="use 'worldline walk', or change the system",
        )


def _question(
    system: System,
    judged: list[Property],
    options: SimulateOptions,
    *,
    is_steered: bool = False,
) -> Question:
    entries = [] if options.weather is None else read_weather(options.weather)
    needed = {fault for name, fault in _FAULTS.items() if getattr(options, name)}
    if is_steered:
        needed |= {*able_to_refuse(system)}
    made = _injected(system, needed | faults_of(entries))
    weather = weather_of(entries, made, options.weather or "")
    model, function = _latencies(options.latency, made)
    conditions = Conditions(
        latency=model,
        between=function,
        uplink=_capacity(options.uplink),
        downlink=_capacity(options.downlink),
        loss=options.loss,
        duplicate=options.duplicate,
        rate=options.rate,
        weather=weather,
    )
    return Question(
        system=made,
        conditions=conditions,
        wanted=judged,
        seconds=options.seconds,
        events=options.events,
        interval=options.interval,
        sample=options.sample if options.metrics or options.plot else None,
    )


def _latencies(
    given: str | LatencyBetween, system: System
) -> tuple[Latency, LatencyBetween | None]:
    """Return a model of latencies, and a user's function that takes its place."""
    if isinstance(given, str) and not is_function(given):
        return latency_of(given), None
    function = function_for(system, given) if isinstance(given, str) else given
    return latency_of("constant 0s"), between(function)


def _capacity(given: str | None) -> float | None:
    return None if given is None else capacity_of(given)


def _injected(system: System, faults: set[str]) -> System:
    """Return a system in which some faults may happen without limit."""
    if not faults:
        return system
    for name in sorted(faults):
        if not permits(system.network, name):
            raise UsageError(
                f"the network of {system.name}, {system.network.name}, has no {name}",
                remedy="leave out what asks for them",
            )
    scope = f"{', '.join(sorted(faults))} without limit"
    return system.under_injection(scope, tuple(sorted(faults)))


@final
@dataclass(slots=True)
class _Chunk:
    """What came of some seeds, in order, and the memory that it took."""

    runs: list[SeedTally]
    peak_mb: float


@final
class _Seeds:
    """The runs of all seeds, until one violates something."""

    def __init__(self, question: Question, options: SimulateOptions) -> None:
        self._question = question
        self._options = options
        self._meter = Meter(Bounds(None, None, options.max_seconds, options.max_memory))
        self._processes = min(threads_of(options.threads), options.seeds)
        self._size = max(1, min(_CHUNK, options.seeds // (4 * self._processes)))
        self._runs: list[SeedTally] = []
        self._reported = SeedTally(options.seed)
        self._bound: str | None = None
        self._peak_mb = 0.0

    def run(self) -> None:
        """Make the runs, those of several seeds at once."""
        spread = Spread(self._chunk, self._processes, self._take)
        self._bound = bound_that_ended(
            lambda: spread.run(-(-self._options.seeds // self._size))
        )
        if spread.interrupted:
            self._bound = "interrupted"

    def _chunk(self, number: int) -> _Chunk:
        runs: list[SeedTally] = []
        first = number * self._size
        for offset in range(first, min(first + self._size, self._options.seeds)):
            judged = JudgedRun(
                self._question,
                self._options.seed + offset,
                self._meter.check,
                detailed=offset == 0,
            )
            runs.append(judged.run())
            if _ends(runs[-1]):
                break
        return _Chunk(runs, peak_memory_mb())

    def _take(self, number: int, chunk: _Chunk) -> None:
        self._peak_mb = max(self._peak_mb, chunk.peak_mb)
        self._runs += chunk.runs
        last = self._runs[-1]
        if self._options.progress is not None:
            self._options.progress(self._progress())
        if last.violated is not None:
            raise BoundHit("violation")
        if _ends(last):
            raise BoundHit(last.bound or "interrupted")
        self._meter.check()

    def _progress(self) -> Progress:
        return Progress(
            states=0,
            generated=0,
            depth=0,
            frontier=0,
            seconds=self._meter.seconds,
            memory_mb=memory_mb(),
            walks=len(self._runs),
            walk_steps=sum(run.events for run in self._runs),
        )

    def answer(self, wanted: list[Property]) -> SimulateReport:
        """Confirm what was found, write its trace, and say what was done."""
        last = self._runs[-1] if self._runs else SeedTally(self._options.seed)
        violated = None if last.violated is None else self._violated(last)
        bound = None
        if violated is None:
            bound = self._bound or last.bound or "virtual seconds"
        runs = self._runs
        if violated is None and runs:
            self._reported = runs[0]
        files = written(self._options, self._question, runs, self._reported)
        return SimulateReport(
            system=self._question.system.name,
            verdict=Verdict.UNKNOWN if violated is None else Verdict.VIOLATED,
            properties=tuple(self._rows(wanted, violated)),
            bound=bound,
            seconds=self._meter.seconds,
            seed=self._options.seed if violated is None else last.seed,
            seeds=len(runs),
            virtual_seconds=sum(run.virtual for run in runs),
            events=sum(run.events for run in runs),
            messages=sum(run.sent for run in runs),
            lost=sum(run.lost for run in runs),
            at=None if violated is None else last.virtual,
            peak_memory=self._peak_mb,
            metrics=files.metrics,
            metric_rows=files.rows,
            plot=files.plot,
            beside=tuple(run.told for run in runs if run.told is not None),
            notes=(*notes_of(self._question, runs), *files.notes),
        )

    def _violated(self, first: SeedTally) -> PropertyReport:
        """Run a seed again, with a recorder, and make evidence of it."""
        question, system = self._question, self._question.system
        recording = Recording(system)
        judged = JudgedRun(
            question, first.seed, lambda: None, detailed=True, lamport=True
        )
        with unheard():  # one that ends early is another run
            again = judged.run(recording)
        if (again.violated, again.events) != (first.violated, first.events):
            raise Nondeterminism(
                f"the run of seed {first.seed}",
                f"violated something after {counted(first.events, 'event')}",
                "does so no more, or after others",
            )
        claimed = recording.witnessed(judged.simulation, again.virtual)
        self._reported = again
        prop = None
        failure = judged.simulation.world.failure
        if failure is not None:
            ending = Ending(failure.kind, "safety", Verdict.VIOLATED, str(failure))
        else:
            assert first.violated is not None
            prop = question.wanted[first.violated]
            spans = again.spans.get(first.violated, ())
            due = next((span for span in spans if span.due is not None), None)
            ending = Ending(prop.name, prop.kind.value, Verdict.VIOLATED, span=due)
        options = self._options
        evidence = Evidence(
            system,
            Beginning([claimed.start]),
            None if options.out is None else Path(options.out),
            is_written=options.traces,
            engine="clocked",
            seed=first.seed,
        )
        return evidence.violated(claimed, ending, prop)

    def _rows(
        self, wanted: list[Property], violated: PropertyReport | None
    ) -> list[PropertyReport]:
        reached: dict[str, int] = {}
        for run in reversed(self._runs):
            for number, events in run.reached.items():
                reached[self._question.wanted[number].name] = events
        rows = [_row(prop, reached.get(prop.name)) for prop in wanted]
        if violated is not None:
            rows = [violated if row.name == violated.name else row for row in rows]
            if violated not in rows:
                rows.insert(0, violated)
        return [self._with_spans(row) for row in rows]

    def _with_spans(self, row: PropertyReport) -> PropertyReport:
        """Return a row with the spans of its property, if it was followed."""
        for number, prop in enumerate(self._question.wanted):
            if prop.name == row.name and prop.confidence is not None:
                alarms = Alarms(in_run=self._reported.alarms[number].spans)
                for run in self._runs:
                    alarms.add(run.alarms[number])
                return replace(row, spans=self._reported.spans[number], alarms=alarms)
        return row


NO_CONFIDENCE = (
    "not judged here: no @wl.liveness(confidence=...) says by when it should be true"
)
"""What is said of a liveness property that no run by a clock can violate."""


def _ends(run: SeedTally) -> bool:
    """Say whether no other run follows: a run of its own full length ends nothing."""
    return run.violated is not None or run.bound not in (None, "events")


def _row(prop: Property, reached: int | None) -> PropertyReport:
    """Return what runs say of a property that they do not violate."""
    verdict, said = Verdict.UNKNOWN, ""
    if prop.kind is PropertyKind.LIVENESS and prop.confidence is None:
        said = NO_CONFIDENCE
    elif prop.kind is PropertyKind.SOMETIMES:
        said = "not reached in these runs"
        if reached is not None:
            verdict, said = Verdict.HOLDS, "reached"
    return PropertyReport(
        name=prop.name,
        kind=prop.kind.value,
        verdict=verdict,
        steps=reached,
        explanation=said,
    )
