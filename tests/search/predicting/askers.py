"""Nodes that ask one which must not hear: on streams what is refused is felt, else not."""

from __future__ import annotations

import worldline as wl
from worldline.runs.start import Beginning, Start
from worldline.search.predicting.predictor import Predictor
from worldline.worlds.checkpoint import Checkpoint
from worldline.worlds.direct import DirectWorld

A, B, C = wl.ids("a", "b", "c")


@wl.message
class Ask:
    """A question, and how many of them came before it."""

    number: int


@wl.node
class Asker:
    """Asks its peer, as often as it may; counts what it hears and what breaks."""

    peer: wl.NodeId | None = None
    most: int = 1
    asked: int = 0
    heard: int = 0
    broken: int = 0
    rung: bool = False

    @wl.call(when=lambda self: self.asked < self.most)
    def ask(self, ctx: wl.Context) -> None:
        if self.peer is not None:
            ctx.send(self.peer, Ask(self.asked))
        self.asked += 1

    @wl.on(Ask)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        self.heard += 1
        ctx.set_timer(Asker.ring, after=1.0)

    @wl.timer
    def ring(self, ctx: wl.Context) -> None:
        self.rung = True

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.broken += 1


@wl.safety
def hears_nothing(view: wl.View) -> bool:
    return bool(view[B].heard == 0)


@wl.safety
def hears_little(view: wl.View) -> bool:
    return bool(view[B].heard < 2)


@wl.safety
def never_rings(view: wl.View) -> bool:
    return not view[B].rung


@wl.safety
def nothing_breaks(view: wl.View) -> bool:
    return all(view[node].broken == 0 for node in view)


def asking(
    *properties: wl.Property, network: wl.Network, most: int = 1, second: bool = False
) -> wl.System:
    """One or two nodes that ask; no faults."""
    nodes = {A: Asker(peer=B, most=most), B: Asker(most=0)}
    if second:
        nodes[C] = Asker(peer=B, most=most)
    return wl.System(
        nodes,
        network=network,
        workload=[wl.whenever(Asker.ask)],
        properties=properties,
        name="asking",
    )


def after(predictor: Predictor, *events: str) -> Beginning:
    """The state after the first events, in order, whose words begin like these."""
    world = DirectWorld(predictor.onward)
    for event in world.boot_events():
        world.step(event)
    for words in events:
        world.step(next(one for one in world.enabled() if repr(one).startswith(words)))
    snapshot = world.snapshot()
    return Beginning([Start((), (), snapshot, None, Checkpoint(snapshot))])
