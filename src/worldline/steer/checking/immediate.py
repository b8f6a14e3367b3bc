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
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.hidden import PendingTimer
from worldline.model.system import System
from worldline.model.verdicts import UNSEEN, StateVerdict
from worldline.steer.checking.judge import NodeJudge
from worldline.steer.checking.questions import JudgedAnswer, JudgedProperty
from worldline.steer.checking.standpoint import Standpoint
from worldline.steer.refusing import refusal_of
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
        How properties have failed, by name, in words; they are unseen where they do.
    stuck
        The code that did not return, and is asked no more.

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
        self.stuck: set[Any] = set()

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
        one = self._one(beside)
        index = self._system.index[peer]
        one.hear(index, life, numbers)
        record = one.records.get(index)
        if record is not None and _is_later(record, one.index, life, numbers):
            self.superseded(beside.me, peer)

    def superseded(self, me: NodeId, peer: NodeId) -> None:
        """Take note that what a node knows of a peer is so no more, until it knows more."""
        one = self._ones.get(me)
        index = self._system.index[peer]
        if one is not None and index in one.records:
            one.outdated[index] = one.records[index]
            one.has_to_learn = True

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
        readers = judge.readers_of_fields
        if written is None:
            written = tuple(readers)
        for name in written:
            if name in readers:
                judge.field_changed(name)
        timers = one.timers
        if effects.timers or event.kind is not Kind.DELIVER:
            one.note_timers(beside, event, effects)
        if not judge.spoilt:
            return None
        instead = self._judged(beside.me, one, event)
        if instead is not None:
            judge.take_back()
            judge.read_anew(written)
            one.set_timers(timers)
        return instead

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
            judge = NodeJudge(stand, self._properties, self.errors, self.stuck)
            one = self._ones[beside.me] = _OneNode(index, judge)
            self.counts.setdefault(beside.me, CheckCounts())
            one.set_timers(frozenset(beside.timers))
        return one

    def _judged(self, me: NodeId, one: _OneNode, event: Event) -> Instead | None:
        """Judge an event, and count what comes of that."""
        judge, counts = one.judge, self.counts[me]
        asked = judge.settle()
        counts.checked += 1
        counts.unseen.update(judge.unseen.keys())
        against = [
            whole.name for whole in asked if self._is_against(whole, asked[whole])
        ]
        if not against:
            return None
        instead = refusal_of(self._system, event)
        (counts.uncaught if instead is None else counts.refused).update(against)
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

    def note_timers(self, beside: Beside, event: Event, effects: Effects) -> None:
        """Take note of the timers that will be set once an event is settled."""
        known, kind = self.timers, event.kind
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
