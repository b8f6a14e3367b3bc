"""The post of a node: its letters, which are paid for from what it may send."""

from __future__ import annotations

from typing import final

from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.letter_bytes import write
from worldline.steer.snapshots.letters import SnapshotLetter
from worldline.steer.snapshots.setting import Setting
from worldline.worlds.companions import Beside


@final
class Post:
    """What sends the letters of one node.

    Attributes
    ----------
    beside
        Its present life.
    """

    def __init__(
        self,
        setting: Setting,
        beside: Beside,
        allowance: LetterAllowance,
        counts: SnapshotCounts,
    ) -> None:
        self.beside = beside
        self._setting, self._ids = setting, setting.system.ids
        self._allowance, self._counts = allowance, counts

    def reaches(self, peer: int) -> bool:
        """Say whether a letter can be sent to a peer."""
        if not self._setting.carriers.is_connected:
            return True
        return self.beside.life_of(self._ids[peer]) is not None

    def send(self, peer: int, letter: SnapshotLetter) -> None:
        """Send a letter."""
        body = write(letter)
        size = len(body) + self._setting.frame
        self._counts.sent += size
        self._allowance.spend(size, self.beside.now)
        self.beside.tell(self._ids[peer], self._setting.companion, body)
