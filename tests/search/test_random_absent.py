"""What is said of a state with absent nodes is so in the state, whatever they are.

Random systems run at random, some nodes are taken out of the state, and what can happen
then happens step by step in both, with and without them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.rules import property_of, random_rule, words
from tests.search.test_random_systems import Plan, plans
from tests.trace.runs import random_run

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.breadth_first import breadth_first
from worldline.engine.exploration import Exploration, Options, StateCheck
from worldline.engine.native import breadth_first as native
from worldline.model.absent import absent_in, without
from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.network.link import OPEN
from worldline.model.properties import PropertyKind
from worldline.model.verdicts import UNSEEN
from worldline.runs.record import Ending, record
from worldline.runs.restoring import restored
from worldline.runs.start import starts
from worldline.trace.format import read, write
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import NotEnabled, Snapshot
from worldline.zoo import abd, paxos, randtree, twophase

Strategy = Callable[[Exploration], None]

MOST = 40
"""States with absent nodes that are looked at, of each system."""

RULES = 6


def system_of(plan: Plan, rng: Random) -> wl.System:
    rules = [random_rule(rng, rng.randrange(1, 5)) for _ in range(RULES)]
    properties = [property_of(rule, number) for number, rule in enumerate(rules)]
    return plan.build().replace(properties=properties, observers=[words()])


def a_state(system: wl.System, seed: int) -> Snapshot | None:
    """Run a system at random; return where it is then, unless a handler failed."""
    if starts(system)[0].failure is not None:
        return None
    boot, prologue, run, failure = random_run(system, seed, seed % 9)
    if failure is not None:
        return None
    world = DirectWorld(system)
    for charge, part in ((True, boot), (False, prologue), (True, run)):
        for event, choices in part:
            world.step(event, choices, charge=charge)
    return None if world.failure else world.snapshot()


def steps(world: DirectWorld, state: Snapshot) -> Iterator[tuple[Event, Any]]:
    """Yield all events with all their choices that can happen in a state."""
    world.restore(state)
    for event in world.enabled():
        given: list[int] | None = []
        while given is not None:
            world.restore(state)
            outcome = world.step(event, tuple(given))
            yield event, outcome
            taken, given = list(outcome.choices), None
            for place in range(len(taken) - 1, -1, -1):
                if taken[place] + 1 < outcome.widths[place]:
                    given = [*taken[:place], taken[place] + 1]
                    break


def is_beyond(system: wl.System, full: DirectWorld, event: Event, absent: Any) -> bool:
    """Say whether an end that takes its connection with an absent node for open is wrong."""
    assert event.node is not None
    ends = {event.node, event.peer}
    assert event.kind is Kind.DISCONNECT
    assert ends & absent
    (seen,) = ends - absent
    (other,) = ends & absent
    inbox = full.cells[system.layout.inbox(system.index[seen])]
    link = inbox.connections()[other]
    return bool(link.mine == OPEN and not link.is_whole())


def said_of(world: DirectWorld) -> list[Any]:
    return [prop.answer(world.view) for prop in world.system.properties]


def check_absent(plan: Plan, seed: int, counts: Counter[str]) -> None:
    """Compare a random state with absent nodes, and what follows, with the whole."""
    rng = Random(seed)
    system = system_of(plan, rng)
    whole = a_state(system, seed)
    assume(whole is not None)
    assert whole is not None
    tables = TabulatedWorld(system, anywhere=True, partial=True)
    decisions = [tables.decision(prop) for prop in system.properties]
    nodes = list(system.ids)
    # The tables are warm from the second time on.
    for size in {1, len(nodes) - 1}:
        absent = frozenset(rng.sample(nodes, size))
        histories = rng.choice([(), ("words",)])
        first = without(system, whole, absent, histories=histories)
        counts["systems"] += 1
        compare(system, whole, first, absent, tables, decisions, counts)


def compare(
    system: wl.System,
    whole: Snapshot,
    first: Snapshot,
    absent: frozenset[NodeId],
    tables: TabulatedWorld,
    decisions: list[Any],
    counts: Counter[str],
) -> None:
    partial, full = DirectWorld(system), DirectWorld(system)
    known: dict[Snapshot, Snapshot] = {first: whole}
    waiting = [first]
    while waiting and len(known) < MOST:
        state = waiting.pop(0)
        partial.restore(state)
        full.restore(known[state])
        assert partial.snapshot() == state
        here, there = said_of(partial), said_of(full)
        row = tables.encode(state)
        assert [decision(row) for decision in decisions] == here
        for one, other in zip(here, there, strict=True):
            assert other is not UNSEEN
            assert one is UNSEEN or one is other
            counts[str(one)] += 1
        for event, outcome in steps(partial, state):
            failure = partial.failure
            after = partial.snapshot()
            full.restore(known[state])
            try:
                same = full.step(event, outcome.choices)
            except NotEnabled:
                assert is_beyond(system, full, event, absent)
                counts["beyond"] += 1
                continue
            if (
                same != outcome
            ):  # its send buffer is full of what absent nodes never take
                assert system.network.buffer is not None
                counts["full"] += 1
                continue
            assert (failure is None) is (full.failure is None)
            if failure is None and after not in known:
                assert absent_in(system, after) == absent_in(system, first)
                known[after] = full.snapshot()
                waiting.append(after)


def partial_state(plan: Plan, seed: int) -> tuple[wl.System, Snapshot]:
    rng = Random(seed)
    system = system_of(plan, rng)
    whole = a_state(system, seed)
    assume(whole is not None)
    assert whole is not None
    absent = rng.sample(list(system.ids), rng.randrange(1, len(system.ids)))
    return system, without(system, whole, absent)


def explored(
    system: wl.System, state: Snapshot, engine: Strategy, depth: int | None = None
) -> Any:
    """Search on from a state with an engine; return what it saw."""
    world = TabulatedWorld(system, anywhere=True, partial=True)
    search = Exploration(
        world.tables,
        world,
        [world.encode(state)],
        [
            StateCheck(
                world.decision(prop),
                target=prop.kind is PropertyKind.SOMETIMES,
                fatal=True,
            )
            for prop in system.properties
            if prop.kind is not PropertyKind.LIVENESS
        ],
        bounds=Bounds(depth, 2_000 if depth is None else None, None, None),
        options=Options(keep_going=True),
    )
    search.run(engine)
    seen = search.statistics
    if search.bound == "states":
        return search.bound, seen.states
    unseen = [n for at, n in enumerate(search.unseen) if at not in search.hits]
    hits = {number: len(hit.path) for number, hit in search.hits.items()}
    return seen.states, seen.generated, seen.depth, hits, unseen, set(search.failures)


def check_engines(plan: Plan, seed: int) -> None:
    """Both engines see the same, in a state with absent nodes and what follows."""
    system, state = partial_state(plan, seed)
    found = explored(system, state, breadth_first)
    assert explored(system, state, native.breadth_first) == found


def check_file(plan: Plan, seed: int, folder: Path) -> None:
    """A search goes on from the file of a state with absent nodes, and claims little."""
    system, state = partial_state(plan, seed)
    trace = record(
        DirectWorld(system),
        [],
        [],
        [],
        ending=Ending(None, None, wl.Verdict.UNKNOWN),
        engine="test",
        seed=0,
        begins=Checkpoint(state),
    )
    write(trace, file := folder / "state.wl")
    kept = read(file).state
    assert kept is not None
    assert restored(system, kept).snapshot == state
    report = wl.check(
        system, from_=file, traces=False, keep_going=True, max_states=100, deadlock=True
    )
    assert report.bound in ("absent nodes", "states")
    assert report.verdict is not wl.Verdict.HOLDS
    assert "deadlock" not in {row.name for row in report.properties}
    assert any("properties were answered" in note for note in report.notes)


def look_at_random_systems(examples: int) -> Counter[str]:
    """Check so many random systems; return what was met."""
    counts: Counter[str] = Counter()

    @given(plan=plans, seed=st.integers(0, 1_000_000))
    @settings(
        max_examples=examples, suppress_health_check=list(HealthCheck), deadline=None
    )
    def each(plan: Plan, seed: int) -> None:
        check_absent(plan, seed, counts)

    each()
    return counts


@pytest.mark.slow
def test_what_is_seen_of_a_random_system_is_so() -> None:
    counts = look_at_random_systems(12)
    assert {"True", "False", str(UNSEEN)} <= counts.keys()


@pytest.mark.nightly
def test_what_is_seen_of_many_random_systems_is_so() -> None:
    counts = look_at_random_systems(1_000)
    said = counts["True"] + counts["False"]
    assert counts["systems"] > 1_000
    assert min(said, counts[str(UNSEEN)]) > 10_000


ZOO: dict[str, tuple[Callable[[], wl.System], int]] = {
    "streams": (lambda: randtree.system(resets=1, connection_errors=1), 10),
    "a message set": (lambda: twophase.system(n=4), 20),
    "a bag": (lambda: paxos.system(drops=1), 9),
    "histories": (abd.system, 9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_both_engines_see_alike_of_the_zoo(name: str) -> None:
    build, depth = ZOO[name]
    seen = 0
    for seed in range(4):
        system = build()
        state = a_state(system, seed)
        assert state is not None
        partial = without(system, state, [system.ids[seed % len(system.ids)]])
        found = explored(system, partial, breadth_first, depth)
        assert explored(system, partial, native.breadth_first, depth) == found
        seen += found[0]
    assert seen > 80


@pytest.mark.slow
@given(plan=plans, seed=st.integers(0, 10_000))
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
def test_both_engines_see_alike(plan: Plan, seed: int) -> None:
    check_engines(plan, seed)


@pytest.mark.nightly
@given(plan=plans, seed=st.integers(0, 1_000_000))
@settings(max_examples=500, suppress_health_check=list(HealthCheck), deadline=None)
def test_both_engines_see_many_alike(plan: Plan, seed: int) -> None:
    check_engines(plan, seed)


@pytest.mark.slow
@given(plan=plans, seed=st.integers(0, 10_000))
@settings(max_examples=2, suppress_health_check=list(HealthCheck), deadline=None)
def test_a_search_from_a_file_claims_no_more_than_is_seen(
    plan: Plan, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_file(plan, seed, tmp_path_factory.mktemp("absent"))


@pytest.mark.nightly
@given(plan=plans, seed=st.integers(0, 1_000_000))
@settings(max_examples=100, suppress_health_check=list(HealthCheck), deadline=None)
def test_many_searches_from_files_claim_no_more_than_is_seen(
    plan: Plan, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    check_file(plan, seed, tmp_path_factory.mktemp("absent"))
