"""Three nodes, of which one learns from another that the third has something."""

from typing import Literal

import worldline as wl

M, A, B = wl.ids("m", "a", "b")


@wl.message
class Put:
    number: int


@wl.message
class Done:
    number: int


@wl.message
class Ready:
    number: int


@wl.node
class Monitor:
    """Is told what there is."""

    ready: int = 0

    @wl.neighbours(hops=2)
    def others(self) -> list[wl.NodeId]:
        return [A, B]

    @wl.on(Ready)
    def take_ready(self, ctx: wl.Context, src: wl.NodeId, msg: Ready) -> None:
        self.ready = max(self.ready, msg.number)


@wl.node
class Middle:
    """Has numbers kept, and then tells of them."""

    begun: int = 0

    @wl.call(when=lambda self: self.begun < 40)
    def go(self, ctx: wl.Context) -> None:
        self.begun += 1
        ctx.send(B, Put(self.begun))

    @wl.on(Done)
    def take_done(self, ctx: wl.Context, src: wl.NodeId, msg: Done) -> None:
        ctx.send(M, Ready(msg.number))


@wl.node
class Keeper:
    """Keeps numbers."""

    kept: int = 0

    @wl.on(Put)
    def take_put(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.kept = max(self.kept, msg.number)
        ctx.send(src, Done(msg.number))


@wl.safety
def what_is_ready_is_kept(view: wl.View) -> bool:
    """Hold always: the monitor is told only after the keeper has it."""
    return bool(view[M].ready <= view[B].kept)


def system(network: Literal["streams", "datagrams"] = "streams") -> wl.System:
    return wl.System(
        {M: Monitor(), A: Middle(), B: Keeper()},
        network=wl.streams() if network == "streams" else wl.datagrams(),
        workload=[wl.whenever(Middle.go)],
        properties=[what_is_ready_is_kept],
        name="relaying",
    )
