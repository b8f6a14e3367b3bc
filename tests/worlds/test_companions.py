"""Companions in runs by the clock: what they see, block and undo, and that runs replay."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.worlds.test_simulation import SYSTEMS, with_bad_weather

import worldline as wl
from worldline.model.events import Event
from worldline.model.filters import REFUSABLE
from worldline.model.kinds import Kind
from worldline.model.network import permits
from worldline.model.network.networks import carrier
from worldline.worlds.companions import Beside, Companion, Effects, Instead
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

A, B = wl.ids("a", "b")
MIXED = ["randtree", "mixed", "kv", "streams", "chord"]


def some(systems: dict[str, Callable[[], wl.System]]) -> list[str]:
    return sorted(systems)[::4]


class Gathering(Companion):
    """Talks to the companions of all nodes, and numbers messages; refuses nothing."""

    name = "gathering"

    def __init__(self) -> None:
        self.heard_of: list[tuple[float, str, str, bytes]] = []
        self.sent: dict[tuple[Any, ...], int] = {}
        self.noticed_: list[tuple[Any, ...]] = []
        self.seen_: list[Event] = []

    def joined(self, beside: Beside) -> None:
        self._go_round(beside)

    def _go_round(self, beside: Beside) -> None:
        beside.checkpoint()
        for peer in sorted(beside.node.__dict__.get("others", (A, B))):
            beside.tell(peer, self.name, b"ask")
        beside.later(0.3, lambda: self._go_round(beside))

    def extensions(
        self, beside: Beside, peer: wl.NodeId, part: str, message: Any
    ) -> dict[int, int]:
        key = beside.me, peer, beside.incarnation
        self.sent[key] = number = self.sent.get(key, 0) + 1
        return {3: number}

    def noticed(
        self, beside: Beside, peer: wl.NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.noticed_.append((beside.me, beside.incarnation, peer, life, numbers[3]))

    def seen(self, beside: Beside, event: Event) -> None:
        self.seen_.append(event)

    def heard(self, beside: Beside, peer: wl.NodeId, body: bytes) -> None:
        self.heard_of.append((beside.now, beside.me.name, peer.name, body))
        if body == b"ask":
            beside.tell(peer, self.name, b"answer")


class GoingRound(Gathering):
    """The same for any system."""

    def __init__(self, system: wl.System) -> None:
        super().__init__()
        self._ids = system.ids

    def _go_round(self, beside: Beside) -> None:
        for peer in self._ids:
            beside.tell(peer, self.name, b"ask")
        beside.later(0.3, lambda: self._go_round(beside))


def what_happens(simulation: Simulation, until: float = 20.0, most: int = 400):
    steps: list[tuple[float, Event, Any]] = []
    while len(steps) < most and (event := simulation.next(until)) is not None:
        steps.append((simulation.now, event, simulation.outcome()))
    return steps


@pytest.mark.parametrize("name", some(SYSTEMS))
def test_a_run_with_companions_that_refuse_nothing_is_the_run_without(name: str):
    is_as_without(*with_bad_weather(SYSTEMS[name]), 3)


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_many_runs_with_companions_are_those_without(name: str):
    for seed in range(10):
        is_as_without(*with_bad_weather(SYSTEMS[name]), seed)


def is_as_without(system: wl.System, conditions: Conditions, seed: int) -> None:
    without = what_happens(Simulation(system, conditions, seed))
    for vets in (False, True):
        gathering = GoingRound(system)
        gathering.vets = vets
        beside = Simulation(system, conditions, seed, companions=[gathering])
        assert what_happens(beside) == without
        handled = [event for _, event, _ in without if event.kind.runs_handler]
        assert gathering.seen_ == handled[: len(gathering.seen_)]
        assert len(gathering.seen_) >= len(handled) - 1  # the last one may fail
        assert gathering.heard_of or len(system.ids) == 1


class Refusing(Companion):
    """Refuses a share of all that can be refused, before or after it."""

    name = "chance"

    def __init__(self, system: wl.System, seed: int, share: float = 0.15) -> None:
        self._system, self._random = system, random.Random(seed)
        self._share = share
        self.vets = bool(seed % 2)
        self.count = 0

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        return self._perhaps(event)

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        return self._perhaps(event)

    def _perhaps(self, event: Event) -> Instead | None:
        if event.kind not in REFUSABLE or self._random.random() > self._share:
            return None
        self.count += 1
        return instead_of(self._system, event)

    def note(self, beside: Beside) -> str:
        return f"refused by chance, {self.count}"


def instead_of(system: wl.System, event: Event) -> Instead:
    if event.kind is not Kind.DELIVER:
        return Instead.PUT_OFF
    network = carrier(system.network, event.part, type(event.payload))
    if permits(network, "connection_errors"):
        return Instead.BROKEN
    return Instead.CONSUMED if permits(network, "drops") else Instead.PUT_OFF


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_a_run_of_which_events_are_refused_is_one_of_the_direct_world(name: str):
    follow(*with_bad_weather(SYSTEMS[name]), seeds=2, steps=70)


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_many_long_runs_of_which_events_are_refused_are_of_the_direct_world(name: str):
    follow(*with_bad_weather(SYSTEMS[name]), seeds=16, steps=400)


def follow(system: wl.System, conditions: Conditions, seeds: int, steps: int) -> None:
    """Run with refusals by the clock and in the direct world, and compare."""
    for seed in range(seeds):
        refusing = Refusing(system, seed)
        clocked = Simulation(system, conditions, seed, companions=[refusing])
        direct = DirectWorld(system)
        for number in range(steps):
            event = clocked.next(40.0)
            if event is None:
                break
            outcome = clocked.outcome()
            assert direct.step(event, outcome.choices) == outcome, (number, event)
            if clocked.world.failure is not None:
                break
            if number % 7 == 0:
                assert clocked.world.snapshot() == direct.snapshot(), (number, event)


@wl.node
class Asked:
    """Is asked to ring, and does so once it may."""

    rang: list[str] = wl.field(default_factory=list)
    may: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Asked.allow, after=2.0)

    @wl.timer
    def allow(self, ctx: wl.Context) -> None:
        self.may = True

    @wl.call(when=lambda self, text: self.may)
    def ring(self, ctx: wl.Context, text: str) -> None:
        self.rang.append(text)


class Asking(Companion):
    """Asks for calls when a life begins, and perhaps puts the first one off."""

    def __init__(self, *, off: bool = False, refuses: bool = False) -> None:
        self.off, self.refuses = off, refuses
        self.calls_off: list[Callable[[], bool]] = []

    def joined(self, beside: Beside) -> None:
        self.calls_off = [beside.call_soon("ring", text) for text in ("one", "two")]
        if self.off:
            assert self.calls_off[0]()

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        if event.kind is Kind.CALL and self.refuses:
            self.refuses = False
            return Instead.PUT_OFF
        return None


def ringing(companion: Companion, *weather: WeatherEvent) -> list[tuple[float, str]]:
    system = wl.System({A: Asked()}, name="asked", open_workload=True)
    conditions = Conditions(
        latency=latency_of("constant 10ms"), rate=0.0, weather=weather
    )
    simulation = Simulation(system, conditions, 1, companions=[companion])
    steps = what_happens(simulation)
    return [(at, one.payload[0]) for at, one, _ in steps if one.kind is Kind.CALL]


def test_calls_that_a_companion_asks_for_wait_for_their_guard():
    asking = Asking()
    assert ringing(asking) == [(2.0, "one"), (2.0, "two")]
    assert not any(call_off() for call_off in asking.calls_off), "they were made"


def test_a_call_that_is_called_off_is_not_made():
    assert ringing(Asking(off=True)) == [(2.0, "two")]


def test_a_call_that_is_put_off_is_made_a_second_later():
    assert ringing(Asking(refuses=True)) == [(2.0, "two"), (3.0, "one")]


def test_a_call_of_a_life_that_is_over_is_not_made():
    assert ringing(Asking(), WeatherEvent(what="reset", node=A, time=1.0)) == [
        (3.0, "one"),
        (3.0, "two"),
    ]
