"""BitVault: objects with replicas on many nodes, an index of these, and what mends both.

The storage system in which WiDS Checker found three bugs (section 4.3). Objects and nodes
have ids on a ring. The *owner* of an object, the node next to it, keeps in memory which
nodes have a replica on disk: the *index*. Owners have lost replicas copied (repair) and
those too many deleted; holders of replicas tell new owners of them (republish), and move
some to nodes that have fewer (load balancing). Who is up is a matter of opinion: nodes
send heart-beats to their neighbours on the ring, and failures are known after 15 s.

Start reading with ``protocol``; ``membership`` is the view that a node has of the others,
``properties`` says what must hold in the end, and when the end is.

What the paper leaves out is as follows here. Messages are datagrams, which may be lost;
what must arrive is said again until it is answered. A holder tells an owner of all of its
objects at once, so the latest list says all. Views travel with the heart-beats, and a
restarted node has a greater incarnation there. Clients insert at any node, which keeps
the first replica; the owner repairs that object like any other. Every ten minutes an
audit tells owners everything again.

Bugs
----
``wids1``
    Load balancing copies a replica, deletes the source, and tells the owner so. When the
    owner, who has seen four replicas meanwhile, has had the copy deleted, two are left,
    and its index has three. In the fixed protocol the owner lets replicas move, one step
    at a time.
``wids2``
    A list that an owner has taken counts as known to it, though the owner was restarted
    since, before any other node noticed, and has lost its index. In the fixed
    protocol a list is known to one incarnation.
``wids3``
    The paper does not say what its third bug is. Here, lists that reach a node which has
    just started, and has no view yet, are answered and thrown away; so the node does not
    learn what it owns.
"""

from __future__ import annotations

from typing import Any

import worldline as wl
from worldline.zoo._parameters import check_names
from worldline.zoo.bitvault.contents import ContentVault, content_of
from worldline.zoo.bitvault.membership import Membership
from worldline.zoo.bitvault.properties import GAUGES, PROPERTIES
from worldline.zoo.bitvault.protocol import BitVault

_RUNS = {
    "wids1": ("correct_degree", "at 60s crash any, at 90s restart any"),
    "wids2": ("complete_reference", "at 60s crash any, at 65s restart any"),
    "wids3": ("index_ownership", "at 60s crash any, at 90s restart any"),
}
BUGS = {
    "wids": {
        f"bitvault-{bug}": f"simulate zoo:bitvault -p bugs={bug} --property {broken} "
        f"--weather '{weather}' --seconds 200 --seeds 20"
        for bug, (broken, weather) in _RUNS.items()
    }
}
"""By paper and by the name of each bug, the command that finds it."""
SWITCHES = tuple(_RUNS)
_NETWORKS = ("datagrams", "streams")


def system(
    *,
    size: int = 8,
    objects: int = 24,
    degree: int = 3,
    tempo: float = 1.0,
    content: int = 0,
    network: str = "datagrams",
    bugs: tuple[str, ...] = (),
) -> wl.System:
    """Return a BitVault into which clients insert objects at all nodes.

    Parameters
    ----------
    size, objects
        How many nodes there are, and objects inserted.
    degree
        How many replicas each object is to have.
    tempo
        By what all times of the protocol are multiplied: 0.1 is ten times as fast.
    content
        Bytes of each object, which travel with its replicas and can be retrieved; with 0
        objects are their names.
    network
        ``datagrams`` or ``streams``; a datagram has no room for a content above 64,000.
    bugs
        Some of `SWITCHES`.

    Raises
    ------
    ValueError
        If a bug is unknown, or a number makes no sense.
    """
    check_names("bug", bugs, SWITCHES)
    if min(size, degree) < 1 or objects < 0 or not 0 < tempo < float("inf"):
        raise ValueError("size, degree and tempo must be positive, objects at least 0")
    if network not in _NETWORKS or content < 0:
        raise ValueError(
            f"network is one of {', '.join(_NETWORKS)}, and content at least 0"
        )
    kind = ContentVault if content else BitVault
    nodes = wl.ids(*[f"b{number}" for number in range(1, size + 1)])
    names = [f"o{number}" for number in range(1, objects + 1)]
    return wl.System(
        {
            node: kind(
                me=node,
                members=Membership(me=node, tempo=tempo),
                degree=degree,
                tempo=tempo,
                bugs=tuple(sorted(bugs)),
            )
            for node in nodes
        },
        network=wl.streams() if network == "streams" else wl.datagrams(),
        workload=[
            wl.script(node, [_insertion(name, content) for name in own])
            for place, node in enumerate(nodes)
            if (own := names[place::size])
        ],
        properties=PROPERTIES,
        gauges=GAUGES,
        name="bitvault",
    )


def _insertion(name: str, content: int) -> Any:
    if content:
        return wl.invoke(ContentVault.put, name, content_of(name, content))
    return wl.invoke(BitVault.insert, name)
