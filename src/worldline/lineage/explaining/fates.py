"""Fates of messages under faults."""

from __future__ import annotations

from enum import StrEnum

from worldline.injection.scope import Crash, FaultSet, Loss, in_order
from worldline.injection.subject import SentMessage


class MessageEnd(StrEnum):
    """The end of a message."""

    ARRIVES = "arrives"
    LATE = "late"
    LOST = "lost"
    UNSENT = "not sent"
    """Its sender has crashed: it would have been sent."""
    UNHEARD = "not heard"
    """It arrives where nobody is up."""


def fate(sent: SentMessage, faults: FaultSet) -> MessageEnd:
    """Return what becomes of a message of a run under faults.

    Examples
    --------
    >>> sent = SentMessage("a", "b", 3, "hello", None)
    >>> str(fate(sent, frozenset({Crash(2, "a"), Crash(4, "b")})))
    'not sent'
    """
    if sent.arrived is not None:
        return MessageEnd.ARRIVES if sent.arrived == sent.time + 1 else MessageEnd.LATE
    return fate_of_link(sent.src, sent.dst, sent.time, faults) or MessageEnd.LOST


def fate_of_link(src: str, dst: str, time: int, faults: FaultSet) -> MessageEnd | None:
    """Return what faults do to all that is sent on a link in a round, if anything."""
    if any(isinstance(f, Crash) and silences(f, src, dst, time) for f in faults):
        return MessageEnd.UNSENT
    if Loss(time, src, dst) in faults:
        return MessageEnd.LOST
    if any(isinstance(f, Crash) and down(f, dst, time + 1) for f in faults):
        return MessageEnd.UNHEARD
    return None


def nodes_of(faults: FaultSet) -> list[str]:
    """Return the nodes that faults name, in the order of time."""
    named: dict[str, None] = {}
    for fault in in_order(faults):
        ends = [fault.node] if isinstance(fault, Crash) else [fault.src, fault.dst]
        named |= dict.fromkeys(ends)
    return [*named]


def silences(crash: Crash, src: str, dst: str, time: int) -> bool:
    """Say whether a crash keeps a node from sending to another one in a round."""
    reached = time == crash.time and dst in crash.reaches
    return down(crash, src, time) and not reached


def down(crash: Crash, node: str, time: int) -> bool:
    """Say whether a crash has a node down in a round."""
    until = time + 1 if crash.until is None else crash.until
    return crash.node == node and crash.time <= time < until
