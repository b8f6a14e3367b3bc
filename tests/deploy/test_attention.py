"""A companion that says what it attends to sees no more of plain events, and may refuse them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.deploy.companion_runs import replayed

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.network.mailbox import Network
from worldline.model.usercode.running import Series
from worldline.trace.journal.frames import Extensions
from worldline.worlds.companions import Attention, Beside, Effects

A, B = wl.ids("a", "b")


@wl.message
class Plain:
    number: int


@wl.message
class Guarded:
    number: int


@wl.node
class Taker:
    other: wl.NodeId
    sum: int = 0
    came: list[int] = wl.field(default_factory=list)
    idle: int = 0
    rang: int = 0

    @wl.call
    def say(self, ctx: wl.Context, number: int) -> None:
        ctx.send(self.other, Plain(number))
        ctx.send(self.other, Guarded(number))

    @wl.on(Plain)
    def plain(self, ctx: wl.Context, src: wl.NodeId, msg: Plain) -> None:
        self._take(ctx, src, msg)

    @wl.on(Guarded, when=lambda self, src, msg: self.sum >= 0)
    def guarded(self, ctx: wl.Context, src: wl.NodeId, msg: Guarded) -> None:
        self._take(ctx, src, msg)

    def _take(self, ctx: wl.Context, src: wl.NodeId, msg: Plain | Guarded) -> None:
        if msg.number == 0:  # changes nothing
            return
        self.idle += 1
        if msg.number > 1:  # changes what is attended to
            self.sum += msg.number
            self.came.append(msg.number)
            ctx.set_timer(Taker.ring, after=0.01)
            ctx.send(src, Plain(0))

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.rang += 1


class Attends(Attention):
    """Attends to the sum, of which it refuses some values."""

    def __init__(self, companion: Attending, beside: Beside) -> None:
        super().__init__()
        self._companion, self._beside = companion, beside
        self.reads = self.news = frozenset({"sum"})
        self.looks_at_timers = companion.looks_at_timers
        self.is_gated, self.vet = companion.is_gated, self._vetted
        self.seen = 0

    def came(self, peer: int, life: int, beside: Extensions | None) -> None:
        self._companion.log.append(("came", beside))

    def beside(self, to: int, part: str, message: Any) -> Extensions | None:
        return {1: 7}

    def passed(self) -> None:
        super().passed()
        self._companion.log.append(("passed", None))

    def _vetted(
        self, src: wl.NodeId, message: Any, effects: Effects, series: Series
    ) -> tuple[Event, wl.Instead] | None:
        event = delivery(self._beside.me, OpenEnvelope(src, "", message))
        instead = self._companion.vet(self._beside, event, effects)
        return None if instead is None else (event, instead)


class Attending(wl.Companion):
    """Refuses what it is told to refuse, and writes down what it is asked."""

    name, vets = "attending", True

    def __init__(
        self,
        refuses: wl.Instead | None = None,
        *,
        is_gated: bool = False,
        looks_at_timers: bool = False,
    ) -> None:
        self.refuses, self.is_gated = refuses, is_gated
        self.looks_at_timers = looks_at_timers
        self.log: list[tuple[str, Any]] = []
        self.beside: dict[wl.NodeId, Beside] = {}

    def attention(self, beside: Beside) -> Attention | None:
        self.beside[beside.me] = beside
        return Attends(self, beside) if beside.me == B else None

    def gate(self, beside: Beside, event: Event) -> wl.Instead | None:
        self._note("gate", beside, event)
        return None

    def vet(self, beside: Beside, event: Event, effects: Effects) -> wl.Instead | None:
        self._note("vet", beside, event)
        is_new = event.kind is Kind.DELIVER and event.payload.number == 2
        refuses, self.refuses = self.refuses, None if is_new else self.refuses
        return refuses if is_new and beside.me == B else None

    def seen(self, beside: Beside, event: Event) -> None:
        self._note("seen", beside, event)

    def _note(self, what: str, beside: Beside, event: Event) -> None:
        if beside.me == B:
            self.log.append((what, event.name or event.kind.value))

    def of(self, *names: str) -> list[tuple[str, Any]]:
        """Return what it was asked about events of these names."""
        return [one for one in self.log if one[1] in names]


def system(network: Network | None = None) -> wl.System:
    nodes = {A: Taker(B), B: Taker(A)}
    return wl.System(nodes, network=network or wl.streams(), name="takers")


def run(
    companion: Attending,
    folder: Path,
    step: Callable[[wl.Host], Awaitable[Any]],
    made: wl.System | None = None,
) -> None:
    """Run a step with a companion; its recording replays."""
    replayed(step, companion, folder, made or system())


def test_of_plain_events_it_sees_those_alone_that_write_what_it_attends_to(
    tmp_path: Path,
):
    attending = Attending()

    async def step(host: wl.Host) -> None:
        for number in (0, 1, 3):
            await host.call(A, Taker.say, number)
        await host.until(B, lambda b: b.sum == 6)
        await host.until(B, lambda b: b.rang == 1)

    run(attending, tmp_path, step)
    assert attending.of("Plain", "Guarded", "ring") == [
        ("vet", "Plain"),
        ("vet", "Guarded"),
    ]
    assert [said for what, said in attending.log if what == "came"] == [None] * 6
    assert ("passed", None) in attending.log
    assert ("seen", "start") in attending.log


def test_it_is_asked_about_timers_if_it_looks_at_them(tmp_path: Path):
    attending = Attending(looks_at_timers=True)

    async def step(host: wl.Host) -> None:
        await host.call(A, Taker.say, 3)
        await host.until(B, lambda b: b.rang == 1)

    run(attending, tmp_path, step)
    assert attending.of("ring") == [("vet", "ring")]


def test_it_sees_all_of_an_event_as_long_as_events_are_gated(tmp_path: Path):
    attending = Attending(is_gated=True)

    async def step(host: wl.Host) -> None:
        await host.call(A, Taker.say, 0)
        while len(attending.of("Guarded")) < 3:
            await asyncio.sleep(0.001)

    run(attending, tmp_path, step)
    asked = ["gate", "vet", "seen"]
    for name in ("Plain", "Guarded"):
        assert [what for what, _ in attending.of(name)] == asked


@pytest.mark.parametrize("instead", [wl.Instead.CONSUMED, wl.Instead.PUT_OFF])
def test_what_it_refuses_is_undone(instead: wl.Instead, tmp_path: Path):
    attending = Attending(instead)
    is_lost = instead is wl.Instead.CONSUMED

    async def step(host: wl.Host) -> None:
        await host.call(A, Taker.say, 2)
        await host.until(B, lambda b: b.came == ([2] if is_lost else [2, 2]), 5)
        # What was refused has sent nothing, and set no timer.
        assert host.counts(B).sent == (1 if is_lost else 2)

    run(attending, tmp_path, step, system(wl.datagrams()))


def test_its_numbers_stand_beside_what_its_node_sends(tmp_path: Path):
    found: list[dict[int, int]] = []

    class Listening(Attending):
        def noticed(
            self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
        ) -> None:
            found.append(numbers)

    listening = Listening()

    async def step(host: wl.Host) -> None:
        await host.call(A, Taker.say, 3)
        await host.until(A, lambda a: len(found) == 2)

    run(listening, tmp_path, step)
    assert found == [{1: 7}, {1: 7}]
