"""A checker of traces that shares no code with what makes them: is a run possible?

It reads a trace's records alone: what was sent, delivered, set and cancelled.
"""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.trace.records import StepRecord, Trace

ABOUT_A_MESSAGE = ("deliver", "refuse", "drop", "duplicate")
BUDGETS = {"drop": "drops", "duplicate": "duplicates", "crash": "crashes"}


def illegal(trace: Trace) -> str:
    """Say what of a run on datagrams could not happen; empty if all could.

    Without reordering, messages of one node to another are taken in the order in which
    they were sent; one that is not taken keeps all behind it waiting.
    """
    run = _Run(trace)
    for step in trace.steps:
        if objection := run.objection(step):
            return f"step {step.step}: {objection}"
        run.note(step)
    return ""


class _Run:
    """What is under way, what is set, and what may still happen."""

    def __init__(self, trace: Trace) -> None:
        self.in_order = trace.header.network.get("reordering") is False
        self.under_way: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        self.timers: set[tuple[str, str, str, str]] = set()
        self.left: dict[str, Any] = dict(trace.header.faults)

    def objection(self, step: StepRecord) -> str:
        if step.kind in ABOUT_A_MESSAGE:
            queue = self.under_way.get((step.peer or "", step.node or ""), [])
            if _message(step) not in queue:
                return f"{step.name} is not under way"
            if self.in_order and queue[0] != _message(step):
                return f"{step.name} overtakes {queue[0]}"
        if step.kind == "timer" and _timer(step, step) not in self.timers:
            return f"the timer {step.name} is not set"
        budget = BUDGETS.get(step.kind)
        if budget is not None and self.left[budget] == 0:
            return f"no {step.kind} is left"
        return ""

    def note(self, step: StepRecord) -> None:
        budget = BUDGETS.get(step.kind)
        if budget is not None and self.left[budget] is not None:
            self.left[budget] -= 1
        if step.kind in ABOUT_A_MESSAGE:
            queue = self.under_way[step.peer or "", step.node or ""]
            if step.kind == "duplicate":
                queue.insert(0, _message(step))
            else:
                queue.remove(_message(step))
        self.timers.discard(_timer(step, step))
        if step.kind in ("crash", "reset"):
            self.timers = {timer for timer in self.timers if timer[0] != step.node}
        for sent in step.sends:
            pair = step.node or "", sent.to
            message = (sent.part, sent.name, repr(sent.message))
            self.under_way.setdefault(pair, []).append(message)
        for change in step.timers:
            self.timers.discard(_timer(step, change))
            if change.after is not None:
                self.timers.add(_timer(step, change))


def _message(step: StepRecord) -> tuple[str, str, str]:
    return step.part, step.name, repr(step.payload)


def _timer(step: StepRecord, timer: Any) -> tuple[str, str, str, str]:
    return step.node or "", timer.part, timer.name, repr(timer.payload)


def events_of(report: wl.MinimizeReport) -> list[tuple[str | None, str, str, str]]:
    """The events of the run that a report has, in words."""
    run = report.properties[0].run
    assert run is not None
    return [(s.node, s.kind, s.name, repr(s.payload)) for s in run.run]
