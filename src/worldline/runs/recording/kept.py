"""The last steps of a run while it is made again, and the states in which they begin.

A run of up to 100,000 steps is kept as a whole, and of a longer one the last 20,000: each
stretch of 2,000 begins with a state, so that the oldest can be forgotten, and a trace may
begin with any.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import final

from worldline.model.data.content import Frozen
from worldline.model.semantics.hidden import PendingTimer
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.steps import RunStep
from worldline.worlds.checkpoint import ignored_fields

WHOLE = 100_000
"""Steps of a run that is kept as a whole."""

_STRETCH = 2_000
_LAST = 10
"""Stretches that are kept whole before the last one."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class KeptState:
    """A state of a run, as it is on the network of recorded runs and on the declared one.

    Attributes
    ----------
    around
        The frozen columns before those of the nodes.
    nodes
        Of each node the frozen fields and the frozen hidden state, and its timers with
        their delays.
    ignored
        Of each node the ignored fields.
    mail
        The frozen mailboxes; in each is that of the declared network.
    gauges, time
        What the instruments showed, as far as that is known.
    has_lost
        Whether histories lack events by then.
    """

    around: tuple[Frozen, ...]
    nodes: tuple[tuple[Frozen, Frozen, dict[PendingTimer, float]], ...]
    ignored: tuple[dict[str, object], ...]
    mail: tuple[Frozen, ...]
    gauges: dict[str, object]
    time: float
    has_lost: bool


def kept_state(run: Stepping) -> KeptState:
    """Return the present state of a run."""
    world, types = run.world, run.system.types
    pairs = list(zip(types, world.nodes, strict=True))
    instruments = world.instruments
    return KeptState(
        around=tuple(cell.freeze() for cell in world.around),
        nodes=tuple(
            (kind.freeze(node), hidden.freeze(), dict(hidden.timers))
            for (kind, node), hidden in zip(pairs, world.hidden, strict=True)
        ),
        ignored=tuple(ignored_fields(kind, node) for kind, node in pairs),
        mail=tuple(box.freeze() for box in world.filled()),
        gauges={} if instruments is None else instruments.known,
        time=run.now,
        has_lost=run.has_lost,
    )


@final
@dataclass(slots=True, eq=False)
class KeptStretch:
    """Steps in a row.

    Attributes
    ----------
    begins
        The state before the first of them; None before the first of all.
    steps
        What happened.
    """

    begins: KeptState | None
    steps: list[RunStep] = field(default_factory=list)


@final
class KeptRun:
    """The steps that are kept.

    Parameters
    ----------
    first, last
        The numbers of the steps to keep; None for the whole run, or its last steps.

    Attributes
    ----------
    last
        The number of the last step to keep; None if there is no bound.
    lost
        The step after which nothing was known of a node, by index, as of the last one.
    """

    def __init__(self, first: int | None = None, last: int | None = None) -> None:
        self._first, self.last = first, last
        self._stretches: deque[KeptStretch] = deque()
        self._is_begun = False
        self.lost: dict[int, int] = {}

    def begin(self) -> None:
        """Keep what comes from the start of the run on."""
        self._is_begun = True
        if self._first is None or self._first <= 1:
            self._stretches.append(KeptStretch(None))

    def restart(self, run: Stepping) -> None:
        """Forget what came before a state that no step has led to; go on from there."""
        if self.last is not None and run.steps >= self.last:
            return
        was_begun = bool(self._stretches)
        self._stretches.clear()
        self._is_begun = True
        if was_begun or self._first is None or self._first <= run.steps + 1:
            self._stretches.append(KeptStretch(kept_state(run)))

    def add(self, step: RunStep, run: Stepping) -> None:
        """Keep a step that has happened."""
        if not self._is_begun:
            return
        if self.last is not None and step.number > self.last:
            return
        if not self._stretches:
            if step.number + 1 == self._first:
                self._stretches.append(KeptStretch(kept_state(run)))
            return
        steps = self._stretches[-1].steps
        steps.append(step)
        if self.lost != run.lost:
            self.lost = dict(run.lost)
        if len(steps) >= _STRETCH and self._first is None:
            self._stretches.append(KeptStretch(kept_state(run)))
            if step.number > WHOLE:
                while len(self._stretches) > _LAST + 1:
                    self._stretches.popleft()

    def end(self, run: Stepping) -> bool:
        """Take note that the run has ended; say whether its last step is kept."""
        steps = self.steps()
        if not steps or steps[-1].number != run.steps:
            return False
        self.lost = dict(run.lost)
        return True

    @property
    def begins(self) -> KeptState | None:
        """The state in which they begin; None for the start of the run."""
        return self._stretches[0].begins if self._stretches else None

    def steps(self) -> list[RunStep]:
        """Return them."""
        return [step for stretch in self._stretches for step in stretch.steps]

    def latest(self, least: int) -> KeptRun:
        """Return what begins with the latest state after which so many steps are kept."""
        latest, count = KeptRun(), 0
        latest.lost = self.lost
        for stretch in reversed(self._stretches):
            if count >= least:
                break
            latest._stretches.appendleft(stretch)
            count += len(stretch.steps)
        return latest
