"""Properties of an Overcast; the names of the catalogue are in the docstrings."""

from __future__ import annotations

import worldline as wl
from worldline.zoo._trees import loop_in
from worldline.zoo.overcast._messages import Lock
from worldline.zoo.overcast._states import Stage, State


@wl.safety
def no_loops(view: wl.View) -> None:
    """OV-S1: parents lead to the root, which is its own parent, or to a newcomer."""
    loop = loop_in(view)
    assert loop is None, f"parent pointers form a loop: {loop}"


@wl.liveness
def one_spanning_tree(view: wl.View) -> bool:
    """OV-L1: in the end all live nodes have a way up to the root.

    That they have a parent is enough, since there are no loops.
    """
    nodes = list(filter(view.is_up, view))
    return all(
        view[node].state is State.JOINED
        and view[node].papa in nodes
        and (node == view[node].root or node in view[view[node].papa].kids)
        for node in nodes
    )


@wl.liveness
def kids_match(view: wl.View) -> bool:
    """In the end nobody takes a node for its kid that has another parent."""
    return all(
        view[kid].papa == node
        for node in filter(view.is_up, view)
        for kid in view[node].kids
    )


@wl.liveness
def locks_are_needed(view: wl.View) -> bool:
    """OV-L1: in the end nobody is locked but by a node that looks for a place.

    A lock that is still asked for counts as one: without what should undo it, it stays.
    """
    return all(
        view.is_up(holder) and _looks_for_a_place(view, holder, node)
        for node in filter(view.is_up, view)
        for holder in _holders(view, node)
    )


def _holders(view: wl.View, node: wl.NodeId) -> list[wl.NodeId]:
    asked = [envelope.src for envelope in view.messages(Lock, dst=node)]
    return [*view[node].locked_by, *asked]


def _looks_for_a_place(view: wl.View, holder: wl.NodeId, node: wl.NodeId) -> bool:
    known = view[holder]
    busy = known.state is State.JOINED and known.stage is not Stage.IDLE
    return busy and node in known.locks


PROPERTIES = [no_loops, one_spanning_tree, kids_match, locks_are_needed]
