"""What asks for the time is left out of every search, and refused where it is named."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Ping:
    pass


@wl.node
class Node:
    got: int = 0

    @wl.call
    def go(self, ctx: wl.Context) -> None:
        ctx.send(B, Ping())

    @wl.on(Ping)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.got += 1


@wl.gauge(initial=0)
def events(value: int, step: wl.TimedStep, view: wl.View) -> int:
    return value + 1


@wl.safety
def late(view: wl.View) -> bool:
    """It asks for the time in some states only."""
    return view[B].got < 2 or view.time >= 0


@wl.safety
def busy(view: wl.View) -> bool:
    return bool(view.gauge("events") > 0)


@wl.safety
def few(view: wl.View) -> bool:
    return bool(view[B].got < 3)


@wl.liveness(confidence=lambda view: 0.0)
def arrives(view: wl.View) -> bool:
    """It asks for nothing of the kind; its confidence is for other verbs."""
    return bool(view[B].got == 4)


@wl.safety
def late_by_time(view: wl.View) -> bool:
    return view.time < 0.5


NAMES = ["late", "busy"]


def system(calls: int = 4) -> wl.System:
    return wl.System(
        {A: Node(), B: Node()},
        network=wl.datagrams(duplication=False),
        workload=[wl.script(A, [wl.invoke(Node.go)] * calls)],
        gauges=[events],
        properties=[late, few, busy, arrives],
        name="timed",
    )


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def left_out(report: wl.Report | wl.WalkReport | wl.FaultsReport) -> list[str]:
    return [
        p.name for p in report.properties if "not judged here: only" in p.explanation
    ]


def test_check_judges_the_others_and_says_so():
    found = wl.check(system())
    assert left_out(found) == NAMES
    assert found.expect_violated("few").steps is not None
    verdicts = {p.name: p.verdict for p in found.properties}
    assert verdicts["late"] is verdicts["busy"] is wl.Verdict.NOT_SEARCHED


def test_a_liveness_property_with_a_confidence_is_one_like_any_other_there():
    found = wl.check(system(2), properties=["arrives"])
    assert found.expect_violated("arrives").cycle is not None
    found = wl.check(system(), properties=["arrives"])
    assert found.verdict is wl.Verdict.HOLDS


def test_where_the_others_hold_the_head_says_what_was_not_judged():
    found = wl.check(system().replace(properties=[late, arrives]))
    assert found.verdict is wl.Verdict.HOLDS
    assert str(found).startswith("timed: HOLDS (without late, which was not judged)")


def test_where_none_is_judged_nothing_is_said_to_hold():
    """With `liveness=False` the other one is left out because nobody asked for it."""
    made = system(2).replace(properties=[late_by_time, busy])
    found = wl.check(made)
    assert (found.verdict, found.bound) == (wl.Verdict.UNKNOWN, "no property judged")
    assert found.to_json()["bound"] == "no property judged"
    with pytest.raises(wl.PropertyFailed, match=r"UNKNOWN .bound: no property judged"):
        found.expect_holds()
    alone = made.replace(properties=[late_by_time, arrives])
    assert wl.check(alone, liveness=False).verdict is wl.Verdict.UNKNOWN
    with pytest.raises(wl.UsageError, match="no promise that is judged here"):
        wl.find_faults(made)
    for verb in (wl.walk, wl.fuzz):
        assert verb(made, walks=5).verdict is wl.Verdict.UNKNOWN


@pytest.mark.parametrize("engine", ["native", "python"])
def test_so_does_every_verb(engine: Literal["native", "python"]):
    made = system()
    fuzzed = wl.fuzz(made, walks=50, engine=engine)
    assert sorted(left_out(fuzzed)) == sorted(NAMES)
    said = "not judged, for liveness is what walk and simulate look for: arrives"
    assert said in fuzzed.notes
    alone = made.replace(properties=[late, few, busy])
    assert sorted(left_out(wl.walk(alone, walks=50, engine=engine))) == sorted(NAMES)
    assert sorted(left_out(wl.walk(made, walks=5, engine=engine))) == sorted(NAMES)


@wl.liveness
def soon(view: wl.View) -> bool:
    return view.time < 5


@pytest.mark.parametrize("asked", [[arrives, soon], [soon, arrives], [soon]])
@pytest.mark.parametrize("engine", ["native", "python"])
def test_walks_for_liveness_that_ask_for_several_at_once_leave_it_out(
    asked: list[wl.Property], engine: Literal["native", "python"]
):
    made = system().replace(properties=asked)
    report = wl.walk(made, events=500, engine=engine)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert left_out(report) == ["soon"]


def test_faults_are_looked_for_against_the_others():
    found = wl.find_faults(system(2))
    assert sorted(left_out(found)) == sorted(NAMES)
    assert found.expect_violated("arrives").kind == "liveness"


@pytest.mark.parametrize("verb", [wl.check, wl.walk, wl.fuzz, wl.find_faults])
def test_named_it_is_refused(verb: object):
    assert callable(verb)
    with pytest.raises(wl.Timeless, match="property busy reads the gauge 'events'"):
        verb(system(), properties=["busy"])


def early_there(view: wl.View, node: wl.NodeId) -> bool:
    return bool(view[node].got < 2 or view.time > 0)


@pytest.mark.parametrize("engine", ["native", "python"])
def test_an_element_that_asks_for_it_gives_its_property_away(
    engine: Literal["native", "python"],
):
    @wl.safety
    def early(view: wl.View) -> bool:
        return view.for_each_node(early_there)

    found = wl.check(system().replace(properties=[early, arrives]), engine=engine)
    assert (found.verdict, left_out(found)) == (wl.Verdict.HOLDS, ["early"])


def test_a_predicate_that_is_no_property_is_refused():
    with pytest.raises(wl.Timeless, match="reads the time"):
        wl.check(system().replace(prune=lambda view: view.time > 1))


def test_a_run_is_minimized_unless_what_it_violates_asks_for_the_time():
    made = system(20)
    few_one = wl.simulate(made, properties=["few"], out="few.wl")
    assert few_one.violated is not None
    assert few_one.trace is not None
    shorter = wl.minimize(few_one.trace, system=made)
    assert shorter.final.deliveries == 6
    assert wl.minimize(few_one.trace, system=made, same="any").final.deliveries == 6

    @wl.safety
    def early(view: wl.View) -> bool:
        return bool(view[B].got < 3 or view.time < 1)

    slow = made.replace(properties=[early])
    found = wl.simulate(slow, out="early.wl")
    assert found.trace is not None
    with pytest.raises(
        wl.UsageError, match=r"early\.wl violates early, and property early"
    ):
        wl.minimize(found.trace, system=slow)


def test_a_deadline_cannot_be_minimized():
    @wl.liveness(confidence=lambda view: 1.0)
    def never(view: wl.View) -> bool:
        return False

    made = system().replace(properties=[never])
    found = wl.simulate(made, out="never.wl")
    assert found.trace is not None
    with pytest.raises(wl.UsageError, match="violates never by its deadline"):
        wl.minimize(found.trace, system=made)
