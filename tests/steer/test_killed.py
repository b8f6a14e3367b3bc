"""The predictor beside a host that steers is killed again and again, and nothing shows."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import statistics
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

import worldline as wl
from worldline.steer.process import predictor as process
from worldline.steer.process.predictor import PredictorProcess

A, B = wl.ids("a", "b")
Mode = Literal["predict", "steer"]
PAUSE_S = 0.005
LONGEST_S, WINDOW_S = 0.05, 0.15
ATTEMPTS = 4


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
def hits_are_counted(view: wl.View) -> bool:
    """Hold always, and read what each message writes: each interval something is new."""
    return view.for_each_node(lambda view, node: view[node].next >= view[node].missed)


def system() -> wl.System:
    nodes = {A: Player(B), B: Player(A)}
    return wl.System(
        nodes, network=wl.streams(), properties=[hits_are_counted], name="players"
    )


@dataclass
class Seen:
    """What was seen: how long nothing happened at most, and what became of events.

    Attributes
    ----------
    after, before
        In the time after each kill, and in as long before it.
    """

    after: list[float] = field(default_factory=list)
    before: list[float] = field(default_factory=list)
    events: int = 0
    missed: int = 0
    answers: int = 0


async def longest_pause(host: wl.Host) -> float:
    """Return for how long no event happens at most, of a while."""
    loop = asyncio.get_running_loop()
    last = began = loop.time()
    longest, events = 0.0, -1
    while (now := loop.time()) < began + WINDOW_S:
        count = sum(host.counts(node).events for node in (A, B))
        longest = max(longest, now - last)
        if count > events:
            last, events = now, count
        await asyncio.sleep(0.001)
    return longest


async def play(
    seed: int, kills: int, mode: Mode, found: list[PredictorProcess]
) -> Seen:
    rng, seen = random.Random(seed), Seen()
    steered = wl.steered(
        system,
        mode=mode,
        gather_every=0.5,
        say=lambda line: None,
    )
    async with steered as companions, wl.Host(system(), companions=companions) as host:
        (predictor,) = found
        await host.call(A, Player.serve)
        while not predictor.counts.answered:
            await asyncio.sleep(0.01)
        for death in range(1, kills + 1):
            while predictor.pid is None:
                await asyncio.sleep(0.001)
            await asyncio.sleep(rng.random() * 0.1)
            seen.before.append(await longest_pause(host))
            while predictor.pid is None:
                await asyncio.sleep(0.001)
            os.kill(predictor.pid, signal.SIGKILL)
            seen.after.append(await longest_pause(host))
            while predictor.counts.deaths < death:
                await asyncio.sleep(0.001)
        answers = predictor.counts.answered
        while predictor.counts.answered == answers:
            await asyncio.sleep(0.01)
        seen.answers = predictor.counts.answered - answers
        seen.events = sum(host.counts(node).events for node in (A, B))
        seen.missed = sum(host.state(node).missed for node in (A, B))
    return seen


def killed(monkeypatch: pytest.MonkeyPatch, kills: int, mode: Mode) -> None:
    found: list[PredictorProcess] = []
    begin = PredictorProcess.__init__

    def beginning(self: PredictorProcess, *given: Any, **options: Any) -> None:
        begin(self, *given, **options)
        found[:] = [self]

    monkeypatch.setattr(process, "FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(process, "LONGEST_PAUSE_S", 0.01)
    monkeypatch.setattr(PredictorProcess, "__init__", beginning)
    late = []
    for attempt in range(ATTEMPTS):
        playing = asyncio.wait_for(play(attempt, kills, mode, found), 60 + 2 * kills)
        seen = asyncio.run(playing)
        assert seen.missed == 0
        assert seen.events > 50
        assert seen.answers > 0
        # Other processes keep this one waiting, too, and before a kill as well.
        most = max(seen.before) + LONGEST_S
        if statistics.median(seen.after) <= LONGEST_S and max(seen.after) <= most:
            return
        late.append(max(seen.after))
    pytest.fail(f"for {min(late):.3f} s no event happened")


@pytest.mark.nightly
def test_no_event_is_lost_or_late_when_the_predictor_is_killed(
    monkeypatch: pytest.MonkeyPatch,
):
    killed(monkeypatch, 3, "steer")


@pytest.mark.nightly
@pytest.mark.parametrize("mode", ["predict", "steer"])
def test_no_event_is_lost_or_late_however_often_it_is_killed(
    monkeypatch: pytest.MonkeyPatch, mode: Mode
):
    killed(monkeypatch, 40, mode)
