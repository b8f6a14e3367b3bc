"""A run in rounds is an ordinary schedule: every world runs it, a trace tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lineage.rounds.round_systems import RELIABLE, Case
from tests.worlds.adapters import WORLDS, OracleAdapter, describe_outcome

import worldline as wl
from worldline.injection.scope import Crash, CrashSemantics, FaultSet, Loss, Scope
from worldline.lineage.engines.space import fault_sets
from worldline.lineage.rounds.subject import RoundsSubject
from worldline.lineage.targets.rounds import RoundsTarget
from worldline.model.network.datagrams import concerning
from worldline.runs.record import Ending, record
from worldline.show.steps import steps
from worldline.trace.format import read, write
from worldline.worlds.direct import DirectWorld
from worldline.zoo import atomic_commit, broadcast


def some_faults(scope: Scope, seed: int) -> list[FaultSet]:
    """A few of all fault sets, spread over them."""
    every = list(fault_sets(scope))
    return every[seed % 7 :: max(1, len(every) // 5)]


def compare_worlds(case: Case) -> int:
    """Run rounds of a random system in all worlds; return how many events there are."""
    seed = case.seed
    subject = RoundsSubject(case.system, case.scope)
    oracle = OracleAdapter(subject.system)
    worlds = [world(subject.system) for world in WORLDS]
    count = 0
    for faults in some_faults(case.scope, seed):
        rounds = subject.world(faults)
        for number in range(1, case.scope.eot + 1):
            rounds.play(number)
        for world in (oracle, *worlds):
            world.reset()
        for event, choices in rounds.run:
            assert event in oracle.enabled(), (seed, event)
            done = describe_outcome(oracle.step(event, choices))
            for world in worlds:
                assert event in world.enabled(), (seed, event)
                assert describe_outcome(world.step(event, choices)) == done, seed
                if done["failure"] is None:
                    assert world.describe() == oracle.describe(), seed
            count += 1
    return count


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20, 10))
def test_every_world_runs_what_happened_in_rounds(first: int):
    assert sum(map(compare_worlds, map(Case, range(first, first + 10)))) > 100


@pytest.mark.slow
def test_every_world_runs_rounds_in_which_only_crashes_lose_messages():
    cases = [Case(seed, kinds=RELIABLE) for seed in range(15)]
    assert sum(map(compare_worlds, cases)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 20, 10))
def test_every_falsifier_is_a_trace_that_replays(first: int, tmp_path: Path):
    replayed = 0
    for seed in range(first, first + 10):
        case = Case(seed)
        subject = RoundsSubject(case.system, case.scope)
        for faults in some_faults(case.scope, seed):
            if not subject.run(faults).broken:
                continue
            trace = RoundsTarget(case.system).trace(case.scope, faults, "states", 0)
            write(trace, tmp_path / "run.wl")
            found = wl.replay(tmp_path / "run.wl", case.system)
            assert found.reproduced, (seed, str(found))
            assert found.verdict is wl.Verdict.VIOLATED
            replayed += 1
    assert replayed


def test_a_trace_of_rounds_tells_what_was_injected(tmp_path: Path):
    system = broadcast.system(variant="retry")
    scope = Scope(("a", "b", "c"), 4, 2, 1, CrashSemantics.HALT)
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    trace = RoundsTarget(system).trace(scope, faults, "states", 0)
    write(trace, tmp_path / "run.wl")
    header = read(tmp_path / "run.wl").header
    assert header.options["injected"] == (
        "nodes a,b,c, rounds 1..4, losses at send times 1..1, up to 1 crashes (halt); "
        "every choice takes its first option"
    )
    kinds = [step.kind for step in trace.steps if step.kind in ("drop", "crash")]
    assert kinds == ["crash", "drop"]
    assert trace.end is not None
    assert trace.end.property == "agreement"
    assert any("injected: nodes a,b,c, rounds 1..4" in line for line in steps(trace))
    found = wl.replay(tmp_path / "run.wl", system)
    assert (found.reproduced, found.notes) == (True, ())


def test_a_node_that_fell_silent_is_seen_as_crashed_by_who_replays(tmp_path: Path):
    """The crash of a stands at the end of the schedule, where the promise is judged."""
    system = broadcast.system(variant="retry", crashed="silent")
    scope = Scope(("a", "b", "c"), 4, 2, 1, CrashSemantics.MUTE)
    faults: FaultSet = frozenset({Loss(1, "a", "b"), Crash(2, "a")})
    trace = RoundsTarget(system).trace(scope, faults, "states", 0)
    assert trace.steps[-1].kind == "crash"
    write(trace, tmp_path / "run.wl")
    assert wl.replay(tmp_path / "run.wl", system).reproduced


def as_drop(event: wl.Event) -> wl.Event:
    assert event.node is not None
    assert event.envelope is not None
    return concerning(wl.Kind.DROP, event.node, event.envelope)


def test_a_trace_that_drops_what_arrives_at_a_node_that_is_down_replays(tmp_path: Path):
    """A message may also be lost on its way to a node that would not have taken it."""
    system = atomic_commit.system(protocol="2pc")
    scope = Scope(("C", "a", "b", "d"), 6, 4, 1, CrashSemantics.HALT)
    found = RoundsSubject(system, scope).falsifier(frozenset({Crash(4, "C")}))
    refused = [event for event, _ in found.run if event.kind is wl.Kind.REFUSE]
    assert len(refused) == 6
    run = [
        (as_drop(event) if event in refused else event, choices)
        for event, choices in found.run
    ]
    ending = Ending(found.promise.property, found.kind, wl.Verdict.VIOLATED)
    trace = record(
        DirectWorld(found.system),
        found.boot,
        [],
        run,
        ending=ending,
        engine="states",
        seed=0,
    )
    write(trace, tmp_path / "run.wl")
    assert wl.replay(tmp_path / "run.wl", system).reproduced


def test_the_same_faults_give_the_same_trace():
    system = broadcast.system(variant="classic")
    scope = Scope(("a", "b", "c"), 5, 3, 0)
    faults: FaultSet = frozenset(
        {Loss(1, "a", "b"), Loss(2, "c", "a"), Loss(2, "c", "b")}
    )
    one, other = (
        RoundsTarget(system).trace(scope, faults, "states", 0) for _ in range(2)
    )
    assert one == other
