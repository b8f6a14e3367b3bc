"""Properties of a Raft cluster: the Raft paper's figure 3, without the obvious one.

That a leader only appends to its log is how it is written here. What a handler raises
is a violation of its own, ``exception``.
"""

from __future__ import annotations

import worldline as wl
from worldline.zoo.raft.log import Log, Reign
from worldline.zoo.raft.protocol import Role


@wl.safety
def election_safety(view: wl.View) -> bool:
    """RA-S1: at most one leader is elected in a term."""
    return view.for_each_pair(
        lambda view, one, other: (
            not (
                {reign.term for reign in view[one].led}
                & {reign.term for reign in view[other].led}
            )
        )
    )


@wl.safety
def log_matching(view: wl.View) -> bool:
    """RA-S2: logs with an entry of one index and term are alike up to there."""
    return view.for_each_pair(
        lambda view, one, other: _match(view[one].log, view[other].log)
    )


def _match(log: Log, other: Log) -> bool:
    index = min(len(log), len(other))
    while index and log.terms[index - 1] != other.terms[index - 1]:
        index -= 1
    return log.agrees(other, index)


@wl.safety
def leader_completeness(view: wl.View) -> bool:
    """RA-S3: what was committed in a term is in the logs of all later leaders.

    A leader's log is that at its election.
    """
    return view.for_each_node(
        lambda view, node: _complete(view[node].led, view[node].decided)
    ) and view.for_each_pair(
        lambda view, one, other: (
            _complete(view[one].led, view[other].decided)
            and _complete(view[other].led, view[one].decided)
        )
    )


def _complete(led: tuple[Reign, ...], decided: tuple[Reign, ...]) -> bool:
    return all(
        reign.term <= made.term or reign.log.agrees(made.log, len(made.log))
        for made in decided
        for reign in led
    )


@wl.safety
def state_machine_safety(view: wl.View) -> bool:
    """RA-S4: no two members apply different entries at one index."""
    return view.for_each_pair(
        lambda view, one, other: _apply_alike(
            view[one].log,
            view[other].log,
            min(view[one].committed, view[other].committed),
        )
    )


def _apply_alike(log: Log, other: Log, committed: int) -> bool:
    return log.agrees(other, min(committed, len(log), len(other)))


@wl.sometimes
def a_leader_is_elected(view: wl.View) -> bool:
    """A member can become the leader."""
    return not view.for_each_node(lambda view, node: view[node].role is not Role.LEADER)


PROPERTIES = (
    election_safety,
    log_matching,
    leader_completeness,
    state_machine_safety,
    a_leader_is_elected,
)
