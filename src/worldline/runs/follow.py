"""Following a schedule that was written down, to see what it violates now.

Unlike a replay, nothing but the events is compared: code that has changed may do other
things in between. This is what a regression test of a run is made of.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.loading.opening import SystemTarget, open_system
from worldline.loading.predicates import with_predicates
from worldline.model.arguments import named
from worldline.model.counts import counted
from worldline.model.errors import InputError, UsageError, refuse_no_asserts
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.printable import one_line
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.model.usercode import divergence
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.model.verdicts import Verdict
from worldline.runs.predicted import with_faults
from worldline.runs.record import (
    DEADLOCK,
    DIVERGENCE,
    UNDECLARED,
    Ending,
    all_done,
    declared,
    record,
)
from worldline.runs.recorder import header_of
from worldline.runs.report import (
    BaseReport,
    PropertyReport,
    property_lines,
    refuse_to_hold,
)
from worldline.runs.rows import StepRow, record_of
from worldline.runs.schedule import Events
from worldline.show.phrases import event_phrase
from worldline.trace.format import StrPath
from worldline.trace.records import BOOT, PROLOGUE, RUN, StepRecord
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

ENGINE = "follow"
"""What stands in a trace as that which made its run."""

_SAFETY = PropertyKind.SAFETY.value
"""The kind of what nobody has to declare: failures, and deadlocks."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Followed(BaseReport):
    """The result of following a schedule.

    Attributes
    ----------
    verdict
        VIOLATED, or UNKNOWN, because one run proves nothing of others.
    happened, asked
        How many events of the schedule happened, and how many it has.
    """

    verdict: Verdict
    happened: int
    asked: int

    def expect_holds(self) -> None:
        """Refuse to say that it holds: always a `UsageError`."""
        refuse_to_hold()

    def to_json(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return {
            **self.base_json(),
            "system": self.system,
            "happened": self.happened,
            "asked": self.asked,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [self.head()]
        for row in self.properties:
            lines += property_lines(row, len(row.name))
        lines.append(f"  {self.happened} of {counted(self.asked, 'step')} happened")
        return "\n".join(map(one_line, [*lines, *self.note_lines()]))


def follow(
    steps: Sequence[StepRow],
    system: SystemTarget,
    *,
    violates: str,
    parameters: Mapping[str, str | int | float] | None = None,
    free_faults: Sequence[str] = (),
    faults: Mapping[str, Any] | None = None,
    recorded: bool = False,
    predicates: StrPath | None = None,
) -> Followed:
    """Let the events of a schedule happen, one after the other, and judge the run.

    It ends where something is violated, or where an event cannot happen any more.

    Parameters
    ----------
    steps
        The events, as ``worldline minimize --pytest`` writes them.
    system
        The system, or the target that loads it.
    violates
        The safety property that is judged after each event; or ``deadlock``, which is
        judged at the end, or the failure in which the run ended. A handler that fails is
        a violation in any case.
    parameters
        For the function that makes the system.
    free_faults
        Names of faults that may happen without limit, as they could when it was found.
    faults
        Those of a prediction, as often as each could happen when it was found.
    recorded
        Whether it is of a run on real sockets: any call may happen at any time, with any
        arguments, for it came from outside; and any node may crash.
    predicates
        A file of properties and gauges, which are added to those of the system.

    Raises
    ------
    InputError
        If an event names what the system does not have any more.
    UsageError
        If the system cannot be loaded, or has no such property.
    """
    refuse_no_asserts()
    opened = _as_found(open_system(system, parameters), free_faults, recorded=recorded)
    if faults is not None:
        opened = with_faults(opened, faults)
    if predicates is not None:
        opened, _ = with_predicates(opened, Path(predicates))
    _refuse_no_property(opened, violates)
    begin = time.perf_counter()
    with listening(), watched():
        way = _Way(opened, steps, violates)
        ending = way.go()
        row = PropertyReport(name=violates, kind=way.kind, verdict=Verdict.UNKNOWN)
        if ending is not None:
            row = way.violated(ending)
    return Followed(
        system=opened.name,
        verdict=row.verdict,
        properties=(row,),
        seconds=time.perf_counter() - begin,
        seed=None,
        notes=(way.note,) if way.note else (),
        happened=way.happened,
        asked=len(steps),
    )


def _as_found(system: System, free_faults: Sequence[str], *, recorded: bool) -> System:
    """Return a system with what could happen in it when the run was found."""
    if recorded and free_faults:
        raise UsageError(
            "free_faults has no meaning with recorded, where whatever happened may happen",
            remedy="leave one out",
        )
    if recorded:
        return system.under_recording()
    if not free_faults:
        return system
    return system.under_injection("as when it was found", tuple(free_faults))


def _refuse_no_property(system: System, violates: str) -> None:
    prop = declared(system, violates)
    is_safety = prop is not None and prop.kind is PropertyKind.SAFETY
    if violates not in UNDECLARED and not is_safety:
        names = [p.name for p in system.properties if p.kind is PropertyKind.SAFETY]
        raise UsageError(
            f"{system.name} has no safety property {named(violates)}",
            remedy=f"its safety properties are {', '.join(names) or 'none'}",
        )


@final
class _Way:
    """One schedule on its way through a system."""

    def __init__(self, system: System, rows: Sequence[StepRow], violates: str) -> None:
        self._world = DirectWorld(system)
        self._header = header_of(system, engine=ENGINE, seed=None)
        self._violates = violates
        self._prop = declared(system, violates)
        self.kind = _SAFETY if self._prop is None else self._prop.kind.value
        self._records = [record_of(row, number) for number, row in enumerate(rows, 1)]
        events = Events(system)
        self._events = [events.of(step) for step in self._records]
        for step, event in zip(self._records, self._events, strict=True):
            refuse_unknown_name(system, step, event)
        self._done: dict[str, list[tuple[Event, Choices]]]
        self._done = {BOOT: [], PROLOGUE: [], RUN: []}
        self.happened = 0
        self.note = ""

    def go(self) -> Ending | None:
        """Let all happen that can; return what is violated then."""
        if not any(step.phase == BOOT for step in self._records):
            for event in self._world.boot_events():
                self._step(BOOT, event, ())
            if self._world.failure is None:
                prologue = self._world.prepare(self._world.system.prologue)
                self._done[PROLOGUE] += prologue
        for step, event in zip(self._records, self._events, strict=True):
            if self._world.failure is not None:
                break
            try:
                self._step(step.phase, event, step.choices)
            except NotEnabled:
                self.note = f"{self._told(step)} cannot happen any more: it passes"
                return None
            self.happened += 1
            if self._is_false():
                assert self._prop is not None
                return Ending(self._prop.name, self.kind, Verdict.VIOLATED)
        return self._at_the_end()

    def _at_the_end(self) -> Ending | None:
        failure = self._world.failure
        if failure is not None:
            said = str(failure)
            return Ending(failure.kind, _SAFETY, Verdict.VIOLATED, said)
        if self._violates == DEADLOCK:
            left = [e for e in self._world.enabled() if not e.kind.is_fault]
            done = self._world.system.done or all_done
            if not left and not done(self._world.view):
                said = "nothing can happen any more"
                return Ending(DEADLOCK, _SAFETY, Verdict.VIOLATED, said)
        self.note = "all steps happen still, and nothing is violated: it passes"
        return None

    def violated(self, ending: Ending) -> PropertyReport:
        """Return the report on what is violated, with the run."""
        run = record(
            DirectWorld(self._world.system),
            self._done[BOOT],
            self._done[PROLOGUE],
            self._done[RUN],
            ending=ending,
            engine=ENGINE,
            seed=None,
        )
        explained = None if run.end is None else run.end.explanation
        return PropertyReport(
            name=ending.property or "",
            kind=ending.kind or "",
            verdict=Verdict.VIOLATED,
            steps=len(self._done[RUN]),
            explanation="" if explained is None else str(explained),
            run=run,
        )

    def _step(self, phase: str, event: Event, choices: Choices) -> None:
        # What never returned then is counted at once: the clock need not suspect it.
        is_last = self.happened == len(self._records) - 1
        is_endless = is_last and self._violates == DIVERGENCE
        lines = divergence.LINE_BUDGET if is_endless else None
        charge = phase != PROLOGUE
        outcome = self._world.step(event, choices, charge=charge, lines=lines)
        self._done[phase].append((event, outcome.choices))

    def _is_false(self) -> bool:
        if self._prop is None or self._world.failure is not None:
            return False
        return not self._prop.judge(self._world.view).holds

    def _told(self, step: StepRecord) -> str:
        where = "" if step.node is None else f" at {step.node}"
        return f"step {step.step}, {event_phrase(step, self._header)}{where},"


def refuse_unknown_name(system: System, step: StepRecord, event: Event) -> None:
    """Refuse a timer or call that no node of the class has: it is no fix, but a rename.

    Raises
    ------
    InputError
        If it is one.
    """
    if event.node is None or event.part or event.kind not in (Kind.CALL, Kind.TIMER):
        return
    kind = system.types[system.index[event.node]]
    if event.name not in (kind.called if event.kind is Kind.CALL else kind.timers):
        raise InputError(
            f"step {step.step}: {event.node} has no {step.kind} {event.name}",
            remedy="write the test again with worldline minimize --pytest",
        )
