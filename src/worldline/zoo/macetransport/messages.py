"""What two ends of a MaceTransport send each other, and how a message is cut up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import worldline as wl

FIRST, STRIDE = 2001, 4000
"""The number with which a node's first connection begins, and how far the next is.

Mace draws it at random. Counted, no two connections share a number.
"""


@wl.message
class Data:
    """A message in one piece.

    Attributes
    ----------
    syn
        Of the first of a connection, the identifier of the connection; else 0.
    """

    seq: int
    syn: int
    message: Any


@wl.message
class DataFragment:
    """The first piece of a message that takes several, and how many it takes.

    What is cut up are bytes. A message of a model has none, so all of it travels here,
    but counts only with the other fragments.
    """

    seq: int
    syn: int
    nfrag: int
    message: Any


@wl.message
class Fragment:
    """Another piece of a message: number `frag`, of which the first is 0."""

    seq: int
    frag: int


@wl.message
class Ack:
    """All up to `seq` has arrived."""

    seq: int


@wl.message
class Reset:
    """What has number `seq` belongs to no connection that is open here."""

    seq: int


Segment: TypeAlias = Data | DataFragment | Fragment


@dataclass(frozen=True)
class Packet:
    """A piece of a message, as its sender keeps it until it is acknowledged.

    Attributes
    ----------
    retries
        How often it was sent again, as far as that makes the next time-out longer.
    """

    seq: int
    syn: int
    frag: int
    nfrag: int
    message: Any
    retries: int = 0

    @property
    def segment(self) -> Segment:
        """What is sent of it."""
        if self.frag:
            return Fragment(self.seq, self.frag)
        if self.nfrag > 1:
            return DataFragment(self.seq, self.syn, self.nfrag, self.message)
        return Data(self.seq, self.syn, self.message)


def first_of(seq: int) -> int:
    """Return the number with which a connection begins that has number `seq`."""
    return seq - (seq - FIRST) % STRIDE
