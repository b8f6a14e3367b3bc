"""Timers that a reset or a crash took: pending before it, and never to fire.

No record holds them. What is set, fires and is cancelled is recorded, so they are known.
What fields a node lost is not: of those that it set again only the outcome is recorded.
"""

from __future__ import annotations

from worldline.model.kinds import KINDS
from worldline.show.phrases import timer_name
from worldline.trace.json_text import shorten
from worldline.trace.records import StepRecord, Trace

_WIDEST = 120
"""Columns of what is said of timers that were lost."""


def lost_timers(trace: Trace) -> dict[int, str]:
    """Return what is said of each step in which a node loses timers, by its number."""
    pending: dict[str | None, dict[str, None]] = {}
    for node in () if trace.state is None else trace.state.nodes:
        names = (timer_name(one.part, one.name, one.payload) for one in node.timers)
        pending[node.name] = dict.fromkeys(names)
    lost: dict[int, str] = {}
    for step in trace.steps:
        own = pending.setdefault(step.node, {})
        if KINDS[step.kind].forgets and own:
            plural = "s" if len(own) > 1 else ""
            said = f"timer{plural} lost: {', '.join(own)}"
            lost[step.step] = shorten(said, _WIDEST)
            own.clear()
        _happen(step, own)
    return lost


def _happen(step: StepRecord, own: dict[str, None]) -> None:
    """Take note of which timers of a node are pending after a step of it."""
    if step.kind == "timer":
        own.pop(timer_name(step.part, step.name, step.payload), None)
    for timer in step.timers:
        name = timer_name(timer.part, timer.name, timer.payload)
        own.pop(name, None)
        if timer.after is not None:
            own[name] = None
