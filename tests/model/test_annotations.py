"""What timers hold and calls are given, compared with what handlers take."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Mapping
from typing import Any, Literal, NewType, Protocol, TypeVar

import pytest

import worldline as wl
from worldline.model.annotations import check_type

A, B = wl.ids("a", "b")


@wl.node
class Clock:
    @wl.call
    def use(self, ctx: wl.Context, body: Any) -> None: ...

    @wl.timer
    def plain(self, ctx: wl.Context) -> None: ...

    @wl.timer
    def counted(self, ctx: wl.Context, number: int) -> None: ...

    @wl.timer
    def about(self, ctx: wl.Context, node: wl.NodeId | None) -> None: ...

    @wl.timer
    def anything(self, ctx: wl.Context, what) -> None: ...

    @wl.timer
    def defaulted(self, ctx: wl.Context, number: int = 7) -> None: ...


def running(body: Callable[[Any, wl.Context], Any], engine: Any = "python") -> Any:
    @wl.node
    class Timed(Clock):
        @wl.start
        def begin(self, ctx: wl.Context) -> None:
            body(self, ctx)

    return wl.check(wl.System({A: Timed()}), engine=engine)


WRONG: list[tuple[Callable[[Any, wl.Context], Any], str, str]] = [
    (
        lambda self, ctx: ctx.set_timer(self.plain, 5),
        "the timer plain the payload 5, and its handler takes none",
        "written after=5",
    ),
    (
        lambda self, ctx: ctx.set_timer(self.plain, A),
        "the payload a, and its handler takes none",
        "write def plain(self, ctx, payload)",
    ),
    (
        lambda self, ctx: ctx.set_timer(self.counted, after=5),
        "no payload, and its handler takes one: number",
        "write the payload behind counted",
    ),
    (
        lambda self, ctx: ctx.set_timer(self.counted, "5"),
        "gives '5' to Clock.counted, whose number is int",
        "the payload that the handler is annotated with",
    ),
    (
        lambda self, ctx: ctx.set_timer(self.about, 5),
        "gives 5 to Clock.about, whose node is wl.NodeId | None",
        "annotated with",
    ),
    (lambda self, ctx: ctx.set_timer(self.anything), "no payload", "may be None"),
    (lambda self, ctx: ctx.cancel_timer(self.plain, 5), "takes none", "leave it out"),
    (lambda self, ctx: ctx.cancel_timer(self.counted), "no payload", "write the"),
    (lambda self, ctx: ctx.is_pending(self.counted, "5"), "is int", "annotated"),
    (lambda self, ctx: ctx.is_pending(self.plain, 5), "takes none", "leave it out"),
    *(
        (
            lambda self, ctx, after=after: ctx.set_timer(self.plain, after=after),
            f"at a sets a timer with after={after!r}",
            "a number of seconds that is finite and not negative",
        )
        for after in (-1, -0.5, float("nan"), float("inf"), "5", None, True, 10**400)
    ),
]


@pytest.mark.parametrize("engine", ["python", "native"])
@pytest.mark.parametrize(
    ("body", "what", "remedy"), WRONG, ids=map(str, range(len(WRONG)))
)
def test_a_timer_that_does_not_fit_its_handler_is_a_model_error(
    body: Any, what: str, remedy: str, engine: Any
):
    with pytest.raises(wl.ModelError) as caught:
        running(body, engine)
    assert what in caught.value.what
    assert remedy in caught.value.remedy


@pytest.mark.parametrize("engine", ["python", "native"])
def test_a_timer_that_fits_its_handler_is_set(engine: Any):
    def body(self: Any, ctx: wl.Context) -> None:
        ctx.set_timer(self.plain, after=5)
        ctx.set_timer(self.plain, None)
        ctx.set_timer(self.counted, 5)
        ctx.set_timer(self.about, A)
        ctx.set_timer(self.about, None)
        ctx.set_timer(self.anything, None)
        ctx.set_timer(self.defaulted)
        assert ctx.is_pending(self.defaulted, 7), "the default is what it holds"
        assert not ctx.is_pending(self.counted, 6)

    report = running(body, engine)
    assert report.states == 2**6
    assert report.verdict is wl.Verdict.HOLDS


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "missing a required argument: 'amount'"),
        ((1, 2), "too many"),
        (("x",), "int"),
    ],
)
def test_a_call_with_arguments_that_do_not_fit_is_refused_where_it_is_written(
    arguments: tuple[Any, ...], what: str
):
    class Account:
        @wl.call
        def pay(self, ctx: wl.Context, amount: int) -> None: ...

    with pytest.raises(wl.ModelError, match=what) as caught:
        wl.invoke(Account.pay, *arguments)
    assert "Account.pay" in caught.value.what
    assert "after self and ctx" in caught.value.remedy


# What an annotation may be, and what fits it. Nothing that could fit is refused.


class Colour(enum.Enum):
    RED = "red"


class Shape(Protocol):
    side: int


@dataclasses.dataclass(frozen=True)
class Square:
    side: int


Ballot = NewType("Ballot", int)
T = TypeVar("T")


def local_square() -> Any:
    @dataclasses.dataclass(frozen=True)
    class Square:  # the annotation below means this one
        side: str

    return Square("1")


FITTING: list[tuple[Any, Any]] = [
    (int, True),
    (float, 1),
    (Any, object()),
    (object, 1),
    (Ballot, 1),
    (T, 1),
    (Literal[1], 2),  # more than a class: not looked at
    (Shape, 1),
    (Mapping[str, int], {}),
    (wl.FrozenMap[str, int], 5),
    (tuple[int, ...], ()),
    (set[int] | None, {1}),
    (Colour, Colour.RED),
    (Callable[[], None], 1),
    ("Unknown", 1),
    ("Square", local_square()),
    ("int | Unknown", "x"),
    (None, None),
]
NOT_FITTING: list[tuple[Any, Any]] = [
    (int, "1"),
    (int, None),
    (int, 1.0),
    (str, b""),
    (wl.NodeId, "a"),
    (tuple[int, ...], [1]),
    (int | None, "1"),
    (Colour, "red"),
    (Square, 1),
    ("wl.NodeId", 1),
    ("int | None", A),
]


def annotated(annotation: Any) -> Any:
    def handler(self: Any, ctx: Any, value: Any) -> None: ...

    handler.__annotations__["value"] = annotation
    return handler


@pytest.mark.parametrize(
    ("annotation", "value"), FITTING, ids=map(str, range(len(FITTING)))
)
def test_what_may_fit_an_annotation_is_taken(annotation: Any, value: Any):
    check_type(annotated(annotation), "value", value, "it", "")


@pytest.mark.parametrize(
    ("annotation", "value"), NOT_FITTING, ids=map(str, range(len(NOT_FITTING)))
)
def test_what_cannot_fit_an_annotation_is_refused(annotation: Any, value: Any):
    with pytest.raises(wl.ModelError, match=r"it gives .* whose value is "):
        check_type(annotated(annotation), "value", value, "it", "")
