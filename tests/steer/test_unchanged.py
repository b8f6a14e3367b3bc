"""A message whose sender has only made its last call tells what properties ask about that."""

from types import SimpleNamespace
from typing import Any

import pytest

import worldline as wl
from worldline.model.events import Event
from worldline.steer.unchanged import Unchanged
from worldline.steer.watched import Watched

A, B = wl.ids("a", "b")


@wl.message
class Hello:
    pass


@wl.node
class Talker:
    heard: int = 0
    told: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.send(ctx.nodes[0], Hello())

    @wl.call
    def say(self, ctx: wl.Context) -> None:
        self.told += 1
        ctx.send(ctx.nodes[0], Hello())

    @wl.on(Hello)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.heard += 1


@wl.safety
def the_second_is_the_last(view: wl.View) -> bool:
    return view.is_finished(B) or view[A].heard < 3


def talk() -> wl.System:
    return wl.System(
        {A: Talker(), B: Talker()},
        network=wl.streams(),
        workload=[wl.script(B, [wl.invoke(Talker.say)])],
        properties=[the_second_is_the_last],
        name="talk",
    )


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_refused_for_a_call_that_was_made(seed: int) -> None:
    report = wl.simulate(
        talk(),
        mode="check",
        seconds=40,
        seed=seed,
        rate=0.1,
        gather_every=1.0,
        threads=1,
        traces=False,
    )
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.to_json()["refusals"] == []


def test_a_timer_that_is_set_again_leaves_a_checkpoint_as_good_as_it_was() -> None:
    unchanged = Unchanged(Watched(frozenset(), timers=True, calls=False), 1)
    assert unchanged.since(2) == 2
    effects: Any = SimpleNamespace(written=(), timers=())
    fired = Event(wl.Kind.TIMER, A, name="tick")
    unchanged.happened(fired, effects, 2, timers=False)
    assert unchanged.since(2) == 2
    unchanged.happened(fired, effects, 2, timers=True)
    assert unchanged.since(2) is None
    assert unchanged.since(3) == 3
