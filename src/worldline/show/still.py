"""The steps of a cycle that change nothing: a reader may pass over them.

A run that goes round for ever lets happen whatever can happen, so its cycle is often full
of timers that only set themselves again, and in a message set of messages that say
nothing new. All is read from the records: a step changes nothing if no field does, and
the pending timers and the messages under way are the same after it as before.
"""

from __future__ import annotations

from typing import final

from worldline.model.kinds import KINDS
from worldline.trace.json_text import Json
from worldline.trace.records import Header, StepRecord, Trace

Standstill = tuple[str | None, ...]
"""A timer of a node, or a message for one, as text."""


def still_steps(trace: Trace) -> frozenset[int]:
    """Return the numbers of the steps of a trace's cycle that change nothing."""
    if trace.end is None or trace.end.cycle is None:
        return frozenset()
    cycle = [step for step in trace.run if step.step >= trace.end.cycle]
    # A script that begins again has a position, which no record shows.
    restless = {step.node for step in cycle if KINDS[step.kind].forgets}
    kept, still = _Kept(trace.header), set[int]()
    for step in trace.steps:
        before = kept.copy()
        kept.happen(step)
        is_quiet = not (step.changes or step.choices or step.log or step.failure)
        if is_quiet and kept.is_like(before) and kept.can_tell(step, restless):
            still.add(step.step)
    return frozenset(step.step for step in cycle if step.step in still)


@final
class _Kept:
    """The pending timers, and what a message set holds."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._holds = header.network.get("name") == "message_set"
        self._timers: set[Standstill] = set()
        self._messages: set[Standstill] = set()

    def copy(self) -> tuple[int, frozenset[Standstill]]:
        return len(self._messages), frozenset(self._timers)

    def is_like(self, before: tuple[int, frozenset[Standstill]]) -> bool:
        return before == self.copy()

    def can_tell(self, step: StepRecord, restless: set[str | None]) -> bool:
        """Say whether a step has no effect but what is kept here, and on fields."""
        if step.sends and not self._holds:
            return False
        if step.kind == "deliver":
            return self._holds
        if step.kind == "timer":
            # With delays the order counts in which timers were set.
            return not self._header.options.get("timed")
        return step.kind == "call" and step.node not in restless

    def happen(self, step: StepRecord) -> None:
        node = step.node
        if KINDS[step.kind].forgets:
            self._timers = {timer for timer in self._timers if timer[0] != node}
        elif step.kind == "timer":
            self._timers.discard(_thing(node, step.part, step.name, step.payload))
        for timer in step.timers:
            thing = _thing(node, timer.part, timer.name, timer.payload)
            if timer.after is None:
                self._timers.discard(thing)
            else:
                self._timers.add(thing)
        for send in step.sends if self._holds else ():
            thing = _thing(send.to, send.part, send.name, send.message)
            self._messages.add((node, *thing))


def _thing(node: str | None, part: str, name: str, payload: Json) -> Standstill:
    return node, part, name, repr(payload)
