"""What is known of a node that is checked, and of those of which it has checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from worldline.model.kinds import Kind
from worldline.model.semantics.hidden import PendingTimer
from worldline.steer.changes import HeardChanges
from worldline.steer.checking.judge import NodeJudge
from worldline.steer.snapshots.channels import SENT
from worldline.steer.snapshots.records import MemberRecord
from worldline.steer.unchanged import CHECKPOINT, is_still_so
from worldline.trace.journal.frames import Extensions, numbers_of
from worldline.worlds.companions import Beside, Effects

NOBODY: Mapping[int, MemberRecord] = {}
"""What is known of other nodes where nothing is."""

NO_TIMERS: frozenset[PendingTimer] = frozenset()

BEGINS = frozenset({Kind.START, Kind.RESET, Kind.RESTART})
"""Events before which there is no state of this life."""


@final
class CheckedNode:
    """What is known of one node, in one of its lives.

    Attributes
    ----------
    given
        The checkpoints that it was said to know, as they were given.
    records
        Those that tell something of their nodes.
    outdated
        Those that do not.
    heard
        Of each peer, the life in which it sent what it sent last of all that has come, and
        the numbers beside that.
    changes
        What it has heard of others through third ones.
    has_to_learn
        Whether the last are others than when it learned.
    timers
        Those that are set.
    """

    def __init__(self, index: int, judge: NodeJudge, count: int) -> None:
        self.index, self.judge = index, judge
        self.changes = HeardChanges(index, count)
        self.given: Mapping[int, MemberRecord] = NOBODY
        self.records: Mapping[int, MemberRecord] = NOBODY
        self.outdated: dict[int, MemberRecord] = {}
        self.heard: dict[int, tuple[int, Extensions | None]] = {}
        self.has_to_learn = False
        self.timers = NO_TIMERS

    def hear(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message, unless a later one has come."""
        last = self.heard.get(peer)
        if last is not None and (life, numbers.get(SENT, 0)) < (
            last[0],
            numbers_of(last[1]).get(SENT, 0),
        ):
            return
        self.heard[peer] = life, {**numbers}

    def noticed(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message, as `Companion.noticed` does."""
        self.hear(peer, life, numbers)
        record = self.records.get(peer)
        if record is not None and _is_later(record, self.index, life, numbers):
            self.supersede(peer)
        if self.changes.hear(peer, life, numbers):
            for other, known in self.records.items():
                if self.changes.is_later(other, known.life, known.number):
                    self.supersede(other)

    def supersede(self, peer: int) -> None:
        """Take note that what is known of a peer is so no more, until more is known."""
        if peer in self.records:
            self.outdated[peer] = self.records[peer]
            self.has_to_learn = True

    def lost(self, peer: int, number: int) -> bool:
        """Take note that a connection broke at the time of a number; say whether that is news.

        Nothing is known of the peer until more is. It may have been reset, so whoever is
        told of this takes its checkpoints up to that number for old.
        """
        self.supersede(peer)
        record, heard = self.given.get(peer), self.heard.get(peer)
        lives = [1 if heard is None else heard[0], 1 if record is None else record.life]
        return self.changes.heard_of(peer, max(lives), number)

    def doubt(
        self, records: Mapping[int, MemberRecord], now: float, lasts: float
    ) -> None:
        """Believe nobody any more whom these checkpoints have contradicted for so long."""
        if self.changes.has_told:
            lives = {n: record.life for n, record in records.items()}
            self.changes.doubt(lives, now, lasts)

    def learn(self, records: Mapping[int, MemberRecord]) -> None:
        """Know what these checkpoints say, but for those that are outdated."""
        self.given, self.has_to_learn = records, False
        old = self.outdated
        self.outdated = {n: old[n] for n in old if records.get(n) is old[n]}
        for n, (life, beside) in self.heard.items():
            said = numbers_of(beside)
            if n in records and _is_later(records[n], self.index, life, said):
                self.outdated[n] = records[n]
        for n, record in records.items():
            if self.changes.is_later(n, record.life, record.number):
                self.outdated[n] = record
        self.records = {
            n: record for n, record in records.items() if n not in self.outdated
        }
        changed = self.judge.stand.know(self.records)
        if changed:
            self.judge.others_changed(changed)

    def note_timers(self, beside: Beside, kind: Kind, effects: Effects) -> None:
        """Take note of the timers that will be set once an event of a kind is settled."""
        known = self.timers
        if kind is not Kind.TIMER and kind not in BEGINS:
            for timer, after in effects.timers:
                if (timer in known) is (after is None):
                    break
            else:
                return  # as most
        timers = set() if kind in BEGINS else set(beside.timers)
        for timer, after in effects.timers:
            (timers.discard if after is None else timers.add)(timer)
        if timers != known:
            self.set_timers(frozenset(timers))
            self.judge.hidden_changed()

    def set_timers(self, timers: frozenset[PendingTimer]) -> None:
        """Take these timers to be set."""
        self.timers = timers
        self.judge.stand.set_timers(timers)


def _is_later(
    record: MemberRecord, me: int, life: int, numbers: Mapping[int, int]
) -> bool:
    """Say whether a message to this node was sent after a checkpoint of its sender.

    One after which nothing has changed that properties look at is as good as a later one.
    """
    if life != record.life:
        return life > record.life
    if is_still_so(record.number, numbers):
        return False
    channel = record.channels.get(me)
    if SENT in numbers:
        return numbers[SENT] > (0 if channel is None else channel.sent)
    return numbers.get(CHECKPOINT, record.number) >= record.number
