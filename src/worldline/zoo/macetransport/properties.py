"""What a MaceTransport must satisfy; the names of the catalogue are in the docstrings.

That no handler raises (MT-S6) holds of every system.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.macetransport.messages import Ack, first_of


@wl.safety
def delivered_once_in_order(view: wl.View) -> bool:
    """MT-S1: of each attempt, the messages come in order, and none comes twice."""
    return all(not view[node].disorder for node in view.nodes)


@wl.safety
def timers_are_those_in_flight(view: wl.View) -> bool:
    """MT-S2: a retransmission timer is set for each packet in flight, and no other."""
    return view.for_each_node(_has_its_timers)


def _has_its_timers(view: wl.View, node: wl.NodeId) -> bool:
    out = view[node].transport.out
    inflight = {(dst, seq) for dst in out for seq in out[dst].inflight}
    timers = view.timers(node, "retransmission")
    return {timer.payload for timer in timers} == inflight


@wl.safety
def acks_are_founded(view: wl.View) -> bool:
    """MT-S3: nothing is acknowledged before all up to it has arrived."""
    return view.for_each_node(_is_told_the_truth)


def _is_told_the_truth(view: wl.View, node: wl.NodeId) -> bool:
    return all(
        view[one.src]
        .transport.arrived[node]
        .issuperset(range(first_of(one.message.seq), one.message.seq + 1))
        for one in view.messages(Ack, dst=node)
    )


@wl.safety
def messages_are_whole(view: wl.View) -> bool:
    """MT-S4: a message is delivered only when all of its fragments have arrived."""
    return all(not view[node].transport.torn for node in view.nodes)


@wl.safety
def room_is_told_on_request(view: wl.View) -> bool:
    """MT-S5: nobody is told of room more often than it has asked."""
    return all(min(view[node].asked.values(), default=0) >= 0 for node in view.nodes)


@wl.liveness
def all_is_acknowledged(view: wl.View) -> bool:
    """MT-L1: in the end all that was sent is acknowledged, and nothing waits."""
    return view.for_each_node(_waits_for_nothing)


def _waits_for_nothing(view: wl.View, node: wl.NodeId) -> bool:
    return all(not one.unacknowledged for one in view[node].transport.out.values())


@wl.liveness
def both_ends_agree(view: wl.View) -> bool:
    """MT-L1: in the end the receiver of an open connection has all that was sent."""
    return all(
        view[peer].transport.incoming[node].next_deliver == out.curseq + 1
        for node in view.nodes
        for peer, out in view[node].transport.out.items()
        if node in view[peer].transport.incoming
    )


@wl.liveness
def all_is_delivered(view: wl.View) -> bool:
    """MT-L2: in the end the last attempt of every sender has arrived as a whole."""
    return all(
        view[peer].heard.get((node, view[node].attempts.get(peer, 0)), 0)
        == view[node].messages
        for node in view.nodes
        for peer in view[node].peers
    )


SAFETY = [
    delivered_once_in_order,
    timers_are_those_in_flight,
    acks_are_founded,
    messages_are_whole,
    room_is_told_on_request,
]
LIVENESS = [all_is_acknowledged, both_ends_agree, all_is_delivered]
