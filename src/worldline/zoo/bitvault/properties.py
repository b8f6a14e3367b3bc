"""Properties of a BitVault that is stable, and the test whether it is.

The owner of an object is here the one among all nodes that are up, whatever the views
of nodes are.

References
----------
WiDS Checker, section 4.3: the three properties, and a measure of stabilisation "based
on membership change events". Here copies, deletions and inserts count as well: a
replica on its way is an orphan for as long as the message takes that tells of it.
"""

from __future__ import annotations

from collections import Counter

import worldline as wl
from worldline.zoo.bitvault.membership import SILENCE
from worldline.zoo.bitvault.ring import owner_of, ring

CHURN = frozenset({wl.Kind.CRASH, wl.Kind.RESTART, wl.Kind.RESET})
CHANGES = frozenset(
    {"silence", "insert", "put", "DeleteReplica", "discard"}
    | {"StoreReplica", "StoreContent"}
)
"""The events that begin or end something: faults by their kind, others by their name."""


@wl.gauge(initial=0.0)
def last_change(value: float, step: wl.TimedStep, view: wl.View) -> float:
    """When a node failed, came or was declared dead, or a replica was stored or deleted."""
    event = step.event
    return step.time if event.kind in CHURN or event.name in CHANGES else value


def stabilized(view: wl.View) -> float:
    """From 0 to 1 in twice the time in which a failure is detected, without a change."""
    tempo: float = view[view.nodes[0]].tempo
    quiet: float = view.time - view.gauge("last_change")
    return min(1.0, quiet / (2 * SILENCE * tempo))


def up(view: wl.View) -> list[wl.NodeId]:
    """Return the nodes that are up, in the order of the ring."""
    return ring(node for node in view if view.is_up(node))


@wl.liveness(confidence=stabilized)
def index_ownership(view: wl.View) -> bool:
    """BV-L1: the owner of each object has an index of it."""
    circle = up(view)
    indexes = {node: view[node].index for node in circle}
    stored = {key for node in circle for key in view[node].replicas}
    return all(key in indexes[owner_of(key, circle)] for key in stored)


@wl.liveness(confidence=stabilized)
def complete_reference(view: wl.View) -> bool:
    """BV-L2: no index names a node without the replica, none leaves one out."""
    return not dangling(view) and not orphans(view)


def dangling(view: wl.View) -> list[tuple[wl.NodeId, str, wl.NodeId]]:
    """Return the references to nothing: who has them, of which object, to whom."""
    circle = up(view)
    stored = {node: view[node].replicas for node in circle}
    return [
        (node, key, holder)
        for node in circle
        for key, holders in view[node].index.items()
        for holder in holders
        if key not in stored.get(holder, ())
    ]


def orphans(view: wl.View) -> list[tuple[wl.NodeId, str]]:
    """Return the replicas, each with its node, that the owner of the object ignores."""
    circle = up(view)
    indexes = {node: view[node].index for node in circle}
    return [
        (node, key)
        for node in circle
        for key in view[node].replicas
        if node not in indexes[owner_of(key, circle)].get(key, ())
    ]


@wl.liveness(confidence=stabilized)
def correct_degree(view: wl.View) -> None:
    """BV-L3: each object has as many replicas as it is to have.

    Fewer if not so many nodes are up; none while those that have one are down.
    """
    stored = {node: view[node].replicas for node in view}
    circle = up(view)
    counts = Counter(key for node in circle for key in stored[node])
    on_disks = set[str]().union(*stored.values())
    wanted = min(view[view.nodes[0]].degree, len(circle))
    for node in view:
        for key in view[node].inserted:
            if counts[key] or key not in on_disks:
                assert counts[key] == wanted, f"{key} has {counts[key]} replicas"


GAUGES = [last_change]
PROPERTIES = [index_ownership, complete_reference, correct_degree]
