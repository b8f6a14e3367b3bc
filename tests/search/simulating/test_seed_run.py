"""The run of one seed: what ends it, while nothing happens and where something is false."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, cast

import pytest
from tests.worlds.test_companions import Refusing

import worldline as wl
from worldline.search.simulating.seed_run import JudgedRun
from worldline.search.simulating.tally import MakeCompanions, Question
from worldline.worlds.conditions import Conditions
from worldline.worlds.latency import latency_of
from worldline.worlds.weather import WeatherEvent

A, B, C = wl.ids("a", "b", "c")


@wl.node
class Idle:
    """Has a call that can never be made."""

    is_ready: bool = False

    @wl.call(when=lambda self: self.is_ready)
    def never(self, ctx: wl.Context) -> None:
        pass


@wl.safety
def holds(view: wl.View) -> bool:
    return not any(view[node].is_ready for node in view)


@pytest.mark.parametrize(
    "given",
    [
        {"interval": 1e-6},
        {"weather": "every 1us heal"},
        {"rate": 1e9},
    ],
)
def test_the_time_is_kept_while_nothing_happens(given: dict[str, Any]):
    system = wl.System(
        {A: Idle(), B: Idle()},
        workload=[wl.whenever(Idle.never)],
        faults=wl.Faults(partitions=1),
        properties=[holds],
    )
    found = wl.simulate(system, seconds=1e6, max_seconds=0.1, threads=1, **given)
    assert found.bound == "seconds"
    assert found.seconds < 5
    assert found.events == 0


@pytest.mark.parametrize("interval", [0, 1e-300, 9e-7])
def test_an_interval_that_would_take_all_time_is_refused(interval: float):
    with pytest.raises(wl.UsageError, match="is less than 1e-06 seconds"):
        wl.simulate(wl.System({A: Idle()}), interval=interval)


@wl.message
class Told:
    count: int


@wl.node
class Teller:
    """Counts, and tells somebody."""

    count: int = 0
    heard: int = 0
    notes: tuple[int, ...] = ()

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Teller.tick, after=ctx.random(10) / 10)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.count += 1
        ctx.set_timer(Teller.tick, after=0.5)
        ctx.send(ctx.nodes[ctx.random(3)], Told(self.count))

    @wl.on(Told)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Told) -> None:
        self.heard = msg.count
        if not ctx.random(6):
            self.notes = (*self.notes, ctx.random(3))


def is_quiet(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].heard != 9)


def is_orderly(view: wl.View, node: wl.NodeId) -> bool:
    """Looks at another node once it has some notes."""
    notes = view[node].notes
    return bool(len(notes) < 3 or view[view.nodes[0]].heard < 7)


@wl.safety
def all_are_quiet(view: wl.View) -> bool:
    return view.for_each_node(is_quiet)


@wl.safety
def all_are_orderly(view: wl.View) -> bool:
    return view.for_each_node(is_orderly)


@wl.safety
def none_is_far_ahead(view: wl.View) -> bool:
    counts = [view[node].count for node in view]
    return bool(max(counts) - min(counts) < 9)


@wl.gauge(initial=0)
def events(value: int, step: wl.TimedStep, view: wl.View) -> int:
    return value + 1


@wl.gauge(initial=0)
def most(value: int, step: wl.TimedStep, view: wl.View) -> int:
    return max(int(view[node].heard) for node in view)


class Anew:
    """In the place of a recording: asks each property anew after each event."""

    def __init__(self, run: JudgedRun, question: Question) -> None:
        self._world, self._wanted = run.simulation.world, question.wanted
        self.false: list[set[int]] = []

    def add(
        self, event: wl.Event, outcome: Any, time: float, steer: str | None = None
    ) -> None:
        asked = enumerate(self._wanted)
        view = self._world.view
        self.false.append({n for n, prop in asked if not prop.judge(view).holds})


@pytest.mark.parametrize("gauges", [(), (events,), (events, most)])
@pytest.mark.parametrize("wanted", [(0,), (1,), (0, 1), (0, 1, 2)])
@pytest.mark.parametrize("crashes", [False, True])
def test_a_run_ends_with_the_event_after_which_a_local_property_is_false(
    gauges: tuple[Any, ...], wanted: tuple[int, ...], crashes: bool
):
    ends_where_it_should(gauges, wanted, crashes)


@pytest.mark.parametrize("wanted", [(0,), (0, 1, 2)])
@pytest.mark.parametrize("vets", [False, True])
def test_it_ends_there_too_where_companions_refuse_events(
    wanted: tuple[int, ...], vets: bool
):
    def refusing(system: wl.System, seed: int) -> list[Refusing]:
        return [Refusing(system, 2 * seed + vets)]

    ends_where_it_should((), wanted, True, refusing)
    ends_where_it_should((most,), wanted, False, refusing)


def ends_where_it_should(
    gauges: tuple[Any, ...],
    wanted: tuple[int, ...],
    crashes: bool,
    companions: MakeCompanions | None = None,
) -> None:
    properties = [all_are_quiet, all_are_orderly, none_is_far_ahead]
    system = wl.System(
        {A: Teller(), B: Teller(), C: Teller()},
        faults=wl.Faults(crashes=1, restarts=1),
        properties=properties,
        gauges=gauges,
    )
    system = system.under_injection("all", ("crashes", "restarts", "drops"))
    weather = [WeatherEvent(time=0.7, what="crash", node=B, every=1.3)]
    weather += [WeatherEvent(time=0.9, what="restart", node=B, every=1.3)]
    violated: set[int | None] = set()
    local = {number for number in range(len(wanted)) if number < 2}
    for seed in range(3):
        question = Question(
            system=system,
            conditions=Conditions(
                latency=latency_of("uniform 20ms 90ms"),
                weather=weather if crashes else (),
            ),
            wanted=[properties[number] for number in wanted],
            seconds=9.0,
            events=None,
            interval=0.4,
            companions=companions,
        )
        run = JudgedRun(question, seed, lambda: None)
        anew = Anew(run, question)
        tally = run.run(cast(Any, anew))
        *before, last = anew.false
        assert not any(false & local for false in before)
        assert (tally.violated in local) == bool(last & local)
        violated.add(tally.violated)
    assert violated & local


@wl.node
class Rising:
    is_up: bool = False

    @wl.start
    def rise(self, ctx: wl.Context) -> None:
        self.is_up = True


@wl.safety
def somebody_is_up(view: wl.View) -> bool:
    return any(view[node].is_up for node in view)


@wl.sometimes
def nobody_is_up(view: wl.View) -> bool:
    return not somebody_is_up(view)


RISING = wl.System(
    {A: Rising(), B: Rising()},
    boot="events",
    properties=[somebody_is_up, nobody_is_up],
    name="rising",
)


@pytest.mark.parametrize("given", [{}, {"interval": 0.5}, {"mode": "check"}])
def test_what_is_so_before_the_first_start_is_judged(given: Any, tmp_path: Path):
    """As `check` and `walk` do, where starts are steps."""
    simulate = functools.partial(wl.simulate, RISING, seconds=3, **given)
    report = simulate(properties=["somebody_is_up"], out=tmp_path / "run.wl")
    row = report.expect_violated("somebody_is_up")
    assert (row.steps, report.events) == (0, 0)
    assert row.trace is not None
    assert wl.replay(row.trace, RISING).reproduced
    (met,) = simulate(properties=["nobody_is_up"], traces=False).properties
    assert (met.verdict, met.steps) == (wl.Verdict.HOLDS, 0)
