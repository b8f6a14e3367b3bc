"""A predictor beside a host under load: it is killed again and again, and nothing shows."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from typing import NamedTuple

import pytest
from tests.steer.process.thinker import MODULE

import worldline as wl
from worldline.loading.loader import load
from worldline.model.events import Event
from worldline.steer.process import predictor as process
from worldline.steer.process.predictor import PredictorProcess
from worldline.worlds.companions import Beside

A, B = wl.ids("a", "b")
KILLS = 4
AT_ONCE = 20
LONGEST_S = 0.05
ATTEMPTS = 4
"""Other processes keep this one waiting, too, but not each time."""


@wl.message
class Ball:
    number: int


@wl.node
class Player:
    other: wl.NodeId
    next: int = 0
    missed: int = 0

    @wl.call
    def serve(self, ctx: wl.Context, count: int) -> None:
        for number in range(count):
            ctx.send(self.other, Ball(number))

    @wl.on(Ball)
    def hit(self, ctx: wl.Context, src: wl.NodeId, msg: Ball) -> None:
        self.missed += msg.number != self.next
        self.next += 1
        ctx.send(src, Ball(msg.number + AT_ONCE if self.other == B else msg.number))


class Asking(wl.Companion):
    """Asks about each event, which is far more than anybody can answer."""

    def __init__(self, predictor: PredictorProcess) -> None:
        self.predictor, self.answers = predictor, 0

    def seen(self, beside: Beside, event: Event) -> None:
        self.predictor.ask(beside.me, b"0.001".ljust(2_000, b"0"), self.take)

    def take(self, part: bytes) -> None:
        self.answers += 1


class Seen(NamedTuple):
    events: int
    missed: int
    answers: int
    longest: float
    deaths: int


async def play(seed: int) -> Seen:
    rng, loop = random.Random(seed), asyncio.get_running_loop()
    nodes = {A: Player(B), B: Player(A)}
    system = wl.System(nodes, network=wl.streams(), name="players")
    predictor = PredictorProcess(
        load("zoo:toy", {}), "sleep", say=lambda line: None, module=MODULE
    )
    asking = Asking(predictor)
    host = wl.Host(system, companions=[asking])
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        last = loop.time()
        while True:
            await asyncio.sleep(0.001)
            longest, last = max(longest, loop.time() - last), loop.time()

    async with predictor, host:
        await host.call(A, Player.serve, AT_ONCE)
        while not asking.answers:
            await asyncio.sleep(0.01)
        beating = asyncio.ensure_future(beat())
        for death in range(1, KILLS + 1):
            while predictor.pid is None:
                await asyncio.sleep(0.001)
            await asyncio.sleep(rng.random() * 0.05)
            os.kill(predictor.pid, signal.SIGKILL)
            while predictor.counts.deaths < death:
                await asyncio.sleep(0.001)
        answers = asking.answers
        while asking.answers == answers:
            await asyncio.sleep(0.01)
        beating.cancel()
        events = sum(host.counts(node).events for node in (A, B))
        missed = sum(host.state(node).missed for node in (A, B))
    return Seen(events, missed, asking.answers, longest, predictor.counts.deaths)


def test_a_predictor_that_is_killed_costs_no_event_and_no_time(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(process, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(process, "LONGEST_PAUSE_S", 0.01)
    longest = []
    for attempt in range(ATTEMPTS):
        seen = asyncio.run(play(attempt))
        assert seen.missed == 0
        assert seen.deaths == KILLS
        assert seen.events > 1_000
        longest.append(seen.longest)
        if seen.longest <= LONGEST_S:
            return
    pytest.fail(f"the loop stood still for {min(longest):.3f} s")
