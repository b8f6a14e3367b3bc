"""The direct world: stepping, choices, prologues, failures, snapshots."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import Oracle
from tests.systems import (
    VARIANTS,
    Ball,
    Hello,
    Player,
    Worker,
    counting,
    gamblers,
    players,
    workers,
)
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.kinds import KINDS
from worldline.model.semantics.enabled import is_lost_unseen
from worldline.model.semantics.execute import Result
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

A, B = wl.ids("a", "b")


@wl.node
class Dice:
    """Rolls, and keeps what it rolled."""

    rolled: tuple[int, ...] = ()
    text: str = ""

    @wl.call
    def roll(self, ctx: wl.Context) -> None:
        only = ctx.choose(["only"])
        one = ctx.choose([10, 20, 30], weights=[1, 2, 3])
        self.rolled = (one, ctx.random(2), ctx.random(1))
        self.text = only
        ctx.log(f"rolled {one}")

    @wl.call
    def spin(self, ctx: wl.Context) -> None:
        while not self.rolled:
            self.text = "spinning"


def dice() -> Driven:
    return Driven(
        wl.System(
            {A: Dice()}, workload=[wl.whenever(Dice.roll), wl.whenever(Dice.spin)]
        )
    )


ROLL = wl.Event(wl.Kind.CALL, A, name="roll", payload=())
SPIN = wl.Event(wl.Kind.CALL, A, name="spin", payload=())


def random_schedule(system: wl.System, steps: int) -> list[Any]:
    driven, rng = Driven(system), random.Random(1)
    found: list[Any] = []
    while len(found) < steps and (offered := driven.world.enabled()):
        event = rng.choice(offered)
        outcome = driven.world.step(event, source=lambda n, weights: rng.randrange(n))
        found.append((event, outcome.choices))
    return found


# ---------------------------------------------------------------------------- choices


def test_choices_are_taken_from_the_schedule_and_reported_with_their_widths():
    driven = dice()
    outcome = driven.world.step(ROLL, (2, 1))
    assert driven[A].rolled == (30, 1, 0)
    assert (outcome.choices, outcome.widths) == ((2, 1), (3, 2))
    assert outcome.log == ("rolled 30",)


def test_choices_beyond_the_schedule_are_the_first_options():
    driven = dice()
    assert driven.world.step(ROLL, (1,)).choices == (1, 0)
    assert driven[A].rolled == (20, 0, 0)


def test_a_source_is_asked_for_choices_beyond_the_schedule_with_their_weights():
    asked: list[Any] = []

    def source(count: int, weights: tuple[float, ...] | None) -> int:
        asked.append((count, weights))
        return count - 1

    outcome = dice().world.step(ROLL, (0,), source=source)
    assert (outcome.choices, asked) == ((0, 1), [(2, None)])
    dice().world.step(ROLL, source=source)
    assert asked[1:] == [(3, (1, 2, 3)), (2, None)]


def test_a_choice_of_one_option_is_none_so_that_choices_replay():
    first, again = dice(), dice()
    choices = first.world.step(ROLL, (2, 1)).choices
    again.world.step(ROLL, choices)
    assert again[A].text == "only"
    assert again.world.snapshot() == first.world.snapshot()


def test_an_option_that_does_not_exist_is_refused():
    with pytest.raises(wl.ModelError) as caught:
        dice().world.step(ROLL, (3,))
    assert caught.value.what == "a schedule takes option 3 of 3 at a"


def test_choices_at_boot_give_several_initial_states():
    states = Oracle(gamblers()).initial()
    assert [tuple(node.fields.rank for node in state.nodes) for state in states] == [
        (3, 3),
        (3, 5),
        (5, 3),
        (5, 5),
    ]


# --------------------------------------------------------------------------- stepping


def test_an_event_that_cannot_happen_is_refused_and_changes_nothing():
    driven = Driven(players())
    before = driven.world.snapshot()
    a, b = driven.system.ids
    for event in (
        wl.Event(wl.Kind.DELIVER, b, name="Ball", peer=a, payload=Ball(0)),
        wl.Event(wl.Kind.CALL, b, name="throw", payload=(a,)),
        wl.Event(wl.Kind.RESET, a, payload=()),
        wl.Event(wl.Kind.START, a),
        wl.Event(wl.Kind.TIMER, a, name="tick"),
        wl.Event(wl.Kind.HEAL),
        wl.Event(wl.Kind.CRASH, wl.ids("elsewhere")[0]),
    ):
        assert not driven.world.is_enabled(event)
        with pytest.raises(NotEnabled, match="is not enabled in this state") as caught:
            driven.world.step(event)
        assert caught.value.event is event
    assert driven.world.snapshot() == before


@pytest.mark.parametrize("build", VARIANTS.values(), ids=VARIANTS.keys())
def test_what_is_enabled_is_what_is_offered(build: Callable[[], wl.System]):
    system, rng, seen = build(), random.Random(0), set[wl.Event]()
    for steps in (8, 25):
        world = Driven(system).world
        for _ in range(steps):
            if not (offered := world.enabled()):
                break
            free = set(world.enabled(charge=False))
            seen.update(free)
            enabled = {e for e in seen if world.is_enabled(e)}
            uncharged = {e for e in seen if world.is_enabled(e, charge=False)}
            assert (enabled >= set(offered), uncharged >= free) == (True, True)
            for event in (enabled - set(offered)) | (uncharged - free):
                assert is_lost_unseen(system, event, world.cells)
            world.step(rng.choice(offered))


def test_running_a_schedule_is_stepping_through_it():
    def system() -> wl.System:
        return workers(3, network=wl.streams(), observers=[counting()])

    schedule = random_schedule(system(), 40)
    ran, stepped = Driven(system()), Driven(system())
    ran.world.run(schedule)
    for event, choices in schedule:
        stepped.world.step(event, choices)
    assert ran.world.snapshot() == stepped.world.snapshot()


def test_an_outcome_reports_sends_timers_and_what_became_of_the_event():
    driven = Driven(workers(timed=True))
    a, b = driven.system.ids
    sent = driven.do(wl.events.call(a, Worker.greet)).sends
    assert [(s.src, s.dst, s.part, s.message, s.taken) for s in sent] == [
        (a, b, "", Hello(frozenset({a})), True)
    ]
    outcome = driven.do(wl.events.timer(a, Worker.tick))
    assert outcome.result is Result.HANDLED
    assert [(repr(t.timer), t.after) for t in outcome.timers] == []
    outcome = driven.do(wl.events.timer(b, Worker.tick, choices=[1]))
    assert [(repr(t.timer), t.after) for t in outcome.timers] == [("tick(1)", 1.0)]


def test_a_snapshot_is_a_value_that_later_steps_do_not_change():
    driven = Driven(workers())
    before = driven.world.snapshot()
    again = Driven(workers()).world.snapshot()
    driven.world.run(random_schedule(workers(), 20))
    assert before == again
    assert hash(before) == hash(again)
    assert driven.world.snapshot() != before


def test_a_property_cannot_change_the_world_through_a_view():
    driven = Driven(workers())
    a, _ = driven.system.ids
    driven.world.view[a].known.clear()
    driven.world.view[a].errors.append(a)
    assert (driven[a].known, driven[a].errors) == ({a}, [])


def test_after_a_failure_nothing_happens_any_more():
    @wl.node
    class Broken:
        @wl.call
        def fail(self, ctx: wl.Context) -> None:
            raise ValueError("broken")

    driven = Driven(wl.System({A: Broken()}, workload=[wl.whenever(Broken.fail)]))
    event = driven.world.enabled()[0]
    assert driven.world.step(event).result is Result.FAILED
    assert driven.world.enabled() == []
    assert not driven.world.is_enabled(event)
    with pytest.raises(NotEnabled):
        driven.world.step(event)


def test_a_handler_that_does_not_return_is_convicted_by_counting_lines():
    outcome = dice().world.step(SPIN, lines=1_000)
    assert outcome.failure is not None
    assert outcome.failure.kind == "divergence"
    assert "Dice.spin" in str(outcome.failure)


def test_a_handler_within_its_budget_of_lines_is_run_as_usual():
    driven = dice()
    outcome = driven.world.step(ROLL, (1, 1), lines=1_000)
    assert (outcome.failure, driven[A].rolled) == (None, (20, 1, 0))


# ----------------------------------------------------------------------------- booting


def test_nodes_start_before_state_0_in_order_of_declaration():
    world = DirectWorld(gamblers())
    assert list(map(repr, world.boot_events())) == ["start at a", "start at b"]


def test_booting_can_be_events_of_its_own():
    driven = Driven(gamblers(boot="events"))
    assert driven.offers() == ["start at a", "start at b"]
    b = driven.system.ids[1]
    driven.world.step(driven.world.enabled()[0])
    assert driven.messages(b) != []
    assert driven.offers() == ["start at b"]
    assert not driven.world.view.is_up(b)


def test_observers_fold_over_what_happens_after_state_0_and_before():
    driven = Driven(gamblers(observers=[counting()]))
    assert driven.world.view.history("counted") == (0, 2)
    driven.world.step(driven.world.enabled()[0])
    assert driven.world.view.history("counted") == (1, 2)


# ---------------------------------------------------------------------------- prologue


def prepared(*patterns: Any, **options: Any) -> tuple[Driven, list[Any]]:
    driven = Driven(players(both=True, **options))
    return driven, driven.world.prepare(patterns)


def test_a_prologue_runs_the_first_event_that_fits():
    a, b = players().ids
    driven, done = prepared(
        wl.events.call(a, Player.throw, choices=[1]), wl.events.deliver(b, Ball, a)
    )
    assert driven[b].caught == 1
    assert driven.messages(a) == [Ball(0)]
    assert [(repr(event), choices) for event, choices in done] == [
        ("call at a throw with b", (1,)),
        ("deliver at b Ball(bounces=1) from a", ()),
    ]


def test_a_prologue_is_a_legal_schedule_that_replays():
    a = players().ids[0]
    driven, done = prepared(
        wl.events.call(a, Player.throw, choices=[1]), wl.events.settle()
    )
    again = Driven(players(both=True))
    again.world.run(done)
    assert again.world.snapshot() == driven.world.snapshot()


def test_settle_delivers_until_nothing_is_under_way():
    a, b = players().ids
    throws = [
        wl.events.call(a, Player.throw, choices=[1]),
        wl.events.call(b, Player.throw, choices=[1]),
    ]
    driven, done = prepared(*throws, wl.events.settle(), network=wl.streams())
    assert (driven.messages(a), driven.messages(b)) == ([], [])
    assert len(done) == 6


def test_faults_in_a_prologue_need_no_budget_and_are_not_charged():
    b = players().ids[1]
    patterns = [wl.events.reset(b), wl.events.crash(b), wl.events.restart(b)]
    driven, _ = prepared(*patterns, faults=wl.Faults(resets=1))
    assert [words for words in driven.offers() if "reset" in words] == [
        "reset at a",
        "reset at b",
    ]


def test_a_prologue_that_does_not_fit_says_what_is_enabled():
    a, b = players().ids
    with pytest.raises(wl.ModelError) as caught:
        prepared(wl.events.call(a, Player.throw), wl.events.deliver(a, Ball, b))
    assert caught.value.what == (
        "prologue step 2: no enabled event is like 'deliver Ball at a from b'"
    )
    assert caught.value.remedy == (
        "enabled are: call at a throw with b; deliver at b Ball(bounces=0) from a; "
        "call at b throw with a"
    )


# ------------------------------------------------------------------------------ events


def test_events_are_equal_by_value_across_systems():
    one, two = Driven(players()), Driven(players())
    assert one.world.enabled() == two.world.enabled()
    assert len({*one.world.enabled(), *two.world.enabled()}) == 1


def test_events_know_who_brings_them_about():
    origins = {
        wl.Kind.START: "application",
        wl.Kind.CALL: "application",
        wl.Kind.DELIVER: "internal",
        wl.Kind.REFUSE: "internal",
        wl.Kind.TRANSPORT_ERROR: "internal",
        wl.Kind.TIMER: "internal",
    }
    for kind in KINDS.values():
        event = wl.Event(kind, A)
        assert event.origin.value == origins.get(kind, "fault")
        assert event.is_external is (event.origin.value != "internal")
