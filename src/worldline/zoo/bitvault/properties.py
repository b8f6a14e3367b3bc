"""What a BitVault must satisfy once it is stable, and when it is taken to be.

The owner of an object is meant as nobody in the system knows it: among all nodes that
are up.

References
----------
WiDS Checker, section 4.3: the three properties, and a stabilisation measure based on
membership changes.
"""

from __future__ import annotations

from collections.abc import Iterator

import worldline as wl
from worldline.zoo.bitvault.protocol import BitVault
from worldline.zoo.bitvault.ring import owner_of, ring


def up(view: wl.View) -> list[wl.NodeId]:
    """Return the nodes that are up, in the order of the ring."""
    return ring(filter(view.is_up, view.of(BitVault)))


def replicas(view: wl.View) -> Iterator[tuple[wl.NodeId, str]]:
    """Yield the replicas of the nodes that are up."""
    for node in up(view):
        for key in view[node].replicas:
            yield node, key


def index_ownership(view: wl.View) -> bool:
    """BV-L1: the owner of each object has an index of it."""
    circle = up(view)
    return all(key in view[owner_of(key, circle)].index for _, key in replicas(view))


def complete_reference(view: wl.View) -> bool:
    """BV-L2: no index names a node without the replica, and each replica is in the index."""
    return not dangling(view) and not orphans(view)


def dangling(view: wl.View) -> list[tuple[wl.NodeId, str, wl.NodeId]]:
    """Return the references to nothing: who has them, of which object, to whom."""
    has = set(replicas(view))
    return [
        (node, key, holder)
        for node in up(view)
        for key, holders in view[node].index.items()
        for holder in holders
        if (holder, key) not in has
    ]


def orphans(view: wl.View) -> list[tuple[wl.NodeId, str]]:
    """Return the replicas, each with its node, that the owner of the object ignores."""
    circle = up(view)
    return [
        (node, key)
        for node, key in replicas(view)
        if node not in view[owner_of(key, circle)].index.get(key, ())
    ]


def correct_degree(view: wl.View) -> bool:
    """BV-L3: each object has as many replicas as it is to have.

    Fewer if not so many nodes are up; none while those that have one are down.
    """
    circle = up(view)
    everywhere = {key for node in view for key in view[node].replicas}
    for key in sorted({key for node in view for key in view[node].inserted}):
        count = sum(key in view[node].replicas for node in circle)
        wanted = min(view[view.nodes[0]].degree, len(circle))
        if count != wanted and (count or key not in everywhere):
            return False
    return True
