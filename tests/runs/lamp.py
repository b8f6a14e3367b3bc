"""A lamp that is switched at known times, and what can be asked of it by the clock."""

from __future__ import annotations

import worldline as wl

LAMP, WALL = wl.ids("lamp", "wall")
TIMES = (1.0, 3.0, 10.0, 20.0)
"""When it goes on, off, on and off again, unless a test says otherwise."""


@wl.node
class Lamp:
    is_on: bool = False
    switched: int = 0
    times: tuple[float, ...] = TIMES

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        for number, time in enumerate(self.times):
            ctx.set_timer(Lamp.switch, number, after=time)

    @wl.timer
    def switch(self, ctx: wl.Context, number: int) -> None:
        self.is_on = not self.is_on
        self.switched += 1


@wl.gauge(initial=0.0)
def switched_at(value: float, step: wl.TimedStep, view: wl.View) -> float:
    return step.time if step.event.name == "switch" else value


def since_five(view: wl.View) -> float:
    return min(1.0, (view.time - float(view.gauge("switched_at"))) / 5)


def since_twenty(view: wl.View) -> float:
    return min(1.0, (view.time - float(view.gauge("switched_at"))) / 20)


def is_off(view: wl.View) -> bool:
    is_on: bool = view[LAMP].is_on
    return not is_on


def off(confidence: object) -> wl.Property:
    """It goes off some time; with this confidence."""
    declare: object = wl.liveness(confidence=confidence)  # type: ignore[call-overload]
    prop = declare(is_off)  # type: ignore[operator]
    assert isinstance(prop, wl.Property)
    return prop


def lamp(*properties: wl.Property, times: tuple[float, ...] = TIMES) -> wl.System:
    return wl.System(
        {LAMP: Lamp(times=times)},
        gauges=[switched_at],
        properties=properties or [off(since_five)],
        name="lamp",
    )
