"""The ring of ids: who owns which objects, and who is next to whom.

Nodes and objects have ids of 160 bits: the SHA-1 of their names, as 40 hexadecimal
digits, so that texts compare as numbers do. A node owns the ids from behind its
predecessor's up to its own.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable

import worldline as wl

REACH = 2
"""How many nodes a node has for neighbours on either side."""


@functools.cache
def id_of(name: str) -> str:
    """Return the id of a node or an object."""
    return hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()


def ring(nodes: Iterable[wl.NodeId]) -> list[wl.NodeId]:
    """Return nodes in the order of their ids."""
    return sorted(nodes, key=lambda node: id_of(node.name))


def owner_of(key: str, circle: list[wl.NodeId]) -> wl.NodeId:
    """Return the owner of an object among the nodes of a ring."""
    later = (node for node in circle if id_of(node.name) >= key)
    return next(later, circle[0])


def neighbours(me: wl.NodeId, circle: list[wl.NodeId]) -> list[wl.NodeId]:
    """Return the nodes next to one of a ring, on both sides; none twice."""
    place = circle.index(me)
    steps = [step for step in range(-REACH, REACH + 1) if step]
    near = [circle[(place + step) % len(circle)] for step in steps]
    return sorted({node for node in near if node != me})
