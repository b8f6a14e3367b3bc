"""States that only faults lead to of which the system, as it is searched, has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import worldline as wl
from worldline.runs.record import Ending, record
from worldline.trace.format import write
from worldline.worlds.direct import DirectWorld

A, B = wl.ids("a", "b")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@wl.message
class Word:
    pass


@wl.node
class Talker:
    got: int = 0

    @wl.call
    def talk(self, ctx: wl.Context) -> None:
        ctx.send(B, Word())

    @wl.on(Word)
    def take(self, ctx: wl.Context, src: wl.NodeId, msg: Word) -> None:
        self.got += 1


@wl.safety
def nothing_is_got(view: wl.View) -> bool:
    return bool(view[B].got == 0)


CUT = wl.Faults(partitions=1), "partition"
DOWN = wl.Faults(crashes=1), "crash"
CASES: list[tuple[tuple[wl.Faults, str], wl.Faults, Any]] = [
    (CUT, wl.Faults(), wl.datagrams()),
    (CUT, wl.Faults(), wl.streams()),
    (DOWN, wl.Faults(restarts=1), wl.datagrams()),
    (DOWN, wl.Faults(restarts=1), wl.streams()),
]


def recorded(system: wl.System, *kinds: str) -> Path:
    """Write a run of events of these kinds."""
    world = DirectWorld(system)
    boot = [(event, world.step(event).choices) for event in world.boot_events()]
    run = []
    for kind in kinds:
        at = (None, A if kind == "call" else B)
        event = next(
            e for e in world.enabled() if e.kind.value == kind and e.node in at
        )
        run.append((event, world.step(event).choices))
    ending = Ending(None, None, wl.Verdict.UNKNOWN)
    trace = record(
        DirectWorld(system), boot, [], run, ending=ending, engine="none", seed=0
    )
    write(trace, Path("run.wl"))
    return Path("run.wl")


NAMES = [f"{fault}-{network.name}" for (_, fault), _, network in CASES]


@pytest.fixture(params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[wl.System, wl.Faults, Path]:
    (declared, fault), predicted, network = request.param
    system = wl.System(
        {A: Talker(), B: Talker()},
        network=network,
        faults=declared,
        properties=[nothing_is_got],
        workload=[wl.script(A, [wl.invoke(Talker.talk)])],
        name="talkers",
    )
    before = ["crash", "call"] if fault == "crash" else ["call", "partition"]
    return system, predicted, recorded(system, *before)


@pytest.mark.parametrize("engine", ["python", "native"])
def test_what_comes_after_a_cut_or_a_crash_is_predicted(case: Any, engine: Any):
    system, faults, trace = case
    report = wl.predict(system, from_=trace, faults=faults, engine=engine)
    (found,) = report.predictions
    assert (report.verdict, found.steps) == (wl.Verdict.VIOLATED, 2)


def test_its_run_is_replayed_made_short_and_searched_on_from(case: Any):
    system, faults, trace = case
    (found,) = wl.predict(system, from_=trace, faults=faults).predictions
    assert found.trace is not None
    assert wl.replay(found.trace, system).verdict is wl.Verdict.VIOLATED
    short = wl.minimize(found.trace, system=system)
    assert short.verdict is wl.Verdict.VIOLATED
    before = f"{found.trace}:0"
    assert wl.predict(system, from_=before, faults=faults).predictions


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_search_goes_on_from_a_run_with_other_faults(engine: Any):
    """As of a prediction, whose faults its system does not have."""
    system = wl.System(
        {A: Talker(), B: Talker()},
        network=wl.streams(),
        properties=[nothing_is_got],
        workload=[wl.script(A, [wl.invoke(Talker.talk)])],
        name="talkers",
    )
    declared = system.replace(faults=wl.Faults(partitions=1))
    trace = recorded(declared, "call", "partition")
    report = wl.check(declared, from_=trace, engine=engine)
    assert report.verdict is wl.Verdict.VIOLATED


@wl.safety
def b_is_up(view: wl.View) -> bool:
    return view.is_up(B)


@pytest.mark.parametrize("declared", ["faults", "predict"])
def test_who_is_spared_is_spared_by_faults_that_are_counted_in_words(declared: str):
    spared = wl.Faults(resets=1, nodes=[A])
    system = wl.System(
        {A: Talker(), B: Talker()},
        properties=[b_is_up],
        name="talkers",
        **{declared: spared},  # type: ignore[arg-type]
    )
    held = wl.predict(system, faults="crashes=1")
    assert held.verdict is wl.Verdict.HOLDS
    assert "crashes at most 1 of a alone" in str(held)
    everywhere = wl.predict(system, faults=wl.Faults(crashes=1))
    assert everywhere.verdict is wl.Verdict.VIOLATED


@wl.safety
def nobody_is_cut_off(view: wl.View) -> bool:
    return bool(view[A].lost == 0)


@wl.node
class Listener(Talker):
    lost: int = 0

    @wl.transport_error
    def cut_off(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.lost += 1


@pytest.mark.parametrize("severs", [False, True])
def test_a_partition_in_words_breaks_what_one_of_the_system_does(severs: bool):
    system = wl.System(
        {A: Listener(), B: Listener()},
        network=wl.streams(),
        workload=[wl.script(A, [wl.invoke(Talker.talk)])],
        faults=wl.Faults(partitions=1, break_sockets=severs),
        properties=[nobody_is_cut_off],
        name="talkers",
    )
    verdicts = [
        wl.predict(system, faults=told).verdict
        for told in ("partitions=1", "declared", "none")
    ]
    expected = wl.Verdict.VIOLATED if severs else wl.Verdict.HOLDS
    assert verdicts == [expected, expected, wl.Verdict.HOLDS]
