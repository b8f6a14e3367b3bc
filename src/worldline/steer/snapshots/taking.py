"""Checkpoints as they are taken, some of which a node keeps."""

from __future__ import annotations

from typing import final

from worldline.model.checkpointing import frozen_in_part
from worldline.model.data.content import Frozen, order_key
from worldline.model.errors import ModelError
from worldline.model.semantics.hidden import PendingTimer
from worldline.steer.snapshots.channels import Channels
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.log import CheckpointLog, KeptCheckpoint
from worldline.steer.snapshots.records import MemberRecord
from worldline.steer.snapshots.setting import Setting
from worldline.worlds.companions import Beside


@final
class CheckpointTaker:
    """Takes the checkpoints of one node.

    Attributes
    ----------
    beside
        Its present life.
    is_told
        Whether it is told to `forget` when anything at the node may have changed.
    """

    def __init__(
        self,
        setting: Setting,
        index: int,
        beside: Beside,
        channels: Channels,
        log: CheckpointLog,
        counts: SnapshotCounts,
    ) -> None:
        self.beside = beside
        self._system, self._index, self._spelling = setting.system, index, setting.bytes
        self._troubled, self._has_told = setting.troubled, False
        self._channels, self._log, self._counts = channels, log, counts
        self._local: Frozen | None = None
        self.is_told = False

    def forget(self) -> None:
        """Freeze the fields anew when somebody wants to know them."""
        self._local = None

    def local(self) -> Frozen:
        """Return the fields of the node, but for those that are kept out."""
        if self._local is not None:
            return self._local
        kind = self._system.types[self._index]
        prototype = self._system.prototypes[self._index]
        local = frozen_in_part(kind, self.beside.node, prototype)
        if self.is_told:
            self._local = local
        return local

    def record(self, number: int) -> MemberRecord:
        """Return a checkpoint of the present state, under a number."""
        beside, ids = self.beside, self._system.ids
        self._channels.forget(beside.now)
        return MemberRecord(
            number,
            beside.incarnation,
            self.local(),
            self._timers(),
            tuple(beside.positions),
            beside.sequence,
            tuple(beside.waiting()),
            {
                peer: channel.record(beside.life_of(ids[peer]))
                for peer, channel in sorted(self._channels.items())
            },
        )

    def keep(self, number: int) -> None:
        """Take a checkpoint under a number, which messages say from now on."""
        self._channels.told.clear()
        try:
            record = self.record(number)
            kept = self._spelling.kept(record, self._index, self.beside.now)
        except ModelError as error:
            self._counts.failed += 1
            self._log.skip(number)
            if not self._has_told:
                self._has_told = True
                self._troubled(str(error))
        else:
            self._counts.checkpoints += 1
            self._log.keep(kept)

    def first_from(self, number: int) -> KeptCheckpoint | None:
        """Return the first with a number or a greater one; None if it is gone.

        If there is none yet, one is taken.
        """
        if number > self._log.number or self._log.last is None:
            self.keep(number)
        return self._log.first_from(number)

    def _timers(self) -> tuple[tuple[PendingTimer, float], ...]:
        """Return the timers that are set, as far as they matter: in order, with delays."""
        timers = self.beside.timers
        if self._system.timed:
            return tuple((timer, float(after)) for timer, after in timers.items())
        return tuple((timer, 0.0) for timer in sorted(timers, key=order_key))
