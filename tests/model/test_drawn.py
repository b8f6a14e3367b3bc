"""Calls whose arguments are drawn: what they mean, and what is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle import Oracle
from tests.oracle.exploration import explore

import worldline as wl
from worldline.model.data.values import freeze, thaw
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.execute import Result
from worldline.model.symmetry.renaming import renamed
from worldline.runs.record import Ending, record
from worldline.runs.step_record import event_record
from worldline.search.options import Engine
from worldline.show.phrases import event_phrase
from worldline.show.steps import steps
from worldline.worlds.direct import DirectWorld
from worldline.worlds.world import NotEnabled

A, B = wl.ids("a", "b")
ENDING: dict[str, Any] = {
    "ending": Ending(None, None, wl.Verdict.UNKNOWN),
    "engine": "test",
    "seed": None,
}
XY, DIGITS = wl.one_of("x", "y"), wl.integers(0, 2)


@wl.message
class Parcel:
    what: Any


@wl.node
class Store:
    last: tuple[str, int] | None = None
    votes: frozenset[wl.NodeId] = frozenset()

    @wl.call
    def put(self, ctx: wl.Context, key: str, value: int = 7) -> None:
        self.last = (key, value)

    @wl.call(when=lambda self, number: number < 0)
    def never(self, ctx: wl.Context, number: int) -> None: ...

    @wl.call(when=lambda self, number: number % 2 == 1)
    def odd(self, ctx: wl.Context, number: int) -> None:
        self.last = ("odd", number)

    @wl.call
    def where(self, ctx: wl.Context, nodes: str, when: int) -> None:
        self.last = (nodes, when)

    @wl.call(when=lambda self, peer: not self.votes)
    def vote(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.votes |= {peer}

    @wl.call
    def post(self, ctx: wl.Context, what: Any) -> None:
        ctx.send(ctx.me, Parcel(wl.one_of(what)))

    @wl.call
    def named(self, ctx: wl.Context, *, key: str = "") -> None: ...

    @wl.on(Parcel)
    def got(self, ctx: wl.Context, src: wl.NodeId, msg: Parcel) -> None: ...


def store(*workload: Any, **options: Any) -> wl.System:
    return wl.System({A: Store()}, workload=workload, **options)


def counts(system: wl.System) -> tuple[int, int, int]:
    """States, steps and depth, on which the engines and the oracle agree."""
    found = explore(Oracle(system))
    expected = (found.distinct, found.generated, found.depth)
    engines: tuple[Engine, ...] = ("python", "auto")
    for engine in engines:
        report = wl.check(system, traces=False, engine=engine, keep_going=True)
        assert (report.states, report.generated, report.depth) == expected
    return expected


# --------------------------------------------------------------------- what happens


def test_every_combination_is_one_outcome_of_one_event():
    # From nothing stored, and from each of the six, to each of the six.
    call = wl.whenever(Store.put, key=XY, value=DIGITS)
    assert counts(store(call)) == (7, 1 + 7 * 6, 2)
    assert len(DirectWorld(store(call, boot="events")).enabled()) == 1


def test_a_script_draws_once_for_each_of_its_calls():
    script = wl.script(
        A, [wl.invoke(Store.put, XY, DIGITS), wl.invoke(Store.put, "x", 5)]
    )
    # The six, each at the second call, and then all at the end.
    assert counts(store(script)) == (1 + 6 + 1, 1 + 6 + 6, 3)


def test_a_combination_that_a_guard_forbids_does_nothing():
    # 1 and 3 of 0..3; from each of the three states the two others do nothing.
    assert counts(store(wl.whenever(Store.odd, number=wl.integers(0, 3)))) == (
        3,
        1 + 3 * 4,
        2,
    )
    call = wl.whenever(
        Store.put,
        key=XY,
        value=DIGITS,
        when=lambda self, key, value: key == "x" and value > 0,
    )
    assert counts(store(call)) == (3, 1 + 3 * 6, 2)


def test_a_call_waits_while_its_guard_is_false_of_all_combinations():
    system = store(wl.whenever(Store.never, number=DIGITS))
    assert counts(system) == (1, 1, 1)
    world = DirectWorld(system)
    world.step(Event(Kind.START, A))
    with pytest.raises(NotEnabled):
        world.step(Event(Kind.CALL, A, name="never", payload=(DIGITS,)))


def test_draws_are_the_first_choices_of_an_event_in_order_of_arguments():
    world = DirectWorld(store(wl.whenever(Store.put, key=XY, value=DIGITS)))
    world.step(Event(Kind.START, A))
    event = Event(Kind.CALL, A, name="put", payload=(XY, DIGITS))
    outcome = world.step(event, (1, 2))
    assert (outcome.choices, outcome.widths) == ((1, 2), (2, 3))
    assert world.nodes[0].last == ("y", 2)
    world.step(event)
    assert world.nodes[0].last == ("x", 0)


def test_a_forbidden_draw_is_an_event_that_no_handler_took():
    world = DirectWorld(store(wl.whenever(Store.odd, number=DIGITS)))
    world.step(Event(Kind.START, A))
    outcome = world.step(Event(Kind.CALL, A, name="odd", payload=(DIGITS,)), (2,))
    assert (outcome.result, outcome.choices) == (Result.UNHANDLED, (2,))
    assert world.nodes[0].last is None


def test_a_guard_that_raises_fails_where_its_combination_is_drawn():
    def fails_for_two(self: Any, key: str, value: int) -> bool:
        assert value != 2
        return value == 1

    call = wl.whenever(Store.put, key="x", value=DIGITS, when=fails_for_two)
    # From both states: one stays as it is, one stores, one fails.
    assert counts(store(call)) == (2, 1 + 2 * 3, 2)
    assert "AssertionError" in str(wl.check(store(call)))


def test_a_guard_may_hold_for_the_last_of_many_combinations_alone():
    call = wl.whenever(
        Store.put,
        key="x",
        value=wl.integers(0, 99),
        when=lambda self, key, value: self.last is None and value == 99,
    )
    assert counts(store(call)) == (2, 1 + 100, 2)


def test_an_observer_sees_the_arguments_that_were_drawn():
    seen = wl.Observer(
        "seen",
        (),
        lambda step: step.event.payload if step.event.kind is wl.Kind.CALL else None,
        lambda value, payload: payload,
    )
    script = wl.script(A, [wl.invoke(Store.put, XY, 1)])
    found = set[Any]()
    for choice in (0, 1):
        world = DirectWorld(store(script, observers=[seen]))
        world.step(Event(Kind.START, A))
        world.step(Event(Kind.CALL, A, name="put", payload=(XY, 1)), (choice,))
        found.add(world.view.history("seen"))
    assert found == {("x", 1), ("y", 1)}


def test_guards_of_drawn_calls_may_not_use_the_context():
    contexts: list[wl.Context] = []

    @wl.node
    class Leaky:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            contexts.append(ctx)

        @wl.call
        def go(self, ctx: wl.Context, number: int) -> None: ...

    def asks(self: Any, number: int) -> bool:
        return contexts[-1].choose([True])

    call = wl.whenever(Leaky.go, number=DIGITS, when=asks)
    with pytest.raises(wl.ModelError, match="a guard or a property uses the context"):
        wl.check(wl.System({A: Leaky()}, workload=[call]))


def test_symmetric_nodes_may_draw_each_other():
    a, b = wl.ids("a", "b")
    system = wl.System(
        {a: Store(), b: Store()},
        workload=[wl.whenever(Store.vote, peer=wl.one_of(b, a))],
        symmetry=[wl.symmetric([a, b])],
    )
    # Nine states; both names exchanged, three of them stay: nobody has voted, each for
    # itself, each for the other.
    report = wl.check(system)
    assert report.states == (9 + 3) // 2
    assert wl.check(system, symmetry=False).states == 9


# ----------------------------------------------------------------- what is recorded


def test_a_draw_is_plain_data():
    assert thaw(freeze(XY)) == XY
    assert repr(thaw(freeze(DIGITS))) == "0..2"
    both = wl.one_of(B, A)
    assert both.options == (A, B)
    assert thaw(renamed(freeze(both), {A: B, B: A})) == both
    assert wl.one_of("y", "x").options == ("y", "x")


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        (wl.one_of("x", "y"), "one_of('x', 'y')"),
        (wl.integers(-3, 9), "-3..9"),
        (wl.integers(4, 4), "one_of(4)"),
        (wl.one_of(3, 2, 1), "one_of(3, 2, 1)"),
        (wl.one_of(False, True), "one_of(False, True)"),
        (wl.one_of(*"abcdefgh"), "one_of('a', 'b', 'c', 'd', 'e', 'f', 2 more)"),
    ],
)
def test_a_draw_is_written_in_short(drawn: wl.OneOf, text: str):
    assert repr(drawn) == text
    event = Event(Kind.CALL, A, name="put", payload=(drawn, 3))
    assert repr(event) == f"call at a put with {text}, 3"
    system = store(wl.script(A, [wl.invoke(Store.put, "x", 3)]))
    trace = record(DirectWorld(system), [], [], [], **ENDING)
    assert event_phrase(event_record(event), trace.header) == f"call put({text}, 3)"


def test_a_step_is_told_with_what_was_drawn():
    call = wl.invoke(Store.put, wl.one_of("x", "y"), wl.integers(4, 6))
    system = store(wl.script(A, [call, wl.invoke(Store.odd, wl.integers(0, 1))]))
    run = [
        (Event(Kind.CALL, A, name="put", payload=call.arguments), (1, 2)),
        (Event(Kind.CALL, A, name="odd", payload=(wl.integers(0, 1),)), (0,)),
    ]
    start = [(Event(Kind.START, A), ())]
    trace = record(DirectWorld(system), start, [], run, **ENDING)
    lines = list(steps(trace))
    assert any(line.endswith("call put('y', 6)") for line in lines)
    assert any(line.endswith("call odd(0)  no handler took it") for line in lines)
    assert not any("chose" in line for line in lines)
    # Of what was edited, nothing is told that does not fit.
    step = dataclasses.replace(trace.steps[-2], choices=(5, 2))
    assert event_phrase(step, trace.header) == "call put(one_of('x', 'y'), 4..6)"


# ----------------------------------------------------------------- how it is written


def test_arguments_are_bound_by_name():
    assert wl.invoke(Store.put, value=1, key="x").arguments == ("x", 1)
    assert wl.invoke(Store.put, key="x").arguments == ("x",)
    assert wl.invoke(Store.put, "x", value=XY_NUMBERS).arguments == ("x", XY_NUMBERS)
    assert wl.invoke(Store.where, nodes="x", when=3).arguments == ("x", 3)


XY_NUMBERS = wl.one_of(1, 5)


LIST: Any = [1]
HALF: Any = 1.5
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (wl.one_of, "wl.OneOf has the options ()"),
    (lambda: wl.OneOf(LIST), "wl.OneOf has the options [1]"),
    (lambda: wl.integers(3, 1), "wl.integers(3, 1) has no numbers in it"),
    (lambda: wl.integers(0, HALF), "wl.integers(0, 1.5) is given what is no int"),
    (
        lambda: wl.integers(False, 2),
        "wl.integers(False, 2) is given what is no int",
    ),
    (lambda: wl.integers(1, 10_001 * 10**9), "combinations of arguments"),
    (lambda: wl.one_of(*range(10_001)), "10,001 combinations of arguments"),
    (lambda: wl.one_of([1], [2]), "the option [1], which can be changed"),
    (lambda: wl.one_of({"x": 1}), "which can be changed"),
    (lambda: wl.one_of(object()), "an option that is no plain data"),
    (lambda: wl.one_of(1, XY), "which is to be drawn itself"),
    (lambda: wl.one_of((1, XY)), "which is to be drawn itself"),
    (lambda: wl.invoke(Store.put, ("x", XY)), "inside of the argument"),
    (lambda: wl.invoke(Store.post, [XY]), "inside of the argument"),
    (
        lambda: wl.invoke(Store.put, XY, wl.integers(1, 501)),
        "1,002 combinations",
    ),
    (lambda: wl.invoke(Store.put, XY, wl.one_of(1, "2")), "gives '2' to Store.put"),
    (
        lambda: wl.invoke(Store.put, DIGITS),
        "gives 0 to Store.put, whose key is str",
    ),
    (lambda: wl.invoke(Store.put, kay="x"), "'kay' is no parameter that can be given"),
    (
        lambda: wl.invoke(Store.put, "x", key="y"),
        "multiple values for argument 'key'",
    ),
    (
        lambda: wl.invoke(Store.named, key="y"),
        "'key' is no parameter that can be given",
    ),
    (
        lambda: wl.whenever(Store.put, key="x", vlaue=2),
        "'vlaue' is no parameter that can",
    ),
    (
        lambda: wl.whenever(wl.invoke(Store.put, "x"), value=2),
        "value beside wl.invoke(...)",
    ),
]


@pytest.mark.parametrize(("make", "what"), MISTAKES, ids=map(str, range(len(MISTAKES))))
def test_mistakes_are_told(make: Callable[[], Any], what: str):
    with pytest.raises(wl.ModelError) as caught:
        make()
    assert what in caught.value.what
    assert caught.value.remedy


def test_a_draw_cannot_be_sent():
    with pytest.raises(wl.ModelError, match="holds one_of"):
        wl.check(store(wl.script(A, [wl.invoke(Store.post, "x")])))
