"""What a Chord ring must satisfy; the papers' names are in the docstrings.

The properties of the ring and of the fingers are of liveness: joins and failures break
both for a while. How sure it is that such a while is over says a confidence, which
grows with the time since the last of them.
"""

from __future__ import annotations

from bisect import bisect_left

import worldline as wl
from worldline.zoo.chord.protocol import Chord, State
from worldline.zoo.chord.ring import is_between, key_of

RING_SECONDS, FINGER_SECONDS = 10.0, 20.0
"""How long after the last join or failure ring and fingers are to be right."""


@wl.safety
def alone_on_both_sides(view: wl.View) -> None:
    """CH-S1: who is its own predecessor is its own and only successor."""
    for node in view:
        known = view[node]
        others = [other for other in known.successors if other != node]
        assert known.predecessor != node or not others, (
            f"{node} is its own predecessor, and has the successors {others}"
        )


@wl.safety
def predecessor_is_nearest(view: wl.View) -> None:
    """CH-S2: no successor lies between a node and its predecessor."""
    for node in view:
        known = view[node]
        if known.predecessor is None:
            continue
        before = key_of(known.predecessor)
        for other in known.successors:
            assert not is_between(key_of(other), before, known.key, known.bits), (
                f"{other} is a successor of {node}, "
                f"and between it and its predecessor {known.predecessor}"
            )


@wl.safety
def find_queue_is_bounded(view: wl.View) -> bool:
    """CH-S3: no node keeps more requests to join than there are nodes."""
    return view.for_each_node(
        lambda view, node: len(view[node].find_queue) <= len(view.nodes)
    )
