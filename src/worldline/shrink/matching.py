"""Matching: which message is delivered where the one that is wanted is not under way.

References
----------
Scott et al., "Minimizing Faulty Executions of Distributed Systems" (DEMi), NSDI 2016,
section 3.4: a message may stand for another of its type.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple, final

from worldline.model.data.content import Frozen
from worldline.model.message import Envelope


@final
class Rung(enum.Enum):
    """What a message has in common with the one for which it is taken, exactly first."""

    CAUSE = "cause"
    """Sent by the same step, and the same of its messages, whatever it says."""
    CONTENT = "content"
    """Of the same sender, saying the same."""
    FINGERPRINT = "fingerprint"
    """Of the same sender, saying the same but for numbers; the last that was sent."""
    TYPE_LAST = "type-last"
    """Of the same sender and class; the last that was sent."""
    TYPE_FIRST = "type-first"
    """Of the same sender and class; the first that was sent."""


@final
class Matching(NamedTuple):
    """How the messages of a candidate are found.

    Attributes
    ----------
    rungs
        What is tried, in order.
    flushes
        Whether messages that stand before the one that is taken are delivered first;
        else it counts as absent.
    """

    name: str
    rungs: tuple[Rung, ...]
    flushes: bool = True

    @property
    def is_by_type(self) -> bool:
        """Whether what one is called by is enough: a script's next call stands for it."""
        return self.rungs[-1] in (Rung.TYPE_LAST, Rung.TYPE_FIRST)


EXACT = Matching("exact", (Rung.CAUSE, Rung.CONTENT))
BY_FINGERPRINT = Matching("fingerprint", (Rung.CAUSE, Rung.CONTENT, Rung.FINGERPRINT))
LAST = Matching("last", (*BY_FINGERPRINT.rungs, Rung.TYPE_LAST))
FIRST = Matching("first", (*BY_FINGERPRINT.rungs, Rung.TYPE_FIRST))
ANY_LAST = Matching("any last", (Rung.TYPE_LAST,))
ANY_FIRST = Matching("any first", (Rung.TYPE_FIRST,))

LADDER = tuple(
    matching._replace(flushes=flushes)
    for matching in (EXACT, BY_FINGERPRINT, LAST, FIRST, ANY_LAST, ANY_FIRST)
    for flushes in (True, False)
)
"""All ways to match: from what changes least to what finds most."""


def fingerprint(envelope: Envelope) -> Frozen:
    """Return what a message says, with a hole for each number."""
    return _without_numbers(envelope.key[3])


def _without_numbers(frozen: Any) -> Frozen:
    if type(frozen) is tuple:
        return tuple(map(_without_numbers, frozen))
    return int if type(frozen) is int else frozen
