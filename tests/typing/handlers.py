"""Read by the type checker, never run: what it must accept and what it must refuse.

An ignore that is not needed is an error itself, so each marks a refusal.
"""

from __future__ import annotations

import worldline as wl


@wl.message
class Ping:
    hop: int


@wl.message
class Pong:
    hop: int


@wl.node
class Good:
    peer: wl.NodeId
    heard: set[wl.NodeId] = wl.field(default_factory=set)
    stored: int = wl.durable(default=0)
    counted: int = wl.ignored(default=0)

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.set_timer(Good.again, after=1.0)

    @wl.on(Ping, when=lambda self, src, msg: msg.hop > 0)
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Ping) -> None:
        taken: bool = ctx.send(src, Pong(msg.hop))
        self.stored += taken

    @wl.timer
    def again(self, ctx: wl.Context) -> None:
        picked: wl.NodeId = ctx.choose(ctx.nodes)
        ctx.send(picked, Ping(hop=1))

    @wl.timer(when=lambda self, payload: payload > 0)
    def later(self, ctx: wl.Context, payload: int) -> None:
        ctx.set_timer(Good.later, payload - 1)

    @wl.call
    def ask(self, ctx: wl.Context, other: wl.NodeId) -> None:
        ctx.send(other, Ping(hop=0))

    @wl.transport_error
    def failed(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.heard.discard(peer)

    @wl.on_prediction(when=lambda self, prediction: prediction.steps < 9)
    def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
        peer: wl.NodeId | None = prediction.peer
        if peer is not None and prediction.action == "unhelpful":
            ctx.send(peer, Ping(hop=0))


@wl.node
class Bad:
    @wl.start  # type: ignore[type-var]
    def start(self, ctx: wl.Context, extra: int) -> None:
        pass

    @wl.on(Ping)  # type: ignore[arg-type]
    def ping(self, ctx: wl.Context, src: wl.NodeId, msg: Pong) -> None:
        pass

    @wl.on(Pong)  # type: ignore[arg-type]
    def pong(self, ctx: wl.Context, msg: Pong) -> None:
        pass

    @wl.transport_error  # type: ignore[type-var]
    def failed(self, ctx: wl.Context) -> None:
        pass

    @wl.on_prediction  # type: ignore[type-var]
    def foreseen(self, ctx: wl.Context, prediction: str) -> None:
        pass

    @wl.on_prediction(when=lambda self, prediction: prediction.steps)  # type: ignore[arg-type, return-value]
    def guarded(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
        pass


@wl.safety
def fine(view: wl.View) -> bool:
    return view.is_up(view.nodes[0])


@wl.safety  # type: ignore[arg-type]
def strange(view: int) -> bool:
    return view > 0


@wl.gauge(initial=0.0)
def last(value: float, step: wl.TimedStep, view: wl.View) -> float:
    return step.time if step.handled else value


@wl.gauge(initial=0)  # type: ignore[arg-type]
def odd(value: int, view: wl.View) -> int:
    return value


@wl.liveness(confidence=lambda view: min(1.0, view.time / 10))
def in_time(view: wl.View) -> bool:
    return bool(view.gauge("last") > 1)


@wl.liveness
def in_the_end(view: wl.View) -> bool:
    return True


LAST: wl.Gauge = last
PROPERTIES: list[wl.Property] = [fine, in_time, in_the_end]


def use(report: wl.Report) -> None:
    if report.verdict is wl.Verdict.HOLDS:
        report.expect_holds()
    Ping(hop="one")  # type: ignore[arg-type]
    Ping(1).hop = 2  # type: ignore[misc]


@wl.node
class Near:
    parent: wl.NodeId | None = None
    table: dict[int, int] = wl.field(default_factory=dict, checkpoint=False)

    @wl.neighbours(hops=2)
    def near(self) -> list[wl.NodeId | None]:
        return [self.parent]

    @wl.neighbours  # type: ignore[type-var]
    def names(self) -> list[str]:
        return []

    @wl.rebuild
    def fill(self) -> None:
        self.table = {1: 1}

    @wl.rebuild  # type: ignore[type-var]
    def ask(self, ctx: wl.Context) -> None:
        pass
