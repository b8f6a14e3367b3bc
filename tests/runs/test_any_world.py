"""What runs, records and judges takes any world: tables give what real nodes give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.runs.test_explain import SYSTEM as EXPLAINED
from tests.systems import gamblers, players, stack, workers
from tests.trace.runs import random_run
from tests.worlds.table_world import TableWorld

import worldline as wl
from worldline.debug.state import network_state, node_state
from worldline.model.kinds import Kind
from worldline.model.node import node_type
from worldline.model.semantics.execute import Result
from worldline.model.semantics.hidden import Status
from worldline.model.semantics.outcome import Outcome
from worldline.runs.confirm import confirm
from worldline.runs.explain import explain
from worldline.runs.record import Ending, record
from worldline.runs.rerun import Rerun
from worldline.runs.start import start_after
from worldline.runs.step_record import LocalState, step_record
from worldline.trace.records import RUN, Trace
from worldline.worlds import checkpoint
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import World

FAULTS = wl.Faults(resets=1, crashes=1, restarts=1)


def recorded(world: World, seed: int) -> Trace:
    boot, _, done, failure = random_run(world.system, seed, 25)
    verdict = wl.Verdict.UNKNOWN if failure is None else wl.Verdict.VIOLATED
    ending = Ending(failure, None if failure is None else "safety", verdict)
    return record(world, boot, [], done, ending=ending, engine="test", seed=seed)


SYSTEMS: dict[str, Callable[[], wl.System]] = {
    "workers": lambda: workers(network=wl.datagrams(), boot="events"),
    "sockets": lambda: workers(network=wl.streams(), faults=FAULTS, boot="events"),
    "stack": lambda: stack(boot="events"),
    "players": lambda: players(both=True, boot="events"),
    "gamblers": lambda: gamblers(faults=FAULTS, boot="events"),
}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_run_over_tables_is_recorded_like_one_of_real_nodes(name: str, seed: int):
    system = SYSTEMS[name]()
    over_tables = recorded(TableWorld(system), seed)
    # Of what services call nobody can tell who has an outcome from a table.
    steps = [replace(s, calls=None) for s in recorded(DirectWorld(system), seed).steps]
    assert [*over_tables.steps] == steps


def test_a_recorded_run_goes_as_recorded_over_tables():
    system = SYSTEMS["workers"]()
    trace = recorded(DirectWorld(system), 1)
    rerun = Rerun(trace.header, TableWorld(system))
    assert {type(rerun.step(step)) for step in trace.steps} == {wl.Event}


def test_a_path_is_confirmed_over_tables():
    system = SYSTEMS["workers"]()
    boot, _, done, _ = random_run(system, 1, 10)
    direct = DirectWorld(system)
    for event, choices in boot:
        direct.step(event, choices)
    expected = [(event, direct.step(event, choices)) for event, choices in done]
    start = start_after(system, boot, [])
    world = TableWorld(system)
    assert confirm(world, start, expected, direct.snapshot()) == done


def test_a_state_over_tables_is_shown_explained_and_gone_back_to():
    direct, tables = DirectWorld(EXPLAINED), TableWorld(EXPLAINED)
    kept = checkpoint.take(tables)
    for event in direct.boot_events():
        assert tables.step(event) == direct.step(event)
    for index in range(len(EXPLAINED.ids)):
        assert node_state(tables, index) == node_state(direct, index)
    assert network_state(tables) == network_state(direct)
    false = wl.safety(never)
    found = explain(tables, false)
    assert found is not None
    assert found == explain(direct, false)
    checkpoint.go_back(tables, kept)
    assert tables.snapshot() == DirectWorld(EXPLAINED).snapshot()


def never(view: wl.View) -> bool:
    return all(not view.is_up(node) for node in view.nodes)


@wl.node
class Counter:
    inner: int = 0
    count: int = 0


def test_a_step_is_written_down_without_any_world():
    """As whoever deploys a node has to: from the event and what was seen of it."""
    (a,) = wl.ids("a")
    kind = node_type(Counter)
    before = LocalState(kind, kind.freeze(Counter()), Status.NEW)
    after = LocalState(kind, kind.freeze(Counter(count=2)), Status.UP)
    outcome = Outcome(Result.HANDLED, None, (), (), ("up",), (), ())
    event = wl.Event(Kind.START, a)
    step = step_record(1, RUN, event, outcome, before, after, lamport=7)
    assert (step.node, step.kind, step.result, step.log, step.lamport) == (
        "a",
        "start",
        "handled",
        ("up",),
        7,
    )
    assert step.changes == {"(status)": ("new", "up"), "count": (0, 2)}
