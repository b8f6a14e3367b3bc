"""The holders whose server does something about what it foresees: it sends a client away."""

from __future__ import annotations

from typing import Any

from tests.steer.steering.holders import (
    FIRST,
    SECOND,
    SERVER,
    WATCH,
    Client,
    Server,
    Watch,
    one_holder,
)

import worldline as wl


@wl.message
class Away:
    """Do not grab it."""


@wl.node
class Patient(Client):
    """Grabs after a while, if nobody sends it away."""

    is_away: bool = False

    @wl.on(Away)
    def leave(self, ctx: wl.Context, src: wl.NodeId, msg: Away) -> None:
        self.is_away = True
        ctx.cancel_timer(Client.grab)


@wl.node
class Careful(Server):
    """Sends away who would be the second, once there is a first."""

    told: list[wl.Foreseen] = wl.field(default_factory=list)

    @wl.on_prediction(when=lambda self, prediction: bool(self.holders))
    def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
        self.told.append(prediction)
        if prediction.peer is not None and prediction.peer not in self.holders:
            ctx.send(prediction.peer, Away())


@wl.node
class Deaf(Server):
    """Is told nothing; but for that, as the others."""

    told: list[wl.Foreseen] = wl.field(default_factory=list)


@wl.node
class Broken(Server):
    """Fails where it is told."""

    @wl.on_prediction
    def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
        raise LookupError(prediction.property)


@wl.safety
def all_stay(view: wl.View) -> bool:
    return not any(view[node].is_away for node in (FIRST, SECOND))


@wl.node
class Rash(Server):
    """Brings about at once what it is told of."""

    @wl.on_prediction
    def foreseen(self, ctx: wl.Context, prediction: wl.Foreseen) -> None:
        self.holders |= {FIRST, SECOND}


def careful(
    server: Any = Careful, network: str = "streams", *more: wl.Property
) -> wl.System:
    """Let the first client grab after 5 seconds, and the second after 15."""
    return wl.System(
        {SERVER: server(), FIRST: Patient(5.0), SECOND: Patient(15.0), WATCH: Watch()},
        network=wl.streams() if network == "streams" else wl.datagrams(),
        predict=wl.Faults(),
        properties=[one_holder, *more],
        name="careful",
    )
