"""What users give as functions: predicates that answer, handlers that run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Ping:
    number: int = 0


@wl.node
class Echo:
    heard: int = 0

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        if ctx.me == A:
            ctx.send(B, Ping(0))
            ctx.send(B, Ping(1))

    @wl.on(Ping)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        self.heard += 1


def made(*properties: wl.Property, **options: Any) -> wl.System:
    return wl.System({A: Echo(), B: Echo()}, properties=properties, **options)


def forgets_to_return(view: wl.View) -> Any:
    view[B].heard == 0  # noqa: B015


class Truthy:
    """Like numpy's bools: neither True nor False, but equal to one of them."""

    def __eq__(self, other: object) -> bool:
        return other is True

    __hash__ = None  # type: ignore[assignment]


def unprintable(view: wl.View) -> Any:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError

    return Odd()


NO_ANSWERS: list[tuple[Callable[[wl.View], Any], str, str]] = [
    (forgets_to_return, "returned None (test_user_functions.py:4", "forgotten return"),
    (lambda view: 1, "returned 1, of type int", "write bool(...)"),
    (lambda view: [], "returned [], of type list", "write bool(...)"),
    (lambda view: Truthy(), "returned an object of type Truthy", "write bool(...)"),
    (lambda view: view.messages, "of type method", "call it"),
    (lambda view: (n for n in view), "of type generator", "all(...) or any(...)"),
    (unprintable, "returned an object of type Odd", "write bool(...)"),
]
KINDS = (wl.safety, wl.liveness, wl.sometimes)


@pytest.mark.parametrize(("function", "what", "remedy"), NO_ANSWERS)
@pytest.mark.parametrize("declare", KINDS)
def test_a_property_that_gives_no_bool_is_a_model_error(
    declare: Any, function: Any, what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        wl.check(made(declare(function)))
    assert caught.value.what.startswith(f"property {function.__name__} returned")
    assert what in caught.value.what
    assert remedy in caught.value.remedy


ASKING: list[Callable[[wl.System], Any]] = [
    functools.partial(wl.check, engine="python"),
    functools.partial(wl.check, engine="native"),
    functools.partial(wl.walk, engine="python"),
    functools.partial(wl.walk, engine="native"),
    functools.partial(wl.find_faults, eot=3, eff=1, crashes=0),
]


@pytest.mark.parametrize("ask", ASKING, ids=map(str, range(len(ASKING))))
@pytest.mark.parametrize("declare", [wl.safety, wl.liveness])
def test_a_forgotten_return_is_a_model_error_however_a_system_is_run(
    ask: Any, declare: Any
):
    live = wl.liveness(lambda view: view[B].heard > 0)
    with pytest.raises(wl.ModelError, match="returned None"):
        ask(made(declare(forgets_to_return), live))


def test_only_a_function_with_an_assert_may_return_nothing():
    def asserting(view: wl.View) -> None:
        assert view[B].heard < 3

    def in_a_loop(view: wl.View) -> None:
        def each(node: wl.NodeId) -> None:
            assert view[node].heard < 3

        for node in view:
            each(node)

    def raising(view: wl.View) -> None:
        if view[B].heard > 2:
            raise AssertionError("twice")

    @functools.wraps(asserting)
    def wrapped(view: wl.View) -> None:
        asserting(view)

    class Called:
        def __call__(self, view: wl.View) -> None:
            assert view[B].heard < 3

        def method(self, view: wl.View) -> None:
            assert view[B].heard < 3

    def bounded(most: int, view: wl.View) -> None:
        assert view[B].heard < most

    known: list[Callable[[wl.View], Any]] = [
        *(asserting, in_a_loop, raising, wrapped, Called(), Called().method),
        functools.partial(bounded, 3),
    ]
    declared = [
        wl.Property(f"p{number}", wl.safety(one).kind, one)
        for number, one in enumerate(known)
    ]
    assert wl.check(made(*declared)).verdict is wl.Verdict.HOLDS


def test_a_partial_a_callable_object_and_a_lambda_are_properties():
    class Quiet:
        def __call__(self, view: wl.View) -> Any:
            return view[B].heard < 3

    below = functools.partial(lambda most, view: view[B].heard < most, 3)
    declared = [wl.safety(lambda view: True), wl.sometimes(Quiet()), wl.liveness(below)]
    named = [wl.Property(f"p{n}", p.kind, p.predicate) for n, p in enumerate(declared)]
    assert wl.check(made(*named)).verdict is wl.Verdict.HOLDS


def nothing(*arguments: Any) -> Any:
    """Forgets to return, whatever it is asked."""


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("name", ["prune", "assume", "until"])
def test_what_a_search_is_told_must_be_a_bool(name: str, engine: Any):
    option = [nothing] if name == "until" else nothing
    options: dict[str, Any] = {name: option, "engine": engine}
    with pytest.raises(wl.ModelError, match=r"returned None .*bool in every case"):
        wl.check(made(), **options)


def test_an_assumption_may_assert():
    def unheard(view: wl.View) -> Any:
        assert view[B].heard == 0

    never = wl.safety(lambda view: view[B].heard < 3)
    assert wl.check(made(never)).states == 4
    assert wl.check(made(never), assume=unheard).states == 3


def test_what_says_that_a_system_is_done_must_be_a_bool():
    with pytest.raises(wl.ModelError, match="returned None"):
        wl.check(made(done=nothing), deadlock=True)


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda view: view.for_each_node(lambda inner, node: None),
        lambda view: view.for_each_pair(lambda inner, one, other: inner[one].heard),
        lambda view: not view.any_message(lambda message: message.number),
    ],
    ids=["node", "pair", "message"],
)
def test_what_is_asked_of_each_element_must_be_a_bool(ask: Any, engine: Any):
    with pytest.raises(
        wl.ModelError, match=r"asked (for each|of a message).* returned"
    ):
        wl.check(made(wl.safety(ask)), engine=engine)


def of_number(self: Any, src: wl.NodeId, msg: Ping) -> Any:
    return msg.number


GUARDS: list[tuple[Any, Any]] = [
    (wl.on(Ping, when=lambda *arguments: nothing()), "returned None"),
    (wl.on(Ping, when=of_number), "returned 0, of type int"),
]


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("unhandled", ["drop", "wait"])
@pytest.mark.parametrize(("guarded", "what"), GUARDS)
def test_a_guard_that_gives_no_bool_is_a_model_error(
    guarded: Any, what: str, unhandled: Any, engine: Any
):
    @wl.node
    class Guarded:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.send(ctx.me, Ping())

        @guarded
        def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None: ...

    system = wl.System({A: Guarded()}, unhandled=unhandled)
    with pytest.raises(wl.ModelError, match=what) as caught:
        wl.check(system, engine=engine)
    assert caught.value.what.startswith("the guard of ping")


@pytest.mark.parametrize("engine", ["python", "native"])
def test_guards_of_calls_and_timers_must_give_bools_too(engine: Any):
    @wl.node
    class Guarded:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.set_timer(Guarded.tick)

        @wl.timer(when=lambda self: None)  # type: ignore[arg-type, return-value]
        def tick(self, ctx: wl.Context) -> None: ...

        @wl.call(when=nothing)
        def work(self, ctx: wl.Context) -> None: ...

        @wl.call
        def rest(self, ctx: wl.Context) -> None: ...

    for workload in (
        [],
        [wl.whenever(Guarded.work)],
        [wl.whenever(Guarded.rest, when=nothing)],
    ):
        with pytest.raises(wl.ModelError, match="returned None"):
            wl.check(wl.System({A: Guarded()}, workload=workload), engine=engine)


# Functions that do not run when they are called.


async def coroutine(*arguments: Any) -> Any: ...


def generator(*arguments: Any) -> Any:
    yield


async def stream(*arguments: Any) -> Any:
    yield


class CalledLater:
    async def __call__(self, *arguments: Any) -> Any: ...


SUSPENDING = [
    (coroutine, "is a coroutine", "write def, not async def"),
    (generator, "is a generator", "take out the yield"),
    (stream, "is an async generator", "neither await nor yield"),
    (functools.partial(coroutine, 1), "is a coroutine", "write def"),
    (CalledLater(), "is a coroutine", "write def"),
]
DECLARING: list[Callable[[Any], Any]] = [
    wl.safety,
    wl.liveness,
    wl.sometimes,
    wl.start,
    wl.on(Ping),
    wl.timer,
    wl.call,
    wl.transport_error,
    wl.upcall,
    lambda function: wl.on(Ping, when=function)(Echo.ping),
    lambda function: wl.timer(when=function)(lambda self, ctx: None),
    lambda function: wl.call(when=function)(lambda self, ctx: None),
    lambda function: wl.whenever(wl.call(lambda self, ctx: None), when=function),
    lambda function: wl.Observer("o", 0, function, lambda value, item: value),
    lambda function: wl.Observer("o", 0, lambda step: None, function),
    lambda function: wl.Observer("o", 0, lambda step: None, max, decide=function),
    lambda function: wl.Observer("o", 0, lambda step: None, max, arrange=function),
    lambda function: made(done=function),
    lambda function: wl.check(made(), prune=function),
    lambda function: wl.check(made(), assume=function),
    lambda function: wl.check(made(), until=[function]),
    lambda f: wl.check(made(wl.safety(lambda view: view.for_each_node(f)))),
    lambda f: wl.check(made(wl.safety(lambda view: view.for_each_pair(f)))),
    lambda f: wl.check(made(wl.safety(lambda view: view.any_message(f)))),
]


@pytest.mark.parametrize("declare", DECLARING, ids=map(str, range(len(DECLARING))))
@pytest.mark.parametrize(
    ("function", "what", "remedy"), SUSPENDING, ids=map(str, range(len(SUSPENDING)))
)
def test_a_function_that_would_only_be_suspended_is_refused(
    declare: Any, function: Any, what: str, remedy: str
):
    with pytest.raises(wl.ModelError) as caught:
        declare(function)
    assert what in caught.value.what
    assert "runs none of its body" in caught.value.what
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize("wakes", ["start", "call"])
def test_a_handler_that_returns_what_has_yet_to_run_is_a_model_error(
    wakes: str, engine: Any
):
    @wl.node
    class Lazy:
        done: int = 0

        def work(self) -> Any:
            self.done += 1
            yield

        @wl.start
        def begin(self, ctx: wl.Context) -> Any:
            return self.work() if wakes == "start" else None

        @wl.call
        def act(self, ctx: wl.Context) -> Any:
            return self.work()

    system = wl.System({A: Lazy()}, workload=[wl.script(A, [Lazy.act])])
    with pytest.raises(wl.ModelError, match=r"returned a generator, .*Lazy\.work"):
        wl.check(system, engine=engine)


@pytest.mark.parametrize("kind", [staticmethod, classmethod])
def test_a_handler_that_is_no_method_is_refused(kind: Any):
    with pytest.raises(wl.ModelError, match=f"is a {kind.__name__}"):
        wl.start(kind(lambda self, ctx: None))


def test_a_handler_that_is_overridden_without_its_decorator_is_refused():
    with pytest.raises(wl.ModelError, match=r"Quieter\.begin hides the start handler"):

        @wl.node
        class Quieter(Echo):
            def begin(self, ctx: wl.Context) -> None: ...


short_guard: Any = lambda self, msg: True  # noqa: E731


def guarded_call(function: Any) -> Any:
    guard: Any = 5
    return wl.call(when=guard)(function)


GUARDED: list[tuple[Any, str]] = [
    (
        wl.on(Ping, when=short_guard),
        "lambda self, src, msg",
    ),
    (lambda f: wl.timer(when=lambda: True)(lambda self, ctx: None), "lambda self:"),
    (
        lambda f: wl.timer(when=lambda self: True)(lambda self, ctx, item: None),
        "lambda self, payload",
    ),
    (guarded_call, "lambda self, src, msg: ..."),
]


@pytest.mark.parametrize(
    ("decorate", "like"), GUARDED, ids=["on", "timer", "payload", "call"]
)
def test_a_guard_with_other_parameters_than_its_handler_is_refused(
    decorate: Any, like: str
):
    with pytest.raises(wl.ModelError) as caught:
        decorate(lambda self, ctx, src, msg: None)
    assert caught.value.what.startswith("the guard of ")
    assert like in caught.value.remedy
