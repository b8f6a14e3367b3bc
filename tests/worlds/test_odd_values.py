"""Values at the edge of plain data: each is refused by name, or simply works."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.shares import share

import worldline as wl
from worldline.cli.main import main
from worldline.show.steps import steps
from worldline.trace.format import read

A, B = wl.ids("a", "b")

ENGINES: tuple[Literal["python", "native"], ...] = ("python", "native")


@wl.message
class Carry:
    load: object


@dataclasses.dataclass(frozen=True)
class Box:
    inside: object


def nested(depth: int, wrap: Callable[[Any], Any] = lambda inner: (inner,)) -> Any:
    value: Any = ()
    for _ in range(depth):
        value = wrap(value)
    return value


def system(body: Callable[[Any, wl.Context], Any]) -> wl.System:
    @wl.node
    class Odd:
        value: object = None
        items: list[Any] = wl.field(default_factory=list)
        table: dict[int, Any] = wl.field(default_factory=dict)
        noise: int = wl.ignored(default=0)

        @wl.call
        def use(self, ctx: wl.Context) -> None:
            body(self, ctx)

        @wl.on(Carry)
        def carry(self, ctx: wl.Context, src: wl.NodeId, msg: Carry) -> None:
            self.value = msg.load

        @wl.timer
        def ring(self, ctx: wl.Context, load: object) -> None:
            self.value = load

    untouched = wl.safety(lambda view: all(view[node].value is None for node in view))
    empty = wl.liveness(lambda view: view[A].value is None and view[B].value is None)
    return wl.System(
        {A: Odd(), B: Odd()},
        workload=[wl.script(A, [Odd.use])],
        properties=[
            wl.Property("untouched", untouched.kind, untouched.predicate),
            wl.Property("empty", empty.kind, empty.predicate),
        ],
    )


def assign(value: Any, self: Any, ctx: wl.Context) -> None:
    self.value = value


def send(value: Any, self: Any, ctx: wl.Context) -> None:
    ctx.send(B, Carry(value))


def set_timer(value: Any, self: Any, ctx: wl.Context) -> None:
    ctx.set_timer(self.ring, value)


WORKS = {
    "a long int": 10**5000,
    "a long negative int in a tuple": (-(10**5000), 1),
    "a lone surrogate": "\ud800",
    "nesting": nested(80),
    "nested records": nested(80, Box),
    "infinity": float("inf"),
    "a long text": "a" * 1_000_000,
    "controls": "\x1b[31m",
}


@pytest.mark.parametrize("put", share([assign, send, set_timer], every=2))
@pytest.mark.parametrize("name", WORKS)
def test_an_odd_value_is_checked_written_shown_and_replayed(
    name: str, put: Any, tmp_path: Path
):
    tested = system(functools.partial(put, WORKS[name]))
    file = tmp_path / "run.wl"
    for engine in ENGINES:
        report = wl.check(tested, engine=engine, out=file)
        assert report.verdict is wl.Verdict.VIOLATED
        assert str(report)
        assert str(wl.replay(file, tested))
    assert list(steps(read(file)))
    assert wl.walk(tested, walks=2, traces=False).verdict is wl.Verdict.VIOLATED
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["show", str(file)]) == 0


def contain_itself(self: Any, ctx: wl.Context) -> None:
    self.items.append(self.items)


def contain_itself_below(self: Any, ctx: wl.Context) -> None:
    inner: list[Any] = []
    inner.append({1: inner})
    self.table[1] = (inner,)


REFUSED: list[tuple[Callable[[Any, wl.Context], Any], str]] = [
    (contain_itself, "Odd.items holds a value that contains itself"),
    (contain_itself_below, r"a list holds the dict"),
    *(
        (
            functools.partial(assign, nested(depth)),
            "Odd.value holds .* nested more than",
        )
        for depth in (100, 260, 20_000)
    ),
    (functools.partial(assign, nested(500, Box)), "Odd.value.inside.*nested more than"),
    (functools.partial(send, nested(260)), "Carry.load holds .* nested more than"),
    (functools.partial(set_timer, nested(260)), "nested more than"),
    (functools.partial(assign, float("nan")), "Odd.value holds nan"),
    (functools.partial(send, (1, float("nan"))), "Carry.load holds nan"),
    (lambda self, ctx: delattr(self, "value"), "deletes the field 'value' of Odd"),
    (lambda self, ctx: vars(self).pop("value"), "Odd.use deleted the field 'value'"),
    (lambda self, ctx: vars(self).clear(), "Odd.use deleted the field"),
    (lambda self, ctx: setattr(self, "typo", 1), "Odd has no field 'typo'"),
    (
        lambda self, ctx: vars(self).update(typo=1),
        "Odd.use gave Odd the attribute 'typo', which is no field",
    ),
    (
        lambda self, ctx: object.__setattr__(self, "typo", 1),
        "Odd.use gave Odd the attribute 'typo', which is no field",
    ),
    (
        lambda self, ctx: (vars(self).pop("noise"), vars(self).update(typo=1)),
        "Odd.use deleted the field 'noise'",
    ),
]


@pytest.mark.parametrize(("body", "what"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_what_cannot_be_part_of_a_state_is_a_model_error_that_names_it(
    body: Any, what: str
):
    tested = system(body)
    for engine in ENGINES:
        with pytest.raises(wl.ModelError, match=what):
            wl.check(tested, engine=engine)
    with pytest.raises(wl.ModelError, match=what):
        wl.walk(tested, walks=2, traces=False)


def test_the_culprit_in_nested_records_is_found_in_one_pass():
    # Once for each level, not twice: that would be 2**90 times.
    value: Any = object()
    for _ in range(90):
        value = Box(value)
    with pytest.raises(
        wl.ModelError, match=r"Odd.value.inside \(90 times\) holds <object"
    ):
        wl.check(system(functools.partial(assign, value)))
