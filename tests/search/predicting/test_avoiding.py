"""Filters: made of what is predicted, tried before they are used."""

from __future__ import annotations

import pytest
from tests.search.predicting.askers import (
    A,
    Ask,
    Asker,
    B,
    C,
    asking,
    hears_little,
    hears_nothing,
    never_rings,
    nothing_breaks,
)
from tests.shares import share

import worldline as wl
from worldline.loading.loader import load
from worldline.model.absent import without
from worldline.model.events import Choices, Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning, Start, starts
from worldline.search.engines import choose
from worldline.search.predicting.avoiding import (
    FilterTrial,
    avoids,
    candidates,
    first_who_can_act,
    trials,
    tried,
)
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.paths import KnownPath, PathStep
from worldline.search.predicting.predictor import Predictor
from worldline.search.predicting.report import PredictReport
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld

ENGINES = sorted({"python", choose("auto", by_cost=True).engine})
HEARD = EventFilter(B, Kind.DELIVER, "", "Ask", A)


def predicted(
    system: wl.System, **options: object
) -> tuple[Predictor, Beginning, PredictReport]:
    told = {"traces": False, "faults": "declared", **options}
    one = Predictor(system, PredictOptions.of(**told))
    begin = Beginning(starts(one.onward))
    return one, begin, one.predict(begin)


def steps_of(events: list[Event]) -> list[tuple[Event, Choices]]:
    return [(event, ()) for event in events]


def asked(number: int = 0, src: wl.NodeId = A, to: wl.NodeId = B) -> Event:
    return Event(Kind.DELIVER, to, name="Ask", peer=src, payload=Ask(number))


CALL = Event(Kind.CALL, B, name="ask", payload=())
RING = Event(Kind.TIMER, B, name="ring")
RESET = Event(Kind.RESET, B, payload=())
LOST = Event(Kind.TRANSPORT_ERROR, B, name="lost", peer=A)


def test_of_a_run_messages_and_timers_are_refused_first_and_calls_last():
    run = steps_of([CALL, asked(), LOST, asked(1), RING, asked(src=C)])
    found = candidates(run, B)
    assert [(one.kind, one.name, one.peer) for one in found] == [
        (Kind.DELIVER, "Ask", A),
        (Kind.TIMER, "ring", None),
        (Kind.DELIVER, "Ask", C),
    ]
    assert all(one.content is None for one in found)
    assert candidates(steps_of([CALL, RING]), B)[1].kind is Kind.CALL
    assert candidates(run, A) == ()
    assert candidates(steps_of([RESET, LOST, asked(src=B)]), B) == ()


def test_after_a_fault_what_was_foreseen_is_refused_rather_than_all_that_is_like_it():
    found = candidates(steps_of([asked(src=C), RESET, asked(1), RING]), B)
    assert found == (
        EventFilter.of(asked(src=C)),
        EventFilter.of(asked(1), exact=True),
        EventFilter.of(asked(1)),
        EventFilter.of(RING),
    )
    twice = candidates(steps_of([asked(), RESET, asked(1)]), B)
    assert twice == (EventFilter.of(asked()),)


def test_who_can_refuse_a_message_soonest_is_asked_first():
    run = steps_of([CALL, asked(to=C), asked()])
    assert first_who_can_act(run, [A, B, C]) == C
    assert first_who_can_act(run, [A, B]) == B
    assert first_who_can_act(run[:1], [A, B]) == B
    assert first_who_can_act(run, [A]) is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "network",
    [wl.datagrams(), wl.datagrams(loss=False), wl.streams()],
    ids=["lossy", "reliable", "streams"],
)
def test_what_is_refused_does_not_happen(engine: str, network: wl.Network):
    system = asking(hears_nothing, never_rings, network=network)
    one, begin, report = predicted(system, engine=engine)
    assert [(p.property, p.cost) for p in report.predictions] == [
        ("hears_nothing", 2),
        ("never_rings", 3),
    ]
    again = one.predict(begin, [HEARD])
    assert again.predictions == ()
    assert again.bound is None
    assert one.predict(begin).predictions == report.predictions


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_with_what_happens_instead_is_one_of_the_system(engine: str):
    """The connection is not open yet at first, and is by the second message."""
    system = asking(nothing_breaks, network=wl.streams(), most=2)
    one, begin, report = predicted(system, engine=engine)
    assert report.verdict is wl.Verdict.HOLDS
    (found,) = one.predict(begin, [HEARD]).predictions
    kinds = [event.kind for event, _ in found.schedule]
    assert kinds == [Kind.CALL, Kind.REFUSE, Kind.TRANSPORT_ERROR]
    only_second = EventFilter.of(asked(1), exact=True)
    (later,) = one.predict(begin, [only_second]).predictions
    assert [event.kind for event, _ in later.schedule][-2:] == [
        Kind.DISCONNECT,
        Kind.TRANSPORT_ERROR,
    ]
    for run in (found.schedule, later.schedule):
        world = DirectWorld(one.onward)
        for event in world.boot_events():
            world.step(event)
        for event, choices in run:
            world.step(event, choices, charge=event.kind is not Kind.DISCONNECT)
        assert not nothing_breaks.judge(world.view).holds


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_that_breaks_something_else_is_not_worth_having(engine: str):
    system = asking(hears_nothing, nothing_breaks, network=wl.streams())
    one, begin, report = predicted(system, engine=engine, max_cost=5)
    (prediction,) = report.predictions
    trial = tried(one, begin, report, prediction, (HEARD,))
    assert (trial.helps, trial.why, trial.fails) == (False, "new", ("nothing_breaks",))
    on_datagrams = asking(hears_nothing, nothing_breaks, network=wl.datagrams())
    one, begin, report = predicted(on_datagrams, engine=engine)
    assert avoids(one, begin, report, report.predictions[0], HEARD)


@pytest.mark.parametrize("engine", ENGINES)
def test_filters_against_two_senders_are_worth_having_together(engine: str):
    system = asking(hears_nothing, network=wl.datagrams(), second=True)
    one, begin, report = predicted(system, engine=engine)
    (prediction,) = report.predictions
    by_itself, together = trials(one, begin, report, prediction, B)
    assert (by_itself.helps, by_itself.why) == (False, "met")
    assert (together.helps, together.why) == (True, "")
    assert {*together.filters} > {*by_itself.filters}
    assert {filter_.peer for filter_ in together.filters} == {A, C}


def test_a_filter_hides_nothing_that_failed_before():
    """What B hears from A is refused; that it hears C, and so rings, is said all the same."""
    system = asking(hears_little, never_rings, network=wl.datagrams(), second=True)
    one, begin, report = predicted(system)
    by_name = {found.property: found for found in report.predictions}
    assert by_name.keys() == {"hears_little", "never_rings"}
    trial = tried(one, begin, report, by_name["hears_little"], (HEARD,))
    assert (trial.helps, trial.fails) == (True, ("never_rings",))


def test_a_filter_that_the_path_gets_round_is_not_tried_any_further():
    system = asking(hears_nothing, network=wl.datagrams(), second=True)
    one, begin, report = predicted(system)
    (prediction,) = report.predictions
    calls = [Event(Kind.CALL, node, name="ask", payload=()) for node in (A, C)]
    run = [*calls, asked(), asked(src=C)]
    path = KnownPath("hears_nothing", tuple(PathStep(event, ()) for event in run))
    trial = tried(one, begin, report, prediction, (HEARD,), path)
    assert trial == FilterTrial(
        (HEARD,), helps=False, why="path", fails=("hears_nothing",)
    )


def test_trials_go_on_to_the_first_that_helps():
    system = asking(hears_nothing, nothing_breaks, network=wl.streams())
    one, begin, report = predicted(system)
    (prediction,) = report.predictions
    (trial,) = trials(one, begin, report, prediction, A)
    (chosen,) = trial.filters
    assert (chosen.kind, chosen.name) == (Kind.CALL, Asker.ask.__name__)
    assert trial.helps
    assert list(trials(one, begin, report, prediction, wl.NodeId("nobody"))) == []


LIVE = {
    "cb1": {"n9": True, "n1": True},
    "cb2": {"a": True, "r": True},
    "cb3": {"a": True, "c": True},
    "cb4": {"c": True},
}
"""Of each bug: who has a step to refuse on the way that is found, and whether it helps.

At n1 in cb1 the violation comes about by another message, too: it takes two filters.
"""


@pytest.mark.parametrize("bug", share(list(LIVE), only=["cb3", "cb4"]))
def test_bugs_of_a_live_tree_are_avoided(bug: str):
    system = load("zoo:randtree", {"bugs": bug, "start": bug})
    one, begin, report = predicted(system, faults=None, max_states=2_500)
    prediction = report.predictions[0]
    found = {
        node.name: [
            trial.helps for trial in trials(one, begin, report, prediction, node)
        ]
        for node in one.onward.ids
    }
    assert {name: any(helps) for name, helps in found.items() if helps} == LIVE[bug]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("bug", "states", "who"),
    [("cb5", 3_000, {"n9", "n61", "n69"}), ("cb6", 20_000, {"b", "c"})],
)
def test_deep_bugs_of_a_live_tree_are_avoided(bug: str, states: int, who: set[str]):
    system = load("zoo:randtree", {"bugs": bug, "start": bug})
    one, begin, report = predicted(system, faults=None, max_states=states)
    (prediction,) = report.predictions
    helped = {
        node.name
        for node in one.onward.ids
        for trial in trials(one, begin, report, prediction, node)
        if trial.helps
    }
    assert helped == who


@pytest.mark.parametrize("engine", ENGINES)
def test_where_nodes_are_absent_the_same_is_avoided(engine: str):
    """Nothing is known of b, which misses the reset in the run that is found without it."""
    system = load("zoo:randtree", {"bugs": "cb3", "start": "cb3"})
    told = PredictOptions.of(traces=False, max_states=600, engine=engine)
    one = Predictor(system, told)
    (start,) = starts(one.onward)
    (gone,) = [node for node in one.onward.ids if node.name == "b"]
    assert start.snapshot is not None
    partial = without(one.onward, start.snapshot, [gone])
    there = Start((), (), partial, None, Checkpoint(partial), ("b",))
    begin = Beginning([there])
    report = one.predict(begin)
    (prediction,) = report.predictions
    tries = {
        node.name: [(trial.helps, trial.states) for trial in found]
        for node in one.onward.ids
        if (found := list(trials(one, begin, report, prediction, node)))
    }
    assert tries == {"a": [(True, 515)], "c": [(True, 331)]}


def test_a_bug_of_paxos_is_avoided_by_those_before_the_last():
    system = load("zoo:paxos", {"bugs": "cb1", "start": "chosen"})
    one, begin, report = predicted(system, faults=None)
    helped = {
        (found.property, node.name): trial.helps
        for found in report.predictions
        for node in one.onward.ids
        for trial in trials(one, begin, report, found, node)
    }
    assert helped == {
        (name, node): node != "p1"
        for name in ("agreement", "decisions_agree")
        for node in ("p1", "p2", "p3")
    }
