"""Runs by the clock: each is a run of the direct world, and same seed, same run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.systems import VARIANTS
from tests.worlds.test_schedules import ZOO

import worldline as wl
from worldline.model.kinds import BUDGETS
from worldline.model.network import Capability, Network, permits
from worldline.worlds.chance import Chance
from worldline.worlds.conditions import Conditions
from worldline.worlds.direct import DirectWorld
from worldline.worlds.latency import between, latency_of
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


def follow(
    system: wl.System, conditions: Conditions, seed: int, steps: int
) -> Simulation:
    """Run by the clock and in the direct world, and compare each outcome and states.

    Runs of odd seeds keep mailboxes from the beginning, others from half of the way on.
    """
    clocked, direct = Simulation(system, conditions, seed), DirectWorld(system)
    for number in range(steps):
        event = clocked.next(RUN_S)
        if event is None:
            break
        outcome = clocked.outcome()
        assert direct.step(event, outcome.choices) == outcome, (seed, number, event)
        if clocked.world.failure is not None:
            break
        if number % 7 == 0 and (seed % 2 or number > steps / 2):
            assert clocked.world.snapshot() == direct.snapshot(), (number, event)
    return clocked


@pytest.mark.slow
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_every_run_by_the_clock_is_a_run_of_the_direct_world(
    build: Callable[[], wl.System],
) -> None:
    system, conditions = with_bad_weather(build)
    for seed in range(2):
        follow(system, conditions, seed, 70)


@pytest.mark.nightly
@pytest.mark.parametrize("build", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_many_long_runs_by_the_clock_are_runs_of_the_direct_world(
    build: Callable[[], wl.System],
) -> None:
    system, conditions = with_bad_weather(build)
    for seed in range(20):
        follow(system, conditions, seed, 500)


@wl.message
class Note:
    number: int


@wl.node
class Writer:
    heard: list[int] = wl.field(default_factory=list)
    sent: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Writer.write, after=0.5)

    @wl.timer
    def write(self, ctx: wl.Context) -> None:
        self.sent += 1
        ctx.send(B, Note(self.sent))
        ctx.set_timer(Writer.write, after=0.5)

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.heard.append(msg.number)


A, B = wl.ids("a", "b")


def writers(network: Network) -> wl.System:
    return wl.System({A: Writer(), B: Writer()}, network=network)


def times(simulation: Simulation, until: float) -> list[tuple[float, str]]:
    steps = []
    while (event := simulation.next(until)) is not None:
        steps.append((round(simulation.now, 6), repr(event)))
    return steps


def test_timers_fire_after_their_delay_and_messages_arrive_after_their_latency():
    conditions = Conditions(latency=latency_of("constant 20ms"))
    simulation = Simulation(writers(wl.datagrams()), conditions, 0)
    assert times(simulation, 1.0) == [
        (0.0, "start at a"),
        (0.0, "start at b"),
        (0.5, "timer at a write"),
        (0.5, "timer at b write"),
        (0.52, "deliver at b Note(number=1) from a"),
        (0.52, "deliver at b Note(number=1) from b"),
        (1.0, "timer at a write"),
        (1.0, "timer at b write"),
    ]
    assert simulation.now == 1.0


def test_a_latency_may_depend_on_who_sends_to_whom():
    def far(src: wl.NodeId, dst: wl.NodeId, drawn: float) -> float:
        return 0.25 if (src, dst) == (A, B) else 0.125

    latency = latency_of("constant 0s")
    conditions = Conditions(latency=latency, between=between(far))
    simulation = Simulation(writers(wl.datagrams()), conditions, 0)
    assert times(simulation, 0.8)[4:] == [
        (0.625, "deliver at b Note(number=1) from b"),
        (0.75, "deliver at b Note(number=1) from a"),
    ]


@pytest.mark.parametrize("network", [wl.datagrams(reordering=False), wl.streams()])
def test_messages_keep_their_order_where_the_network_keeps_it(network: Network):
    conditions = Conditions(latency=latency_of("uniform 0s 10s"))
    simulation = Simulation(writers(network), conditions, 3)
    steps = [step for _, step in times(simulation, 60.0)]
    from_a = [
        step for step in steps if step.startswith("deliver at b") and "from a" in step
    ]
    assert from_a == [
        f"deliver at b Note(number={n}) from a" for n in range(1, len(from_a) + 1)
    ]
    assert len(from_a) > 90


@wl.node
class Insisting:
    """Sends what is always the same, twice, and again whenever it is lost."""

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if ctx.me == A:
            ctx.send(B, Note(0))
            ctx.send(B, Note(0))

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        ctx.send(peer, Note(0))

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        pass


@pytest.mark.parametrize(
    ("what", "node", "expected"),
    [
        ("crash", B, ["transport_error"] * 3),
        ("reset", A, ["deliver"] * 2),
    ],
)
def test_what_is_sent_again_takes_its_own_time_though_it_says_the_same(
    what: str, node: wl.NodeId, expected: list[str]
):
    system = wl.System(
        {A: Insisting(), B: Insisting()},
        network=wl.streams(),
        faults=wl.Faults(crashes=None, resets=None),
    )
    weather = [WeatherEvent(what=what, node=node, time=0.015)]
    latency = latency_of("constant 20ms")
    simulation = Simulation(system, Conditions(latency=latency, weather=weather), 0)
    sent, arrived = 0.0, []
    while (event := simulation.next(0.07)) is not None:
        if event.kind in (wl.Kind.DELIVER, wl.Kind.TRANSPORT_ERROR):
            arrived.append(event.kind.value)
            assert simulation.now == pytest.approx(sent + 0.02)
        if simulation.outcome().sends:
            sent = simulation.now
    assert arrived == expected


def test_one_number_more_at_a_node_changes_none_of_another():
    chance, other = Chance(5, [A, B]), Chance(5, [B])
    for _ in range(3):
        chance.choose(0, 10, None)
    drawn = [chance.choose(1, 1000, None) for _ in range(5)]
    assert drawn == [other.choose(0, 1000, None) for _ in range(5)]


def test_random_numbers_are_the_same_in_every_process():
    chance = Chance(7, [A, B])
    drawn = [chance.choose(1, 1_000_000, None) for _ in range(3)]
    assert drawn == PINNED


PINNED = [729200, 857056, 177858]
"""What seed 7 draws at node b, on any machine."""


def test_random_numbers_are_spread_evenly():
    chance = Chance(1, [A])
    counts = [0] * 16
    for count in range(16_000):
        counts[int(16 * chance.at(Chance.LATENCY, 0, count))] += 1
    assert 880 < min(counts) <= max(counts) < 1120


@pytest.mark.parametrize(
    "text", ["", "uniform", "uniform 1s", "uniform 2s 1s", "constant x", "normal 1s 2s"]
)
def test_a_latency_that_is_none_is_refused(text: str):
    with pytest.raises(wl.UsageError):
        latency_of(text)


def deep(calls: int = 0) -> int:
    try:
        return deep(calls + 1)
    except RecursionError:
        return calls


@wl.node
class Diver:
    """Writes down how many calls inside calls each of its handlers could make."""

    depths: list[int] = wl.field(default_factory=list)

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Diver.dive, after=1.0)
        ctx.set_timer(Diver.dive_for, 7, after=1.0)
        ctx.send(ctx.me, Note(1))

    @wl.timer
    def dive(self, ctx: wl.Context) -> None:
        self.depths.append(deep())

    @wl.timer
    def dive_for(self, ctx: wl.Context, payload: int) -> None:
        self.depths.append(deep())

    @wl.on(Note)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Note) -> None:
        self.depths.append(deep())


def test_a_recursion_ends_where_it_ends_in_the_direct_world():
    system = wl.System({A: Diver()})
    simulation, direct = Simulation(system, TWENTY_MS, 0), DirectWorld(system)
    steps = []
    with simulation.world.series:
        while simulation.advance(2.0):
            steps.append((simulation.event, simulation.outcome().choices))
    for event, choices in steps:
        direct.step(event, choices)
    assert len(steps) == 4
    assert simulation.world.nodes[0].depths == direct.nodes[0].depths


TWENTY_MS = Conditions(latency=latency_of("constant 20ms"))
