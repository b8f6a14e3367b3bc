"""The post of a node: its letters go straight, or over another without a connection."""

from __future__ import annotations

from typing import final

from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.letters import Relay, Relayed, SnapshotLetter, write
from worldline.steer.snapshots.setting import Setting
from worldline.worlds.companions import Beside


@final
class Post:
    """What sends the letters of one node, and passes on those of others.

    Attributes
    ----------
    beside
        Its present life.
    """

    def __init__(
        self,
        setting: Setting,
        index: int,
        beside: Beside,
        allowance: LetterAllowance,
        counts: SnapshotCounts,
    ) -> None:
        self.beside = beside
        self._setting, self._index, self._ids = setting, index, setting.system.ids
        self._allowance, self._counts = allowance, counts

    def reaches(self, peer: int) -> bool:
        """Say whether a letter can be sent to a peer without help."""
        if not self._setting.carriers.is_connected:
            return True
        return self.beside.life_of(self._ids[peer]) is not None

    def send(self, peer: int, letter: SnapshotLetter, via: int | None = None) -> None:
        """Send a letter, over another node if one is given."""
        if via is not None:
            letter, peer = Relay(peer, write(letter)), via
        body = write(letter)
        size = len(body) + self._setting.frame
        self._counts.sent += size
        self._allowance.spend(size, self.beside.now)
        self.beside.tell(self._ids[peer], self._setting.companion, body)

    def relay(self, origin: int, letter: Relay) -> None:
        """Pass on a letter, if that is possible and allowed."""
        is_allowed = self._allowance.allows(self.beside.now)
        if (
            letter.to not in (origin, self._index)
            and self.reaches(letter.to)
            and is_allowed
        ):
            self.send(letter.to, Relayed(origin, letter.letter))
