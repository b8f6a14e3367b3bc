"""Boxwood's lock server, whose clients keep locks until others want them.

Many clients, each of several threads, share locks for readers and writers. A thread wants
a lock, uses it for a while, rests, and begins again. What a client was granted it keeps
for all of its threads, until the server revokes it for another client. The protocol is in
``server``, the threads are in ``client``, and ``properties`` says what must hold.

Bugs
----
wids1
    A livelock. A client that shares a lock and wants it exclusively has to release it
    first, which the server denies while it revokes the lock. The thread tries again at
    once, and so the revoking thread finds the lock being released, again and again; only
    by luck it runs in between. The fix: who was denied waits for the revoking thread.
wids2
    A deadlock. Releases share the client's sockets with acquisitions, which the server
    answers late. A client's only socket is taken by a thread that acquires a lock which
    another client has to give back; that client waits for a lock of the first, which
    cannot give it back either, since another thread is about to release it and waits for
    the socket. The fix: sockets for releases alone.

The paper sketches the protocol, and says nothing of how threads are scheduled. Here an
event of a thread is a timer; one whose request was answered goes on before those that
were woken, but for one time in a thousand. The answer to a revocation needs no socket.

References
----------
X. Liu, W. Lin, A. Pan and Z. Zhang, "WiDS Checker: Combating Bugs in Distributed
Systems", NSDI 2007, section 4.2.
J. MacCormick, N. Murphy, M. Najork, C. A. Thekkath and L. Zhou, "Boxwood: Abstractions as
the Foundation for Storage Infrastructure", OSDI 2004: the lock server.
"""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.lockserver.client import Client, Thread
from worldline.zoo.lockserver.properties import GAUGES, PROPERTIES
from worldline.zoo.lockserver.server import Server

SWITCHES = ("wids1", "wids2")
_SIMULATE = "simulate zoo:lockserver -p bugs="
BUGS = {
    "wids": {
        "lockserver-wids1": f"{_SIMULATE}wids1 --seeds 20 --seconds 60",
        "lockserver-wids2": f"{_SIMULATE}wids2 -p sockets=1 -p rest=1 "
        "--seeds 20 --seconds 30",
    }
}
"""By paper and by the name of each bug, the command that finds it."""


def system(
    *,
    clients: int = 20,
    threads: int = 5,
    locks: int = 4,
    sockets: int = 5,
    rest: float = 3.0,
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return a lock server and its clients.

    Parameters
    ----------
    clients, threads, locks
        How many clients there are, how many threads each has, and how many locks they
        share.
    sockets
        For how many answers of the server a client can wait at once.
    rest
        Seconds for which a thread wants no lock, on average: less is more load.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug is unknown, or a number too small.
    """
    check_names("bug", bugs, SWITCHES)
    if min(clients, threads, locks, sockets) < 1 or rest < 0:
        raise ValueError(
            "clients, threads, locks and sockets are 1 at least, rest is 0"
        )
    server, *others = wl.ids("server", *[f"c{i}" for i in range(1, clients + 1)])
    nodes: dict[wl.NodeId, Any] = {server: Server()}
    for client in others:
        nodes[client] = Client(
            server,
            locks,
            sockets,
            rest,
            frozenset(bugs),
            {number: Thread() for number in range(1, threads + 1)},
        )
    return wl.System(
        nodes=nodes,
        network=wl.streams(buffer=None),
        properties=PROPERTIES,
        gauges=GAUGES,
        # The threads never end.
        done=lambda view: False,
        name="lockserver",
    )
