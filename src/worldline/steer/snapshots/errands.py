"""Errands: a node asks those beside it for another that wants to know of them, too.

What it has asked for a number by then, for itself or for others, it does not ask again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, final

from worldline.steer.snapshots.accounts import Accounts, FirstCheckpoints
from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.gathering import Asking, Gather, following
from worldline.steer.snapshots.log import FoundCheckpoint
from worldline.steer.snapshots.setting import Setting

_SHARE = 0.5
"""The part of the deadline after which the others are answered, whoever has answered."""

_MOST_WAITING = 16
"""Others that wait for an answer at a time."""

_MOST_BEGUN = 32
"""Errands within a deadline: their names are not to come round before that is over."""


class Sender(Asking, Protocol):
    """What errands need of the node that goes on them."""

    def now(self) -> float:
        """Return the time of the node."""


@final
class WaitingPeer:
    """Somebody who waits for what those beside a node answer."""

    def __init__(self, number: int, peers: set[int], then: Callable[[], None]) -> None:
        self.number, self.peers, self.then = number, peers, then
        self.call_off: Callable[[], None] = then


@final
class Errands:
    """The errands of one node, in all its lives.

    Attributes
    ----------
    known
        What each peer has told last.
    repeats
        Whether requests may be lost, so that they are sent again.
    """

    def __init__(
        self, sender: Sender, setting: Setting, allowance: LetterAllowance
    ) -> None:
        self.known, self.repeats = Accounts(), not setting.carriers.is_connected
        self._sender, self._options = sender, setting.options
        self._allowance = allowance
        self._name = 0
        self._first = FirstCheckpoints(setting.options.interval)
        self._gathers: dict[int, Gather] = {}
        self._waiting: dict[tuple[int, int], WaitingPeer] = {}
        self._begun: deque[float] = deque()

    def following_name(self) -> int:
        """Return a name for a gather of the node, which no other has had for long."""
        self._name = following(self._name)
        return self._name

    def named(self, name: int) -> Gather | None:
        """Return the errand of a name."""
        return self._gathers.get(name)

    def close(self) -> None:
        """Give up: the life of the node is over."""
        for gather in self._gathers.values():
            gather.close()
        self._gathers, self._waiting = {}, {}

    def found(self, peers: Iterable[int], number: int) -> Mapping[int, FoundCheckpoint]:
        """Return what is known of peers, of a number."""
        now = self._sender.now()
        all_found = ((peer, self._first.of(peer, number, now)) for peer in peers)
        return {peer: found for peer, found in all_found if found is not None}

    def is_awaited(self, key: tuple[int, int]) -> bool:
        """Say whether somebody waits already, for a gather of a name."""
        return key in self._waiting

    def begin(
        self,
        key: tuple[int, int],
        number: int,
        peers: Iterable[int],
        then: Callable[[], None],
        *,
        has_news: bool,
    ) -> bool:
        """Ask peers who have not been asked, and then go on; say whether that is later.

        Parameters
        ----------
        key
            Who wants to know, and the name of its gather.
        """
        missing = set(peers) - self.found(peers, number).keys()
        if not missing or len(self._waiting) >= _MOST_WAITING:
            return False
        if not self._allowance.allows(self._sender.now()):
            return False
        asked = {peer for peer in missing if self._is_asking(peer, number)}
        asked |= self._ask(missing - asked, number, has_news=has_news)
        asked -= self.found(asked, number).keys()
        if not asked:
            return False

        def over() -> None:
            if self._waiting.pop(key, None) is not None:
                then()

        waiting = self._waiting[key] = WaitingPeer(number, asked, over)
        seconds = _SHARE * self._options.deadline
        waiting.call_off = self._sender.later(seconds, over)
        return True

    def know(self, peer: int, number: int, found: FoundCheckpoint) -> None:
        """Take note of what a peer has answered that was asked for a number."""
        now = self._sender.now()
        self._first.know(peer, number, found, now)
        self._settle(peer, lambda wanted: number <= wanted <= found.number)

    def leave_out(self, peer: int) -> None:
        """Take note that nothing is to be had from a peer."""
        for gather in list(self._gathers.values()):
            gather.leave_out(peer)

    # ------------------------------------------------------------------------ inside

    def _is_asking(self, peer: int, number: int) -> bool:
        return any(
            one.number == number and one.waits_for(peer)
            for one in self._gathers.values()
        )

    def _ask(self, peers: set[int], number: int, *, has_news: bool) -> set[int]:
        now, begun = self._sender.now(), self._begun
        while begun and begun[0] < now - self._options.deadline:
            begun.popleft()
        if not peers or len(begun) >= _MOST_BEGUN:
            return set()
        begun.append(now)
        name = self.following_name()
        gather = self._gathers[name] = Gather(
            self._sender,
            self._options,
            self.known,
            self._over,
            name=name,
            number=number,
            has_news=has_news,
            repeats=self.repeats,
            rounds=1,
            share=_SHARE,
        )
        gather.begin(peers)
        return peers

    def _over(self, gather: Gather) -> None:
        self._gathers.pop(gather.name, None)
        for peer in gather.absent:
            self._settle(peer, lambda wanted: wanted == gather.number)

    def _settle(self, peer: int, settles: Callable[[int], bool]) -> None:
        for waiting in list(self._waiting.values()):
            if peer in waiting.peers and settles(waiting.number):
                waiting.peers.discard(peer)
                if not waiting.peers:
                    waiting.call_off()
                    waiting.then()
