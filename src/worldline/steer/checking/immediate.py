"""The immediate check: an event after which a property has become false is undone.

What a handler sends leaves its node only when the event is settled. Until then what
the node and its neighbours are known to be in is judged. So nothing has to run twice,
and an unforeseen failure is caught where it happens, if one node can see it.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: the immediate safety check. There,
a copy of the process runs the handler first, and is thrown away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.message import OpenEnvelope
from worldline.model.network.datagrams import delivery
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.usercode.running import Series
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.steer.checking.judge import NodeJudge
from worldline.steer.checking.questions import JudgedAnswer, JudgedProperty
from worldline.steer.checking.standpoint import Standpoint
from worldline.steer.refusing import refusal_of
from worldline.steer.snapshots.attending import Ears, Vets
from worldline.steer.snapshots.records import MemberRecord
from worldline.steer.unchanged import is_still_so
from worldline.worlds.companions import Beside, Effects, Instead

Neighbours: TypeAlias = Callable[[NodeId], Mapping[int, MemberRecord]]
"""The checkpoints of other nodes that a node has and that are not stale, by index; another
mapping when they are others."""

_NOBODY: Mapping[int, MemberRecord] = {}

_BEGINS = frozenset({Kind.START, Kind.RESET, Kind.RESTART})
"""Events before which there is no state of this life."""


@final
@dataclass(slots=True)
class CheckCounts:
    """Counts of events at one node.

    Attributes
    ----------
    checked
        After how many of them something was judged.
    refused, uncaught, unseen
        By property: how many were undone because it had become false; were not, as they
        cannot be refused; and were judged while nobody could say whether it is true.
    """

    checked: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    uncaught: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)


@final
class ImmediateCheck:
    """Judges the events of nodes, for a companion that stands beside them.

    The companion calls `joined`, `noticed`, `before` where it is asked at the gate, and
    `after` where it vets. If it refuses for another reason what `after` has let pass, it
    calls `joined` again.

    Parameters
    ----------
    properties
        Which are to stay true; by default all safety properties of the system.
    neighbours
        What nodes know of others; by default nothing.
    on_unseen
        What becomes of an event after which it is unknown whether a property is true,
        and was known before: whether it is allowed, or refused if the property is in `refuse`.
    refuse
        The names of properties; by default of all.

    Attributes
    ----------
    counts
        Those of each node that has had an event.
    errors
        How properties have failed, by name; they are unseen where they do.

    Raises
    ------
    UsageError
        If a name is that of no property.
    """

    def __init__(
        self,
        system: System,
        properties: Collection[Property] | None = None,
        *,
        neighbours: Neighbours = lambda me: _NOBODY,
        on_unseen: Literal["allow", "refuse"] = "allow",
        refuse: Collection[str] | None = None,
    ) -> None:
        if properties is None:
            properties = [
                prop for prop in system.properties if prop.kind is PropertyKind.SAFETY
            ]
        names = [prop.name for prop in properties]
        for name in refuse or ():
            if name not in names:
                raise UsageError(
                    f"{name!r} is none of the properties that are checked",
                    remedy=f"they are {', '.join(names) or 'none'}",
                )
        self._system, self._properties = system, list(properties)
        self._neighbours = neighbours
        chosen = names if refuse is None else refuse
        self._refuse = frozenset(chosen if on_unseen == "refuse" else ())
        self._ones: dict[NodeId, _OneNode] = {}
        self.counts: dict[NodeId, CheckCounts] = {}
        self.errors: dict[str, str] = {}

    def joined(self, beside: Beside) -> None:
        """Take note that a life begins, of which nothing has been judged."""
        known = self._ones.pop(beside.me, None)
        if known is not None:
            one = self._one(beside)
            one.outdated, one.heard = known.outdated, known.heard

    def noticed(
        self, beside: Beside, peer: NodeId, life: int, numbers: Mapping[int, int]
    ) -> None:
        """Take note of the numbers beside a message, as `Companion.noticed` does.

        If the peer sent it after its checkpoint, that tells nothing of it any more: neither
        the one that is known nor one that was on its way here.
        """
        self._one(beside).noticed(self._system.index[peer], life, numbers)

    def ears(self, beside: Beside) -> Ears:
        """Return what hears the numbers beside messages in a life, as `noticed` does."""
        return self._one(beside)

    def has_news(self, me: NodeId) -> bool:
        """Say whether a node has to learn or to judge something before its next event."""
        one = self._ones.get(me)
        return one is None or one.has_to_learn or bool(one.judge.spoilt)

    def superseded(self, me: NodeId, peer: NodeId) -> None:
        """Take note that what a node knows of a peer is so no more, until it knows more."""
        one = self._ones.get(me)
        if one is not None:
            one.supersede(self._system.index[peer])

    def before(self, beside: Beside, event: Event) -> None:
        """Take note of what a node knows before an event."""
        me = beside.me
        one = self._ones.get(me) or self._one(beside)
        records = self._neighbours(me)
        if records is not one.given or one.has_to_learn:
            one.learn(records)
        if event.kind is Kind.TRANSPORT_ERROR and event.peer is not None:
            self.superseded(me, event.peer)
            one.learn(records)
        if one.judge.spoilt and event.kind not in _BEGINS:
            one.judge.settle()

    def after(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        """Return what is to happen instead of an event that happened; None to keep it."""
        written = effects.written
        is_quiet = not (written or written is None or effects.timers)
        if is_quiet and event.kind is Kind.DELIVER:
            return None  # as of most messages
        one = self._ones[beside.me]
        judge = one.judge
        if written is None:
            written = tuple(judge.readers_of_fields)
        judge.fields_changed(written)
        timers = one.timers
        if effects.timers or event.kind is not Kind.DELIVER:
            one.note_timers(beside, event.kind, effects)
        if not judge.spoilt:
            return None
        against = self._judged(self.counts[beside.me], judge)
        return self._refused(one, event, against, written, timers) if against else None

    def messages(self, beside: Beside) -> Vets:
        """Return what judges messages of a life as `after` does, in the series of them."""
        one, counts = self._one(beside), self.counts[beside.me]
        judge, me = one.judge, beside.me

        def after(
            src: NodeId, message: Any, effects: Effects, series: Series
        ) -> tuple[Event, Instead] | None:
            written = effects.written
            assert written is not None
            judge.fields_changed(written)
            timers = one.timers
            if effects.timers:
                one.note_timers(beside, Kind.DELIVER, effects)
            if not judge.spoilt:
                return None
            against = self._judged(counts, judge, series)
            if not against:
                return None
            event = delivery(me, OpenEnvelope(src, "", message))
            instead = self._refused(one, event, against, written, timers)
            return None if instead is None else (event, instead)

        return after

    def verdicts(self, me: NodeId) -> tuple[StateVerdict, ...]:
        """Return what a node says of each property in its present state, in order."""
        one = self._ones.get(me)
        if one is None:
            return (UNSEEN,) * len(self._properties)
        return tuple(
            whole.verdict if isinstance(whole.verdict, bool) else UNSEEN
            for whole in one.judge.wholes
        )

    # ------------------------------------------------------------------------ inside

    def _one(self, beside: Beside) -> _OneNode:
        one = self._ones.get(beside.me)
        if one is None:
            system = self._system
            index = system.index[beside.me]
            stand = Standpoint(system, index, beside.node)
            judge = NodeJudge(stand, self._properties, self.errors)
            one = self._ones[beside.me] = _OneNode(index, judge)
            self.counts.setdefault(beside.me, CheckCounts())
            one.set_timers(frozenset(beside.timers))
        return one

    def _judged(
        self, counts: CheckCounts, judge: NodeJudge, series: Series | None = None
    ) -> list[str]:
        """Judge an event, and return the names of the properties that are against it."""
        asked = judge.settle(series)
        counts.checked += 1
        if judge.unseen:
            counts.unseen.update(judge.unseen.keys())
        return [
            whole.name for whole, before in asked if self._is_against(whole, before)
        ]

    def _refused(
        self,
        one: _OneNode,
        event: Event,
        against: list[str],
        written: Collection[str],
        timers: frozenset[PendingTimer],
    ) -> Instead | None:
        """Count who is against an event, and refuse it if that is possible.

        Parameters
        ----------
        written
            The fields that it has changed.
        timers
            Those that were set before it.
        """
        assert event.node is not None
        counts, instead = self.counts[event.node], refusal_of(self._system, event)
        if instead is None:
            counts.uncaught.update(against)
            return None
        counts.refused.update(against)
        judge = one.judge
        judge.take_back()
        judge.read_anew(written)
        one.set_timers(timers)
        return instead

    def _is_against(self, whole: JudgedProperty, before: JudgedAnswer) -> bool:
        """Say whether a property speaks against an event, by its answer before that."""
        if whole.verdict is False:
            return before is not False
        return whole.verdict is UNSEEN and before is True and whole.name in self._refuse


@final
class _OneNode:
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
    has_to_learn
        Whether the last are others than when it learned.
    timers
        Those that are set.
    """

    def __init__(self, index: int, judge: NodeJudge) -> None:
        self.index, self.judge = index, judge
        self.given: Mapping[int, MemberRecord] = _NOBODY
        self.records: Mapping[int, MemberRecord] = _NOBODY
        self.outdated: dict[int, MemberRecord] = {}
        self.heard: dict[int, tuple[int, Mapping[int, int]]] = {}
        self.has_to_learn = False
        self.timers: frozenset[PendingTimer] = frozenset()

    def hear(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message, unless a later one has come."""
        last = self.heard.get(peer)
        if last is not None and (life, numbers.get(_NUMBER, 0)) < (
            last[0],
            last[1].get(_NUMBER, 0),
        ):
            return
        self.heard[peer] = life, numbers

    def noticed(self, peer: int, life: int, numbers: Mapping[int, int]) -> None:
        """Take note of the numbers beside a message, as `Companion.noticed` does."""
        self.hear(peer, life, numbers)
        record = self.records.get(peer)
        if record is not None and _is_later(record, self.index, life, numbers):
            self.supersede(peer)

    def supersede(self, peer: int) -> None:
        """Take note that what is known of a peer is so no more, until more is known."""
        if peer in self.records:
            self.outdated[peer] = self.records[peer]
            self.has_to_learn = True

    def learn(self, records: Mapping[int, MemberRecord]) -> None:
        """Know what these checkpoints say, but for those that are outdated."""
        self.given, self.has_to_learn = records, False
        old = self.outdated
        self.outdated = {n: old[n] for n in old if records.get(n) is old[n]}
        for n, (life, numbers) in self.heard.items():
            if n in records and _is_later(records[n], self.index, life, numbers):
                self.outdated[n] = records[n]
        self.records = {
            n: record for n, record in records.items() if n not in self.outdated
        }
        changed = self.judge.stand.know(self.records)
        if changed:
            self.judge.others_changed(changed)

    def note_timers(self, beside: Beside, kind: Kind, effects: Effects) -> None:
        """Take note of the timers that will be set once an event of a kind is settled."""
        known = self.timers
        if kind is not Kind.TIMER and kind not in _BEGINS:
            for timer, after in effects.timers:
                if (timer in known) is (after is None):
                    break
            else:
                return  # as most
        timers = set() if kind in _BEGINS else set(beside.timers)
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
    if _NUMBER in numbers:
        return numbers[_NUMBER] > (0 if channel is None else channel.sent)
    return numbers.get(_CHECKPOINT, record.number) >= record.number


_CHECKPOINT, _NUMBER = 1, 3
"""Beside a message: the number of its sender's last checkpoint, and its own on its channel."""
