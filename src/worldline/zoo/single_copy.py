"""A register that each server keeps for itself: right with one server, wrong with two.

Every client writes a value of its own, then reads. With one server the reads and
writes are linearizable; with two, a client can miss a write that has completed.

References
----------
The example ``single-copy-register`` of the model checker Stateright, whose clients,
request numbers and state counts this model has.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo._register import Get, GetOk, Put, PutOk, deployment


@wl.node
class Server:
    """Keeps a value, and tells nobody else."""

    value: str | None = None

    @wl.on(Put)
    def write(self, ctx: wl.Context, src: wl.NodeId, msg: Put) -> None:
        self.value = msg.value
        ctx.send(src, PutOk(msg.request))

    @wl.on(Get)
    def read(self, ctx: wl.Context, src: wl.NodeId, msg: Get) -> None:
        ctx.send(src, GetOk(msg.request, self.value))


def system(*, clients: int = 2, servers: int = 1) -> wl.System:
    """Return `clients` clients of `servers` servers that do not talk to each other.

    Parameters
    ----------
    clients
        How many write and read, at most 26; with one server and 1 to 4 clients there
        are 5, 93, 4,243 and 400,233 states.
    servers
        How many keep a value each; with more than one it is not linearizable.
    """
    return deployment(
        "single-copy",
        lambda position, peers: Server(),
        clients=clients,
        servers=servers,
        network="unordered",
    )
