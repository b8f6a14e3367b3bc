"""Two nodes that beat and answer: the system of which recordings are kept in `kept`."""

from __future__ import annotations

import worldline as wl

A, B = wl.ids("a", "b")


@wl.message
class Beat:
    number: int
    load: bytes


@wl.message
class Heard:
    number: int


@wl.node
class Beating:
    peer: wl.NodeId
    heard: int = wl.durable(default=0)
    beats: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Beating.tick, after=0.05)

    @wl.timer
    def tick(self, ctx: wl.Context) -> None:
        self.beats += 1
        for number in range(3):
            ctx.send(self.peer, Beat(number, b"x" * 20))
        ctx.set_timer(Beating.tick, after=0.05)

    @wl.on(Beat)
    def beat(self, ctx: wl.Context, src: wl.NodeId, msg: Beat) -> None:
        if msg.number == 2:
            ctx.send(src, Heard(self.beats))

    @wl.on(Heard)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Heard) -> None:
        self.heard += 1


@wl.safety
def as_often_as_it_beat(view: wl.View) -> bool:
    return all(bool(view[node].heard <= view[node].beats) for node in (A, B))


def system() -> wl.System:
    return wl.System(
        nodes={A: Beating(B), B: Beating(A)},
        network=wl.streams(),
        properties=[as_often_as_it_beat],
        name="beats",
    )
