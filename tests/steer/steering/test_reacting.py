"""Nodes that react to what they foresee: an event of the run, which no search offers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tests.steer.steering.careful import Broken, Careful, Deaf, Rash, all_stay, careful
from tests.steer.steering.holders import FIRST, SECOND, SERVER, Grab

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.verdicts import Verdict
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.steer.steering.reacting import Reactions, foreseen
from worldline.trace.format import read
from worldline.trace.records import StepRecord
from worldline.worlds.companions import Beside


def simulated(folder: Path, system: wl.System, mode: Any = "predict") -> Any:
    out = folder / "run.wl"
    return wl.simulate(system, mode=mode, seconds=20.0, threads=1, out=out)


@pytest.fixture(scope="module")
def reacted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trace of a run that ends with what a reaction brings about."""
    folder = tmp_path_factory.mktemp("reacted")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        report = simulated(folder, careful(Careful, "streams", all_stay))
    assert report.verdict is Verdict.VIOLATED
    return folder / "run.wl"


def reactions_in(trace: Path) -> list[StepRecord]:
    return [step for step in read(trace).run if step.name == "foreseen"]


@pytest.mark.parametrize("network", ["streams", "datagrams"])
def test_a_node_that_reacts_averts_a_failure_without_any_filter(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(tmp_path, careful(Careful, network))
    assert report.verdict is Verdict.UNKNOWN
    counts = report.steering
    assert counts.reactions > 0
    assert (counts.filters, counts.blocked, counts.refused) == (0, 0, 0)


def test_one_that_does_not_react_averts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(tmp_path, careful(Deaf))
    assert report.verdict is Verdict.VIOLATED
    assert report.steering.reactions == 0


def test_a_node_that_steers_is_told_that_a_filter_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert simulated(tmp_path, careful(Broken), "steer").verdict is Verdict.VIOLATED
    (call,) = reactions_in(tmp_path / "run.wl")
    assert "filter" in str(call)


def test_a_reaction_is_a_call_of_the_run_which_replays(reacted: Path) -> None:
    calls = reactions_in(reacted)
    assert {(call.kind, call.node) for call in calls} == {(Kind.CALL.value, "server")}
    again = wl.replay(reacted, careful(Careful, "streams", all_stay))
    assert again.divergence is None
    assert again.verdict is Verdict.VIOLATED


def test_a_run_with_a_reaction_is_made_short(reacted: Path, tmp_path: Path) -> None:
    system = careful(Careful, "streams", all_stay)
    short = wl.minimize(reacted, system=system, out=tmp_path / "short.wl")
    (row,) = short.properties
    assert row.trace is not None
    assert len(reactions_in(row.trace)) == 1
    assert len(read(row.trace).run) < len(read(reacted).run)
    assert wl.replay(row.trace, system).divergence is None


def test_what_follows_a_reaction_can_be_predicted(reacted: Path) -> None:
    system = careful(Careful, "streams")
    report = wl.predict(system, from_=reacted, faults="none", traces=False)
    assert report.verdict is Verdict.HOLDS


@pytest.mark.parametrize("engine", ["python", "native"])
def test_no_search_offers_a_reaction(engine: Any) -> None:
    counts = []
    for server in (Careful, Deaf):
        report = wl.check(careful(server), engine=engine, traces=False)
        counts.append((report.states, report.depth, report.verdict))
        assert not any("foreseen" in str(line) for line in report.to_json().values())
    assert counts[0] == counts[1]


def test_a_reaction_that_raises_is_a_failure_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(tmp_path, careful(Broken))
    assert report.verdict is Verdict.VIOLATED
    (last,) = reactions_in(tmp_path / "run.wl")
    assert read(tmp_path / "run.wl").run[-1] == last
    again = wl.replay(tmp_path / "run.wl", careful(Broken))
    assert again.divergence is None
    assert again.verdict is Verdict.VIOLATED


def test_a_reaction_is_undone_that_makes_a_property_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(tmp_path, careful(Rash), "steer")
    assert report.verdict is Verdict.UNKNOWN
    assert report.steering.refused >= 1


def test_only_those_who_predict_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = simulated(tmp_path, careful(Broken), "check")
    assert report.verdict is Verdict.UNKNOWN
    assert report.steering.reactions == 0


# ----------------------------------------------------------------- what is told, and when


class Node:
    """A node whose calls are made at once, or never."""

    me = SERVER

    def __init__(self, *, waits: bool = False) -> None:
        self.now = 0.0
        self.waits = waits
        self.told: list[tuple[float, wl.Foreseen]] = []
        self.waiting: list[wl.Foreseen] = []
        self._later: list[tuple[float, Callable[[], None]]] = []

    def call_soon(self, name: str, prediction: wl.Foreseen) -> Callable[[], bool]:
        assert name == "foreseen"
        if not self.waits:
            self.told.append((self.now, prediction))
            return lambda: False
        self.waiting.append(prediction)

        def call_off() -> bool:
            did_wait = prediction in self.waiting
            self.waiting = [one for one in self.waiting if one is not prediction]
            return did_wait

        return call_off

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        planned = self.now + seconds, action
        self._later.append(planned)
        return lambda: self._later.remove(planned) if planned in self._later else None

    def go_on(self, to: float) -> None:
        """Let time go by."""
        for at, action in sorted(self._later, key=lambda one: one[0]):
            if at <= to:
                self.now = at
                action()
        self._later = [one for one in self._later if one[0] > to]
        self.now = to


class Told:
    """What reactions make of forecasts, one after the other."""

    def __init__(self, *, waits: bool = False) -> None:
        self.node = Node(waits=waits)
        self.reactions = Reactions(careful(), every=10.0, lasts=20.0)

    def at(self, time: float, *steps: int, is_known: bool = False) -> None:
        """Foresee a failure that is so many steps away, or none, at a time."""
        self.node.go_on(time)
        findings = tuple(found(one) for one in steps)
        forecast = SnapshotForecast(
            cast("Any", None), cast("Any", None), (), findings, 0, is_known
        )
        self.reactions.take(cast("Beside", self.node), forecast)

    def times(self) -> list[tuple[float, int]]:
        return [(time, one.steps) for time, one in self.node.told]


def found(steps: int) -> ForeseenFailure:
    event = Event(Kind.DELIVER, SERVER, name="Grab", peer=SECOND, payload=Grab())
    other = Event(Kind.TIMER, SECOND, name="grab")
    schedule = [(other, ())] * (steps - 1) + [(event, ())]
    return ForeseenFailure(SERVER, "one_holder", schedule, steps, "reported")


def test_a_node_is_told_what_fails_and_of_its_own_first_step() -> None:
    assert foreseen(found(3)) == wl.Foreseen(
        property="one_holder",
        steps=3,
        action="reported",
        kind="deliver",
        name="Grab",
        peer=SECOND,
    )


def test_of_a_run_without_a_step_of_the_node_it_is_told_no_step() -> None:
    schedule = [(Event(Kind.TIMER, FIRST, name="grab"), ())]
    finding = ForeseenFailure(SERVER, "one_holder", schedule, 1, "elsewhere")
    assert foreseen(finding) == wl.Foreseen(
        property="one_holder", steps=1, action="elsewhere"
    )


def test_a_failure_that_stays_foreseen_is_told_once_in_an_interval() -> None:
    told = Told()
    for time in range(0, 40, 4):
        told.at(float(time), 40 - time)
    assert [time for time, _ in told.times()] == [0.0, 10.0, 20.0, 30.0]
    assert told.reactions.count[SERVER] == 4


def test_what_is_told_later_is_the_last_that_was_predicted() -> None:
    told = Told()
    for time, steps in ((0.0, 9), (2.0, 8), (4.0, 7)):
        told.at(time, steps)
    told.node.go_on(30.0)
    assert told.times() == [(0.0, 9), (10.0, 7)]


def test_what_is_foreseen_no_more_is_not_told() -> None:
    told = Told()
    told.at(0.0, 9)
    told.at(2.0, 8)
    told.at(4.0)
    told.node.go_on(30.0)
    assert told.times() == [(0.0, 9)]


def test_a_known_path_is_told_only_if_it_is_new() -> None:
    told = Told()
    told.at(0.0, 9, is_known=True)
    told.at(15.0, 8, 7, is_known=True)
    told.at(30.0, 6, 5, is_known=True)
    assert told.times() == [(0.0, 9), (30.0, 6)]


def test_a_call_that_waits_gives_its_place_to_a_newer_one() -> None:
    told = Told(waits=True)
    told.at(0.0, 9)
    told.at(2.0, 8)
    assert [one.steps for one in told.node.waiting] == [8]
    assert told.reactions.count[SERVER] == 1
    told.at(4.0)
    assert told.node.waiting == []
    assert told.reactions.count[SERVER] == 0
    told.at(5.0, 6)
    assert [one.steps for one in told.node.waiting] == [6]
