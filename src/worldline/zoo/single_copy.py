"""A register that each server keeps for itself: right with one server, wrong with two.

Every client writes a value of its own, then reads. With one server the reads and
writes are linearizable; with two, a client can miss a write that has completed.

References
----------
The example ``single-copy-register`` of the model checker Stateright, whose clients,
request numbers and state counts this model has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import worldline as wl


@wl.message
class Put:
    """Write a value."""

    request: int
    value: str


@wl.message
class Get:
    """Read the value."""

    request: int


@wl.message
class PutOk:
    """The write is done."""

    request: int


@wl.message
class GetOk:
    """The value read; None if none was written."""

    request: int
    value: str | None


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


@wl.node
class Client:
    """Writes a value at one server, then reads at the next.

    `number` is its position among all nodes, from which the request numbers follow.
    """

    number: int
    servers: tuple[wl.NodeId, ...]
    value: str
    awaiting: int | None = None

    @wl.start
    def begin(self, ctx: wl.Context) -> None:
        self.awaiting = self.number
        ctx.send(self.server(0), Put(self.awaiting, self.value))

    @wl.on(PutOk, when=lambda self, src, msg: self.awaiting == msg.request)
    def written(self, ctx: wl.Context, src: wl.NodeId, msg: PutOk) -> None:
        self.awaiting = 2 * self.number
        ctx.send(self.server(1), Get(self.awaiting))

    @wl.on(GetOk, when=lambda self, src, msg: self.awaiting == msg.request)
    def finish(self, ctx: wl.Context, src: wl.NodeId, msg: GetOk) -> None:
        self.awaiting = None

    def server(self, turn: int) -> wl.NodeId:
        return self.servers[(self.number + turn) % len(self.servers)]


def invoked(step: wl.Step) -> Iterable[tuple[wl.NodeId, Any]]:
    """Return the operations that clients begin in a step."""
    for sent in step.sends:
        if isinstance(sent.message, Put):
            yield sent.src, wl.histories.Write(sent.message.value)
        elif isinstance(sent.message, Get):
            yield sent.src, wl.histories.Read()


def responded(step: wl.Step) -> Iterable[tuple[wl.NodeId | None, Any]]:
    """Return the result that a client takes; one that it does not await is none."""
    answer = step.event.payload
    if step.event.kind is wl.Kind.DELIVER and step.handled:
        if isinstance(answer, PutOk):
            yield step.node, None
        elif isinstance(answer, GetOk):
            yield step.node, answer.value


HISTORY = wl.histories.linearizable(
    wl.histories.register(), invoke=invoked, respond=responded
)


@wl.safety
def linearizable(view: wl.View) -> bool:
    """All clients together see one register."""
    return bool(HISTORY.decide and HISTORY.decide(view.history(HISTORY.name)))


@wl.sometimes
def a_value_is_read(view: wl.View) -> bool:
    """A client can read what was written."""
    return view.any_message(lambda message: message.value is not None, GetOk)


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
    names = wl.ids(
        *[f"s{i}" for i in range(servers)], *[f"c{i}" for i in range(clients)]
    )
    keepers = names[:servers]
    return wl.System(
        nodes={
            **{name: Server() for name in keepers},
            **{
                name: Client(servers + i, keepers, chr(ord("A") + i))
                for i, name in enumerate(names[servers:])
            },
        },
        network=wl.datagrams(loss=False, duplication=False),
        properties=[linearizable, a_value_is_read],
        observers=[HISTORY],
        ignore_noops=True,
        name="single-copy",
    )
