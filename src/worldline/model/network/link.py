"""One connection between two nodes, seen from one of them.

Both ends keep a `Link`, and every change is applied to both, mirrored; so each can
be questioned alone. The four error and open flags of SimulatorTCP's safety property
(the pairs (1,1,1)/(1,1,1), (1,0,0)/(0,1,1), (0,0,1)/(0,0,1), (0,0,0)/(0,0,0)) are
``error_there``, ``error_here`` and ``mine`` here.
"""

from __future__ import annotations

from typing import Any, final

from worldline.model.data.content import TUPLE
from worldline.model.message import Envelope

CLOSED, OPEN, HALF, UNKNOWN = 0, 1, 2, 3


@final
class Link:
    """The state of a connection and the messages under way to this end.

    Attributes
    ----------
    mine, theirs
        What this end, and the other, believe of the connection over which they
        send: closed, open, or half open (believed open, but the other end forgot).
        What the other believes is unknown, for good, if its node is absent.
    error_here, error_there
        Whether an error is under way to this end, or to the other.
    queue
        Messages under way from the other end to this one.
    """

    __slots__ = ("error_here", "error_there", "mine", "queue", "theirs")

    def __init__(self) -> None:
        self.mine = CLOSED
        self.theirs = CLOSED
        self.error_here = False
        self.error_there = False
        self.queue: list[Envelope] = []

    def connect(self) -> None:
        """A message went through: open both ends, but for one that is stale."""
        if self.mine == CLOSED:
            self.mine = OPEN
        if self.theirs == CLOSED:
            self.theirs = OPEN

    def refuse_here(self) -> None:
        """Answer a message on a connection unknown at this end with an error."""
        self.queue.clear()
        self.error_there = True

    def refuse_there(self) -> None:
        """The other end answers a message with an error."""
        self.error_here = True

    def disconnect(self) -> None:
        """Break; both ends will learn of it."""
        self.error_here = True
        self.error_there = self.theirs != UNKNOWN

    def fail_here(self) -> None:
        """Take the error that was under way to this end."""
        self.error_here = False
        self.mine = CLOSED

    def fail_there(self) -> None:
        """The other end takes its error: what it had sent is gone too."""
        self.error_there = False
        self.theirs = CLOSED
        self.queue.clear()

    def reset_here(self, *, silent: bool) -> None:
        """Forget everything at this end."""
        if self.would_notify():
            if not silent:
                self.error_there = True
            elif self.theirs == OPEN:
                self.theirs = HALF
        self.error_here = False
        self.mine = CLOSED

    def reset_there(self, *, silent: bool) -> None:
        """The other end forgets everything; what it had sent is gone."""
        if self.would_be_notified():
            if not silent:
                self.error_here = True
            elif self.mine == OPEN:
                self.mine = HALF
        self.error_there = False
        self.theirs = CLOSED
        self.queue.clear()

    def would_notify(self) -> bool:
        """Say whether a reset of this end would send the other an error.

        It does if either end has a connection that the other does not know to be
        gone: where this end is half open, the other may have connected anew.
        """
        if self.theirs == UNKNOWN:
            return False
        connected = self.theirs == OPEN or (self.mine == OPEN and not self.error_here)
        return connected and not self.error_there

    def would_be_notified(self) -> bool:
        """Say whether a reset of the other end would send this one an error."""
        connected = self.mine == OPEN or (self.theirs == OPEN and not self.error_there)
        return connected and not self.error_here

    def lose_sight(self) -> None:
        """Know nothing any more of the other end, whose node is absent."""
        self.theirs = UNKNOWN
        self.error_there = False
        self.queue.clear()

    @property
    def is_blind(self) -> bool:
        """Whether nothing is known of the other end."""
        return self.theirs == UNKNOWN

    def is_whole(self) -> bool:
        """Say whether the connection is open and could break."""
        return (
            self.mine == OPEN
            and self.theirs in (OPEN, UNKNOWN)
            and not self.error_here
            and not self.error_there
        )

    def is_idle(self) -> bool:
        """Say whether there is nothing to remember.

        What an end that cannot be seen believes of a connection that is closed at this
        one changes nothing: nothing comes from there.
        """
        return not (
            self.queue
            or self.mine
            or self.theirs not in (CLOSED, UNKNOWN)
            or self.error_here
            or self.error_there
        )

    def freeze(self) -> tuple[Any, ...]:
        flags = self.error_here + 2 * self.error_there
        return (self.mine, self.theirs, flags, (TUPLE, *self.queue))

    @classmethod
    def thaw(cls, frozen: tuple[Any, ...]) -> Link:
        link = cls()
        link.mine, link.theirs, flags, queue = frozen
        link.error_here = bool(flags & 1)
        link.error_there = bool(flags & 2)
        link.queue = list(queue[1:])
        return link
