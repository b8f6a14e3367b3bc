"""The ring of ids: who owns which objects, and who is next to whom.

Nodes and objects have ids of 160 bits: the SHA-1 of their names, which stand for the
content of objects. A node owns the ids from behind its predecessor's up to its own.
"""

from __future__ import annotations

import functools
import hashlib
from bisect import bisect_left
from collections.abc import Iterable

import worldline as wl

REACH = 2
"""How many nodes a node has for neighbours on either side."""


@functools.cache
def id_of(name: str) -> int:
    """Return the id of a node or an object."""
    digest = hashlib.sha1(name.encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest, "big")


def share_of(node: wl.NodeId) -> float:
    """Return the share of the ring before a node's id: when in a period it begins.

    So nodes that start together do not do everything together. A choice would do it as
    well, but would make a start state of each combination.
    """
    return float(id_of(node.name) >> 128) / 2**32


def _id_of_node(node: wl.NodeId) -> int:
    return id_of(node.name)


def ring(nodes: Iterable[wl.NodeId]) -> list[wl.NodeId]:
    """Return nodes in the order of their ids."""
    return sorted(nodes, key=_id_of_node)


def owner_of(key: str, circle: list[wl.NodeId]) -> wl.NodeId:
    """Return the owner of an object, by its name, among the nodes of a ring."""
    place = bisect_left(circle, id_of(key), key=_id_of_node)
    return circle[place % len(circle)]


def neighbours(me: wl.NodeId, circle: list[wl.NodeId]) -> list[wl.NodeId]:
    """Return the nodes next to one of a ring, on both sides; none twice."""
    place = circle.index(me)
    steps = [step for step in range(-REACH, REACH + 1) if step]
    near = [circle[(place + step) % len(circle)] for step in steps]
    return sorted({node for node in near if node != me})
