"""Nodes that send each other numbered messages at random, of which many are lost.

What was under way is noted step by step: in a simulation that is recorded, in the replay of
the recording, and in the replay of its trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from tests.runs.recording.simulated import Scribe, simulation_of

import worldline as wl
from worldline.model.errors import Unseen
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import Status
from worldline.model.usercode.divergence import watched
from worldline.model.usercode.interrupts import listening
from worldline.runs.recording.run import RecordedRun
from worldline.runs.rerun import Rerun

A, B, C = IDS = wl.ids("a", "b", "c")

RUNS = frozenset(
    {Kind.START, Kind.RESTART, Kind.RESET, Kind.DELIVER, Kind.TIMER}
    | {Kind.TRANSPORT_ERROR}
)
"""What journals have: in them a reset is a start."""


@wl.message
class Chat:
    number: int


@wl.message
class Answer:
    number: int


@wl.node
class Talker:
    others: tuple[wl.NodeId, ...]
    pace: float
    number: int = wl.durable(default=0)
    heard: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Talker.talk, after=self.pace)

    @wl.timer
    def talk(self, ctx: wl.Context) -> None:
        for _ in range(ctx.choose([1, 2, 3])):
            self.number += 1
            ctx.send(ctx.choose(self.others), Chat(self.number))
        ctx.set_timer(Talker.talk, after=self.pace * ctx.choose([1, 2]))

    @wl.on(Chat)
    def chat(self, ctx: wl.Context, src: wl.NodeId, msg: Chat) -> None:
        self.heard += 1
        if ctx.choose([False, True]):
            ctx.send(src, Answer(msg.number))

    @wl.on(Answer)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Answer) -> None:
        self.heard += 1

    @wl.transport_error
    def broken(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.heard = 0
        if ctx.choose([False, True]):
            self.number += 1
            ctx.send(peer, Chat(self.number))


def talkers(network: Any, **options: Any) -> wl.System:
    options.setdefault("faults", wl.Faults(break_sockets=True))
    return wl.System(
        nodes={
            me: Talker(tuple(one for one in IDS if one != me), pace)
            for me, pace in zip(IDS, (0.2503, 0.3109, 0.3907), strict=True)
        },
        network=network,
        name="talkers",
        properties=[],
        **options,
    )


Sent = tuple[str, str, str]
"""Who sent a message, to whom, and what it is."""

UnderWay = Counter[Sent]


def under_way(view: wl.View) -> UnderWay:
    return Counter(
        (one.src.name, to.name, repr(one.message))
        for to in view.nodes
        for one in view.messages(dst=to)
    )


@dataclass
class Moment:
    """The state after an event: which it was, when, what is under way, and who is up."""

    event: Event
    time: float
    sent: UnderWay
    up: frozenset[str]


def up(statuses: Iterator[Status]) -> frozenset[str]:
    return frozenset(
        node.name
        for node, status in zip(IDS, statuses, strict=True)
        if status is Status.UP
    )


def simulated_moments(
    folder: Path, system: wl.System, seed: int, seconds: float, **options: Any
) -> list[Moment]:
    """Record a simulated run; return what it was after each event that was recorded."""
    simulation = simulation_of(system, seed, **options)
    scribe, moments = Scribe(simulation, system), []
    world = simulation.world
    with listening(), watched():
        while simulation.next(seconds) is not None:
            scribe.after()
            event = simulation.event
            assert event is not None
            if event.kind in RUNS:
                statuses = (hidden.status for hidden in world.hidden)
                now, sent = round(simulation.now, 6), under_way(world.view)
                moments.append(Moment(event, now, sent, up(statuses)))
    scribe.stop()
    scribe.write(folder)
    return moments


@dataclass
class Looking:
    """Looks at what is under way after each step, from one of them on."""

    since: int = 0
    moments: dict[int, Moment] = field(default_factory=dict)
    kinds: dict[int, Kind] = field(default_factory=dict)

    def look(
        self, step: int, event: Event, time: float, view: wl.View, ups: Iterator[Status]
    ) -> None:
        self.kinds[step] = event.kind
        if step >= self.since:
            try:
                sent = under_way(view)
            except Unseen:
                return
            self.moments[step] = Moment(event, round(time, 6), sent, up(ups))


@contextmanager
def looking_at_replays(since: int = 0) -> Iterator[Looking]:
    """Look into replays of recordings."""
    looking, stepped = Looking(since), RecordedRun.stepped

    def and_look(self: RecordedRun, step: Any) -> None:
        stepped(self, step)
        world = self.stepping.world
        statuses = (hidden.status for hidden in world.hidden)
        looking.look(step.number, step.event, step.time, world.view, statuses)

    with mock.patch.object(RecordedRun, "stepped", and_look):
        yield looking


@contextmanager
def looking_at_traces() -> Iterator[Looking]:
    """Look into replays of traces."""
    looking, step_again = Looking(), Rerun.step

    def and_look(self: Rerun, step: Any) -> Any:
        happened = step_again(self, step)
        assert isinstance(happened, Event), str(happened)
        world = self.world
        statuses = (
            world.cells[world.system.layout.hidden(index)].status for index in range(3)
        )
        looking.look(step.step, happened, step.time, world.view, statuses)
        return happened

    with mock.patch.object(Rerun, "step", and_look):
        yield looking


def compare_with_trace(
    found: wl.ReplayedRecording, system: wl.System, seen: Looking
) -> None:
    assert found.trace is not None, found.no_trace
    with looking_at_traces() as again:
        assert wl.replay(found.trace, system).reproduced
    before = (found.offset or 1) - 1
    shown = {n + before: moment for n, moment in again.moments.items() if n > 0}
    for number, moment in seen.moments.items():
        if number in shown and number > 0:
            assert moment == shown[number], number
    assert shown
