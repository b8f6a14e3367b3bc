"""Messages between the nodes of an Overcast."""

from __future__ import annotations

import worldline as wl


@wl.message
class Join:
    """Find `joiner` a parent.

    Attributes
    ----------
    attempt
        Which of the joiner's attempts to find a place this is.
    moves
        Whether the joiner has a parent already, and asks the receiver alone.
    """

    joiner: wl.NodeId
    attempt: int
    moves: bool = False


@wl.message
class JoinReply:
    """The sender has taken the receiver in, at this attempt."""

    attempt: int


@wl.message
class Refused:
    """The sender does not take in the receiver, who wants to move."""

    attempt: int


@wl.message
class Remove:
    """The sender is no kid of the receiver by any attempt up to this one."""

    attempt: int


@wl.message
class ReOrg:
    """The sender's parent and kids, among whom the receiver may look for a place."""

    gramps: wl.NodeId
    brothers: tuple[wl.NodeId, ...]


@wl.message
class Lock:
    """Stay where you are: the sender, whose parent and grandparent these are, may move."""

    attempt: int
    papa: wl.NodeId
    gramps: wl.NodeId


@wl.message
class LockGranted:
    """The sender stays where it is until it is unlocked."""

    attempt: int


@wl.message
class LockDenied:
    """The sender may move itself, or is not where the receiver believes it to be."""

    attempt: int


@wl.message
class Unlock:
    """The sender does not need the receiver's lock any more."""


@wl.message
class Probe:
    """One of the messages whose answers are timed."""

    attempt: int


@wl.message
class ProbeReply:
    """The answer to a probe."""

    attempt: int
