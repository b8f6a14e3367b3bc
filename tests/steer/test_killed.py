"""The predictor beside a host that steers is killed again and again, and nothing shows."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from dataclasses import dataclass
from typing import Any

import pytest

import worldline as wl
from worldline.steer.process import predictor as process
from worldline.steer.process.predictor import PredictorProcess

A, B = wl.ids("a", "b")
PAUSE_S = 0.005
LONGEST_S = 0.05
ATTEMPTS = 4
"""Other processes keep this one waiting, too, but not each time."""


@wl.message
class Ball:
    number: int


@wl.node
class Player:
    """Sends back each ball a little later, so that the processor has time for others."""

    other: wl.NodeId
    next: int = 0
    missed: int = 0

    @wl.call
    def serve(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Ball(0))

    @wl.on(Ball)
    def hit(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.missed += msg.number != self.next
        self.next += 1
        ctx.set_timer(Player.back, after=PAUSE_S)

    @wl.timer
    def back(self, ctx: wl.Context) -> None:
        ctx.send(self.other, Ball(self.next if self.other == B else self.next - 1))


@wl.safety
def nothing_is_missed(view: wl.View) -> bool:
    """Hold always, and read what each message writes: each interval something is new."""
    return view.for_each_node(
        lambda view, node: view[node].missed == 0 and view[node].next >= 0
    )


def system() -> wl.System:
    nodes = {A: Player(B), B: Player(A)}
    return wl.System(
        nodes, network=wl.streams(), properties=[nothing_is_missed], name="players"
    )


@dataclass
class Seen:
    """What was seen: how long nothing happened at most, and what became of events."""

    longest: float = 0.0
    events: int = 0
    missed: int = 0
    asked_before: int = 0
    asked: int = 0


async def play(seed: int, kills: int, mode: str, found: list[PredictorProcess]) -> Seen:
    rng, loop, seen = random.Random(seed), asyncio.get_running_loop(), Seen()

    async def beat(host: wl.Host) -> None:
        """Take note of how long no event happens, and of how long the loop stands still."""
        last, events = loop.time(), 0
        while True:
            await asyncio.sleep(0.001)
            now = sum(host.counts(node).events for node in (A, B))
            seen.longest = max(seen.longest, loop.time() - last)
            if now > events:
                last, events = loop.time(), now

    steered = wl.steered(system, mode=mode, gather_every=0.5, say=lambda line: None)  # type: ignore[arg-type]
    async with steered as companions, wl.Host(system(), companions=companions) as host:
        (predictor,) = found
        await host.call(A, Player.serve)
        while not predictor.counts.answered:
            await asyncio.sleep(0.01)
        beating = asyncio.ensure_future(beat(host))
        for death in range(1, kills + 1):
            while predictor.pid is None:
                await asyncio.sleep(0.001)
            await asyncio.sleep(rng.random() * 0.1)
            os.kill(predictor.pid, signal.SIGKILL)
            while predictor.counts.deaths < death:
                await asyncio.sleep(0.001)
        seen.asked_before = predictor.counts.answered
        while predictor.counts.answered == seen.asked_before:
            await asyncio.sleep(0.01)
        seen.asked = predictor.counts.answered
        beating.cancel()
        seen.events = sum(host.counts(node).events for node in (A, B))
        seen.missed = sum(host.state(node).missed for node in (A, B))
    return seen


def killed(monkeypatch: pytest.MonkeyPatch, kills: int, mode: str) -> None:
    found: list[PredictorProcess] = []

    begin = PredictorProcess.__init__

    def beginning(self: PredictorProcess, *given: Any, **options: Any) -> None:
        begin(self, *given, **options)
        found[:] = [self]

    monkeypatch.setattr(process, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(process, "LONGEST_PAUSE_S", 0.01)
    monkeypatch.setattr(PredictorProcess, "__init__", beginning)
    longest = []
    for attempt in range(ATTEMPTS):
        playing = asyncio.wait_for(play(attempt, kills, mode, found), 60 + kills)
        seen = asyncio.run(playing)
        assert seen.missed == 0
        assert seen.events > 100
        assert seen.asked > seen.asked_before
        longest.append(seen.longest)
        if seen.longest <= LONGEST_S:
            return
    pytest.fail(f"for {min(longest):.3f} s no event happened")


def test_no_event_is_lost_or_late_when_the_predictor_is_killed(
    monkeypatch: pytest.MonkeyPatch,
):
    killed(monkeypatch, 2, "steer")


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["predict", "steer"])
def test_no_event_is_lost_or_late_however_often_it_is_killed(
    monkeypatch: pytest.MonkeyPatch, mode: str
):
    killed(monkeypatch, 100, mode)
