"""Clients of a register, and what they may see; shared by the registers of the zoo.

Every client writes a value of its own at one server, then reads at the next.

References
----------
The clients of the examples of the model checker Stateright, with their request
numbers, on which published state counts depend.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    return HISTORY.holds(view)


@wl.sometimes
def a_value_is_read(view: wl.View) -> bool:
    """A client can read what was written."""
    return view.any_message(lambda message: message.value is not None, GetOk)


def deployment(
    name: str,
    make_server: Callable[[int, tuple[wl.NodeId, ...]], Any],
    *,
    clients: int,
    servers: int,
    network: str,
    done: Callable[[wl.View], bool] | None = None,
) -> wl.System:
    """Return clients of a register and the servers that keep it.

    Parameters
    ----------
    make_server
        Returns the server at a position, given the ids of its peers.
    network
        ``unordered``: messages overtake each other, and one that changes nothing is
        no transition. ``ordered``: between two nodes they stay in order, and one that
        nobody wants is consumed.

    Raises
    ------
    ValueError
        If `network` is neither.
    """
    if network not in ("ordered", "unordered"):
        raise ValueError(f"network={network!r}: say 'unordered' or 'ordered'")
    ids = wl.ids(*[f"s{i}" for i in range(servers)], *[f"c{i}" for i in range(clients)])
    cluster = ids[:servers]
    nodes: dict[wl.NodeId, Any] = {
        node: make_server(i, tuple(peer for peer in cluster if peer != node))
        for i, node in enumerate(cluster)
    }
    for i, node in enumerate(ids[servers:]):
        nodes[node] = Client(servers + i, cluster, chr(ord("A") + i))
    return wl.System(
        nodes=nodes,
        network=wl.datagrams(
            loss=False, duplication=False, reordering=network == "unordered"
        ),
        properties=[linearizable, a_value_is_read],
        observers=[HISTORY],
        ignore_noops=network == "unordered",
        done=done,
        name=name,
    )
