"""What becomes of the letters that come to a node."""

from __future__ import annotations

from typing import Protocol, final

from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.answering import Answering
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.errands import Errands
from worldline.steer.snapshots.gathering import Gather
from worldline.steer.snapshots.letter_bytes import read
from worldline.steer.snapshots.letters import (
    BESIDE,
    NEWS,
    Busy,
    Gone,
    Received,
    Reply,
    Request,
)
from worldline.steer.snapshots.post import Post


class Addressee(Protocol):
    """The keeper that letters are for, as far as they know it."""

    def gather_named(self, name: int) -> Gather | None:
        """Return the gather of a name that goes on; None if none does."""

    def neighbours(self) -> tuple[int, ...]:
        """Return the indices of the neighbours that are asked."""

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
        errands: Errands,
    ) -> None:
        self._keeper, self._nodes, self._channels = keeper, nodes, channels
        self._errands = errands
        self._post, self._allowance, self._answering = post, allowance, answering

    def open(self, peer: int, body: bytes) -> bool:
        """Take a letter from beside a peer; say whether it belongs here, or is late.

        Raises
        ------
        Malformed
            If it is none.
        """
        letter = read(body, self._nodes)
        match letter:
            case Request():
                self._answer(peer, letter)
            case Reply() | Gone() | Busy():
                return self._take_answer(peer, letter)
            case Received():
                self._keeper.catch_up(letter.number, has_news=False)
                self._acknowledge(peer, letter)
        return True

    # ------------------------------------------------------------------------ inside

    def _take_answer(self, peer: int, letter: Reply | Gone | Busy) -> bool:
        gather = self._keeper.gather_named(letter.gather)
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

    def _answer(self, peer: int, request: Request) -> None:
        now = self._keeper.now()
        if self._allowance.allows(now):
            self._keeper.catch_up(request.number, has_news=bool(request.flags & NEWS))
            self._acknowledge(peer, request)
            if request.flags & BESIDE and self._answering.can_answer(request):
                self._answer_beside(peer, request)
            else:
                self._post.send(peer, self._answering.answer(peer, request, {}))
            return
        refusal = self._answering.refusal(request, now)
        if refusal is not None:
            self._post.send(peer, refusal)

    def _answer_beside(self, peer: int, request: Request) -> None:
        """Answer for those beside the node as well, once they have been asked."""
        key, number = (peer, request.gather), request.number
        if self._errands.is_awaited(key):
            return  # it asks again
        others = {peer, *self._answering.without(peer, request)}
        beside = [one for one in self._keeper.neighbours() if one not in others]
        beside = [one for one in beside if self._post.reaches(one)]

        def answer() -> None:
            found = self._errands.found(beside, number)
            self._post.send(peer, self._answering.answer(peer, request, found))

        has_news = bool(request.flags & NEWS)
        if not self._errands.begin(key, number, beside, answer, has_news=has_news):
            answer()
        elif has_news:
            # What it sees at once of what has changed, it need not wait for.
            self._post.send(peer, self._answering.early(peer, request))

    def _acknowledge(self, peer: int, letter: Request | Received) -> None:
        """Take note of what a peer has received; it is no later than this node's time."""
        if letter.life:
            now = self._keeper.now()
            self._channels.acknowledge(peer, letter.life, letter.received, now)
