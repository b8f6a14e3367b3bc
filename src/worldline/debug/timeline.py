"""The state after any step of a trace: replayed from the nearest checkpoint.

Opening a trace runs it once, comparing each step with its record, and takes
checkpoints at intervals: at most `CHECKPOINTS` of them, which share what is
equal. A state is then at most that many steps away. States that were asked for are
kept, too, the latest `RECENT` of them, because a debugging user goes to and fro.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TypeAlias, final

from worldline.model.errors import InternalError
from worldline.model.events import Event
from worldline.model.instruments import Shown
from worldline.model.system import System
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.runs.replayed import Divergence
from worldline.runs.rerun import Rerun, check_nodes
from worldline.runs.restoring import instruments_of, world_of
from worldline.trace.records import PROLOGUE, StepRecord, Trace
from worldline.worlds.checkpoint import Checkpoint, go_back, take
from worldline.worlds.world import World

CHECKPOINTS = 256
"""Checkpoints of one trace, at most; this is what bounds memory."""

SHORTEST = 16
"""Steps between two checkpoints, at least."""

RECENT = 16
"""States kept beside the checkpoints."""


ProgressCallback: TypeAlias = Callable[[int], None]


def stride_of(steps: int) -> int:
    """Return how many steps lie between two checkpoints of a trace of that length."""
    return max(SHORTEST, -(-steps // CHECKPOINTS))


@final
class Timeline:
    """A trace and the states of its run.

    The position of a state is the number of the step that led to it; `first` is that
    of the state before any step, `last` that of the last state that is known.

    Parameters
    ----------
    trace
        The trace.
    system
        Its system, as it is now.
    report
        Told now and then, while the trace is opened, how many steps have been run.

    Attributes
    ----------
    divergence
        The first step that goes otherwise now, if there is one; states are known up
        to the step before it.
    stride
        Steps between two checkpoints.
    seen
        What is known of a recorded run of which journals are missing; else None.
    replayed
        How many steps have been run again since the trace was opened.
    """

    def __init__(
        self, trace: Trace, system: System, report: ProgressCallback = lambda done: None
    ) -> None:
        check_nodes(trace.header, system)
        self.trace = trace
        self.system = system
        self.first = trace.steps[0].step - 1 if trace.steps else 0
        self.stride = stride_of(len(trace.steps))
        self.replayed = 0
        self.divergence: Divergence | None = None
        self._events: list[Event] = []
        self._checkpoints: dict[int, Checkpoint] = {}
        self._recent: OrderedDict[int, Checkpoint] = OrderedDict()
        self._at: int | None = None
        self._shown: list[Shown] = []
        with listening(), watched():
            world = world_of(trace, system)
            instruments = self._instruments = instruments_of(trace, world)
            if instruments is not None:
                world.attach(instruments)
                self._shown.append(instruments.shown())
            self._rerun = Rerun(trace.header, world)
            self.seen = self._rerun.seen
            self._open(report)
        self.last = self.first + len(self._events)

    def _open(self, report: ProgressCallback) -> None:
        latest: Checkpoint | None = None
        for done, step in enumerate(self.trace.steps):
            if done % self.stride == 0:
                latest = take(self._rerun.world, latest)
                self._checkpoints[done] = latest
                report(done)
            happened = self._rerun.step(step)
            if isinstance(happened, Divergence):
                self.divergence = happened
                return
            self._events.append(happened)
            if self._instruments is not None:
                self._shown.append(self._instruments.shown())
        end, instruments = self.trace.end, self._instruments
        if end is not None and end.time is not None and instruments is not None:
            # The run may end some time after its last step, as at a deadline.
            instruments.time = end.time
            self._shown[-1] = instruments.shown()
        if not self.trace.steps:
            self._checkpoints[0] = take(self._rerun.world)

    def holds(self, position: int) -> bool:
        """Say whether the state at a position is known."""
        return self.first <= position <= self.last

    def step_at(self, position: int) -> StepRecord | None:
        """Return the record of the step that led to a state; None for the first."""
        index = position - self.first - 1
        return self.trace.steps[index] if 0 <= index < len(self.trace.steps) else None

    def event_after(self, position: int) -> Event | None:
        """Return the event that happened next; None if that is not known."""
        index = position - self.first
        return self._events[index] if 0 <= index < len(self._events) else None

    def is_charged(self, position: int) -> bool:
        """Say whether a fault in the step there draws on its budget."""
        step = self.step_at(position)
        return step is None or step.phase != PROLOGUE

    def is_void(self, position: int) -> bool:
        """Say whether the handler failed there, so that it led to no state.

        What stands for its state is the one in which it began.
        """
        step = self.step_at(position)
        return step is not None and step.failure is not None

    def at(self, position: int) -> World:
        """Return the world in the state at a position, until the next call.

        Costs at most `stride` steps. Whoever is given it must not step it.
        """
        if not self.holds(position):
            raise InternalError(f"no state is known at step {position}")
        wanted = position - self.first - self.is_void(position)
        if self._at != wanted:
            with listening(), watched():
                self._go(wanted)
            if self.seen is not None:
                self.seen.come(position)
            if self._instruments is not None:
                self._instruments.show(self._shown[wanted])
        return self._rerun.world

    def _go(self, wanted: int) -> None:
        """Go to the state after that many steps."""
        start, checkpoint = self._nearest(wanted)
        here, self._at = self._at, None  # unknown, should the replay be interrupted
        world = self._rerun.world
        if here is not None and start <= here <= wanted:
            start = here
        else:
            go_back(world, checkpoint)
        for index in range(start, wanted):
            step = self.trace.steps[index]
            charge = self.is_charged(index + self.first + 1)
            world.step(self._events[index], step.choices, charge=charge)
            self.replayed += 1
        self._at = wanted
        if wanted - start > 1:
            self._recent[wanted] = take(world, checkpoint)
            if len(self._recent) > RECENT:
                self._recent.popitem(last=False)

    def _nearest(self, wanted: int) -> tuple[int, Checkpoint]:
        """Return the last state before or at `wanted` that is kept."""
        regular = min(wanted // self.stride * self.stride, max(self._checkpoints))
        recent = [index for index in self._recent if regular < index <= wanted]
        if not recent:
            return regular, self._checkpoints[regular]
        nearest = max(recent)
        self._recent.move_to_end(nearest)
        return nearest, self._recent[nearest]
