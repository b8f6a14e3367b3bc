"""One recorded run, made again and judged."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

from worldline.model.errors import InputError, UsageError
from worldline.model.gauges import TimedStep, first_instruments
from worldline.model.instruments import Instruments
from worldline.model.observers import Sent
from worldline.model.properties import Property
from worldline.model.semantics.execute import Failure, Result
from worldline.model.semantics.outcome import as_made
from worldline.model.system import System
from worldline.runs.judging import RunJudge
from worldline.runs.recording.comparing import RunDivergence, Unlike, shown
from worldline.runs.recording.happenings import Happening, Lane
from worldline.runs.recording.journaled import Journals
from worldline.runs.recording.kept import KeptRun
from worldline.runs.recording.merging import Merging
from worldline.runs.recording.recorded import RecordedNode
from worldline.runs.recording.rerunning import Rerunning
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.steps import RunStep
from worldline.runs.recording.survey import Survey
from worldline.runs.unseen import SeenReader
from worldline.trace.journal.frames import NamedFrame
from worldline.worlds.lasting import lasting


@final
@dataclass(frozen=True, slots=True)
class FirstViolation:
    """The first thing that a run violates.

    Attributes
    ----------
    step
        The number of the step after which it does.
    prop
        The property; None for a handler that failed.
    failure
        How that failed.
    time
        Seconds since the run began.
    """

    step: int
    prop: Property | None
    failure: Failure | None
    time: float


class RunSoFar(NamedTuple):
    """What a run has shown by one of its steps.

    Attributes
    ----------
    step
        Its number.
    violated, undecided, unknown
        The names of the properties that are violated; that are false then, and may yet
        be true; and that nobody knows.
    """

    step: int
    violated: tuple[str, ...]
    undecided: tuple[str, ...]
    unknown: tuple[str, ...]


@final
class RecordedRun:
    """A recorded run.

    Parameters
    ----------
    system
        As it is declared, with what is added to it.
    judged
        The properties to judge after each step; none to judge nothing.
    kept
        Takes the steps up to the first violation.
    since
        Seconds since the recording began: each node begins at its last checkpoint, or
        start, before that. None for the whole run.
    wanted
        The property, by name, of which the first violation counts; None for any.

    Attributes
    ----------
    violation
        The first thing that it violates, of what counts.
    divergence
        The first event that went otherwise.
    failures
        How handlers failed, each with its step.
    seconds, happenings
        How long it took, and what the journals said in that time.
    known
        What it has shown by the last step that is kept.
    unsure
        The names of the nodes of which something is missing.
    begins
        When all nodes had begun, in seconds since the recording began; None if the run is
        known from its start on.
    """

    def __init__(
        self,
        system: System,
        journals: Journals,
        judged: Sequence[Property],
        kept: KeptRun,
        since: float | None = None,
        wanted: str | None = None,
    ) -> None:
        self._system, self._journals, self._kept = system, journals, kept
        self._judged = judged
        self._since, self._wanted = since or 0.0, wanted
        self._missing = tuple(
            node.name
            for index, node in enumerate(system.ids)
            if journals.lives(index) is None
        )
        self.violation: FirstViolation | None = None
        self.divergence: RunDivergence | None = None
        self.failures: list[tuple[int, Failure]] = []
        self.seconds = 0.0
        self.happenings = 0
        self.known: RunSoFar | None = None
        self.begins: float | None = None
        begin = time.perf_counter()
        self._survey = survey = Survey(journals, len(system.ids), since)
        unsure = survey.silent | survey.gapped
        self.unsure = tuple(system.ids[index].name for index in sorted(unsure))
        self.stepping = Stepping(
            system,
            survey.receipts(),
            self,
            missing=self.unsure,
            silent=len(survey.silent),
            is_begun=survey.is_whole,
        )
        for name, to, frame in survey.early:
            self.stepping.receive_early(name, to, frame)
        expected = [n for n, one in enumerate(survey.begins) if one is not None]
        unknown = survey.silent if survey.is_whole else range(len(system.ids))
        self._rerunning = Rerunning(
            self.stepping, journals.digest_of, set(unknown), expected
        )
        world = self.stepping.world
        self._gauges = system.gauges if judged else ()
        self._instruments: Instruments = first_instruments(self._gauges)
        world.attach(self._instruments)
        self._seen: SeenReader | None = None
        if unsure or not survey.is_whole:
            self._seen = SeenReader(world, self._rerunning.unknown)
            world.view = self._seen.view
            self._lose()
        self.judge: RunJudge | None = None
        if judged and survey.is_whole:
            self.judge = RunJudge(world, judged, world.series, self._seen)
        self.seconds = time.perf_counter() - begin

    def run(self) -> list[RecordedNode]:
        """Let all happen, to the end or the first event that goes otherwise."""
        begin, system, survey = time.perf_counter(), self._system, self._survey
        heard: dict[int, dict[int, int]] = {n: {} for n in range(len(system.ids))}
        for (index, life), lamport in survey.last_heard().items():
            heard.setdefault(index, {})[life] = lamport
        lanes = [
            Lane(
                self._journals, index, survey.began, survey.begins[index], heard[index]
            )
            for index in range(len(system.ids))
        ]
        if survey.is_whole:
            self._kept.begin()
        with lasting(), self.stepping.world.series:
            self._run(lanes)
        self.seconds += time.perf_counter() - begin
        return [
            RecordedNode(
                node.name,
                lane.incarnations,
                lane.events,
                lane.torn,
                node.name in self._missing,
                lane.stopped,
                tuple(lane.gaps),
            )
            for node, lane in zip(system.ids, lanes, strict=True)
        ]

    def _run(self, lanes: list[Lane]) -> None:
        take = self._rerunning.take
        starts_first = self._system.boot == "before" and self._survey.is_whole
        merging = Merging(lanes, starts_first=starts_first, knows=self._survey.knows)
        for one in merging:
            self.happenings += 1
            self._begin(merging.now)
            self.stepping.now = merging.now
            judge = self.judge
            if judge is not None:
                judge.wait(merging.now)
                if judge.violated is not None:
                    self._violate(judge.violated, None)
            try:
                take(one)
            except Unlike as error:
                self._diverge(one, error)
                return
            if self._seen is None and self._rerunning.unknown:
                node = self._system.ids[one.node]
                raise InputError(
                    f"the journal of {node} has lives that are not those of its files",
                    remedy="it was damaged, or is none; replay the recording without it",
                )
        self._rerunning.end()
        self._begin(math.inf)
        judge = self.judge
        if judge is not None:
            if self._seen is not None:  # less may be known than after the last step
                number, touched = self.stepping.steps, self.stepping.world.touched
                judge.look(touched, number, None, counts=number >= 0)
            judge.end()
        if self.divergence is None and self._kept.end(self.stepping):
            self._show()

    def _show(self) -> None:
        """Note what the run has shown so far."""
        judge = self.judge
        if judge is not None:
            failed = {failure.kind: None for _, failure in self.failures}
            violated = *failed, *judge.violations()
            shown = violated, judge.undecided(), judge.unknown()
            self.known = RunSoFar(self.stepping.steps, *shown)

    def _begin(self, now: float) -> None:
        """Judge from here on, if all have begun before a moment that is not too early."""
        steps, since = self.stepping, self._since
        if now == math.inf and since > steps.now:
            raise UsageError(
                f"the recording ends after {steps.now:,.3f} s, before {since:g} s",
                remedy="begin earlier",
            )
        if steps.is_begun or now < since or not self._rerunning.has_begun:
            return
        steps.now = max(steps.now, since)
        steps.begin()

    def _diverge(self, one: Happening, error: Unlike) -> None:
        node = self._system.ids[one.node]
        said = one.kind if isinstance(one.kind, str) else one.kind.value
        what = getattr(one.what, "message", None)
        if what is not None:
            src = self._system.ids[one.what.sender]
            said = f"{said} at {node} {shown(what)} from {src}"
        else:
            name = getattr(one.what, "name", "")
            said = f"{said} at {node} {name}".rstrip()
        self.divergence = RunDivergence(
            node=node.name,
            incarnation=self.stepping.incarnations[one.node],
            lamport=one.lamport,
            step=self.stepping.steps + 1,
            event=said,
            what=error.what,
            recorded=error.recorded,
            happened=error.happened,
        )

    def jumped(self) -> None:
        """Go on in a state to which no step has led; it may be the first of all."""
        world = self.stepping.world
        if self._seen is not None:
            self._seen.resume(self._gauges)
        if self.violation is None or self._kept.last is not None:
            self._kept.restart(self.stepping)
        if self.judge is None and self._judged:
            self._instruments.time = self.stepping.now
            self.judge = RunJudge(world, self._judged, world.series, self._reader())
            self.judge.look(world.touched, 0, None, counts=True)
            if self.judge.violated is not None:
                self._violate(self.judge.violated, None)
            world.touched.clear()
        if self.begins is None and not self._survey.is_whole:
            self.begins = self.stepping.now

    def _reader(self) -> SeenReader | None:
        """Return what reads the state where that is known in part; None if all is."""
        seen = self._seen
        assert seen is not None, "who begins amid a run has one"
        is_unsure = self._survey.gapped or self._rerunning.unknown
        has_lost = self.stepping.system.observers or seen.gauges
        # Once one arrives that is known by its digest alone, its receiver is unknown.
        digests = any(type(one.frame) is NamedFrame for one in self._survey.early)
        return seen if is_unsure or has_lost or digests else None

    def stepped(self, step: RunStep) -> None:
        """Judge the state after a step."""
        if self._seen is not None:
            self._lose()
        self._instruments.time = step.time
        judge, world = self.judge, self.stepping.world
        failure = step.result if isinstance(step.result, Failure) else None
        if failure is not None:
            self.failures.append((step.number, failure))
            self._violate(None, failure)
        elif judge is not None:
            counts = step.number >= 0
            if self._gauges:
                judge.note(world.touched)
                world.touched.clear()
                judge.fold(self._gauges, self._timed(step), step.number)
            judge.look(world.touched, step.number, step.lamport, counts=counts)
            if judge.violated is not None:
                self._violate(judge.violated, None)
        world.touched.clear()
        has_end = self._kept.last is not None
        if has_end or self.violation is None or self.violation.step == step.number:
            self._kept.add(step, self.stepping)
        if step.number == self._kept.last:
            self._show()

    def _lose(self) -> None:
        """Take note of what is not known now."""
        assert self._seen is not None, "it knows what is"
        self._seen.lose(self._gauges)
        self.stepping.has_lost = self._seen.has_lost

    def _timed(self, step: RunStep) -> TimedStep:
        door = self.stepping.world.door
        me, sends = door.me, door.sends or ()
        return TimedStep(
            as_made(step.event, step.choices),
            handled=step.result is Result.HANDLED,
            sends=lambda: tuple(Sent(me, *sent) for sent in sends),
            choices=step.choices,
            time=step.time,
            lamport=step.lamport,
        )

    def _violate(self, prop: Property | None, failure: Failure | None) -> None:
        if self.violation is not None:
            return
        wanted, judge = self._wanted, self.judge
        name = failure.kind if failure is not None else prop and prop.name
        if wanted is not None and name != wanted:
            # Of several that one step violates, this may be another one.
            if judge is None or wanted not in judge.violations():
                return
            prop = next(one for one in self._judged if one.name == wanted)
            failure = None
        time_ = self._instruments.time
        self.violation = FirstViolation(self.stepping.steps, prop, failure, time_)
