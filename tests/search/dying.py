"""Small systems that can die, whose critical transition is known by hand."""

from __future__ import annotations

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Request:
    pass


# ---------------------------------------------------------------------------- by chance


@wl.node
class Climber:
    """Climbs step by step; at `edge` it may fall, and goes on in circles below."""

    top: int
    edge: int
    height: int = 0
    fallen: bool = False

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Climber.climb)

    @wl.timer
    def climb(self, ctx: wl.Context) -> None:
        if not self.fallen:
            self.height += 1
        if self.height == self.edge and not self.fallen:
            self.fallen = ctx.choose([False, True])
        if self.height < self.top:
            ctx.set_timer(Climber.climb)


@wl.liveness
def on_top(view: wl.View) -> bool:
    return bool(view[A].height == view[A].top)


def climber(*, top: int = 40, edge: int = 30) -> wl.System:
    """Return a system in which step `edge` decides; without an edge nobody falls."""
    return wl.System({A: Climber(top, edge)}, properties=[on_top], name="climber")


# ------------------------------------------------------------------------------ by fault


@wl.node
class Asker:
    """Asks once, or twice if it is patient; and, if it is rash, fails when it hears."""

    patient: bool
    rash: bool = False
    heard: bool = False

    @wl.call
    def ask(self, ctx: wl.Context) -> None:
        ctx.send(B, Request())
        if self.patient:
            ctx.set_timer(Asker.again)

    @wl.timer
    def again(self, ctx: wl.Context) -> None:
        ctx.send(B, Request())

    @wl.on(Request)
    def hear(self, ctx: wl.Context, src: wl.NodeId, msg: Request) -> None:
        self.heard = True
        assert not self.rash


@wl.liveness
def is_heard(view: wl.View) -> bool:
    return bool(view[B].heard)


@wl.liveness
def is_asked(view: wl.View) -> bool:
    return view.is_finished(A)


def asker(
    *, patient: bool = False, rash: bool = False, drops: int | None = 1
) -> wl.System:
    """Return a system in which the only request may be lost."""
    return wl.System(
        {A: Asker(patient), B: Asker(patient, rash)},
        workload=[wl.script(A, [Asker.ask])],
        faults=wl.Faults(drops=drops),
        properties=[is_asked, is_heard],
        name="asker",
    )


def split() -> wl.System:
    """Return a system in which a partition keeps the request back until it heals."""
    return wl.System(
        {A: Asker(patient=True), B: Asker(patient=True)},
        network=wl.streams(),
        workload=[wl.script(A, [Asker.ask])],
        faults=wl.Faults(partitions=1),
        properties=[is_asked, is_heard],
        name="split",
    )
