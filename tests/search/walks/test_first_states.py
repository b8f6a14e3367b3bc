"""Walks that begin where the system does, or where it is live: what is said, and when they end."""

from __future__ import annotations

from typing import Literal

import pytest

import worldline as wl

(A,) = wl.ids("a")


@wl.node
class Gambler:
    has_won: bool = False

    @wl.call
    def rest(self, ctx: wl.Context) -> None: ...

    @wl.call
    def bet(self, ctx: wl.Context) -> None:
        self.has_won = ctx.choose([False, True])


@wl.liveness
def has_won(view: wl.View) -> bool:
    return bool(view[A].has_won)


CALLS = [
    wl.invoke(Gambler.rest),
    wl.invoke(Gambler.bet),
    *[wl.invoke(Gambler.rest)] * 3,
]
SYSTEM = wl.System(
    {A: Gambler()},
    workload=[wl.script(A, CALLS, on_reset="restart")],
    properties=[has_won],
    boot="events",
)


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("resets", [1, None])
def test_faults_do_not_revive_what_dies_on_a_walk_from_the_first_state(
    engine: Literal["python", "native"], resets: int | None
):
    # A reset would let it bet again, but walks have none: who has lost is dead.
    report = wl.walk(
        SYSTEM.replace(faults=wl.Faults(resets=resets)),
        depth=1,
        walks=4,
        engine=engine,
        traces=False,
    )
    assert (report.depth, report.periphery) == (1, 1)
    assert report.critical is not None
    assert report.critical.event == "call at a bet"
    assert (report.critical.step, report.critical.certified) == (3, True)


@wl.node
class Ticker:
    ticks: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Ticker.tick, after=1)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.ticks += 1
        ctx.set_timer(Ticker.tick, after=1)


@wl.liveness
def is_there(view: wl.View) -> bool:
    return len(view.nodes) == 1


def test_walks_that_have_no_steps_use_up_a_budget_of_steps():
    system = wl.System({A: Ticker()}, properties=[is_there])
    report = wl.walk(system, events=20, max_seconds=20, traces=False)
    assert (report.bound, report.steps, report.walks) == ("events", 0, 20)
