"""Properties of a RandTree; the names of the papers are in the docstrings.

A node "takes itself for the root" when it is joined and its own root. While it is
joining, it is its own root only until it has found another: CrystalBall's figures
mark a root only in the joined state, too.

Each but the last is said node by node: of what a node and its neighbours know, it can
be judged where no more is known.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.randtree.protocol import State


@wl.safety
def no_loops(view: wl.View) -> bool:
    """RT-S1: parents lead to a node that is its own root, or is not joined."""
    return view.for_each_node(_leads_up)


def _leads_up(view: wl.View, node: wl.NodeId) -> None:
    seen = [node]
    while view[seen[-1]].state is State.JOINED and not view[seen[-1]].is_root():
        parent = view[seen[-1]].parent
        if parent is None:
            break
        path = " -> ".join(map(str, [*seen, parent]))
        assert parent not in seen, f"parent pointers form a loop: {path}"
        seen.append(parent)


@wl.safety
def timers(view: wl.View) -> bool:
    """RT-S2: either a node has yet to join, or its recovery timer is set."""
    return view.for_each_node(_joins_or_recovers)


def _joins_or_recovers(view: wl.View, node: wl.NodeId) -> None:
    waits = view[node].state is State.INIT
    runs = bool(view.timers(node, "recovery"))
    assert waits != runs or not view.is_up(node), (
        f"{node} is {view[node].state.value}, "
        f"and its recovery timer is {'set' if runs else 'not set'}"
    )


@wl.safety
def joined_under_a_parent(view: wl.View) -> bool:
    """RT-S3: who has joined has a parent or is the root."""
    return view.for_each_node(_is_placed)


def _is_placed(view: wl.View, node: wl.NodeId) -> None:
    known = view[node]
    placed = known.is_root() or known.parent is not None
    assert known.state is not State.JOINED or placed, (
        f"{node} has joined below {known.root} but has no parent"
    )


@wl.safety
def forced_root_agrees(view: wl.View) -> bool:
    """RT-S4: who is forced to be the root already was its own."""
    return view.for_each_node(_is_rightly_forced)


def _is_rightly_forced(view: wl.View, node: wl.NodeId) -> None:
    assert not view[node].misforced, f"{node} was forced to be another's root"


@wl.safety
def joins_as_its_own_root(view: wl.View) -> bool:
    """RT-S5: the joining state and the root pointer agree."""
    return view.for_each_node(_is_its_own_root)


def _is_its_own_root(view: wl.View, node: wl.NodeId) -> None:
    known = view[node]
    assert known.state is not State.JOINING or known.is_root(), (
        f"{node} is joining but believes in the root {known.root}"
    )


@wl.safety
def children_are_not_siblings(view: wl.View) -> bool:
    """RT-S6: no node is a child and a sibling of the same node."""
    return view.for_each_node(_tells_children_from_siblings)


def _tells_children_from_siblings(view: wl.View, node: wl.NodeId) -> None:
    both = view[node].children & view[node].siblings
    assert not both, f"{node} has {both} among its children and its siblings"


@wl.safety
def root_is_above(view: wl.View) -> bool:
    """RT-S7: no node has its root among its children or siblings."""
    return view.for_each_node(_is_below_its_root)


def _is_below_its_root(view: wl.View, node: wl.NodeId) -> None:
    known = view[node]
    assert known.root not in known.children, f"{known.root} is root and child of {node}"
    assert known.root not in known.siblings, (
        f"{known.root} is root and sibling of {node}"
    )


@wl.safety
def root_has_no_siblings(view: wl.View) -> bool:
    """RT-S8: a node that takes itself for the root has no siblings."""
    return view.for_each_node(_is_alone_as_root)


def _is_alone_as_root(view: wl.View, node: wl.NodeId) -> None:
    known = view[node]
    leads = known.state is State.JOINED and known.is_root()
    assert not (leads and known.siblings), (
        f"{node} is a root, and has the siblings {known.siblings}"
    )


@wl.safety
def recovery_runs(view: wl.View) -> bool:
    """RT-S9: the recovery timer of a node that has begun to join is always set."""
    return view.for_each_node(_recovers)


def _recovers(view: wl.View, node: wl.NodeId) -> None:
    waits = view[node].state is State.INIT
    runs = bool(view.timers(node, "recovery"))
    assert waits or runs or not view.is_up(node), (
        f"the recovery timer of {node} is not set"
    )


@wl.liveness
def one_spanning_tree(view: wl.View) -> bool:
    """RT-L1: in the end all live nodes are in one tree, which both ends know of."""
    nodes = list(filter(view.is_up, view))
    if any(view[node].state is not State.JOINED for node in nodes):
        return False
    roots = [node for node in nodes if view[node].get_parent() == node]
    return (
        len(roots) == 1
        and all(view[node].root == roots[0] for node in nodes)
        and all(_kids_match(view, node) for node in nodes)
        and _siblings_match(view, roots[0])
    )


def _kids_match(view: wl.View, node: wl.NodeId) -> bool:
    parent = view[node].get_parent()
    above = parent == node or (parent is not None and node in view[parent].children)
    return above and all(view[kid].parent == node for kid in view[node].children)


def _siblings_match(view: wl.View, root: wl.NodeId) -> bool:
    kids = view[root].children
    return all(view[kid].siblings == kids - {kid} for kid in kids)


PROPERTIES = [
    no_loops,
    timers,
    joined_under_a_parent,
    forced_root_agrees,
    joins_as_its_own_root,
    children_are_not_siblings,
    root_is_above,
    root_has_no_siblings,
    recovery_runs,
    one_spanning_tree,
]
