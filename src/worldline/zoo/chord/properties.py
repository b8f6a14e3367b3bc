"""Properties of a Chord ring; the papers' names are in the docstrings.

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
"""What happens when a node fails, and what tells another of it."""


@wl.gauge(initial=frozenset())
def joining(
    value: frozenset[wl.NodeId], step: wl.TimedStep, view: wl.View
) -> frozenset[wl.NodeId]:
    """Return the nodes that are joining, without a look at those where nothing was."""
    node = step.node
    if node is None:
        return value
    is_joining = view.is_up(node) and view[node].state is State.JOINING
    return value if is_joining is (node in value) else value ^ {node}


@wl.gauge(initial=0.0)
def last_churn(value: float, step: wl.TimedStep, view: wl.View) -> float:
    """Return when a node was last joining, failed, or heard of a failure."""
    is_churn = step.event.kind in _FAILURES or view.gauge("joining")
    return step.time if is_churn else value


def stabilized(view: wl.View) -> float:
    """Return how sure it is that the ring has settled: figure 2 of WiDS Checker."""
    churn: float = view.gauge("last_churn")
    return min(1.0, (view.time - churn) / RING_SECONDS)


def fingers_settled(view: wl.View) -> float:
    """Return how sure it is that the fingers have settled, which takes longer."""
    churn: float = view.gauge("last_churn")
    return min(1.0, (view.time - churn) / FINGER_SECONDS)


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


@wl.liveness(confidence=stabilized)
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


@wl.liveness(confidence=fingers_settled)
def correct_fingers(view: wl.View) -> None:
    """CH-L2: every finger is the first node at or behind where it begins."""
    ring = sorted(key_of(node) for node in view if is_in_ring(view, node))
    for node in view:
        if not is_in_ring(view, node):
            continue
        for number, finger in enumerate(view[node].fingers):
            start = view[node].start_of(number)
            right = ring[bisect_left(ring, start) % len(ring)]
            is_right = finger is not None and key_of(finger) == right
            assert is_right, (
                f"finger {number} of {node}, which begins at {start}, "
                f"is {finger} and not n{right}"
            )


OF_RING = (
    alone_on_both_sides,
    predecessor_is_nearest,
    find_queue_is_bounded,
    ring_consistency,
)
OF_FINGERS = (correct_fingers,)
GAUGES = (joining, last_churn)
