"""What becomes of the letters that come to a node."""

from __future__ import annotations

from typing import Protocol, final

from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.answering import Answering
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.gathering import Gather
from worldline.steer.snapshots.letters import (
    NEWS,
    Busy,
    Gone,
    Received,
    Relay,
    Relayed,
    Reply,
    Request,
    Same,
    SnapshotLetter,
    read,
)
from worldline.steer.snapshots.post import Post
from worldline.trace.json_checks import Malformed


class Addressee(Protocol):
    """The keeper that letters are for, as far as they know it."""

    def present_gather(self) -> Gather | None:
        """Return the gather that goes on; None if none does."""

    def learned(self) -> None:
        """See to it that what is known of neighbours by now counts at the next event."""

    def now(self) -> float:
        """Return the time of the node."""

    def catch_up(self, number: int, *, has_news: bool) -> None:
        """Take a checkpoint of a number that came from outside, if it is greater."""

    def is_too_far(self, number: int) -> bool:
        """Say whether a number is so much greater that whoever says it lies."""


@final
class Letterbox:
    """The letters of one node.

    Parameters
    ----------
    nodes
        How many there are.
    """

    def __init__(
        self,
        keeper: Addressee,
        nodes: int,
        channels: Channels,
        post: Post,
        allowance: LetterAllowance,
        answering: Answering,
    ) -> None:
        self._keeper, self._nodes, self._channels = keeper, nodes, channels
        self._post, self._allowance, self._answering = post, allowance, answering

    def open(self, peer: int, body: bytes) -> bool:
        """Take a letter from beside a peer; say whether it belongs here, or is late.

        Raises
        ------
        Malformed
            If it is none.
        """
        return self._take(peer, read(body, self._nodes), None)

    # ------------------------------------------------------------------------ inside

    def _take(self, peer: int, letter: SnapshotLetter, via: int | None) -> bool:
        match letter:
            case Request():
                self._answer(peer, letter, via)
            case Reply() | Same() | Gone() | Busy():
                return self._take_answer(peer, letter)
            case Received():
                self._keeper.catch_up(letter.number, has_news=False)
                self._acknowledge(peer, letter)
            case Relay():
                self._post.relay(peer, letter)
            case Relayed():
                if via is not None:
                    raise Malformed("", "a letter that is passed on twice")
                inner = read(letter.letter, self._nodes)
                return self._take(letter.origin, inner, peer)
        return True

    def _take_answer(self, peer: int, letter: Reply | Same | Gone | Busy) -> bool:
        gather = self._keeper.present_gather()
        if gather is None:
            return False
        self._keeper.learned()
        if isinstance(letter, Busy):
            return gather.take_busy(peer, letter.gather)
        if isinstance(letter, Gone):
            if self._keeper.is_too_far(letter.number):
                return gather.take_busy(peer, letter.gather)
            return gather.take_gone(peer, letter)
        return gather.take_reply(peer, letter)

    def _answer(self, peer: int, request: Request, via: int | None) -> None:
        now = self._keeper.now()
        if self._allowance.allows(now):
            self._keeper.catch_up(request.number, has_news=bool(request.flags & NEWS))
            self._acknowledge(peer, request)
            self._post.send(peer, self._answering.answer(peer, request), via)
            return
        refusal = self._answering.refusal(request, now)
        if refusal is not None:
            self._post.send(peer, refusal, via)

    def _acknowledge(self, peer: int, letter: Request | Received) -> None:
        """Take note of what a peer has received; it is no later than this node's time."""
        if letter.life:
            now = self._keeper.now()
            self._channels.acknowledge(peer, letter.life, letter.received, now)
