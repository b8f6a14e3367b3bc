"""Time is opaque: comparing is a choice, equality and hashing are refused. Timers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import Oracle, explore
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.data.values import freeze

(A,) = wl.ids("a")


@wl.node
class Clock:
    since: wl.Time | None = None
    late: bool = False
    number: int = 0

    @wl.call
    def mark(self, ctx: wl.Context) -> None:
        self.since = ctx.now()

    @wl.call(when=lambda self: self.since is not None)
    def judge(self, ctx: wl.Context) -> None:
        assert self.since is not None
        self.late = ctx.now() - self.since > 3.0

    @wl.call
    def count(self, ctx: wl.Context) -> None:
        self.number = 10 * ctx.sequence() + ctx.sequence()


def clock(**options: Any) -> wl.System:
    workload = [wl.whenever(call) for call in (Clock.mark, Clock.judge, Clock.count)]
    return wl.System({A: Clock()}, workload=workload, **options)


def test_a_comparison_is_a_choice_of_two():
    for taken, late in ((0, True), (1, False)):
        driven = Driven(clock())
        driven.do(wl.events.call(A, Clock.mark))
        outcome = driven.do(wl.events.call(A, Clock.judge, choices=[taken]))
        assert (outcome.choices, outcome.widths) == ((taken,), (2,))
        assert driven[A].late is late


@pytest.mark.parametrize(
    "compare", [operator.lt, operator.le, operator.gt, operator.ge]
)
def test_every_ordering_and_every_unit_is_a_fresh_choice(
    compare: Callable[[Any, Any], bool],
):
    @wl.node
    class Asker:
        said: tuple[bool, ...] = ()

        @wl.call
        def ask(self, ctx: wl.Context) -> None:
            now = ctx.now()
            self.said = (
                compare(now, now + 1.0),
                compare(now - now, 2),
                compare(now, ctx.now()),
            )

    driven = Driven(wl.System({A: Asker()}, workload=[wl.whenever(Asker.ask)]))
    outcome = driven.do(wl.events.call(A, Asker.ask, choices=[1, 0, 1]))
    assert outcome.widths == (2, 2, 2)
    assert driven[A].said == (False, True, False)


def test_a_stored_time_never_separates_states():
    assert freeze(wl.Time(3.0)) == freeze(wl.Time(4.0))
    assert freeze(wl.Duration(3.0)) == freeze(wl.Duration(4.0))
    assert freeze(wl.Time()) != freeze(wl.Duration())
    driven = Driven(clock())
    driven.do(wl.events.call(A, Clock.mark))
    once = driven.world.snapshot()
    driven.do(wl.events.call(A, Clock.mark))
    assert driven.world.snapshot() == once


@pytest.mark.parametrize("kind", [wl.Time, wl.Duration])
def test_equality_and_hashing_are_refused(kind: type):
    for refused in (
        lambda: kind() == kind(),
        lambda: kind() != kind(),
        lambda: kind() in [kind()],
        lambda: hash(kind()),
        lambda: {kind()},
    ):
        with pytest.raises(wl.ModelError, match="a time cannot be") as caught:
            refused()
        assert "ctx.sequence() to order events" in caught.value.remedy


def test_a_time_is_never_equal_to_none():
    assert wl.Time() != None  # noqa: E711
    assert wl.Time() is not None


def test_comparing_outside_a_handler_is_refused():
    for refused in (
        lambda: wl.Time() < wl.Time(),
        lambda: sorted([wl.Time(), wl.Time()]),
        lambda: max(wl.Time(), wl.Time()),
    ):
        with pytest.raises(wl.ModelError, match="compared outside a handler"):
            refused()


def test_comparing_in_a_guard_or_a_property_is_refused():
    @wl.safety
    def is_recent(view: wl.View) -> bool:
        return bool(view[A].since is None or view[A].since < wl.Time())

    @wl.node
    class Guarded:
        since: wl.Time = wl.field(default=wl.Time())

        @wl.call(when=lambda self: self.since < wl.Time())
        def go(self, ctx: wl.Context) -> None: ...

    driven = Driven(clock(properties=[is_recent]))
    driven.do(wl.events.call(A, Clock.mark))
    with pytest.raises(wl.ModelError, match="compared outside a handler") as caught:
        is_recent.judge(driven.world.view)
    assert "guards and properties may not compare times" in caught.value.remedy
    with pytest.raises(wl.ModelError, match="compared outside a handler"):
        Driven(wl.System({A: Guarded()}, workload=[wl.whenever(Guarded.go)])).offers()


def test_the_sequence_is_exact_and_survives_resets():
    driven = Driven(clock(faults=wl.Faults(resets=1)))
    seen = []
    for _ in range(2):
        driven.do(wl.events.call(A, Clock.count))
        seen.append(driven[A].number)
        if len(seen) == 1:
            driven.do(wl.events.reset(A))
    assert seen == [1, 23]


# ---------------------------------------------------------------------------- timers


@wl.node
class Alarms:
    fired: list[str] = wl.field(default_factory=list)
    deaf: bool = False

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Alarms.ring, after=2.0)
        ctx.set_timer(Alarms.buzz, 2, after=1.0)
        ctx.set_timer(Alarms.buzz, 1, after=3.0)

    @wl.timer(when=lambda self: not self.deaf)
    def ring(self, ctx: wl.Context) -> None:
        self.fired.append(f"ring {ctx.is_pending(Alarms.ring)}")

    @wl.timer
    def buzz(self, ctx: wl.Context, payload: int) -> None:
        ctx.set_timer(Alarms.buzz, payload)
        ctx.cancel_timer(Alarms.ring)
        self.fired.append(f"buzz {payload} {ctx.is_pending(Alarms.buzz, payload)}")

    @wl.call
    def cover(self, ctx: wl.Context) -> None:
        self.deaf = True


def alarms(**options: Any) -> Driven:
    return Driven(wl.System({A: Alarms()}, **options))


def pending(driven: Driven) -> list[str]:
    return list(map(repr, driven.world.view.timers(A)))


def test_timers_are_told_apart_by_name_and_payload():
    driven = alarms()
    assert pending(driven) == ["buzz(1)", "buzz(2)", "ring"]
    assert driven.offers() == [
        "timer at a buzz with 1",
        "timer at a buzz with 2",
        "timer at a ring",
    ]


def test_a_timer_that_fires_is_consumed_before_its_handler_runs():
    driven = alarms()
    driven.do(wl.events.timer(A, Alarms.ring))
    assert driven[A].fired == ["ring False"]
    assert pending(driven) == ["buzz(1)", "buzz(2)"]


def test_a_timer_is_consumed_even_when_its_guard_is_false():
    driven = alarms(workload=[wl.script(A, [Alarms.cover])])
    driven.do(wl.events.call(A, Alarms.cover))
    driven.do(wl.events.timer(A, Alarms.ring))
    assert driven[A].fired == []
    assert pending(driven) == ["buzz(1)", "buzz(2)"]


def test_a_handler_sets_again_and_cancels():
    driven = alarms()
    driven.do(wl.events.timer(A, Alarms.buzz))
    assert driven[A].fired == ["buzz 1 True"]
    assert pending(driven) == ["buzz(1)", "buzz(2)"]


def test_setting_a_pending_timer_replaces_it():
    driven = alarms()
    driven.world.step(driven.world.enabled()[0])
    assert len(pending(driven)) == len(set(pending(driven)))


def test_a_reset_clears_timers_and_start_sets_them_anew():
    driven = alarms(faults=wl.Faults(resets=1, crashes=1))
    driven.do(wl.events.timer(A, Alarms.ring))
    driven.do(wl.events.reset(A))
    assert pending(driven) == ["buzz(1)", "buzz(2)", "ring"]
    driven.do(wl.events.crash(A))
    assert pending(driven) == []


def test_in_a_timed_system_a_timer_waits_for_earlier_ones_with_shorter_delays():
    driven = alarms(timed=True)
    # ring (2.0), then buzz 2 (1.0), then buzz 1 (3.0): only the last has to wait.
    assert driven.offers() == ["timer at a buzz with 2", "timer at a ring"]
    driven.do(wl.events.timer(A, Alarms.ring))
    assert driven.offers() == ["timer at a buzz with 2"]


def test_in_a_timed_system_setting_again_moves_a_timer_to_the_end():
    driven = alarms(timed=True)
    driven.do(wl.events.timer(A, Alarms.buzz))
    # Left are buzz 1 (3.0), then buzz 2 set again with no delay; ring was cancelled.
    assert driven.offers() == ["timer at a buzz with 1", "timer at a buzz with 2"]


def test_timers_of_equal_delay_fire_in_the_order_of_setting():
    @wl.node
    class Fair:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            for payload in (2, 1):
                ctx.set_timer(Fair.go, payload, after=1.0)

        @wl.timer
        def go(self, ctx: wl.Context, payload: int) -> None: ...

    timed = wl.System({A: Fair()}, timed=True)
    assert Driven(timed).offers() == ["timer at a go with 2"]
    assert explore(Oracle(timed)).distinct == 3
    assert explore(Oracle(wl.System({A: Fair()}))).distinct == 4
