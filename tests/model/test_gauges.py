"""Gauges and confidences: what is declared, folded, read and refused."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@wl.message
class Ping:
    pass


@dataclass(unsafe_hash=True)
class Loose:
    """Hashable, and not to be trusted: it can be changed."""

    number: int


@wl.node
class Pinger:
    """Sends a ping each second; every ping that arrives is counted."""

    got: int = 0

    @wl.start
    def begin(self, ctx):
        ctx.set_timer(Pinger.tick, after=1.0)

    @wl.timer
    def tick(self, ctx):
        ctx.send(B if ctx.me == A else A, Ping())
        ctx.set_timer(Pinger.tick, after=1.0)

    @wl.on(Ping)
    def take(self, ctx, src, msg):
        self.got += 1


def simulated(gauges, properties, **options):
    system = wl.System({A: Pinger(), B: Pinger()}, gauges=gauges, properties=properties)
    given = {"seconds": 3.5, "latency": "constant 10ms", "traces": False}
    return wl.simulate(system, **{**given, **options})


@wl.gauge(initial=0)
def sent(value, step, view):
    return value + len(step.sends)


@wl.gauge(initial=(0.0, 0))
def last(value, step, view):
    """When something was sent, and how often by then: what is declared before is new."""
    return (step.time, view.gauge("sent")) if step.sends else value


@wl.gauge(initial=0)
def later(value, step, view):
    return value + 1


def test_gauges_are_folded_in_order_after_each_event_and_see_the_state_after_it():
    @wl.gauge(initial=0)
    def counted(value, step, view):
        return view[A].got + view[B].got

    @wl.safety
    def as_sent(view):
        # Each second both send; 10 ms later both receive.
        seconds = int(view.time)
        assert view.gauge("sent") in {2 * seconds, 2 * seconds - 1}
        assert view.gauge("counted") == view[A].got + view[B].got
        assert view.gauge("last") == (float(seconds), view.gauge("sent"))

    found = simulated([sent, last, counted], [as_sent])
    assert (found.verdict, found.events) == (wl.Verdict.UNKNOWN, 12)

    @wl.safety
    def early(view):
        return view.time < 2 or view.gauge("sent") < 5

    found = simulated([sent], [early])
    assert (found.violated.name, found.at, found.violated.steps) == ("early", 3.0, 9)


def test_lamport_times_are_those_of_the_trace():
    @wl.gauge(initial=())
    def times(value, step, view):
        return (*value, step.lamport)

    @wl.safety
    def few(view):
        return view.gauge("later") < 11

    system = wl.System(
        {A: Pinger(), B: Pinger()}, gauges=[times, later], properties=[few]
    )
    found = wl.simulate(system, seconds=9, traces=True, out="few.wl")
    assert found.violated is not None
    run = found.violated.run
    assert run is not None
    assert run.steps[-1].step == 9

    @wl.safety
    def as_recorded(view):
        recorded = tuple(step.lamport for step in run.steps)
        if view.gauge("later") == 11:
            assert view.gauge("times") == recorded
        return True

    again = simulated(
        [times, later], [as_recorded], seconds=9, latency="uniform 10ms 50ms"
    )
    assert again.verdict is wl.Verdict.UNKNOWN
    assert again.events > 11


def test_a_lamport_time_is_known_to_the_gauge_itself_alone():
    def hidden(step):
        return getattr(step, "lam" + "port")

    @wl.gauge(initial=0)
    def secret(value, step, view):
        return hidden(step)

    with pytest.raises(wl.ModelError, match=r"gauge secret asks for step.lamport"):
        simulated([secret], [])


@pytest.mark.parametrize(
    ("initial", "answer", "said"),
    [
        (0, [], "gauge bad is a list, which can be changed"),
        (0, ZeroDivisionError, "gauge bad raised ZeroDivisionError"),
        ({}, 0, "the initial value of gauge bad is a dict, which can be changed"),
        ((0, []), 0, "the initial value of gauge bad holds a list, which can be"),
        (math.nan, 0, "the initial value of gauge bad is nan, which is no plain data"),
        (object(), 0, "of gauge bad is an object of type object, which is no plain"),
        (0, (1, ([],)), "gauge bad holds a list, which can be changed.*start at a"),
        (0, frozenset({Loose(1)}), "gauge bad holds a Loose, which can be changed"),
        (0, wl.FrozenMap({1: bytearray()}), "gauge bad .* which is no plain data"),
        (0, (len,), r"gauge bad holds the function len, which is no plain data"),
        (0, math.nan, "gauge bad is nan, which is no plain data"),
        (0, "step", "gauge bad is a TimedStep, which is no plain data"),
        (0, "event", "gauge bad is an Event, which can be changed"),
        (0, "view", "gauge bad holds a View, which is no plain data"),
        (0, "node", "gauge bad is a NodeView, which is no plain data"),
        (0, "class", "gauge bad is the class Ping, which is no plain data"),
        (0, "deep", "gauge bad cannot be kept: .* nested more than 96 deep"),
    ],
)
def test_what_a_gauge_must_not_do_is_said_with_its_name(initial, answer, said):
    def bad(value, step, view):
        if isinstance(answer, type):
            raise answer
        given = {"step": step, "view": (view,), "node": view[A], "class": Ping}
        deep: Any = ()
        for _ in range(200):
            deep = (deep,)
        given |= {"deep": deep, "event": step.event}
        return given[answer] if isinstance(answer, str) else answer

    with pytest.raises(wl.ModelError, match=said):
        simulated([wl.gauge(initial=initial)(bad)], [])


def test_a_gauge_that_is_folded_later_is_not_read():
    @wl.gauge(initial=0)
    def early(value, step, view):
        return view.gauge("sent")

    simulated([sent, early], [])
    with pytest.raises(
        wl.ModelError, match="early reads the gauge 'sent', which is fol"
    ):
        simulated([early, sent], [])


def test_a_forgotten_return_is_told_with_its_step():
    @wl.gauge(initial=0)
    def partial(value, step, view):
        if step.time < 1:
            return value + 1
        return None

    where = (
        r"gauge partial .* returned None, and began with 0, .*, in step 1, .* at 1 s;"
    )
    with pytest.raises(wl.ModelError, match=where):
        simulated([partial], [])

    @wl.gauge(initial=None)
    def never(value, step, view):
        return None

    assert simulated([never], []).verdict is wl.Verdict.UNKNOWN


def test_what_a_gauge_raises_is_told_with_its_step():
    @wl.gauge(initial=0)
    def ends(value, step, view):
        return 1 // (3 - view[B].got)

    said = r"gauge ends raised ZeroDivisionError.* in step 11, .*, at 3.01 s"
    with pytest.raises(wl.ModelError, match=said):
        simulated([sent, ends], [])
    with pytest.raises(wl.ModelError, match=said):
        simulated([sent, ends], [], threads=2, seeds=4)


def test_a_gauge_keeps_messages_and_timers():
    @wl.gauge(initial=())
    def pending(value, step, view):
        return (view.timers(A), tuple(view.messages()), frozenset(step.sends))

    assert simulated([pending], []).verdict is wl.Verdict.UNKNOWN


def test_a_gauge_keeps_all_that_cannot_be_changed():
    values: list[Any] = [
        None,
        True,
        0,
        1.5,
        math.inf,
        "x",
        b"x",
        A,
        wl.Kind.CRASH,
        Ping(),
    ]
    values += [tuple(values), frozenset(values), wl.FrozenMap({A: (1, 2)})]

    @wl.gauge(initial=tuple(values))
    def kept(value, step, view):
        return frozenset(values) if isinstance(value, tuple) else tuple(values)

    @wl.safety
    def as_it_was(view):
        return view.gauge("kept") in (tuple(values), frozenset(values))

    assert simulated([kept], [as_it_was]).verdict is wl.Verdict.UNKNOWN


def test_a_mistake_that_a_gauge_swallows_is_told():
    @wl.gauge(initial=0)
    def careless(value, step, view):
        try:
            return view["x"]
        except wl.ModelError:
            return 0

    with pytest.raises(wl.ModelError, match="gauge careless looks at 'x'"):
        simulated([sent, careless], [])


@pytest.mark.nightly
@pytest.mark.parametrize("is_gauge", [True, False])
def test_what_does_not_return_is_named(is_gauge):
    def endless(*given):
        while True:
            pass

    gauge = wl.gauge(initial=0)(endless)
    prop = wl.liveness(confidence=endless)(lambda view: False)
    name = "gauge endless" if is_gauge else "the confidence of <lambda>"
    with pytest.raises(wl.ModelError, match=f"{name} .* did not return"):
        simulated([sent, gauge] if is_gauge else [], [] if is_gauge else [prop])


def test_a_gauge_changes_no_node():
    @wl.gauge(initial=0)
    def pushy(value, step, view):
        view[A].got = 7

    with pytest.raises(wl.ModelError, match=r"gauge pushy assigns to view\[a\].got"):
        simulated([pushy], [])


def test_declarations_that_say_nothing_are_refused():
    anything: Any = wl
    with pytest.raises(wl.ModelError, match=r"two gauges are named 'sent'"):
        wl.System({A: Pinger()}, gauges=[sent, sent])
    with pytest.raises(wl.ModelError, match=r"System\(gauges=...\) holds"):
        anything.System({A: Pinger()}, gauges=[lambda value, step, view: value])
    with pytest.raises(
        wl.ModelError, match=r"write a function of \(value, step, view\)"
    ):
        anything.gauge(initial=0)(lambda value, step: value)
    with pytest.raises(wl.ModelError, match=r"a function"):
        wl.gauge(initial=lambda value, step, view: value)
    with pytest.raises(wl.ModelError, match=r"has no confidence"):
        anything.liveness()
    with pytest.raises(wl.ModelError, match=r"the confidence of a property"):
        anything.liveness(confidence=0.5)


def test_a_gauge_that_is_not_there_is_named():
    @wl.safety
    def asks(view):
        return view.gauge("nothing") == 0

    with pytest.raises(wl.ModelError, match=r"property asks reads the gauge 'nothing'"):
        simulated([], [asks])


@pytest.mark.parametrize("answer", [1.5, -0.1, True, None, float("nan"), "1"])
def test_a_confidence_is_a_number_from_0_to_1(answer):
    @wl.liveness(confidence=lambda view: answer)
    def never(view):
        return False

    with pytest.raises(wl.ModelError, match=r"the confidence of never is "):
        simulated([], [never])
