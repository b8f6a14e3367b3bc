"""What a Chord ring must satisfy; the papers' names are in the docstrings.

The properties of the ring and of the fingers are of liveness: joins and failures break
both for a while. How sure it is that such a while is over says a confidence, which
grows with the time since the last of them.
"""

from __future__ import annotations

from bisect import bisect_left

import worldline as wl
from worldline.zoo.chord.protocol import State
from worldline.zoo.chord.ring import is_between, key_of

RING_SECONDS, FINGER_SECONDS = 10.0, 20.0
"""How long after the last join or failure ring and fingers are to be right."""

_FAILURES = (wl.Kind.CRASH, wl.Kind.RESET, wl.Kind.TRANSPORT_ERROR)


@wl.safety
def alone_on_both_sides(view: wl.View) -> bool:
    """CH-S1: who is its own predecessor is its own and only successor."""
    return view.for_each_node(
        lambda view, node: (
            view[node].predecessor != node or view[node].successors == [node]
        )
    )


@wl.safety
def predecessor_is_nearest(view: wl.View) -> bool:
    """CH-S2: no successor lies between a node and its predecessor."""
    return view.for_each_node(
        lambda view, node: (
            view[node].predecessor is None
            or not any(
                is_between(
                    key_of(other),
                    key_of(view[node].predecessor),
                    view[node].key,
                    view[node].bits,
                )
                for other in view[node].successors
            )
        )
    )


@wl.safety
def find_queue_is_bounded(view: wl.View) -> bool:
    """CH-S3: no node keeps more requests to join than there are nodes."""
    return view.for_each_node(
        lambda view, node: len(view[node].find_queue) <= len(view.nodes)
    )


def is_in_ring(view: wl.View, node: wl.NodeId) -> bool:
    """Say whether a node runs and has joined."""
    return view.is_up(node) and view[node].state is State.JOINED


def ring_consistency(view: wl.View) -> bool:
    """CH-L1: who comes before a node has this node for its successor.

    Every node that runs and has begun to join is asked, as in the paper's figure 2.
    """
    return view.for_each_node(
        lambda view, node: (
            not view.is_up(node)
            or view[node].state is State.INIT
            or follows(view, view[node].predecessor, node)
        )
    )


def follows(view: wl.View, before: object, node: wl.NodeId) -> bool:
    """Say whether `before` is a node in the ring, and `node` its successor."""
    return (
        isinstance(before, wl.NodeId)
        and is_in_ring(view, before)
        and view[before].successors[0] == node
    )


def correct_fingers(view: wl.View) -> None:
    """CH-L2: every finger is the first node at or behind where it begins."""
    ring = sorted(key_of(node) for node in view if is_in_ring(view, node))
    for node in view:
        if not is_in_ring(view, node):
            continue
        for number, finger in enumerate(view[node].fingers):
            start = view[node].start_of(number)
            right = ring[bisect_left(ring, start) % len(ring)]
            assert finger is not None and key_of(finger) == right, (
                f"finger {number} of {node}, which begins at {start}, "
                f"is {finger} and not n{right}"
            )
