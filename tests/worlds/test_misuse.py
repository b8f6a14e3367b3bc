"""Misuse of Worldline in user code: an error that is never lost, and names its place."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from typing import Any, Literal

import pytest

import worldline as wl

A, B = wl.ids("a", "b")
HERE = r"\(test_misuse\.py:\d+ in "
ENGINES: tuple[Literal["python", "native"], ...] = ("python", "native")


@wl.message
class Items:
    items: Any = ()


def nothing(self: Any, ctx: wl.Context) -> None: ...


@wl.liveness
def calm(view: wl.View) -> bool:
    return True


def system(
    body: Callable[[Any, wl.Context], None] = nothing,
    *properties: Callable[[wl.View], Any],
    guard: Any = None,
    observers: Any = (),
) -> wl.System:
    """Two nodes, and a handler that does what `body` says."""

    @wl.node
    class User:
        total: int = 0
        other: Any = None
        others: list[Any] = wl.field(default_factory=list)

        @wl.call(when=guard)
        def use(self, ctx: wl.Context) -> None:
            body(self, ctx)

        @wl.on(Items)
        def take(self, ctx: wl.Context, src: wl.NodeId, msg: Items) -> None: ...

        @wl.timer
        def tick(self, ctx: wl.Context) -> None: ...

    return wl.System(
        {A: User(), B: User()},
        workload=[wl.script(A, [User.use])],
        properties=[*map(wl.safety, properties), calm],
        observers=observers,
    )


def refused(tested: wl.System) -> str:
    """The error that every engine, and the walks, end with."""
    said = set()
    for engine in ENGINES:
        with pytest.raises(wl.ModelError) as caught:
            wl.check(tested, engine=engine, traces=False)
        said.add(str(caught.value))
    with pytest.raises(wl.ModelError) as caught:
        wl.walk(tested, walks=1, traces=False)
    (one,) = {*said, str(caught.value)}
    return one


def sends_a_list(self: Any, ctx: wl.Context) -> None:
    ctx.send(B, Items([1, 2]))


def sends_nan(self: Any, ctx: wl.Context) -> None:
    ctx.send(B, Items((1, float("nan"))))


def misspells(self: Any, ctx: wl.Context) -> None:
    self.brandnew = 1


def sends_to_nobody(self: Any, ctx: wl.Context) -> None:
    ctx.send("b", Items())  # type: ignore[arg-type]


def sends_no_message(self: Any, ctx: wl.Context) -> None:
    ctx.send(B, [1])


def calls_the_timer(self: Any, ctx: wl.Context) -> None:
    ctx.set_timer(self.tick(ctx))


def gives_a_payload(self: Any, ctx: wl.Context) -> None:
    ctx.set_timer(self.tick, 5)


def waits_for_ever(self: Any, ctx: wl.Context) -> None:
    ctx.set_timer(self.tick, after=float("inf"))


def sends_itself(self: Any, ctx: wl.Context) -> None:
    ctx.send(B, self)


def sends_itself_inside(self: Any, ctx: wl.Context) -> None:
    ctx.send(B, Items(self))


def keeps_itself(self: Any, ctx: wl.Context) -> None:
    self.other = self


MISUSES: list[tuple[Callable[[Any, wl.Context], None], str]] = [
    (sends_a_list, "message Items: field 'items' holds a list"),
    (sends_nan, r"Items\.items holds nan"),
    (misspells, "User has no field 'brandnew'"),
    (sends_to_nobody, "User at a sends to 'b', which is no node"),
    (sends_no_message, r"User at a sends \[1\], which is not a message"),
    (calls_the_timer, r"called the handler .*pass the handler itself: self.tick, not"),
    (gives_a_payload, "User at a gives the timer tick the payload 5"),
    (waits_for_ever, "User at a sets a timer with after=inf"),
    (sends_itself, "User at a sends a User, which is a node .*ctx.me"),
    (sends_itself_inside, "field 'items' holds the node User, and .* no data .*ctx.me"),
    (keeps_itself, "User.other holds the node User, .* no data .*ctx.me"),
]


@pytest.mark.parametrize(("body", "what"), MISUSES)
def test_a_misuse_names_its_line_and_handler(body: Any, what: str):
    said = refused(system(body))
    assert re.search(what, said)
    line = body.__code__.co_firstlineno + 1
    place = f"(test_misuse.py:{line} in {body.__name__}, called by use)"
    assert place in said


@pytest.mark.parametrize(("body", "what"), MISUSES)
def test_a_misuse_is_told_whoever_catches_it(body: Any, what: str):
    def catches(self: Any, ctx: wl.Context) -> None:
        with contextlib.suppress(Exception):
            body(self, ctx)

    assert refused(system(catches)) == refused(system(body))


def test_a_misuse_is_told_when_another_exception_takes_its_place():
    def replaces(self: Any, ctx: wl.Context) -> None:
        try:
            misspells(self, ctx)
        except TypeError:
            raise ValueError("no") from None

    assert "has no field 'brandnew'" in refused(system(replaces))


def misspelt(view: wl.View) -> bool:
    return bool(view[A].totl == 0)


def asks_for_a_name(view: wl.View) -> bool:
    return bool(view["a"].total == 0)  # type: ignore[index]


def assigns(view: wl.View) -> bool:
    view[A].total = 5
    return True


def deletes(view: wl.View) -> bool:
    del view[A].total
    return True


@pytest.mark.parametrize(
    ("predicate", "what"),
    [
        (misspelt, r"reads User\.totl, which is no field"),
        (asks_for_a_name, "looks at 'a', which is no node"),
        (assigns, r"assigns to view\[a\]\.total, and a view is read-only"),
        (deletes, r"deletes view\[a\]\.total, and a view is read-only"),
    ],
)
def test_a_mistake_in_a_property_names_it_and_its_line(predicate: Any, what: str):
    said = refused(system(nothing, predicate))
    name = predicate.__name__
    assert re.search(f"property {name} {what}.* {HERE}{name}\\)", said)


def test_a_property_cannot_catch_its_mistake():
    def careless(view: wl.View) -> bool:
        try:
            return misspelt(view)
        except TypeError:
            return True

    assert "property careless reads User.totl" in refused(system(nothing, careless))


def test_a_guard_and_an_observer_cannot_catch_their_mistakes():
    def guard(self: Any) -> bool:
        with contextlib.suppress(TypeError):
            misspells(self, None)  # type: ignore[arg-type]
        return True

    def fold(value: Any, seen: Any) -> Any:
        with contextlib.suppress(TypeError):
            wl.durable(0)  # type: ignore[arg-type]
        return value

    assert re.search(
        f"'brandnew'.*{HERE}misspells, called by guard", refused(system(guard=guard))
    )
    folds = wl.Observer("folds", 0, lambda step: 1, fold)
    assert "wl.durable(0)" in refused(system(observers=[folds]))


def test_a_property_that_does_not_return_says_where_it_is():
    def endless(view: wl.View) -> bool:
        while True:
            pass

    tested = system(nothing, endless)
    with pytest.raises(wl.ModelError) as caught:
        wl.check(tested, traces=False)
    line = endless.__code__.co_firstlineno
    assert f"property endless (test_misuse.py:{line}) did not return" in str(
        caught.value
    )


def test_assigning_to_a_message_is_located_where_that_is_done():
    def changes(self: Any, ctx: wl.Context) -> None:
        Items().items = (1,)  # type: ignore[misc]

    report = wl.check(system(changes), traces=False).expect_violated("exception")
    assert re.search(r"test_misuse\.py:\d+ in changes", str(report))


def test_a_node_in_a_list_is_named_without_repetition():
    def keeps(self: Any, ctx: wl.Context) -> None:
        self.others.append(self)

    said = refused(system(keeps))
    assert "User.others holds a node" in said
    assert "ctx.me" in said
    assert len(said) < 200


@pytest.mark.parametrize("declare", [wl.field, wl.durable, wl.ignored, wl.ghost])
def test_a_default_is_given_by_name(declare: Any):
    name = declare.__name__
    with pytest.raises(wl.ModelError, match=rf"write wl\.{name}\(default=0\)"):
        declare(0)


def test_a_property_that_a_report_knows_nothing_of_is_bad_usage():
    def agree(view: wl.View) -> bool:
        return True

    tested = system(nothing, agree)
    reports = wl.check(tested, traces=False), wl.walk(tested, walks=1, traces=False)
    for report in reports:
        with pytest.raises(
            wl.UsageError, match=r"'agre'; its properties are agree, calm"
        ):
            report.expect_violated("agre")
        for name in ("agree", "exception"):
            with pytest.raises(wl.PropertyFailed):
                report.expect_violated(name)


def test_whoever_calls_worldline_is_no_part_of_a_place():
    @wl.node
    class Hearer:
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            ctx.set_timer(Hearer.tick, after=1.0)

        @wl.timer
        def tick(self, ctx: wl.Context) -> None:
            sends_no_message(self, ctx)

    tested = wl.System({A: Hearer()}, name="hearer")
    said = refused(tested)
    assert "in sends_no_message, called by tick)" in said
    with pytest.raises(wl.ModelError) as caught:
        wl.simulate(tested, seconds=5, seeds=1)
    assert str(caught.value) == said
