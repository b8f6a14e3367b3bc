"""Runs by the clock: each is a run of the direct world, and same seed, same run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.systems import VARIANTS
from tests.worlds.test_schedules import ZOO

import worldline as wl
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, permits
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import latency_of
from worldline.worlds.simulation import Simulation
from worldline.worlds.weather import WeatherEvent

RUN_S = 40.0


def can_be_simulated(system: wl.System) -> bool:
    holds_for_ever = Capability.HOLDS_FOR_EVER in system.network.capabilities
    return not (holds_for_ever or system.prologue)


def bad_weather(system: wl.System) -> list[WeatherEvent]:
    """Everything that may befall a system, again and again."""
    first, last = system.ids[0], system.ids[-1]
    weather = []
    for what, node, time, every in (
        ("crash", last, 1.0, 5.0),
        ("restart", last, 2.5, 5.0),
        ("reset", first, 0.7, 6.0),
    ):
        weather.append(WeatherEvent(what=what, node=node, time=time, every=every))
    if system.cuts:
        side = system.cuts[0]
        weather.append(WeatherEvent(what="cut", side=side, time=3.0, every=7.0))
        weather.append(WeatherEvent(what="heal", time=4.0, every=7.0))
    weather.append(WeatherEvent(what="loss", amount=0.5, time=9.0))
    weather.append(WeatherEvent(what="delay", amount=3.0, time=12.0))
    return weather


def with_bad_weather(build: Callable[[], wl.System]) -> tuple[wl.System, Conditions]:
    system = build()
    faults = tuple(
        name
        for name in BUDGETS
        if permits(system.network, name) and (name != "partitions" or system.cuts)
    )
    system = system.under_injection("all", faults)
    weather = [
        one
        for one in bad_weather(system)
        if one.node is None or system.faults.strikes(one.node)
    ]
    latency = latency_of("lognormal 100ms 1.5")
    return system, Conditions(
        latency=latency, loss=0.1, duplicate=0.1, rate=2.0, weather=weather
    )


SYSTEMS = {
    name: build
    for name, build in {**VARIANTS, **ZOO}.items()
    if can_be_simulated(build())
}


@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_every_run_by_the_clock_is_a_run_of_the_direct_world(
    build: Callable[[], wl.System],
) -> None:
    system, conditions = with_bad_weather(build)
    for seed in range(3):
        clocked = Simulation(system, conditions, seed)
        direct = DirectWorld(system)
        if seed == 1:
            clocked.world.keep_mail()
        for number in range(150):
            event = clocked.next(RUN_S)
            if event is None:
                break
            outcome = clocked.outcome()
            assert direct.step(event, outcome.choices) == outcome, (seed, number, event)
            if clocked.world.failure is not None:
                break
            if seed == 1 or (seed == 2 and number == 60):  # mailboxes from then on
                assert clocked.world.snapshot() == direct.snapshot(), (number, event)
