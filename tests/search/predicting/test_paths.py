"""Known paths, tried from other states: by label, and always as runs of the system."""

from __future__ import annotations

import time
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.search.predicting.askers import (
    A,
    Ask,
    B,
    after,
    asking,
    hears_little,
    hears_nothing,
    never_rings,
)
from tests.search.test_random_systems import Plan, plans

import worldline as wl
from worldline.loading.loader import load
from worldline.model.absent import without
from worldline.model.data.values import freeze, thaw
from worldline.model.events import Event, Schedule
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning, Start, starts
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.path_trials import Executed, PathTrials
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.search.predicting.predictor import Predictor
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld

NETWORKS = {
    "datagrams": wl.datagrams(),
    "queues": wl.datagrams(reordering=False),
    "streams": wl.streams(),
}


def fails_again(
    system: wl.System,
    begin: Beginning,
    path: KnownPath,
    filters: Sequence[EventFilter] = (),
) -> Executed | None:
    return PathTrials(system).fails_again(begin, path, filters)


def predictor(system: wl.System, **options: object) -> Predictor:
    told = {"traces": False, "faults": "declared", **options}
    return Predictor(system, PredictOptions.of(**told))


def known(one: Predictor, begin: Beginning) -> list[KnownPath]:
    """All that is predicted from a state, as known paths."""
    return [
        KnownPath.of(one.onward, begin, found.property, found.schedule)
        for found in one.predict(begin).predictions
    ]


def kinds_of(schedule: Schedule | None) -> list[str]:
    assert schedule is not None
    return [event.kind.value for event, _ in schedule]


def violates(system: wl.System, begin: Beginning, name: str, run: Schedule) -> bool:
    """Run a schedule with the real nodes; say whether a property is false at its end."""
    world = DirectWorld(system)
    (start,) = begin.charged(system.faults).starts
    assert start.snapshot is not None
    world.restore(start.snapshot)
    for event, choices in run:
        world.step(event, choices)
    if world.failure is not None:
        return world.failure.kind == name
    (prop,) = [prop for prop in system.properties if prop.name == name]
    return prop.answer(world.view) is False


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("zoo:randtree", {"bugs": "cb1", "start": "cb1"}),
        ("zoo:randtree", {"bugs": "cb3", "start": "cb3"}),
        ("zoo:paxos", {"bugs": "cb1", "start": "chosen"}),
    ],
    ids=str,
)
def test_what_is_predicted_fails_again_by_the_same_steps(
    target: str, parameters: dict[str, str]
):
    one = predictor(load(target, parameters), faults=None, max_states=800)
    begin = Beginning(starts(one.onward))
    report = one.predict(begin)
    assert report.predictions
    for found in report.predictions:
        path = KnownPath.of(one.onward, begin, found.property, found.schedule)
        assert fails_again(one.onward, begin, path) == found.schedule
        assert thaw(freeze([step.event for step in path.steps])) == [
            event for event, _ in found.schedule
        ]


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS.keys())
def test_a_message_is_known_by_the_step_that_sends_it(network: wl.Network):
    """From the other state on it says something else."""
    one = predictor(asking(never_rings, network=network, most=3))
    (path,) = known(one, Beginning(starts(one.onward)))
    assert [step.sent for step in path.steps] == [None, (0, 0), None]
    begin = after(one, "call at a ask")
    done = fails_again(one.onward, begin, path)
    assert done is not None
    said = [event.payload for event, _ in done if event.kind is Kind.DELIVER]
    assert said == ([Ask(1)] if network == wl.datagrams() else [Ask(0), Ask(1)])
    assert violates(one.onward, begin, "never_rings", done)


def test_what_stands_before_a_message_is_delivered_first():
    one = predictor(asking(hears_little, network=wl.streams(), most=3))
    begin = after(one, "call at a ask")
    (path,) = known(one, begin)
    later = after(one, *["call at a ask"] * 2)
    done = fails_again(one.onward, later, path)
    assert kinds_of(done) == ["call", "deliver", "deliver"]


def test_of_what_cannot_happen_any_more_nothing_is_left():
    one = predictor(asking(never_rings, network=wl.streams()))
    (path,) = known(one, Beginning(starts(one.onward)))
    for events, left in (
        (["call at a ask"], ["deliver", "timer"]),
        (["call at a ask", "deliver at b"], ["timer"]),
        (["call at a ask", "deliver at b", "timer at b"], []),
    ):
        begin = after(one, *events)
        assert kinds_of(fails_again(one.onward, begin, path)) == left


def test_what_does_not_fit_fails_no_more():
    one = predictor(asking(hears_nothing, network=wl.streams()))
    begin = Beginning(starts(one.onward))
    (path,) = known(one, begin)
    others = {node.name: node for node in wl.ids("x", "y")}
    strange = [
        PathStep(Event(Kind.CALL, others["x"], name="ask", payload=()), ()),
        PathStep(Event(Kind.CALL, A, name="no such call", payload=()), (3, 7)),
        PathStep(Event(Kind.DISCONNECT, A, peer=others["y"]), ()),
        PathStep(Event(Kind.RESET, B, payload=(others["x"],)), ()),
        PathStep(Event(Kind.PARTITION, payload=5), ()),
        PathStep(path.steps[1].event, (9,), (40, 2)),
        PathStep(Event(Kind.DELIVER, None, name="Ask", peer=A, payload=Ask(0)), ()),
        PathStep(Event(Kind.TIMER, None, name="ring"), ()),
        PathStep(Event(Kind.CALL, None, name="ask", payload=()), ()),
    ]
    assert (
        fails_again(one.onward, begin, KnownPath("hears_nothing", tuple(strange)))
        is None
    )
    assert fails_again(one.onward, begin, KnownPath("no_such", path.steps)) is None
    mixed = KnownPath("hears_nothing", (*strange, *path.steps))
    assert kinds_of(fails_again(one.onward, begin, mixed)) == ["call", "deliver"]


def test_with_a_filter_it_is_seen_what_happens_instead():
    one = predictor(asking(hears_nothing, network=wl.streams(), most=2))
    begin = Beginning(starts(one.onward))
    (path,) = known(one, begin)
    heard = EventFilter(B, Kind.DELIVER, "", "Ask", A)
    assert fails_again(one.onward, begin, path, [heard]) is None
    first = EventFilter.of(path.steps[1].event, exact=True)
    twice = KnownPath(
        "hears_nothing",
        (
            *path.steps,
            PathStep(Event(Kind.TRANSPORT_ERROR, A, name="lost", peer=B), ()),
            PathStep(path.steps[0].event, ()),
            PathStep(path.steps[1].event, (), (3, 0)),
        ),
    )
    done = fails_again(one.onward, begin, twice, [first])
    assert kinds_of(done) == ["call", "refuse", "transport_error", "call", "deliver"]


def test_it_begins_where_nodes_are_absent():
    one = predictor(asking(never_rings, network=wl.streams(), second=True))
    begin = Beginning(starts(one.onward))
    (path,) = known(one, begin)
    (start,) = begin.starts
    assert start.snapshot is not None
    trials = PathTrials(one.onward)  # in one world, one after the other
    for names, fails in (({"c"}, True), ({"a"}, False), ({"c"}, True)):
        nodes = [node for node in one.onward.ids if node.name in names]
        partial = without(one.onward, start.snapshot, nodes)
        there = Start((), (), partial, None, Checkpoint(partial), tuple(names))
        done = fails_again(one.onward, Beginning([there]), path)
        assert (done is not None) is fails
        assert trials.fails_again(Beginning([there]), path) == done


def test_a_path_is_tried_in_a_few_milliseconds():
    one = predictor(
        load("zoo:randtree", {"bugs": "cb3", "start": "cb3"}),
        faults=None,
        max_states=800,
    )
    begin = Beginning(starts(one.onward))
    path = known(one, begin)[0]
    spent = []
    for _ in range(5):
        began = time.process_time()
        assert fails_again(one.onward, begin, path)
        spent.append(time.process_time() - began)
    assert min(spent) < 0.02  # 1.5 ms where nobody else works


def try_what_fits_badly(plan: Plan, seed: int) -> None:
    """Steps are left out and come in another order; what is found is real all the same."""
    system = plan.build()
    assume(all(start.failure is None for start in starts(system)))
    one = predictor(system, max_states=300)
    begin = Beginning(starts(one.onward))
    assume(len(begin.starts) == 1)
    rng, trials = Random(seed), PathTrials(one.onward)
    for path in known(one, begin):
        steps = [step for step in path.steps if rng.random() < 0.8]
        rng.shuffle(steps)
        wrong = [
            PathStep(s.event, (*s.choices, rng.randrange(4)), s.sent) for s in steps
        ]
        for other in (steps, wrong, [*wrong, *path.steps]):
            changed = KnownPath(path.property, tuple(other))
            done = fails_again(one.onward, begin, changed)
            assert trials.fails_again(begin, changed) == done  # where others were tried
            if done is not None:
                assert violates(one.onward, begin, path.property, done)


@pytest.mark.slow
@given(plans, st.integers(0, 99))
@settings(max_examples=6, suppress_health_check=list(HealthCheck), deadline=None)
def test_what_is_found_is_real_in_random_systems(plan: Plan, seed: int) -> None:
    try_what_fits_badly(plan, seed)


@pytest.mark.nightly
@given(plans, st.integers(0, 99))
@settings(max_examples=500, suppress_health_check=list(HealthCheck), deadline=None)
def test_what_is_found_is_real_in_many_random_systems(plan: Plan, seed: int) -> None:
    try_what_fits_badly(plan, seed)
