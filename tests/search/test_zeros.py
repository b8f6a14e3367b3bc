"""The two zeros: equal, and two values, as whoever takes the sign of one finds out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import worldline as wl

A, B = wl.ids("a", "b")


@dataclass(frozen=True)
class Point:
    x: float


@wl.message
class Tell:
    value: float


def is_below(value: Any) -> bool:
    return math.copysign(1.0, value) < 0


@wl.node
class Scale:
    """Goes from the one zero to the other, and tells of it."""

    plain: float = 0.0
    pair: tuple[float, int] = (0.0, 1)
    point: Point = Point(0.0)
    items: list[float] = wl.field(default_factory=lambda: [0.0])
    noted: dict[str, float] = wl.field(default_factory=lambda: {"a": 0.0})
    kept: float = wl.durable(default=0.0)
    heard: bool = False
    looked: bool = False

    @wl.call
    def turn(self, ctx: wl.Context) -> None:
        self.plain, self.pair, self.point = -0.0, (-0.0, 1), Point(-0.0)
        self.items[0] = self.noted["a"] = self.kept = -0.0

    @wl.call
    def look(self, ctx: wl.Context) -> None:
        self.looked = is_below(self.plain)
        ctx.send(B, Tell(self.plain))

    @wl.on(Tell)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Tell) -> None:
        self.heard = is_below(msg.value)


PROMISES = {
    "plain": lambda view: not is_below(view[A].plain),
    "pair": lambda view: not is_below(view[A].pair[0]),
    "point": lambda view: not is_below(view[A].point.x),
    "items": lambda view: not is_below(view[A].items[0]),
    "noted": lambda view: not is_below(view[A].noted["a"]),
    "kept": lambda view: not is_below(view[A].kept),
    "heard": lambda view: not view[B].heard,
    "looked": lambda view: not view[A].looked,
    "sent": lambda view: not view.any_message(lambda told: is_below(told.value)),
}


def system(name: str) -> wl.System:
    promise = PROMISES[name]

    def holds(view: wl.View) -> bool:
        return bool(promise(view))

    holds.__name__ = name
    return wl.System(
        {A: Scale(), B: Scale()},
        workload=[wl.script(A, [Scale.turn, Scale.look])],
        properties=[wl.safety(holds)],
        name="scale",
    )


@pytest.mark.parametrize("name", PROMISES)
@pytest.mark.parametrize("verb", ["check", "walk", "simulate", "predict"])
def test_a_zero_that_changes_its_sign_is_seen(name: str, verb: str, tmp_path: Path):
    made, out = system(name), tmp_path / "run.wl"
    if verb == "check":
        report: Any = wl.check(made, out=out)
    elif verb == "walk":
        report = wl.walk(made, out=out, walks=10)
    elif verb == "simulate":
        report = wl.simulate(made, out=out, seconds=60)
    else:
        report = wl.predict(made, out=out, max_states=1_000)
    assert report.expect_violated(name).steps in (1, 2, 3)
    assert wl.replay(report.violated.trace, made).reproduced
