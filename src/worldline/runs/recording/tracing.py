"""An ordinary trace of what was kept of a recorded run."""

from __future__ import annotations

from typing import Any

from worldline.model.data.content import Frozen
from worldline.model.events import Choices, Event
from worldline.model.faults import FaultBudget
from worldline.model.network.recorded import inside_of
from worldline.model.semantics.layout import Layout
from worldline.model.system import System
from worldline.runs.record import RECORDING, Ending, record
from worldline.runs.recording.kept import KeptRun, KeptState
from worldline.runs.recording.stepping import Stepping
from worldline.runs.recording.steps import RunStep
from worldline.trace.records import Trace
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld


def trace_of(
    kept: KeptRun, run: Stepping, declared: System, ending: Ending, ended: float
) -> Trace:
    """Return the trace of the steps that were kept.

    It is one of the declared network if that allows the run up to there; else of the
    recorded one, and says with which of its steps it does not.

    Parameters
    ----------
    declared
        The system as it is declared.
    ended
        When the run ended, in seconds since it began.
    """
    unseen = _unseen(kept, declared)
    nodes = {} if unseen is None else unseen[0]
    steps, before = kept.steps(), _before(kept)
    why = run.allowed.reason or run.allowed.unknown
    if run.unallowed is not None and run.unallowed > steps[-1].number:
        why = ""  # that comes later
    if nodes and not why:
        why = f"nothing tells all of {', '.join(nodes)}"
    is_allowed = not why
    system = declared.under_recording() if is_allowed else run.system
    if not is_allowed:
        step = max(1, (run.unallowed or 1) - before)
        system.deviation = step, why, bool(run.allowed.reason)
    system.unseen = unseen
    boot = [step for step in steps if step.number <= 0]
    begins = None
    if kept.begins is not None:
        begins = _checkpoint(system, kept.begins, is_allowed=is_allowed)
    if system.network.buffer is not None and not is_allowed:
        steps = [*map(_with_answers, steps)]
    return record(
        DirectWorld(system),
        _schedule(boot),
        (),
        _schedule(steps[len(boot) :]),
        ending=ending,
        engine=RECORDING,
        seed=None,
        begins=begins,
        times=tuple(step.time for step in steps),
        notes={
            number: step.steer
            for number, step in enumerate(steps, 1 - len(boot))
            if step.steer is not None
        },
        ended=ended,
        gauges=None if kept.begins is None else kept.begins.gauges,
    )


def _unseen(
    kept: KeptRun, declared: System
) -> tuple[dict[str, int | None], bool] | None:
    """Return what is not known in a trace, by the numbers of its steps."""
    begins, first, before = kept.begins, kept.steps()[0].number, _before(kept)
    # What is not known when it begins never is.
    nodes = {
        declared.ids[index].name: step - before if step >= first else None
        for index, step in sorted(kept.lost.items())
    }
    histories = begins is not None and begins.has_lost
    return (nodes, histories) if nodes or histories else None


def _before(kept: KeptRun) -> int:
    """Return how many steps there are before a trace: one that begins in a state counts from there."""
    return 0 if kept.begins is None else kept.steps()[0].number - 1


def _schedule(steps: list[RunStep]) -> list[tuple[Event, Choices]]:
    return [(step.event, step.choices) for step in steps]


def _with_answers(step: RunStep) -> RunStep:
    """Return a step with what sends were told among its choices."""
    choices = list(step.choices)
    for place, is_refused in reversed(step.answers):
        choices.insert(place, int(is_refused))
    return step._replace(choices=tuple(choices))


def _checkpoint(system: System, state: KeptState, *, is_allowed: bool) -> Checkpoint:
    """Return a state as a world of the system begins in it."""
    columns: list[Frozen] = [*state.around]
    columns[Layout.BUDGET] = FaultBudget(
        system.faults
    ).freeze()  # each network has its own
    for index, (local, frozen, timers) in enumerate(state.nodes):
        hidden: Any = system.cell(system.layout.hidden(index))
        hidden.timed = False  # as where it was kept, for which delays decide nothing
        hidden.restore(frozen)
        hidden.timed, hidden.timers = system.timed, timers
        mail = state.mail[index]
        columns += (local, hidden.freeze(), inside_of(mail) if is_allowed else mail)
    return Checkpoint(tuple(columns), state.ignored)
