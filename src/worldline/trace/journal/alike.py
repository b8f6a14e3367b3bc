"""Messages that came in one after the other and are alike: what they share stands once.

Of a packet that is most of a turn's, all but its fields is known from the one before: who
sent it, in which life, of which class it is; and its time is a little later. So some of them
are one record, a list: ``[ALIKE, sender, incarnation, fields, place, class, time of the
first, its fields ..., time since then, fields of the second ...]``. Of any other shape, of a
part, say, or with numbers beside it, a message is in a record of packets as they came in.
The compiled kernel writes such records (``kernel/journal_block.hpp``); here they are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from worldline.trace.journal.frames import LENGTH, MESSAGE
from worldline.trace.journal.messagepack import pack
from worldline.trace.json_checks import Malformed

ALIKE = 13
"""What such a record begins with."""

_HEAD = 7
"""Elements before the fields of the first."""


def packets_of(spelt: Sequence[Any]) -> bytes:
    """Return the packets for which a record stands, all in one.

    Raises
    ------
    Malformed
        If it stands for none.
    """
    if len(spelt) < _HEAD:
        raise Malformed("", "messages that are alike in nothing")
    _, sender, life, fields, place, number, time, *rest = spelt
    # Whoever reads the packets looks at all else.
    if type(fields) is not int or fields < 0 or type(time) is not int:
        raise Malformed("", "messages that are alike, without their shape")
    step = fields + 1
    if (len(rest) + 1) % step:
        raise Malformed("", "messages that are alike, with fields of others")
    made = []
    try:
        for at in range(0, len(rest) + 1, step):
            if at:
                time += _later(rest[at - 1])
            head = MESSAGE, sender, life, time, place, None, "", number
            frame = pack((*head, *rest[at : at + fields]))
            made.append(len(frame).to_bytes(LENGTH, "big") + frame)
    except OverflowError:
        raise Malformed("", "messages that are alike, of no time") from None
    return b"".join(made)


def _later(time: Any) -> int:
    if type(time) is not int or time < 0:
        raise Malformed("", "a message that is alike, without its time")
    return time
