"""A run may begin in a state: written, read and restored it is the same state."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.search.test_random_systems import Plan, plans
from tests.systems import VARIANTS
from tests.trace.runs import random_run

import worldline as wl
from worldline.model.events import Schedule
from worldline.runs.record import Ending, record
from worldline.runs.replay import replay_trace
from worldline.runs.state import restored, state_record, world_of
from worldline.trace.format import Trace, line_of, read, write
from worldline.trace.records import StepRecord
from worldline.trace.schema import load
from worldline.trace.state import StateRecord
from worldline.worlds.checkpoint import Checkpoint, go_back, take
from worldline.worlds.direct import DirectWorld
from worldline.zoo import abd, paxos, randtree

UNKNOWN = wl.Verdict.UNKNOWN
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


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
        assert here.sent_in == (None if old else sent - len(before))
    assert replay_trace(trace, system, "x.wl").reproduced


def wl_record(
    world: DirectWorld, boot: Schedule, prologue: Schedule, run: Schedule, end: Ending
) -> Trace:
    return record(world, boot, prologue, run, ending=end, engine="test", seed=0)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("cut", [0, 7, 18])
def test_a_state_comes_back_and_the_run_goes_on_as_it_did(name: str, cut: int):
    check_state(VARIANTS[name](), seed=cut, length=25, cut=cut)


ZOO: dict[str, Any] = {
    "abd": lambda: abd.system(),
    "paxos": lambda: paxos.system(),
    "randtree": lambda: randtree.system(),
}


@pytest.mark.parametrize("name", ZOO)
def test_a_state_of_the_zoo_comes_back(name: str):
    for cut in (5, 15, 30):
        check_state(ZOO[name](), seed=3, length=40, cut=cut)


@FEW
@given(plans, st.integers(0, 99), st.integers(0, 12))
def test_a_state_of_any_system_comes_back(plan: Plan, seed: int, cut: int):
    check_state(plan.build(), seed, 16, cut)


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
