"""A system of which one handler is wrong, late: two clients grab what only one may hold."""

from __future__ import annotations

import worldline as wl

SERVER, FIRST, SECOND, WATCH = wl.ids("server", "first", "second", "watch")


@wl.message
class Hello:
    """I am there."""


@wl.message
class Grab:
    """I hold it now."""


@wl.node
class Server:
    """Gives to whoever asks."""

    holders: set[wl.NodeId] = wl.field(default_factory=set)
    known_by: set[wl.NodeId] = wl.field(default_factory=set)

    @wl.neighbours
    def known(self) -> list[wl.NodeId]:
        return [FIRST, SECOND]

    @wl.on(Hello)
    def greet(self, ctx: wl.Context, src: wl.NodeId, msg: Hello) -> None:
        self.known_by.add(src)

    @wl.on(Grab)
    def give(self, ctx: wl.Context, src: wl.NodeId, msg: Grab) -> None:
        self.holders.add(src)

    @wl.transport_error
    def lost(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        self.holders.discard(peer)


@wl.node
class Client:
    """Grabs after a while, once."""

    after: float
    asked: int = 0

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.send(SERVER, Hello())
        ctx.set_timer(Client.grab, after=self.after)

    @wl.timer
    def grab(self, ctx: wl.Context) -> None:
        self.asked += 1
        ctx.send(SERVER, Grab())


@wl.node
class Watch:
    """Looks on."""

    @wl.neighbours
    def known(self) -> list[wl.NodeId]:
        return [SERVER, FIRST, SECOND]

    @wl.start
    def start(self, ctx: wl.Context) -> None:
        ctx.send(SERVER, Hello())


@wl.safety
def one_holder(view: wl.View) -> bool:
    return view.for_each_node(_holds_for_one)


def _holds_for_one(view: wl.View, node: wl.NodeId) -> bool:
    return node != SERVER or len(view[SERVER].holders) <= 1


def system(network: str = "streams") -> wl.System:
    """Let the first client grab after 5 seconds, and the second after 35."""
    return wl.System(
        {SERVER: Server(), FIRST: Client(5.0), SECOND: Client(35.0), WATCH: Watch()},
        network=wl.streams() if network == "streams" else wl.datagrams(),
        predict=wl.Faults(),
        properties=[one_holder],
        name="holders",
    )
