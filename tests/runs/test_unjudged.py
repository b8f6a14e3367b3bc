"""Properties that cannot be judged in some state: the run to there is told."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.model.errors import PropertyError
from worldline.runs import unjudged
from worldline.trace.format import read

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Ping:
    number: int


@wl.node
class Player:
    peers: tuple[wl.NodeId, ...] = ()
    got: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        for peer in self.peers:
            ctx.send(peer, Ping(0))

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.got += 1
        if msg.number < 3:
            ctx.send(src, Ping(msg.number + 1))


@wl.safety
def raises(view: wl.View) -> bool:
    return {0: True, 1: True}[view[B].got]


@wl.safety
def raises_of_a_node(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: [True, True][view[node].got])


@wl.safety
def raises_of_a_message(view: wl.View) -> bool:
    return not view.any_message(lambda message: [False, False, False][message.number])


@wl.safety
def goes_on(view: wl.View) -> bool:
    try:
        return bool(raises_of_a_node.predicate(view))
    except IndexError:
        return True


@wl.liveness
def raises_in_the_end(view: wl.View) -> bool:
    return {0: False, 1: False}[view[B].got]


@wl.sometimes
def is_never_reached(view: wl.View) -> bool:
    return bool(1 / (2 - view[B].got) < 0)


@wl.safety
def says_a_number(view: wl.View) -> Any:
    return view[B].got < 2 or 7


@wl.safety
def says_nothing(view: wl.View) -> bool | None:
    return None if view[B].got == 2 else True


@wl.safety
def is_broken_before(view: wl.View) -> bool:
    assert view[B].got == 0
    return bool(raises.predicate(view))


OF_EACH_STATE = [
    *(raises, raises_of_a_node, raises_of_a_message),
    *(says_a_number, says_nothing),
]
OF_STATES = [*OF_EACH_STATE, goes_on, is_never_reached]


def system(*properties: wl.Property) -> wl.System:
    nodes = {A: Player((B,)), B: Player()}
    return wl.System(nodes, network=wl.datagrams(), properties=properties)


def run_to(error: PropertyError) -> Any:
    assert error.trace is not None
    assert str(error).endswith(f"to see the run to there: worldline show {error.trace}")
    return read(error.trace)


def assert_leads_there(run: Any, name: str) -> None:
    assert run.end.property == name
    assert re.match("it (raised|is) ", str(run.end.explanation))
    # It is the second message to one of them that brings it about.
    assert run.end.deliveries >= 3


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("prop", OF_STATES, ids=lambda prop: prop.name)
@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_search_tells_the_shortest_run_to_there(prop: wl.Property, engine: Any):
    with pytest.raises(PropertyError) as found:
        wl.check(system(prop), engine=engine)
    run = run_to(found.value)
    assert_leads_there(run, prop.name)
    assert run.end.deliveries == 3


@pytest.mark.parametrize("prop", OF_STATES, ids=lambda prop: prop.name)
@pytest.mark.parametrize("verb", [wl.walk, wl.fuzz], ids=["walk", "fuzz"])
def test_random_runs_tell_theirs(prop: wl.Property, verb: Callable[..., Any]):
    with pytest.raises(PropertyError) as found:
        verb(system(prop))
    assert_leads_there(run_to(found.value), prop.name)


@pytest.mark.parametrize("prop", OF_EACH_STATE, ids=lambda prop: prop.name)
def test_a_simulation_tells_its_own(prop: wl.Property):
    with pytest.raises(PropertyError) as found:
        wl.simulate(system(prop), seconds=5.0)
    assert_leads_there(run_to(found.value), prop.name)


def test_so_does_a_search_for_what_is_never_true_for_good():
    with pytest.raises(PropertyError) as found:
        wl.check(system(raises_in_the_end))
    assert_leads_there(run_to(found.value), "raises_in_the_end")


def test_other_properties_of_the_system_do_not_end_the_run_before():
    with pytest.raises(PropertyError) as found:
        wl.check(system(raises, is_broken_before), keep_going=True)
    assert_leads_there(run_to(found.value), "raises")


def test_without_traces_there_is_none():
    with pytest.raises(PropertyError) as found:
        wl.check(system(raises), traces=False)
    assert "to see the run" not in str(found.value)
    assert "raised KeyError" in str(found.value)


def test_what_is_not_raised_again_is_not_looked_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
):
    @wl.node
    class Endless:
        number: int = 0

        @wl.call
        def count(self, ctx: wl.Context) -> None:
            self.number += 1

    times = iter(range(10**9))

    @wl.safety
    def raises_once(view: wl.View) -> bool:
        if view[A].number == 3 and next(times) == 0:
            raise ValueError("by chance")
        return True

    monkeypatch.setattr(unjudged, "PATIENCE_S", 0.2)
    endless = wl.System(
        {A: Endless()}, workload=[wl.whenever(Endless.count)], properties=[raises_once]
    )
    with pytest.raises(PropertyError, match="by chance") as found:
        wl.check(endless)
    assert found.value.trace is None


@pytest.mark.parametrize("late", range(1, 30, 4))
def test_what_else_the_second_search_raises_is_not_told(
    late: int, monkeypatch: pytest.MonkeyPatch
):
    """It stops by the clock, and may seem to say two things of one state."""
    times = iter([0.0] * late)
    monkeypatch.setattr(unjudged, "monotonic", lambda: next(times, 100.0))
    with pytest.raises(PropertyError, match="raises raised KeyError"):
        wl.check(system(raises))


def test_options_that_say_nothing_of_the_second_search_are_left_out():
    with pytest.raises(PropertyError) as found:
        wl.check(system(raises_in_the_end), max_liveness_states=100)
    assert_leads_there(run_to(found.value), "raises_in_the_end")


def test_a_property_that_is_broken_before_is_no_error():
    assert wl.check(system(is_broken_before)).verdict is wl.Verdict.VIOLATED


def test_a_run_to_there_is_made_short():
    nodes = {A: Player((B, C)), B: Player((C,)), C: Player()}
    larger = wl.System(nodes, network=wl.datagrams(), properties=[raises])
    with pytest.raises(PropertyError) as found:
        wl.walk(larger, seed=4)
    long = read(found.value.trace or "")
    report = wl.minimize(found.value.trace or "", system=larger)
    assert report.verdict is wl.Verdict.VIOLATED
    assert report.trace is not None
    short = read(report.trace)
    assert_leads_there(short, "raises")
    assert short.end is not None
    assert long.end is not None
    assert short.end.deliveries == 3 < long.end.deliveries
