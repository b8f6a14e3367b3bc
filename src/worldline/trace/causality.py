"""The causal order of a run: happens-before (Lamport, CACM 1978).

A step depends on the step before it at the same node, on the step that sent the
message it is about, and, if it is a transport error, on what broke the connection.
Partitions and heals, which happen at no node, are on a lane of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, final

from worldline.model.kinds import KINDS
from worldline.trace.records import StepRecord, TimerRecord, Trace

NETWORK = "network"
"""The lane of what happens to the network as a whole."""


class CausalEvent(Protocol):
    """The part of a step that its place in the order depends on."""

    @property
    def step(self) -> int: ...
    @property
    def node(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def peer(self) -> str | None: ...
    @property
    def sent_in(self) -> int | None: ...


@final
class Order:
    """Takes the steps of a run in order and tells what each depends on directly.

    Parameters
    ----------
    sockets_break
        Whether a partition also breaks connections.
    """

    def __init__(self, *, sockets_break: bool = False) -> None:
        self._last: dict[str | None, int] = {}
        self._breaks: dict[tuple[str | None, str | None], int] = {}
        self._sockets_break = sockets_break

    def add(self, step: CausalEvent) -> tuple[int, ...]:
        """Return the numbers of the steps that `step` depends on, in order."""
        before = {self._last.get(step.node), step.sent_in, self.breaker(step)}
        self._last[step.node] = step.step
        self._note_break(step)
        return tuple(sorted(number for number in before if number is not None))

    def breaker(self, step: CausalEvent) -> int | None:
        """Return what broke the connection that `step`, not added yet, is about."""
        if step.kind != "transport_error":
            return None
        pairs = ((step.peer, None), (step.node, step.peer), (None, None))
        breaks = [self._breaks[pair] for pair in pairs if pair in self._breaks]
        return max(breaks, default=None)

    def _note_break(self, step: CausalEvent) -> None:
        match KINDS[step.kind].breaks:
            case "of node":
                self._breaks[step.node, None] = step.step
            case "of pair":
                self._breaks[step.node, step.peer] = step.step
                self._breaks[step.peer, step.node] = step.step
            case "for peer":
                self._breaks[step.peer, step.node] = step.step
            case "of cut" if self._sockets_break:
                self._breaks[None, None] = step.step
            case _:
                pass


def dependencies(trace: Trace) -> dict[int, tuple[int, ...]]:
    """Return, for each step, the steps that it depends on directly."""
    order = order_of(trace)
    return {step.step: order.add(step) for step in trace.steps}


def order_of(trace: Trace) -> Order:
    """Return the order of a trace's system, before any step."""
    return Order(sockets_break=trace.header.faults.get("break_sockets") is True)


def triggers(trace: Trace) -> dict[int, int | None]:
    """Return, for each step, the one step that made it happen.

    That sent the message, set the timer, or broke the connection: of all on which a
    step depends, the one that gave the occasion. None for what the environment
    brings about, and where the trace does not tell.
    """
    order = order_of(trace)
    timers: dict[tuple[str, ...], int] = {}
    by_step: dict[int, int | None] = {}
    for step in trace.steps:
        trigger = order.breaker(step) if step.sent_in is None else step.sent_in
        if step.kind == "timer":
            trigger = timers.get(_timer(step.node, step))
        by_step[step.step] = trigger
        order.add(step)
        timers.update((_timer(step.node, t), step.step) for t in step.timers)
    return by_step


def _timer(node: str | None, named: StepRecord | TimerRecord) -> tuple[str, ...]:
    return (node or "", named.part, named.name, repr(named.payload))


def causal_past(
    trace: Trace, step: int, direct: Mapping[int, tuple[int, ...]] | None = None
) -> frozenset[int]:
    """Return the steps without which `step` might not have happened, itself included.

    Parameters
    ----------
    direct
        The trace's `dependencies`, if they are known already.

    Raises
    ------
    KeyError
        If the trace has no such step.
    """
    direct = dependencies(trace) if direct is None else direct
    past = {step}
    todo = [step]
    while todo:
        new = [number for number in direct[todo.pop()] if number not in past]
        past.update(new)
        todo += new
    return frozenset(past)


def lane_of(step: CausalEvent) -> str:
    """Return the node at which a step happens, or `NETWORK`."""
    return NETWORK if step.node is None else step.node


def vector_clocks(trace: Trace) -> list[dict[str, int]]:
    """Return the vector clock of each step: lane to number of its steps known.

    Notes
    -----
    A clock names only the lanes that have had a part in it, as ShiViz expects; each
    lane's own entry goes up by one from step to step.
    """
    order = order_of(trace)
    clocks: dict[int, dict[str, int]] = {}
    for step in trace.steps:
        before = [clocks[number] for number in order.add(step)]
        clock = _maximum(before)
        lane = lane_of(step)
        clock[lane] = clock.get(lane, 0) + 1
        clocks[step.step] = clock
    return list(clocks.values())


def _maximum(clocks: Iterable[dict[str, int]]) -> dict[str, int]:
    maximum: dict[str, int] = {}
    for clock in clocks:
        for lane, count in clock.items():
            maximum[lane] = max(count, maximum.get(lane, 0))
    return maximum


def lamport_time(depends_on: Iterable[int]) -> int:
    """Return the Lamport time of a step, given the times of what it depends on."""
    return 1 + max(depends_on, default=0)
