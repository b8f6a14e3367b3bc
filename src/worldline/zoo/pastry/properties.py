"""What a Pastry ring must satisfy; the names of the catalogue are in the docstrings."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.pastry.protocol import Pastry


def ring_of(view: wl.View, node: wl.NodeId) -> Pastry:
    """Return the Pastry of a node."""
    pastry: Pastry = view[node].pastry
    return pastry


@wl.safety
def leafset_is_consistent(view: wl.View) -> bool:
    """The two halves of a leafset are what the whole has, and no longer than they may be."""
    return view.for_each_node(
        lambda view, node: (
            set(ring_of(view, node).leaves())
            == {*ring_of(view, node).left, *ring_of(view, node).right} - {node}
            and len(ring_of(view, node).left) <= ring_of(view, node).half
            and len(ring_of(view, node).right) <= ring_of(view, node).half
        )
    )


@wl.safety
def joins_do_not_come_back(view: wl.View) -> bool:
    """PA-S1: no node receives a join that it has sent itself."""
    return view.for_each_node(lambda view, node: not ring_of(view, node).came_back)


@wl.safety
def joins_are_not_swallowed(view: wl.View) -> bool:
    """PA-S2: who gets another's join passed on and is not in the ring says so."""
    return view.for_each_node(lambda view, node: not ring_of(view, node).swallowed)


@wl.liveness
def all_have_joined(view: wl.View) -> bool:
    """PA-L2: in the end all nodes that run are in the ring."""
    return view.for_each_node(
        lambda view, node: not view.is_up(node) or ring_of(view, node).has_joined()
    )


@wl.liveness
def one_ring(view: wl.View) -> bool:
    """PA-L1: in the end the way from each node to the next leads to all that run."""
    nodes = {node for node in view.nodes if view.is_up(node)}
    reached = set[wl.NodeId]()
    node = min(nodes, default=None)
    while node is not None and node not in reached:
        reached.add(node)
        after = ring_of(view, node).right
        node = after[0] if after and after[0] in nodes else None
    return reached == nodes and (len(nodes) < 2 or node == min(nodes))


@wl.liveness
def leafsets_are_mutual(view: wl.View) -> bool:
    """PA-L3: in the end a node is in the leafset of those who are in its own."""
    return all(
        ring_of(view, leaf).space.key(node) in ring_of(view, leaf).leafset
        for node in view.nodes
        if view.is_up(node)
        for leaf in ring_of(view, node).leaves()
    )


PROPERTIES = (
    leafset_is_consistent,
    joins_do_not_come_back,
    joins_are_not_swallowed,
    all_have_joined,
    one_ring,
    leafsets_are_mutual,
)
