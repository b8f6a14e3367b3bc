"""Messages between the nodes of a BitVault.

The ``key`` of a message is the name of an object.
"""

from __future__ import annotations

import worldline as wl

# ------------------------------------------------------------------------ membership


@wl.message
class Heartbeat:
    """I am up, and this is whom I take to be.

    Attributes
    ----------
    members
        Of each node its incarnation, and whether that one has fallen silent.
    load
        How many replicas the sender has.
    """

    members: tuple[tuple[wl.NodeId, int, bool], ...]
    load: int


# ----------------------------------------------------------------------------- index


@wl.message
class IndexPublish:
    """These are all replicas that I have of objects that you own, as I see it.

    Attributes
    ----------
    incarnation
        The sender's.
    number
        Greater than in what the sender said before.
    """

    incarnation: int
    number: int
    objects: frozenset[str]


@wl.message
class IndexPublished:
    """I have taken your list of this number.

    Attributes
    ----------
    incarnation
        The sender's: the list is forgotten with it.
    """

    incarnation: int
    number: int


@wl.message
class IndexMove:
    """My replica is at `target` now. Only the first load balancing says so."""

    key: str
    target: wl.NodeId


# -------------------------------------------------------------------------- replicas


@wl.message
class RepairRequest:
    """I own an object of which you have a replica: copy it to `target`."""

    key: str
    target: wl.NodeId


@wl.message
class StoreReplica:
    """Have this replica.

    Attributes
    ----------
    moved
        Whether the sender deletes its own once it is stored.
    """

    key: str
    moved: bool = False


@wl.message
class StoreContent:
    """Have this replica, with what is in it; see `StoreReplica`."""

    key: str
    content: bytes
    moved: bool


@wl.message
class Stored:
    """I have the replica that you move to me."""

    key: str


@wl.message
class DeleteReplica:
    """I own an object that has too many replicas: delete yours."""

    key: str


@wl.message
class MoveRequest:
    """Let my replica move to `target`, who has fewer."""

    key: str
    target: wl.NodeId


# ------------------------------------------------------------------------- retrieval


@wl.message
class Retrieve:
    """Send the content of an object to `reader`.

    Attributes
    ----------
    forwarded
        Whether its owner has already said who has it.
    """

    key: str
    reader: wl.NodeId
    forwarded: bool = False


@wl.message
class Content:
    """Have the content of an object that you asked for."""

    key: str
    content: bytes
