"""Agreement of two checkpoints about the channels between their nodes.

An error carries no number. So one end of a connection may have heard that it broke before
its checkpoint, and the other end is not to hear of it until after its own; or a node has
been reset, and a peer does not know. Then they disagree, and can still be parts of one
state: one in which the connection broke, and its error is under way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from worldline.steer.snapshots.records import (
    ChannelRecord,
    MemberRecord,
    UnreceivedMessage,
)

NOTHING = ChannelRecord(0, 0, (), None, None, 0, (), None)
"""What a node knows of its channels with a peer with which it had nothing to do."""


def has_orphans(members: Mapping[int, MemberRecord]) -> bool:
    """Say whether some member has received what its sender has not sent.

    Of checkpoints that belong together none has: only where a process was killed, and
    with it what it knew of its numbers, or somebody lies.
    """
    for index, member in members.items():
        for peer, mine in member.channels.items():
            other = members.get(peer)
            if other is not None and _has_orphan(
                mine, other, other.channels.get(index, NOTHING)
            ):
                return True
    return False


def _has_orphan(
    mine: ChannelRecord, other: MemberRecord, theirs: ChannelRecord
) -> bool:
    known = mine.heard or mine.closed
    if known is None or known.life < other.life:
        return False
    return (
        known.life > other.life
        or mine.received > theirs.sent
        or known.connection > theirs.connection
        or (bool(mine.others) and max(mine.others) > theirs.sent)
    )


def is_left_over(
    mine: ChannelRecord, me: MemberRecord, theirs: ChannelRecord, other: MemberRecord
) -> bool:
    """Say whether this end still has a connection that the other end has lost."""
    return (
        (mine.heard is not None and mine.heard < (other.life, theirs.connection))
        or (me.life, mine.connection) == theirs.closed
        or (mine.life is not None and mine.life < other.life)
    )


def is_newly_made(
    mine: ChannelRecord, theirs: ChannelRecord, other: MemberRecord
) -> bool:
    """Say whether this end has heard the other one on the connection that that one has."""
    return mine.heard == (other.life, theirs.connection)


def under_way(
    tail: tuple[UnreceivedMessage, ...], life: int, theirs: ChannelRecord
) -> Iterator[UnreceivedMessage]:
    """Yield what was sent in a life, but for what the receiver has received of it."""
    known = theirs.heard or theirs.closed
    if known is None or known.life < life:
        yield from tail
        return
    for message in tail:
        if message.number > theirs.received and message.number not in theirs.others:
            yield message
