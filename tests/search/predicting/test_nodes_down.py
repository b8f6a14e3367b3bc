"""Predictions and checks from states in which nodes are down: who comes back, what is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runs.test_prefix import run
from tests.search.predicting.counters import A, B, Counter, teller

import worldline as wl
from worldline.search.engines import choose

ENGINES = sorted({"python", choose("auto", by_cost=True).engine})


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stopped(*nodes: wl.NodeId, predict: wl.Faults | None = None) -> wl.System:
    """The teller, and a trace of how it tells its peer while some nodes are down."""
    told = teller(predict=predict).replace(
        faults=wl.Faults(crashes=None), properties=[peer_has_heard, peer_is_deaf]
    )
    call = wl.events.call(A, Counter.up)
    run(told, call, *map(wl.events.crash, nodes), file="down.wl")
    return told


@wl.sometimes
def peer_has_heard(view: wl.View) -> bool:
    return bool(view[B].heard)


@wl.safety
def peer_is_deaf(view: wl.View) -> bool:
    return not view[B].heard


@pytest.mark.parametrize("engine", ENGINES)
def test_a_node_that_is_down_may_come_back(engine: wl.Engine):
    system = stopped(B)
    report = wl.predict(system, from_="down.wl", engine=engine)
    (row,) = (one for one in report.properties if one.name == "peer_is_deaf")
    assert (row.verdict, row.steps) == (wl.Verdict.VIOLATED, 2)
    assert row.run is not None
    assert [step.kind for step in row.run.run] == ["restart", "deliver"]
    assert row.run.header.faults["restarts"] == 1
    assert "b is down, and 1 restart is left" in report.notes
    assert "restarts at most 1" in report.assumptions[1]
    assert report.assumptions[0].endswith("lost at a node that is down")
    assert row.trace is not None
    assert wl.replay(row.trace, system=system).reproduced
    assert wl.minimize(row.trace, system=system).properties[0].steps == 2


def test_each_node_that_is_down_may_come_back():
    report = wl.predict(stopped(A, B), from_="down.wl", traces=False)
    assert "a, b are down, and 2 restarts are left" in report.notes


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (wl.Faults(), "b is down, and no restart is left"),
        (wl.Faults(restarts=None), "b is down, and restarts are without limit"),
    ],
)
def test_what_is_said_of_faults_goes_for_who_is_down(faults: wl.Faults, said: str):
    given = stopped(B)
    declared = stopped(B, predict=faults)
    for report in (
        wl.predict(given, from_="down.wl", faults=faults, traces=False),
        wl.predict(declared, from_="down.wl", traces=False),
    ):
        assert said in (*report.assumptions, *report.notes)
        assert (report.predictions == ()) is (faults.restarts == 0)


def test_a_check_says_of_who_is_down_that_it_is():
    system, said = stopped(B), "b is down, and no restart is left"
    held = wl.check(system, from_="down.wl", properties=["peer_is_deaf"])
    assert said in held.assumptions
    missed = wl.check(system, from_="down.wl", properties=["peer_has_heard"])
    assert said in missed.notes
    told = wl.check(system, from_="down.wl:1", properties=["peer_is_deaf"])
    assert not any(" down, and" in one for one in (*told.assumptions, *told.notes))
    prologue = [wl.events.crash(B)]
    first = wl.check(system.replace(prologue=prologue), properties=["peer_is_deaf"])
    assert said in first.assumptions
