"""A server that lends what it has to one client at a time, until it hears that it is gone."""

import worldline as wl

S, A, B = wl.ids("s", "a", "b")


@wl.message
class Ask:
    pass


@wl.message
class Grant:
    pass


@wl.node
class Client:
    """Holds what it is granted, until it is reset."""

    peer: wl.NodeId
    held: bool = False

    @wl.neighbours(hops=2)
    def near(self) -> list[wl.NodeId]:
        return [S, self.peer]

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        ctx.set_timer(Client.ask, after=0.5)

    @wl.timer
    def ask(self, ctx: wl.Context) -> None:
        ctx.send(S, Ask())
        ctx.set_timer(Client.ask, after=0.5)

    @wl.on(Grant)
    def take_grant(self, ctx: wl.Context, src: wl.NodeId, msg: Grant) -> None:
        self.held = True


@wl.node
class Server:
    """Lends it to another one once the connection with the holder breaks."""

    holder: wl.NodeId | None = wl.durable(default=None)

    @wl.on(Ask)
    def take_ask(self, ctx: wl.Context, src: wl.NodeId, msg: Ask) -> None:
        if self.holder is None:
            self.holder = src
            ctx.send(src, Grant())

    @wl.transport_error
    def take_error(self, ctx: wl.Context, peer: wl.NodeId) -> None:
        if peer == self.holder:
            self.holder = None


@wl.safety
def one_holds_it(view: wl.View) -> bool:
    """Hold as long as nothing but resets breaks a connection."""
    return view.for_each_pair(
        lambda view, one, other: (
            S in (one, other) or not (view[one].held and view[other].held)
        )
    )


def system() -> wl.System:
    return wl.System(
        {S: Server(), A: Client(B), B: Client(A)},
        network=wl.streams(),
        properties=[one_holds_it],
        name="locking",
    )
