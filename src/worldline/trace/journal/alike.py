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

from worldline.trace.journal.frames import MESSAGE, packet
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
    if len(spelt) < _HEAD or set(map(type, spelt[:_HEAD])) != {int}:
        raise Malformed("", "messages that are alike in nothing")
    _, sender, life, fields, place, number, time = spelt[:_HEAD]
    step = fields + 1
    if fields < 0 or (len(spelt) - _HEAD + 1) % step:
        raise Malformed("", "messages that are alike, with fields of others")
    made = []
    try:
        for at in range(_HEAD - 1, len(spelt), step):
            if at >= _HEAD:
                time += _later(spelt[at])
            frame = MESSAGE, sender, life, time, place, None, "", number
            made.append(packet(pack((*frame, *spelt[at + 1 : at + step]))))
    except OverflowError:
        raise Malformed("", "messages that are alike, of no time") from None
    return b"".join(made)


def _later(time: Any) -> int:
    if type(time) is not int or time < 0:
        raise Malformed("", "a message that is alike, without its time")
    return time
