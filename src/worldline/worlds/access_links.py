"""Access links, of nodes to the network: what they carry in a second, and who waits for whom.

A message occupies the uplink of its sender for as long as its size takes, is under way
for its latency, and then occupies the downlink of its receiver. Each link takes messages
one after the other, in the order in which they come to it. What a node sends to itself
goes over no link.

References
----------
M. Yabandeh et al., "Predicting and Preventing Inconsistencies in Deployed Distributed
Systems", section 5.1: access links of 5 Mbit/s in and 1 Mbit/s out.
"""

from __future__ import annotations

import math
from array import array
from typing import Any, final

from worldline.model.amounts import rate_of
from worldline.model.data.content import canonical_bytes
from worldline.model.data.values import freeze
from worldline.model.errors import ModelError, UsageError
from worldline.model.message import Envelope
from worldline.model.usercode.running import run_pure
from worldline.model.usercode.user_errors import spelt


def capacity_of(text: str) -> float:
    """Read a capacity: a number with ``bit`` or ``B``, and ``k``, ``M`` or ``G`` before.

    Returns
    -------
    float
        Bytes a second.

    Raises
    ------
    UsageError
        If it is none, or carries nothing.

    Examples
    --------
    >>> capacity_of("1Mbit"), capacity_of("500kB")
    (125000.0, 500000.0)
    """
    bits = rate_of(text)
    if bits is None:
        raise UsageError(
            f"{text!r} is no capacity of a link",
            remedy="write what it carries in a second, as in 1Mbit or 500kB",
        )
    return bits / 8


def size_of(message: Any) -> float:
    """Return the bytes of a message: what its class declares, or of its canonical form.

    Raises
    ------
    ModelError
        If what the class declares is no number from 0 on.
    """
    declared = type(message).__worldline_size__
    if declared is None:
        return len(canonical_bytes(freeze(message)))
    size = run_pure(lambda: declared(message)) if callable(declared) else declared
    is_number = isinstance(size, int | float) and not isinstance(size, bool)
    if not is_number or not 0 <= size < math.inf:
        raise ModelError(
            f"the size of {spelt(message)} is {spelt(size)}",
            remedy="let @wl.message(size=...) give a number of bytes",
        )
    return float(size)


@final
class AtDownlink:
    """A message that has come to the downlink of its receiver.

    Attributes
    ----------
    fate
        What becomes of it; see `Courier`.
    """

    __slots__ = ("envelope", "fate")

    def __init__(self, envelope: Envelope, fate: float | None) -> None:
        self.envelope = envelope
        self.fate = fate


@final
class AccessLinks:
    """The links of all nodes, and when each of them is free again.

    Parameters
    ----------
    uplink, downlink
        What each carries in a second, in bytes; None for any amount.
    nodes
        How many there are.

    Attributes
    ----------
    limits_down
        Whether downlinks carry no more than so much.
    """

    __slots__ = ("_down", "_down_free", "_up", "_up_free", "limits_down")

    def __init__(
        self, uplink: float | None, downlink: float | None, nodes: int
    ) -> None:
        self._up, self._down = uplink, downlink
        self._up_free = array("d", bytes(8 * nodes if uplink else 0))
        self._down_free = array("d", bytes(8 * nodes if downlink else 0))
        self.limits_down = downlink is not None

    def leave(self, index: int, message: Any, now: float) -> float:
        """Return when a message that is sent now has left its sender."""
        if self._up is None:
            return now
        free = max(now, self._up_free[index]) + size_of(message) / self._up
        self._up_free[index] = free
        return free

    def come(self, index: int, message: Any, now: float) -> float:
        """Return when a message that comes to the link of its receiver now has arrived."""
        if self._down is None:
            return now
        free = max(now, self._down_free[index]) + size_of(message) / self._down
        self._down_free[index] = free
        return free
