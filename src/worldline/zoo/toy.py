"""Two nodes that query each other: a state space small enough to count by hand.

It has 16 states, 24 transitions and 20 maximal paths, published with the paper and
used to compare searches.

References
----------
M. Yabandeh, N. Knežević, D. Kostić and V. Kuncak, "Predicting and Preventing
Inconsistencies in Deployed Distributed Systems", ACM TOCS 28(1), 2010, appendix A.
The listing there also answers a Response with a Response; with that line the space
is not the one reported, so it is left out.
"""

from __future__ import annotations

import enum

import worldline as wl


class Phase(enum.Enum):
    """How far a node is with its own query."""

    STARTED = "started"
    QUERY_SENT = "query_sent"
    FINISHED = "finished"


@wl.message
class Query:
    """A question that any node answers."""


@wl.message
class Response:
    """The answer to a `Query`."""


@wl.node
class Peer:
    """Asks its peer once, and counts what it did."""

    peer: wl.NodeId
    phase: Phase = Phase.STARTED
    counter: int = 0

    @wl.call(when=lambda self: self.phase is Phase.STARTED)
    def do_query(self, ctx: wl.Context) -> None:
        self.counter += 1
        self.phase = Phase.QUERY_SENT
        ctx.send(self.peer, Query())

    @wl.on(Query)
    def answer(self, ctx: wl.Context, src: wl.NodeId, msg: Query) -> None:
        self.counter += 1
        ctx.send(src, Response())

    @wl.on(Response)
    def finish(self, ctx: wl.Context, src: wl.NodeId, msg: Response) -> None:
        self.counter += 1
        self.phase = Phase.FINISHED


@wl.safety
def counters_are_bounded(view: wl.View) -> bool:
    """A node asks, answers and is answered once each."""
    return view.for_each_node(lambda view, node: view[node].counter <= 3)


@wl.sometimes
def both_finish(view: wl.View) -> bool:
    """Both nodes can get their answers."""
    return view.for_each_node(lambda view, node: view[node].phase is Phase.FINISHED)


def system() -> wl.System:
    """Return the two nodes on a network that loses nothing."""
    a, b = wl.ids("a", "b")
    return wl.System(
        nodes={a: Peer(b), b: Peer(a)},
        network=wl.datagrams(loss=False, duplication=False),
        workload=[wl.whenever(Peer.do_query)],
        properties=[counters_are_bounded, both_finish],
        name="toy",
    )
