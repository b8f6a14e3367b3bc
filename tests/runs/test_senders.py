"""Which step sent a message that may be sent again while an equal one is under way."""

from __future__ import annotations

from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.absent import without
from worldline.runs.record import Ending, record
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


@wl.message
class Hello:
    pass


@wl.node
class Greeter:
    heard: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.send(B, Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.heard += 1


def test_of_equal_messages_a_set_keeps_the_first_whatever_resets_send_again():
    system = wl.System(
        {A: Greeter(), B: Greeter()},
        network=wl.message_set(),
        faults=wl.Faults(resets=2),
    )
    driven = Driven(system)
    heard = wl.events.deliver(B, Hello, src=A)
    again, run = wl.events.reset(A), []
    for pattern in (again, again, heard):
        run.append(next(e for e in driven.world.enabled() if pattern.matches(e)))
        driven.do(pattern)
    boot = [(event, ()) for event in DirectWorld(system).boot_events()]
    trace = record(
        DirectWorld(system),
        boot,
        [],
        [(event, ()) for event in run],
        ending=Ending(None, None, wl.Verdict.UNKNOWN),
        engine="test",
        seed=0,
    )
    first = next(step for step in trace.steps if step.node == "a")
    assert [step.sent_in for step in trace.run] == [None, None, first.step]


def test_what_an_absent_node_is_sent_is_never_under_way():
    system = wl.System(
        {A: Greeter(), B: Greeter()}, network=wl.streams(), faults=wl.Faults(resets=2)
    )
    world = DirectWorld(system)
    for event in world.boot_events():
        world.step(event)
    begins = Checkpoint(without(system, world.snapshot(), [B]))
    world.restore(begins.snapshot)
    reset = next(e for e in world.enabled() if wl.events.reset(A).matches(e))
    trace = record(
        DirectWorld(system),
        [],
        [],
        [(reset, ()), (reset, ())],  # each sends a greeting that is the same
        ending=Ending(None, None, wl.Verdict.UNKNOWN),
        engine="test",
        seed=0,
        begins=begins,
    )
    assert [len(step.sends) for step in trace.run] == [1, 1]
