"""Messages between the nodes of a RandTree."""

from __future__ import annotations

import enum
from typing import TypeAlias

import worldline as wl


class Status(enum.Enum):
    """What becomes of a Join."""

    ACCEPTED = "accepted"
    ROOT_FORCE = "root force"
    LOOP_ERROR = "loop error"


@wl.message
class Join:
    """Find `joiner` a parent.

    Attributes
    ----------
    attempt
        Which of the joiner's attempts this is.
    redirected_by
        The root that had no room, and sends the joiner down its tree.
    """

    joiner: wl.NodeId
    attempt: int
    redirected_by: wl.NodeId | None = None


@wl.message
class JoinReply:
    """You are my child, or have to be the root, or are my root already.

    Attributes
    ----------
    attempt
        Which of the receiver's attempts this answers.
    root
        The root to believe in.
    siblings
        The other children, if the sender is the root.
    """

    status: Status
    attempt: int
    root: wl.NodeId
    siblings: frozenset[wl.NodeId] = frozenset()


@wl.message
class Remove:
    """I am not your child."""


@wl.message
class Rejoin:
    """You are not my child any more; look for another parent."""


@wl.message
class UpdateSiblings:
    """I am your parent and the root; these are my other children now."""

    root: wl.NodeId
    siblings: frozenset[wl.NodeId]


@wl.message
class NewRoot:
    """Our tree has another root."""

    root: wl.NodeId


@wl.message
class Probe:
    """My tree has this root; tell me if yours is another."""

    root: wl.NodeId


@wl.message
class ProbeJoin:
    """There is a tree with a smaller root than yours: join it."""

    root: wl.NodeId


Lasting: TypeAlias = Remove | Rejoin | UpdateSiblings | NewRoot
"""What a node has to learn, even if it does so late."""
