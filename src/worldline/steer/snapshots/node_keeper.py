"""The keeper of one node: its checkpoints, its gathers, and what it answers to others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.steer.snapshots.agreement import has_orphans
from worldline.steer.snapshots.allowance import LetterAllowance
from worldline.steer.snapshots.answering import Answering
from worldline.steer.snapshots.attending import SnapshotAttention
from worldline.steer.snapshots.channels import MOST_UNTOLD, NUMBER, Channels
from worldline.steer.snapshots.counts import SnapshotCounts
from worldline.steer.snapshots.errands import Errands
from worldline.steer.snapshots.gathering import Gather
from worldline.steer.snapshots.letterbox import Letterbox
from worldline.steer.snapshots.letters import Received, Request
from worldline.steer.snapshots.log import CheckpointLog, FoundCheckpoint, KeptCheckpoint
from worldline.steer.snapshots.looking import Looks
from worldline.steer.snapshots.neighbourhood import Neighbourhood, hops_of
from worldline.steer.snapshots.post import Post
from worldline.steer.snapshots.record_bytes import is_number
from worldline.steer.snapshots.records import MemberRecord, NeighbourhoodSnapshot
from worldline.steer.snapshots.setting import Setting
from worldline.steer.snapshots.taking import CheckpointTaker
from worldline.steer.snapshots.when import Occasions
from worldline.trace.json_checks import Malformed
from worldline.worlds.access_links import size_of
from worldline.worlds.companions import Beside

_SPARED = 0.5
"""The part of what it may save up that a node keeps for answers, if a gather can wait."""

_MOST_AHEAD = 1 << 32
"""By how much a number may be greater than one's own; else one letter could use up all."""

NOBODY: Mapping[int, MemberRecord] = {}
"""What is known of neighbours where nothing is."""


@final
class NodeKeeper:
    """The keeper of one node, from one of its lives to the next.

    Parameters
    ----------
    gathers
        Whether it gathers snapshots; otherwise it only answers.

    Attributes
    ----------
    counts
        What it has done.
    """

    def __init__(
        self, setting: Setting, index: int, beside: Beside, *, gathers: bool
    ) -> None:
        self._setting, self._index, self._gathers = setting, index, gathers
        self._system, self._options = setting.system, setting.options
        self._beside = beside
        self.counts = SnapshotCounts()
        self._channels = Channels(setting.carriers)
        self._near = Neighbourhood(setting, index, self._channels)
        self._log = CheckpointLog(setting.options, beside.incarnation)
        self._taker = CheckpointTaker(
            setting, index, beside, self._channels, self._log, self.counts
        )
        self._looks = Looks(setting, index, self._taker, self._near)
        self._allowance = LetterAllowance(setting.options, beside.now)
        self._post = Post(setting, beside, self._allowance, self.counts)
        answering = Answering(index, self._log, self._allowance, self.counts)
        self._errands = Errands(self, setting, self._allowance)
        self._letters = Letterbox(
            self,
            len(self._system.ids),
            self._channels,
            self._post,
            self._allowance,
            answering,
            self._errands,
        )
        self._asks_beside = hops_of(self._system, index) > 1
        self._gather: Gather | None = None
        self._is_renewing = False
        self._latest: NeighbourhoodSnapshot | None = None
        self._attention: SnapshotAttention | None = None
        self._occasions: Occasions | None = None
        self._has_started = False

    def attention(self) -> SnapshotAttention | None:
        """Return what it attends to in the life that has begun; None for each event."""
        if self._options.share is not None:
            return None  # what is sent has to be weighed
        connects = self._setting.carriers.is_connected
        self._attention = SnapshotAttention(
            self, self._channels, self._log, self._index, connects=connects
        )
        self._attention.news = self._near.news()
        self._looks.attend()
        return self._attention

    # ------------------------------------------------------ what the runtime tells it

    def joined(self, beside: Beside) -> None:
        """Begin a life of the node, before its start handler runs."""
        if self._gather is not None:
            self._gather.close()
        self._errands.close()
        self._beside, self._gather, self._latest = beside, None, None
        self._attention = None
        self._looks.begin()
        self._taker.beside = self._post.beside = beside
        self._occasions, self._has_started = None, False
        self._channels.begin(beside.incarnation)

    def gate(self, event: Event) -> None:
        """Take note of an event that is about to happen."""
        self._looks.happening()
        if not self._has_started:
            self._has_started = True  # it is the start
            return
        self._begin()
        if self._attention is not None:
            self._attention.is_gated = False  # of plain events, it has nothing to see
        # What the handler sends is on another connection already.
        if event.kind is Kind.TRANSPORT_ERROR and event.peer is not None:
            self._channels.lose(self._system.index[event.peer])

    def seen(self, event: Event) -> None:
        """Take note of an event that has happened."""
        self._has_started = True
        self._looks.happened()
        self._begin()
        is_error = event.kind is Kind.TRANSPORT_ERROR
        if is_error and event.peer is not None:
            peer = self._system.index[event.peer]
            if self._gather is not None:
                self._gather.leave_out(peer)
            self._errands.leave_out(peer)
        assert self._occasions is not None
        self._occasions.happened()

    def passed(self) -> None:
        """Take note that events have happened, of which nobody says more."""
        self._looks.happened()
        if self._occasions is not None:
            self._occasions.happened()

    def beside(self, to: int, part: str, message: Any) -> dict[int, int]:
        """Return the numbers beside a message that is sent."""
        if self._options.share is not None:
            self._allowance.earn(size_of(message))
        return {
            NUMBER: self._log.number,
            **self._channels.send(to, part, message, self._beside.now),
        }

    def came(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of a message that comes, before it is handled."""
        self._begin()
        number = numbers.get(NUMBER, 0)
        self.catch_up(number, has_news=False)
        channel = self._channels.of(peer)
        channel.look(self._beside.life_of(self._system.ids[peer]))
        self._channels.receive(peer, life, numbers, self._beside.now)
        if channel.untold > MOST_UNTOLD:
            self.tell_peer(peer)

    def heard(self, peer: NodeId, body: bytes) -> None:
        """Take a letter from beside a peer."""
        self._begin()
        if self._occasions is None:
            return  # nobody asks a node that has not started
        try:
            is_awaited = self._letters.open(self._system.index[peer], body)
        except Malformed:
            self.counts.malformed += 1
        else:
            self.counts.late += not is_awaited

    # -------------------------------------------------------------- what is asked of it

    def latest(self) -> NeighbourhoodSnapshot | None:
        """Return the last snapshot; None if there is none, or it is stale."""
        latest = self._latest
        if latest is None or self._beside.now - latest.time > self._options.stale:
            return None
        return latest

    def records(self) -> Mapping[int, MemberRecord]:
        """Return the last checkpoint that it has of each neighbour, if it is not stale.

        Those that have come for a snapshot that is not complete yet are later than those of
        the one before. It is another object when one of them is another.
        """
        latest, gather = self.latest(), self._gather
        known = NOBODY if latest is None else latest.members
        return known if gather is None else gather.over(known)

    def gather_now(self) -> None:
        """Gather a snapshot as soon as that is possible."""
        if self._occasions is not None:
            self._occasions.want()

    def record_now(self) -> MemberRecord:
        """Return a checkpoint of the present state, under the last number."""
        return self._taker.record(self._log.number)

    def so_far(self) -> NeighbourhoodSnapshot:
        """Return what can be had now: with who has answered, or of the node alone."""
        before, me = self._latest, self._index
        if self._gather is not None:
            self._gather.give_up()
        if self._latest is not None and self._latest is not before:
            return self._latest
        alone, now = self.record_now(), self._beside.now
        return NeighbourhoodSnapshot(me, alone.number, now, {me: alone})

    # ------------------------------------------------------------- for gathers: `Asking`

    def reaches(self, peer: int) -> bool:
        """Say whether a letter can be sent to a peer."""
        return self._post.reaches(peer)

    def ask(self, peer: int, letter: Request) -> None:
        """Send a request."""
        self._post.send(peer, letter)

    def untold(self, peer: int, number: int) -> tuple[int, int] | None:
        """Return what to tell a peer that was received, at the time of a number."""
        return self._channels.untold(peer) if number == self._log.number else None

    def take(self, number: int) -> KeptCheckpoint | None:
        """Return its first checkpoint from a number on, or take it; None if it is gone."""
        return self._taker.first_from(number)

    def unpack(self, body: bytes, peer: int, number: int) -> MemberRecord:
        """Return the checkpoint of bytes from a peer."""
        return self._setting.bytes.unpack(body, peer, number)

    def later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Let something be done after so many seconds."""
        return self._beside.later(seconds, action)

    def answered(self, peer: int, number: int, found: FoundCheckpoint) -> None:
        """Take note of what a peer answers that was asked for a number."""
        self._errands.know(peer, number, found)

    def _gathered(self, gather: Gather) -> None:
        """Take what has been gathered."""
        self._gather = None
        self.counts.absent += len(gather.absent)
        if gather.own is not None:
            members = {self._index: gather.own.record, **gather.members}
            if has_orphans(members):
                self.counts.orphans += 1
            else:
                self.counts.snapshots += 1
                self._latest = NeighbourhoodSnapshot(
                    self._index, gather.number, gather.own.time, members
                )
                self._setting.taken(self._latest)
        self.learned()
        if self._occasions is not None and not self._is_renewing:
            self._occasions.again()

    # ------------------------------------------------------- for letters: `Addressee`

    def gather_named(self, name: int) -> Gather | None:
        """Return the gather of a name that goes on; None if none does."""
        gather = self._gather
        if gather is not None and gather.name == name:
            return gather
        return self._errands.named(name)

    def neighbours(self) -> tuple[int, ...]:
        """Return the indices of the neighbours that are asked."""
        return self._near.asked(self._beside)

    def now(self) -> float:
        """Return the time of the node."""
        return self._beside.now

    def learned(self) -> None:
        """See to it that what is known of neighbours by now counts at the next event."""
        if self._attention is not None:
            self._attention.is_gated = True
            if self._latest is not None:
                self._attention.until = self._latest.time + self._options.stale

    def catch_up(self, number: int, *, has_news: bool) -> None:
        """Take a checkpoint of a number that came from outside, if it is greater.

        With one that is too far ahead it does so in steps: whoever says it lies, or has been
        lied to, and could not be answered for good.
        """
        if not is_number(number) or number <= self._log.number:
            return
        self.counts.forced += 1
        self._taker.keep(min(number, self._log.number + _MOST_AHEAD))
        if has_news and self._occasions is not None:
            self._occasions.forced()

    def is_too_far(self, number: int) -> bool:
        """Say whether a number is so much greater that whoever says it lies."""
        return number > self._log.number + _MOST_AHEAD

    # ----------------------------------------------------------- for `when`: `Occasion`

    def look(self) -> Any:
        """Return what calls for a snapshot when it changes."""
        return self._looks.look(self._beside)

    def number(self) -> int:
        """Return the number of its last checkpoint."""
        return self._log.number

    def wait(self, *, has_news: bool) -> float | None:
        """Return in how many seconds it may gather; None if nobody knows."""
        return self._allowance.wait(self._beside.now, _SPARED if has_news else 0.0)

    def begin(self, number: int, *, has_news: bool) -> bool:
        """Begin a gather; say whether it could: one at a time.

        One that waits for somebody when there is news ends with who has answered.
        """
        if not is_number(number) or not self._is_over():
            return False
        if self.take(number) is None:
            return False
        name = self._errands.following_name()
        self._errands.following_name()  # for another round
        self.counts.gathers += 1
        self._gather = Gather(
            self,
            self._options,
            self._errands.known,
            self._gathered,
            name=name,
            number=number,
            has_news=has_news,
            repeats=self._errands.repeats,
            me=self._index if self._asks_beside else None,
        )
        self._gather.begin(self.neighbours())
        return True

    def _is_over(self) -> bool:
        """Say whether there is no gather any more; one that has waited long ends now."""
        gather = self._gather
        if gather is None:
            return True
        waited = 0.0 if gather.own is None else self._beside.now - gather.own.time
        if waited >= self._options.pause:
            self._is_renewing = True
            gather.give_up()
            self._is_renewing = False
        return self._gather is None

    def tell_peer(self, peer: int) -> None:
        """Tell a peer what was received of it, if that may be sent."""
        if not self._allowance.allows(self._beside.now) or not self.reaches(peer):
            return
        told = self._channels.untold(peer)
        if told is not None:
            self._post.send(peer, Received(self._log.number, *told))

    def tell_received(self) -> None:
        """Tell peers what was received of them, to whom nothing was sent for long."""
        for peer, channel in list(self._channels.items()):
            if channel.untold and peer != self._index:
                if channel.sent == channel.sent_before:
                    self.tell_peer(peer)
                channel.sent_before = channel.sent

    # ------------------------------------------------------------------------ inside

    def _begin(self) -> None:
        """Take the first checkpoint of a life, once its start handler has run."""
        if not self._has_started or self._occasions is not None:
            return
        self._taker.keep(self._log.number)
        options, count = self._options, len(self._system.ids)
        self._occasions = Occasions(
            self,
            self._beside,
            options,
            gathers=self._gathers,
            first=options.interval * (self._index + 1) / count,
        )
