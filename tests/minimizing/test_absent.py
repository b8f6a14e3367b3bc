"""Runs that begin where nodes are absent are made short, by what is seen of them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.search.test_random_absent import partial_state
from tests.search.test_random_systems import Plan, plans
from tests.worlds.test_absent import A, B, C, after, deliver, give, holders

import worldline as wl
from worldline.model.absent import without
from worldline.model.events import Choices, Event, Schedule
from worldline.model.properties import PropertyKind
from worldline.runs.record import Ending, record
from worldline.runs.replay import replay_trace
from worldline.trace.format import read, write
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import Snapshot

_MOST_STEPS = 30


@wl.safety
def few_are_held(view: wl.View) -> bool:
    return view.for_each_node(lambda view, node: view[node].held < 3 or node == C)


def keep(
    system: wl.System, state: Snapshot, steps: Schedule, prop: wl.Property, file: Path
) -> None:
    """Write a run from a state, at whose end a property is false."""
    ending = Ending(prop.name, prop.kind.value, wl.Verdict.VIOLATED)
    trace = record(
        DirectWorld(system),
        [],
        [],
        steps,
        ending=ending,
        engine="test",
        seed=0,
        begins=Checkpoint(state),
    )
    write(trace, file)


def test_what_absent_nodes_may_do_bounds_no_run_and_is_said(tmp_path: Path):
    made = holders(wl.streams(), few_are_held, faults=wl.Faults(connection_errors=1))
    world = after(made, give(B), deliver(A, B), give(C))
    state = without(made, world.snapshot(), [B])
    world = DirectWorld(made)
    world.restore(state)
    steps = []
    while few_are_held.answer(world.view) is not False:
        event = world.enabled()[-1]
        steps.append((event, world.step(event, ()).choices))
    keep(made, state, steps, few_are_held, tmp_path / "long.wl")
    report = wl.minimize(tmp_path / "long.wl", system=made)
    assert (report.initial.deliveries, report.final.deliveries) == (5, 1)
    assert (report.lower_bound, report.certified) == (None, False)
    assert report.notes == (
        "nothing is known of b, taken: what it would do is in no run that was tried",
    )


def violating(
    system: wl.System, state: Snapshot, rng: Random
) -> tuple[Schedule, wl.Property] | None:
    """Run at random from a state until a property is seen to be false."""
    asked = [prop for prop in system.properties if prop.kind is PropertyKind.SAFETY]
    world, steps = DirectWorld(system), list[tuple[Event, Choices]]()
    world.restore(state)
    asked = [prop for prop in asked if prop.answer(world.view) is not False]
    while world.failure is None and len(steps) < _MOST_STEPS:
        for prop in asked:
            if prop.answer(world.view) is False:
                return steps, prop
        enabled = world.enabled()
        if not enabled:
            break
        event = rng.choice(enabled)
        steps.append((event, world.step(event, ()).choices))
    return None


def minimised(
    system: wl.System, state: Snapshot, seed: int, folder: Path
) -> wl.MinimizeReport | None:
    """Minimise a random run from a state, and check what comes out; None if none fails."""
    walks = (violating(system, state, Random(seed + walk)) for walk in range(8))
    met = next((one for one in walks if one is not None and one[0]), None)
    if met is None:
        return None
    steps, prop = met
    long, short = folder / "long.wl", folder / "short.wl"
    keep(system, state, steps, prop, long)
    short.unlink(missing_ok=True)
    report = wl.minimize(long, system=system, out=short)
    trace = read(short)
    assert replay_trace(trace, system, short).reproduced
    assert trace.end is not None
    assert trace.end.property == prop.name
    assert trace.state == read(long).state
    assert len(trace.steps) <= len(steps)
    return report


@pytest.mark.parametrize("network", [wl.streams(), wl.datagrams(loss=True)])
def test_runs_from_partial_states_get_no_longer_and_violate_the_same(
    network: wl.Network, tmp_path: Path
):
    made = holders(network, few_are_held)
    world = after(made, give(B), deliver(A, B), give(C))
    state = without(made, world.snapshot(), [B])
    reports = [minimised(made, state, seed, tmp_path) for seed in range(4)]
    assert any(
        report is not None and report.final.deliveries < report.initial.deliveries
        for report in reports
    )


@pytest.mark.nightly
def test_random_systems_in_partial_states_are_minimised_as_well(tmp_path: Path):
    count = 0

    @given(plan=plans, seed=st.integers(0, 1_000_000))
    @settings(
        max_examples=600,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    def each(plan: Plan, seed: int) -> None:
        nonlocal count
        count += minimised(*partial_state(plan, seed), seed, tmp_path) is not None

    each()
    assert count >= 20
