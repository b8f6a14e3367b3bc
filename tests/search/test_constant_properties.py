"""Properties that look at nothing: constantly true, or constantly false."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

import pytest

import worldline as wl

A, B = wl.ids("a", "b")
Engine = Literal["native", "python"]


@pytest.fixture(autouse=True)
def _ends_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """End a test that would never end; it says nothing about speed."""

    def too_long(number: int, frame: FrameType | None) -> NoReturn:
        raise AssertionError("the search did not end")

    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@wl.node
class Wheel:
    turn: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Wheel.go_on)

    @wl.timer
    def go_on(self, ctx: wl.Context) -> None:
        self.turn = (self.turn + 1) % 3
        ctx.set_timer(Wheel.go_on)


@wl.node
class Stone:
    """Does nothing at all."""


@wl.liveness
def always(view: wl.View) -> bool:
    return True


@wl.liveness
def never(view: wl.View) -> bool:
    return False


@wl.safety
def is_safe(view: wl.View) -> bool:
    return True


def system(node: Any, *properties: wl.Property) -> wl.System:
    return wl.System({A: node, B: node}, properties=[*properties], name="constant")


def walked(engine: Engine, node: Any, *properties: wl.Property) -> dict[str, Any]:
    """What a search with random walks says, without what depends on the engine."""
    found = wl.walk(system(node, *properties), engine=engine, max_steps=50).to_json()
    for key in ("engine", "seconds", "hit_rate", "misses"):
        del found[key]
    return found


@pytest.mark.parametrize("node", [Wheel(), Stone()], ids=["wheel", "stone"])
def test_a_walk_is_live_at_once_where_the_property_is_always_true(node: Any) -> None:
    native = walked("native", node, always, is_safe)
    assert native == walked("python", node, always, is_safe)
    assert (native["verdict"], native["case"]) == ("unknown", None)
    assert (native["walk_steps"], native["live"]) == (0, native["periphery"])


@pytest.mark.parametrize("node", [Wheel(), Stone()], ids=["wheel", "stone"])
def test_all_is_dead_where_the_property_is_never_true(node: Any) -> None:
    native = walked("native", node, never, is_safe)
    assert native == walked("python", node, never, is_safe)
    assert (native["verdict"], native["property"]) == ("violated", "never")
    assert (native["critical_step"], native["certainty"]) == (0, "certified")


@pytest.mark.parametrize("engine", ["native", "python"])
def test_exact_verdicts_need_no_read(engine: Engine) -> None:
    for node in (Wheel(), Stone()):
        report = wl.check(system(node, always, never), engine=engine)
        verdicts = {p.name: p.verdict.value for p in report.properties}
        assert verdicts == {"always": "holds", "never": "violated"}
