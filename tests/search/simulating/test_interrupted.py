"""Ctrl-C while a violation that was found is run again: it is reported as it was found."""

from __future__ import annotations

import signal
from typing import Any

import pytest

import worldline as wl
from worldline.search.simulating.recording import Recording

A, B = wl.ids("a", "b")


@wl.message
class Beat:
    pass


@wl.node
class Beating:
    peer: wl.NodeId
    heard: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Beating.beat, after=1.0)

    @wl.timer
    def beat(self, ctx: wl.Context) -> None:
        ctx.send(self.peer, Beat())
        ctx.set_timer(Beating.beat, after=1.0)

    @wl.on(Beat)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None:
        self.heard += 1


@wl.safety
def hears_little(view: wl.View) -> bool:
    return bool(view[A].heard < 12)


@pytest.mark.parametrize(
    "beside", [{}, {"mode": "predict", "gather_every": 2}], ids=["off", "predict"]
)
def test_ctrl_c_while_it_is_run_again_loses_no_violation(
    beside: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    system = wl.System(
        {A: Beating(B), B: Beating(A)},
        network=wl.streams(),
        properties=[hears_little],
        name="beating",
    )
    options = {"seconds": 20, "traces": False, **beside}
    plain = wl.simulate(system, **options)
    add = Recording.add
    noted: list[Any] = []

    def press(recording: Recording, *happened: Any) -> None:
        if not noted:
            signal.raise_signal(signal.SIGINT)
        noted.append(happened)
        add(recording, *happened)

    monkeypatch.setattr(Recording, "add", press)
    report = wl.simulate(system, **options)
    assert noted
    assert plain.verdict is report.verdict is wl.Verdict.VIOLATED
    assert (report.properties, report.at) == (plain.properties, plain.at)
