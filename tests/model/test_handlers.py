"""Handlers: signatures, guards, and what happens to what nobody takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.worlds.driving import Driven

import worldline as wl
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.semantics.execute import Result

A, B = wl.ids("a", "b")


@wl.message
class Hello:
    number: int = 0


@wl.message
class Unknown:
    pass


@wl.node
class Picky:
    """Takes even numbers only."""

    took: list[int] = wl.field(default_factory=list)
    open_: bool = False

    @wl.call
    def greet(self, ctx: wl.Context, number: int) -> None:
        ctx.send(B, Hello(number))

    @wl.call
    def confuse(self, ctx: wl.Context) -> None:
        ctx.send(B, Unknown())

    @wl.call(when=lambda self: self.open_)
    def enter(self, ctx: wl.Context) -> None:
        self.took.append(-1)

    @wl.call
    def unlock(self, ctx: wl.Context) -> None:
        self.open_ = True

    @wl.on(Hello, when=lambda self, src, msg: msg.number % 2 == 0)
    def hello(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.took.append(msg.number)


def picky(*workload: Any, **options: Any) -> Driven:
    return Driven(wl.System({A: Picky(), B: Picky()}, workload=workload, **options))


def greeting(number: int, **options: Any) -> Driven:
    driven = picky(wl.script(A, [wl.invoke(Picky.greet, number)]), **options)
    driven.do(wl.events.call(A, Picky.greet))
    return driven


def test_a_message_whose_guard_holds_is_handled():
    driven = greeting(2)
    assert driven.do(wl.events.deliver(B, Hello)).result is Result.HANDLED
    assert driven[B].took == [2]


def test_a_message_that_no_guard_takes_is_consumed():
    driven = greeting(1)
    outcome = driven.do(wl.events.deliver(B, Hello))
    assert outcome.result is Result.UNHANDLED
    assert (driven[B].took, driven.messages(B)) == ([], [])


def test_with_unhandled_wait_the_message_stays_and_is_not_enabled():
    driven = greeting(1, unhandled="wait")
    assert driven.offers() == []
    assert driven.messages(B) == [Hello(1)]


def test_with_unhandled_error_it_is_a_failure_that_names_node_class_and_message():
    driven = greeting(1, unhandled="error")
    failure = driven.do(wl.events.deliver(B, Hello)).failure
    assert failure is not None
    assert (failure.kind, failure.name, failure.where) == (
        "unhandled",
        "Hello",
        "Picky",
    )
    assert driven.offers() == []


@pytest.mark.parametrize("unhandled", ["drop", "wait", "error"])
def test_a_message_class_that_is_never_handled_is_a_model_error(unhandled: Any):
    driven = picky(wl.script(A, [Picky.confuse]), unhandled=unhandled)
    driven.do(wl.events.call(A, Picky.confuse))
    with pytest.raises(wl.ModelError) as caught:
        driven.do(wl.events.deliver(B, Unknown))
    assert caught.value.what == "Picky received Unknown but never handles it"
    assert "@wl.ignores(Unknown) above @wl.node" in caught.value.remedy


def test_a_message_class_may_be_declared_as_ignored():
    @wl.ignores(Unknown)
    @wl.node
    class Tolerant:
        @wl.call
        def confuse(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Unknown())

    driven = Driven(
        wl.System({A: Tolerant()}, workload=[wl.script(A, [Tolerant.confuse])])
    )
    driven.do(wl.events.call(A, Tolerant.confuse))
    outcome = driven.do(wl.events.deliver(A, Unknown))
    assert outcome.result is Result.UNHANDLED
    assert driven.messages(A) == []


def test_a_call_waits_for_its_guard_and_holds_up_its_script():
    driven = picky(wl.script(A, [Picky.enter, Picky.unlock]))
    assert driven.offers() == []
    driven[A].open_ = True
    assert driven.offers() == ["call at a enter"]
    driven.do(wl.events.call(A, Picky.enter))
    assert driven.offers() == ["call at a unlock"]


def test_scripts_of_one_node_advance_independently():
    driven = picky(
        wl.script(A, [Picky.unlock]), wl.script(A, [Picky.enter, Picky.enter])
    )
    assert driven.offers() == ["call at a unlock"]
    driven.do(wl.events.call(A, Picky.unlock))
    driven.do(wl.events.call(A, Picky.enter))
    assert driven.offers() == ["call at a enter"]
    driven.do(wl.events.call(A, Picky.enter))
    assert driven.world.view.is_finished(A)
    assert driven.offers() == []


def test_whenever_is_enabled_as_long_as_both_guards_hold():
    driven = picky(
        wl.whenever(Picky.enter, nodes=[A], when=lambda self: len(self.took) < 2),
        wl.whenever(Picky.unlock, nodes=[A], when=lambda self: not self.open_),
    )
    assert driven.offers() == ["call at a unlock"]
    driven.do(wl.events.call(A, Picky.unlock))
    for _ in range(2):
        assert driven.offers() == ["call at a enter"]
        driven.do(wl.events.call(A, Picky.enter))
    assert driven.offers() == []


def test_whenever_without_nodes_means_every_node_that_has_the_call():
    driven = picky(wl.whenever(Picky.unlock))
    assert driven.offers() == ["call at a unlock", "call at b unlock"]


def test_whenever_keeps_its_guard_on_a_node_that_has_a_script_too():
    driven = picky(
        wl.script(A, [Picky.unlock]),
        wl.whenever(Picky.enter, nodes=[A], when=lambda self: False),
    )
    driven.do(wl.events.call(A, Picky.unlock))
    assert driven.offers() == []


@pytest.mark.parametrize(
    ("on_reset", "offered"),
    [("restart", ["call at a greet with 1"]), ("continue", ["call at a greet with 2"])],
)
def test_a_reset_restarts_a_script_or_lets_it_continue(on_reset: Any, offered: Any):
    calls = [wl.invoke(Picky.greet, 1), wl.invoke(Picky.greet, 2)]
    driven = picky(
        wl.script(A, calls, on_reset=on_reset), faults=wl.Faults(resets=1, nodes=(A,))
    )
    driven.do(wl.events.call(A, Picky.greet))
    driven.do(wl.events.reset(A))
    assert [e for e in driven.offers() if e.startswith("call")] == offered


def test_a_handler_that_raises_ends_the_run_and_its_sends_are_discarded():
    @wl.node
    class Broken:
        @wl.call
        def fail(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Hello())
            raise KeyError("gone")

    driven = Driven(wl.System({A: Broken()}, workload=[wl.whenever(Broken.fail)]))
    outcome = driven.do(wl.events.call(A, Broken.fail))
    assert outcome.result is Result.FAILED
    assert outcome.sends == ()
    assert outcome.failure is not None
    assert (outcome.failure.kind, outcome.failure.name) == ("exception", "KeyError")
    assert outcome.failure.where.startswith("test_handlers.py:")
    assert outcome.failure.where.endswith("in fail")
    assert driven.offers() == []


def test_a_guard_that_raises_is_a_failure_of_the_event_too():
    @wl.node
    class Broken:
        @wl.call
        def go(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Hello())

        @wl.on(Hello, when=lambda self, src, msg: 1 // msg.number > 0)
        def hello(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None: ...

    driven = Driven(wl.System({A: Broken()}, workload=[wl.script(A, [Broken.go])]))
    driven.do(wl.events.call(A, Broken.go))
    failure = driven.do(wl.events.deliver(A, Hello)).failure
    assert failure is not None
    assert failure.name == "ZeroDivisionError"


# ------------------------------------------------------------- declaration mistakes


def no_context(self: Any) -> None: ...
def two(self: Any, ctx: wl.Context) -> None: ...
def three(self: Any, ctx: wl.Context, x: Any) -> None: ...
def four(self: Any, ctx: wl.Context, x: Any, y: Any) -> None: ...
def five(self: Any, ctx: wl.Context, x: Any, y: Any, z: Any) -> None: ...


WRONG: list[tuple[Callable[..., Any], Callable[..., Any], str]] = [
    (wl.start, three, "def three(self, ctx)"),
    (wl.start, no_context, "def no_context(self, ctx)"),
    (wl.on(Hello), three, "def three(self, ctx, src, msg)"),
    (wl.on(Hello), five, "def five(self, ctx, src, msg)"),
    (wl.timer, four, "def four(self, ctx) or (self, ctx, payload)"),
    (wl.timer(when=lambda self: True), no_context, "def no_context(self, ctx) or"),
    (wl.call, no_context, "def no_context(self, ctx, ...)"),
    (wl.transport_error, two, "def two(self, ctx, peer)"),
    (wl.upcall, no_context, "def no_context(self, ctx, ...)"),
]


@pytest.mark.parametrize(("decorator", "function", "remedy"), WRONG)
def test_a_wrong_signature_is_refused_and_the_right_one_shown(
    decorator: Any, function: Any, remedy: str
):
    with pytest.raises(wl.ModelError, match=r"cannot be a .* handler") as caught:
        decorator(function)
    assert function.__name__ in caught.value.what
    assert caught.value.remedy.startswith(f"write {remedy}")


def test_a_method_is_one_handler_and_not_two():
    @wl.message
    class Ping:
        pass

    @wl.on(Ping)
    def hear(self: Any, ctx: Any, src: Any, msg: Any) -> None: ...

    with pytest.raises(wl.ModelError, match=r"hear is two handlers: @wl.on and @wl.on"):
        wl.on(Ping)(hear)


def test_a_handler_of_something_that_is_no_message_is_refused():
    with pytest.raises(wl.ModelError) as caught:
        wl.on(int)
    assert caught.value.what == "@wl.on(int) needs a message class"
    assert caught.value.remedy == "decorate that class with @wl.message"


def test_a_call_of_something_that_is_no_call_is_refused():
    with pytest.raises(wl.ModelError) as caught:
        wl.invoke(Picky.hello, 1)
    assert caught.value.what == "Picky.hello is not an application call"
    assert caught.value.remedy == "decorate it with @wl.call"


def running(body: Callable[[Any, wl.Context], Any]) -> wl.ModelError:
    """The error of a handler that misuses its context."""

    @wl.node
    class User:
        @wl.call
        def use(self, ctx: wl.Context) -> None:
            body(self, ctx)

        @wl.timer
        def tick(self, ctx: wl.Context) -> None: ...

    driven = Driven(wl.System({A: User()}, workload=[wl.whenever(User.use)]))
    with pytest.raises(wl.ModelError) as caught:
        driven.do(wl.events.call(A, User.use))
    return caught.value


@pytest.mark.parametrize(
    ("body", "what", "remedy"),
    [
        (
            lambda self, ctx: ctx.send(B, Hello()),
            "User at a sends to b, which is no node",
            "send to one of a",
        ),
        (
            lambda self, ctx: ctx.send(ctx.me, "hello"),
            "User at a sends 'hello', which is not a message",
            "decorate its class with @wl.message",
        ),
        (
            lambda self, ctx: ctx.choose([]),
            "User at a chooses from nothing",
            "at least one option",
        ),
        (
            lambda self, ctx: ctx.choose({"a", "b"}),
            "which has no order",
            "sorted",
        ),
        (
            lambda self, ctx: ctx.choose(n for n in [1, 2]),
            "which has no order",
            "a list or a tuple",
        ),
        (
            lambda self, ctx: ctx.random(0),
            "User at a draws one of 0 numbers",
            "at least 1",
        ),
        (
            lambda self, ctx: ctx.random(2.0),
            "User at a draws one of 2.0 numbers",
            "whole number",
        ),
        (
            lambda self, ctx: ctx.choose([1, 2], weights=[1.0]),
            "2 options but 1 weights",
            "one weight for each option",
        ),
        (
            lambda self, ctx: ctx.set_timer(Picky.hello),
            "User at a uses the unknown timer 'hello'",
            "its timers are: tick",
        ),
        (
            lambda self, ctx: ctx.set_timer("tick"),
            "User at a uses the text 'tick' as a timer",
            "pass the handler itself: User.tick",
        ),
        (
            lambda self, ctx: ctx.part("link"),
            "User at a has no part 'link'",
            "its parts are: none",
        ),
        (
            lambda self, ctx: ctx.up("deliver", A, Hello()),
            "User at a calls ctx.up('deliver') but nothing is above",
            "only a part declared with wl.part()",
        ),
        (
            lambda self, ctx: [ctx.random(2) for _ in range(10_001)],
            "made 10000 choices in one event",
            "bound the loop",
        ),
    ],
)
def test_a_misused_context_is_a_model_error(body: Any, what: str, remedy: str):
    error = running(body)
    assert what in error.what
    assert remedy in error.remedy


# ---------------------------------------------------------------- reactions to predictions


def reacting() -> Any:
    @wl.node
    class Reacting:
        told: list[wl.Foreseen] = wl.field(default_factory=list)
        may: bool = False

        @wl.call
        def let(self, ctx: wl.Context) -> None:
            self.may = True

        @wl.on_prediction(when=lambda self, prediction: self.may)
        def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
            self.told.append(prediction)

    return Reacting


def reaction(*arguments: Any) -> Event:
    return Event(Kind.CALL, A, name="foreseen", payload=arguments)


SOON = wl.Foreseen(property="quiet", steps=3, action="reported")


def test_a_reaction_happens_under_its_guard_and_is_never_offered():
    kind = reacting()
    workload = [wl.script(A, [wl.invoke(kind.let)])]
    driven = Driven(wl.System({A: kind()}, workload=workload))
    world = driven.world
    assert not world.is_enabled(reaction(SOON)), "its guard is false"
    driven.do(wl.events.call(A, kind.let))
    assert world.is_enabled(reaction(SOON))
    assert world.enabled() == []
    world.step(reaction(SOON))
    assert driven[A].told == [SOON]


@pytest.mark.parametrize("arguments", [(), ("soon",), (SOON, SOON), (["soon"],)])
def test_a_reaction_to_anything_but_a_prediction_cannot_happen(arguments: Any):
    driven = Driven(wl.System({A: reacting()(may=True)}))
    assert not driven.world.is_enabled(reaction(*arguments))


def test_a_reaction_is_no_call_of_a_workload():
    kind = reacting()
    with pytest.raises(wl.ModelError, match="foreseen is not an application call"):
        wl.invoke(kind.foreseen, SOON)


def test_a_class_has_one_reaction():
    with pytest.raises(wl.ModelError, match="two on_prediction handlers: one and two"):

        @wl.node
        class Two:
            @wl.on_prediction
            def one(self, ctx: wl.Context, prediction: wl.Foreseen) -> None: ...

            @wl.on_prediction
            def two(self, ctx: wl.Context, prediction: wl.Foreseen) -> None: ...


def test_a_part_has_none():
    kind = reacting()
    with pytest.raises(wl.ModelError, match=r"the part Above\.below has .* never run"):

        @wl.node
        class Above:
            below: Any = wl.part(kind)


def test_a_reaction_takes_a_prediction_and_so_does_its_guard():
    with pytest.raises(wl.ModelError, match=r"cannot be a @wl\.on_prediction handler"):
        wl.on_prediction(lambda self, ctx: None)  # type: ignore[type-var]
    with pytest.raises(wl.ModelError, match="guard"):
        wl.on_prediction(when=lambda self: True)(  # type: ignore[arg-type, misc]
            lambda self, ctx, prediction: None
        )
