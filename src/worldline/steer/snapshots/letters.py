"""The letters by which snapshots are gathered, which companions send each other.

What they are as bytes, `letter_bytes` knows.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, sections 3.1.2, 3.1.4 and 3.1.5.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

HAVE = 4
"""Bytes of the hash of what the asking node has: it tells a few replies from each other, and
does not say whether two checkpoints are the same."""


class Request(NamedTuple):
    """A question for the first checkpoint with a number or a greater one.

    Attributes
    ----------
    gather
        Which gather of the asking node it belongs to; replies name it.
    number
        That of the checkpoint.
    have
        A hash of the last checkpoint of that node that the asking one has, or of all that
        it was told from there if it asks for `BESIDE`; nothing if it has none.
    flags
        `NEWS` if something has changed at the asking node, and is to be looked at by all;
        `BESIDE` if the checkpoints of those beside the node are wanted, too; `BUT` if it
        is said here of which of them not, otherwise of those of whom it was said before.
    life, received
        Up to which message of which life the asking node has received what the other
        sent, and no later than the number says; both 0 if there is nothing new to say.
    without
        Those, by index, whom the asking node asks itself.
    """

    gather: int
    number: int
    have: bytes
    flags: int
    life: int = 0
    received: int = 0
    without: tuple[int, ...] = ()


NEWS, BESIDE, BUT = 1, 2, 4


class ToldCheckpoint(NamedTuple):
    """A checkpoint of a node, in a reply.

    Attributes
    ----------
    node
        Whose it is, by index.
    ahead
        By how much its number is greater than that which was asked for.
    is_difference
        Whether it is compressed against the one that the asking node has; otherwise that of
        another node is against the teller's own, which is like it, and that against nothing.
    body
        The bytes, compressed; nothing if they are those that the asking node has.
    """

    node: int
    ahead: int
    is_difference: bool = False
    body: bytes = b""


class Reply(NamedTuple):
    """Checkpoints, of the node itself and of those beside it.

    All of which it says nothing are those that the asking node has, and have the number
    that was asked for: mostly it says nothing at all.

    Attributes
    ----------
    flags
        `ANEW` if it tells everything, whatever the asking node has; `MORE` if those of the
        others are still to come.
    told
        The checkpoints of which there is something to say.
    without
        Those, by index, whose checkpoints the asking node has, and that are not beside the
        node any more, or did not answer it.
    """

    gather: int
    flags: int = 0
    told: tuple[ToldCheckpoint, ...] = ()
    without: tuple[int, ...] = ()


ANEW, MORE = 1, 2


class Gone(NamedTuple):
    """The checkpoint is not kept any more; `number` is that of the newest."""

    gather: int
    number: int


class Busy(NamedTuple):
    """The node has sent as much as it may, for now."""

    gather: int


class Received(NamedTuple):
    """What a node has received, for one to which it has sent nothing since.

    Attributes
    ----------
    number
        That of its last checkpoint: as every message, this is no earlier than that.
    """

    number: int
    life: int
    received: int


SnapshotLetter: TypeAlias = Request | Reply | Gone | Busy | Received
