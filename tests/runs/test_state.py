"""A run may begin in a state: written, read and restored it is the same state."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.search.test_random_systems import Plan, plans
from tests.shares import share
from tests.systems import VARIANTS
from tests.trace.runs import random_run

import worldline as wl
from worldline.model.events import Schedule
from worldline.runs.record import Ending, record
from worldline.runs.replay import replay_trace
from worldline.runs.restoring import restored, world_of
from worldline.runs.start import start_after, starts
from worldline.runs.state_record import state_record
from worldline.trace.format import Trace, line_of, read, write
from worldline.trace.records import StepRecord
from worldline.trace.schema import load
from worldline.trace.state import (
    LinkRecord,
    MessageRecord,
    PendingRecord,
    StateRecord,
)
from worldline.worlds.checkpoint import Checkpoint, go_back, take
from worldline.worlds.direct import DirectWorld
from worldline.zoo import abd, paxos, randtree

UNKNOWN = wl.Verdict.UNKNOWN
FEW = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def spelt(record: StateRecord) -> StateRecord:
    """Take a record through the text of its line."""
    content = json.loads(line_of(record))
    content.pop("record")
    return load(StateRecord, content)


def middle(
    system: wl.System, seed: int, length: int, cut: int
) -> tuple[Checkpoint, Schedule, Schedule]:
    """Run at random; return the state after `cut` steps, and what led to and followed."""
    boot, prologue, done, _ = random_run(system, seed, length)
    cut = min(cut, max(len(done) - 1, 0))
    world = DirectWorld(system)
    for event, choices in boot:
        world.step(event, choices)
    for event, choices in prologue:
        world.step(event, choices, charge=False)
    for event, choices in done[:cut]:
        world.step(event, choices)
    return take(world), done[:cut], done[cut:]


def test_a_search_begins_in_the_state_to_which_a_world_goes_back():
    for number, make in enumerate(VARIANTS.values()):
        system = make()
        state, _, _ = middle(system, number, 20, 12)
        start = start_after(system, (), (), state)
        assert start.begins is not None
        world = DirectWorld(system)
        go_back(world, start.begins)
        assert start.snapshot == world.snapshot()


def recorded(system: wl.System, state: Checkpoint, steps: Schedule) -> Trace:
    ending = Ending(None, None, UNKNOWN)
    world = DirectWorld(system)
    return record(
        world, [], [], steps, ending=ending, engine="test", seed=0, begins=state
    )


def essence(steps: tuple[StepRecord, ...]) -> list[StepRecord]:
    """What happened, but for numbers, and for what came before."""
    return [
        dataclasses.replace(step, step=0, lamport=1, sent_in=None, phase="run")
        for step in steps
    ]


def check_state(system: wl.System, seed: int, length: int, cut: int) -> None:
    state, before, after = middle(system, seed, length, cut)
    record = spelt(state_record(system, state))
    again = restored(system, record)
    assert again.snapshot == state.snapshot
    assert state_record(system, again) == record
    other = DirectWorld(system)
    go_back(other, again)
    assert take(other) == state

    trace = recorded(system, state, after)
    first = DirectWorld(system)
    boot, prologue, done, _ = random_run(system, seed, length)
    assert [*before, *after] == done
    ending = Ending(None, None, UNKNOWN)
    whole = wl_record(first, boot, prologue, done, ending)
    tail = whole.run[len(before) :]
    assert essence(trace.steps) == essence(tail)
    # Who sent what is the same, where the sending is in both.
    for here, there in zip(trace.steps, tail, strict=True):
        sent = there.sent_in
        old = sent is None or sent <= len(before)
        assert here.sent_in == (None if sent is None or old else sent - len(before))
    assert replay_trace(trace, system, "x.wl").reproduced


def wl_record(
    world: DirectWorld, boot: Schedule, prologue: Schedule, run: Schedule, end: Ending
) -> Trace:
    return record(world, boot, prologue, run, ending=end, engine="test", seed=0)


@pytest.mark.parametrize("name", share(list(VARIANTS), every=4, first=3))
@pytest.mark.parametrize("cut", [0, 7, 18])
def test_a_state_comes_back_and_the_run_goes_on_as_it_did(name: str, cut: int):
    check_state(VARIANTS[name](), seed=cut, length=25, cut=cut)


ZOO: dict[str, Any] = {
    "abd": abd.system,
    "paxos": paxos.system,
    "randtree": randtree.system,
}


@pytest.mark.parametrize("name", ZOO)
def test_a_state_of_the_zoo_comes_back(name: str):
    for cut in (5, 15, 30):
        check_state(ZOO[name](), seed=3, length=40, cut=cut)


@FEW
@given(plans, st.integers(0, 99), st.integers(0, 12))
def test_a_state_of_any_system_comes_back(plan: Plan, seed: int, cut: int):
    system = plan.build()
    assume(starts(system)[0].failure is None)
    check_state(system, seed, 16, cut)


# ------------------------------------------------------------------------------- refusals


def kept() -> StateRecord:
    """A state of a system with parts, streams and timers, to be made wrong."""
    system = STACK()
    return state_record(system, middle(system, 2, 20, 8)[0])


STACK = VARIANTS["stack on streams"]
STATE = kept()


def with_node(**changes: Any) -> StateRecord:
    first, *rest = STATE.nodes
    return dataclasses.replace(
        STATE, nodes=(dataclasses.replace(first, **changes), *rest)
    )


def with_field(value: Any) -> StateRecord:
    name = next(n for n, spelt in STATE.nodes[0].fields.items() if type(spelt) is int)
    return with_node(fields={**STATE.nodes[0].fields, name: value})


KIND = STACK().types[0].cls.__qualname__
PEER = STATE.nodes[1].name
TIMER = PendingRecord(part="", name="nothing", payload=None, after=None)
MESSAGE = MessageRecord(src=PEER, part="", message=3)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (
            dataclasses.replace(STATE, budget={}),
            "the budget: the faults are none; in the",
        ),
        (
            dataclasses.replace(STATE, observers={"x": 1}),
            "observers: the observers are x",
        ),
        (
            dataclasses.replace(STATE, cut=99),
            "the state has the cut 99, and the system",
        ),
        (
            with_node(fields={"x": 1}),
            "node .*: the fields are x; in the system they are",
        ),
        (with_field({"$is": "Nobody"}), "the trace names Nobody"),
        (with_field({"$node": "z"}), "the trace names the node 'z'"),
        (with_field({"$set": [[1]]}), "cannot be a value"),
        (with_field([{"$set": []}]), "a list holds the set"),
        (
            with_field({"$is": KIND, **STATE.nodes[0].fields}),
            "holds a node, which is no",
        ),
        (with_node(ignored={"nothing": 1}), "it has no ignored field 'nothing'"),
        (with_node(ignored={"x.y": 1}), "it has no part 'x'"),
        (with_node(timers=(TIMER,)), "its timer 'nothing' is none that it can have"),
        (
            with_node(timers=(dataclasses.replace(TIMER, part="x.y"),)),
            "it has no part 'x.y'",
        ),
        (with_node(scripts=(99,) * 9), "calls of its scripts, which have"),
        (with_node(messages=(MESSAGE,)), "3 is under way, and no message"),
        (
            with_node(messages=(dataclasses.replace(MESSAGE, part="x"),)),
            "it has no part 'x'",
        ),
        (
            dataclasses.replace(STATE, absent=("a", "b")),
            "are not all there are, each once",
        ),
    ],
)
def test_what_is_no_state_of_the_system_is_refused(record: StateRecord, message: str):
    with pytest.raises(wl.UsageError, match=message) as caught:
        restored(STACK(), record)
    assert caught.value.remedy


def test_a_timer_is_pending_once_and_waits_if_delays_count():
    system = VARIANTS["timed"]()
    states = (middle(system, seed, 20, 9)[0] for seed in range(20))
    record = next(
        found
        for state in states
        for found in [state_record(system, state)]
        if found.nodes[0].timers
    )
    first, *rest = record.nodes
    timer = first.timers[0]
    assert timer.after is not None
    for timers, message in (
        ((timer, timer), "is pending twice"),
        ((dataclasses.replace(timer, after=None),), "is none that it can have"),
    ):
        wrong = dataclasses.replace(first, timers=timers)
        with pytest.raises(wl.InputError, match=message):
            restored(system, dataclasses.replace(record, nodes=(wrong, *rest)))


def test_a_network_without_connections_is_given_none():
    system = VARIANTS["datagrams"]()
    record = state_record(system, middle(system, 1, 5, 3)[0])
    first, *rest = record.nodes
    link = LinkRecord(peer=rest[0].name, end="open", error=False)
    wrong = dataclasses.replace(first, links=(link,))
    with pytest.raises(
        wl.InputError, match=r"a connection with .*, which datagrams does not"
    ):
        restored(system, dataclasses.replace(record, nodes=(wrong, *rest)))


def test_of_a_budget_there_may_be_less_now():
    system = VARIANTS["datagrams"]()
    record = state_record(system, Checkpoint(DirectWorld(system).snapshot()))
    much = dataclasses.replace(record, budget=dict.fromkeys(record.budget))
    assert restored(system, much).snapshot == DirectWorld(system).snapshot()


@wl.node
class Hoarder:
    kept: object = None


def test_what_could_not_be_read_again_is_not_written():
    (a,) = wl.ids("a")
    system = wl.System({a: Hoarder()})
    world = DirectWorld(system)
    world.nodes[0].kept = Unknown(3)
    with pytest.raises(
        wl.ModelError, match=r"a state cannot be kept: .* names Unknown"
    ):
        state_record(system, take(world))


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A class that nothing of the system names."""

    value: int


def test_a_trace_without_steps_is_a_state_as_a_file(tmp_path: Path):
    system = VARIANTS["streams"]()
    state, _, _ = middle(system, 1, 20, 9)
    write(recorded(system, state, []), tmp_path / "state.wl")
    trace = read(tmp_path / "state.wl")
    assert trace.header.begins == "state"
    assert trace.steps == ()
    assert take(world_of(trace, VARIANTS["streams"]())) == state
    found = wl.replay(tmp_path / "state.wl", system)
    assert (found.reproduced, found.verified, found.exit_code) == (True, 0, 0)
