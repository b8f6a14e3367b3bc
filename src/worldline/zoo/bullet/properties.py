"""Properties of Bullet'; that of the paper bears its name in the catalogue."""

from __future__ import annotations

import worldline as wl
from worldline.zoo.bullet.messages import Block, Diff, PeerAck, PeerReq

STALL_SECONDS = 10.0
"""How long the mesh may make no progress: each of its periods many times."""

_CHURN = (wl.Kind.CRASH, wl.Kind.RESET, wl.Kind.RESTART, wl.Kind.TRANSPORT_ERROR)


@wl.safety
def views_are_complete(view: wl.View) -> bool:
    """BU-S1: what a receiver knows of a sender's file map, or will, is all of it."""
    return view.for_each_pair(
        lambda view, one, other: (
            knows_all(view, one, other) and knows_all(view, other, one)
        )
    )


def knows_all(view: wl.View, receiver: wl.NodeId, sender: wl.NodeId) -> bool:
    """Say whether nothing that a sender has will stay unknown to a receiver.

    What it has is what the receiver knows, what the shadow map holds, and what is under
    way. Only the two together are asked: while one of them is down or has forgotten the
    other, or the receiver is about to be told everything again, there is nothing to say.
    """
    known = view[receiver].known.get(sender)
    owed = view[sender].shadow.get(receiver)
    if known is None or owed is None:
        return True
    if not (view.is_up(receiver) and view.is_up(sender)):
        return True
    if view.messages(PeerReq, src=receiver, dst=sender):
        return True
    told = known | owed
    for kind in (PeerAck, Diff):
        for envelope in view.messages(kind, src=sender, dst=receiver):
            told |= envelope.message.blocks
    return bool(told == view[sender].have)


@wl.gauge(initial=0.0)
def last_progress(value: float, step: wl.TimedStep, view: wl.View) -> float:
    """Return when a block last came, a node began, failed, or heard of a failure."""
    event = step.event
    is_progress = (
        event.kind is wl.Kind.CALL
        or event.kind in _CHURN
        or (event.kind is wl.Kind.DELIVER and isinstance(event.payload, Block))
    )
    return step.time if is_progress else value


def stalled(view: wl.View) -> float:
    """Return how sure it is that the download goes no further; not while one is down."""
    if not view.for_each_node(lambda view, node: view.is_up(node)):
        return 0.0
    progress: float = view.gauge("last_progress")
    return min(1.0, (view.time - progress) / STALL_SECONDS)


@wl.liveness(confidence=stalled)
def all_finish(view: wl.View) -> bool:
    """BU-L1: in the end every node that is up has the whole file."""
    return view.for_each_node(
        lambda view, node: not view.is_up(node) or view[node].has_finished()
    )


@wl.sometimes
def all_have_finished(view: wl.View) -> bool:
    """The file can arrive everywhere."""
    return view.for_each_node(lambda view, node: view[node].has_finished())


PROPERTIES = (views_are_complete, all_finish, all_have_finished)
GAUGES = (last_progress,)
