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

import math
from collections.abc import Callable, Collection, Mapping
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
from worldline.steer.checking.counts import CheckCounts
from worldline.steer.checking.judge import NodeJudge
from worldline.steer.checking.knowing import BEGINS, NO_TIMERS, NOBODY, CheckedNode
from worldline.steer.checking.questions import JudgedAnswer, JudgedProperty
from worldline.steer.checking.standpoint import Standpoint
from worldline.steer.refusing import refusal_of
from worldline.steer.snapshots.ears import Ears
from worldline.steer.snapshots.records import MemberRecord
from worldline.steer.watched import watched_by
from worldline.worlds.companions import Beside, Effects, Instead, Vet, VetAgain

Neighbours: TypeAlias = Callable[[NodeId], Mapping[int, MemberRecord]]
"""The checkpoints of other nodes that a node has and that are not stale, by index; another
mapping when they are others."""


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
    lasts
        Seconds for which what nodes know of others is good.

    Attributes
    ----------
    counts
        Those of each node that has had an event.
    errors
        How properties have failed, by name, in words; they are unseen where they do.
    stuck
        The code that did not return, and is asked no more.
    reasons
        Why the last event of a node that was refused was, in words.

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
        neighbours: Neighbours = lambda me: NOBODY,
        on_unseen: Literal["allow", "refuse"] = "allow",
        refuse: Collection[str] | None = None,
        lasts: float = math.inf,
    ) -> None:
        # Which fields the system's own properties read is known from their code.
        self._reads = watched_by(system).fields if properties is None else None
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
        self._neighbours, self._lasts = neighbours, lasts
        chosen = names if refuse is None else refuse
        self._refuse = frozenset(chosen if on_unseen == "refuse" else ())
        self._ones: dict[NodeId, CheckedNode] = {}
        self.counts: dict[NodeId, CheckCounts] = {}
        self.errors: dict[str, str] = {}
        self.reasons: dict[NodeId, str] = {}
        self.stuck: set[Any] = set()

    def joined(self, beside: Beside) -> None:
        """Take note that a life begins, of which nothing has been judged."""
        known = self._ones.pop(beside.me, None)
        if known is not None:
            one = self._one(beside)
            one.outdated, one.heard = known.outdated, known.heard
            one.changes = known.changes

    def noticed(
        self, beside: Beside, peer: NodeId, life: int, numbers: Mapping[int, int]
    ) -> None:
        """Take note of the numbers beside a message, as `Companion.noticed` does.

        If the peer sent it after its checkpoint, that tells nothing of it any more: neither
        the one that is known nor one that was on its way here.
        """
        self._one(beside).noticed(self._system.index[peer], life, numbers)

    def numbers(self, beside: Beside, to: int) -> Mapping[int, int]:
        """Return what to tell a node, by its index, of what was heard of others."""
        return self._one(beside).changes.numbers(to)

    def ears(self, beside: Beside) -> Ears:
        """Return what hears the numbers beside messages in a life, as `noticed` does."""
        return self._one(beside)

    def has_news(self, me: NodeId) -> bool:
        """Say whether a node has to learn or to judge something before its next event."""
        one = self._ones.get(me)
        return one is None or one.has_to_learn or bool(one.judge.spoilt)

    def before(self, beside: Beside, event: Event, number: int = 0) -> bool:
        """Take note of what a node knows before an event; say whether others are to be told.

        Parameters
        ----------
        number
            That of the last checkpoint.
        """
        me = beside.me
        one = self._ones.get(me) or self._one(beside)
        records = self._neighbours(me)
        if records is not one.given or one.has_to_learn:
            one.doubt(records, beside.now, self._lasts)
            one.learn(records)
        is_news = False
        if event.kind is Kind.TRANSPORT_ERROR and event.peer is not None:
            is_news = one.lost(self._system.index[event.peer], number)
            one.learn(records)
        if one.judge.spoilt and event.kind not in BEGINS:
            one.judge.settle()
        return is_news

    def after(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        """Return what is to happen instead of an event that happened; None to keep it."""
        written = effects.written
        is_quiet = not (written or written is None or effects.timers)
        if is_quiet and event.kind is Kind.DELIVER:
            return None  # as of most messages
        one = self._ones[beside.me]
        judge = one.judge
        if written is None:
            written = [*judge.readers_of_fields]
        judge.stays_true(written)
        timers = one.timers
        if effects.timers or event.kind is not Kind.DELIVER:
            one.note_timers(beside, event.kind, effects)
        if not judge.spoilt:
            return None
        against = self._judged(self.counts[beside.me], judge)
        return self._refused(one, event, against, written, timers) if against else None

    def vetting(
        self,
        beside: Beside,
        changed: Callable[[], None],
        refused: Callable[[Event], None],
    ) -> tuple[Vet, VetAgain]:
        """Return what judges messages of a life as `after` does, in the series of them.

        With it, by the fields that messages have written lately, what does so if they are
        written again, and nothing else has happened.

        Parameters
        ----------
        changed
            Is told that something has changed that properties look at.
        refused
            Is told what is refused.
        """
        one, counts, me = self._one(beside), self.counts[beside.me], beside.me
        judge = one.judge

        def vet(
            src: NodeId, message: Any, effects: Effects, series: Series
        ) -> tuple[Event, Instead] | None:
            written, timers = effects.written, one.timers
            assert written is not None
            is_calm = judge.stays_true(written, series)
            if effects.timers:
                one.note_timers(beside, Kind.DELIVER, effects)
            if judge.spoilt:
                against = self._judged(counts, judge, series)
                if against:
                    event = delivery(me, OpenEnvelope(src, "", message))
                    instead = self._refused(one, event, against, written, timers)
                    if instead is not None:
                        refused(event)
                        return event, instead
            elif is_calm:
                judge.agree_again(written, changed)
            changed()
            return None

        return vet, judge.again

    def timers(self, me: NodeId) -> frozenset[PendingTimer]:
        """Return the timers of a node that are set; the same object as long as they are."""
        one = self._ones.get(me)
        return NO_TIMERS if one is None else one.timers

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

    def _one(self, beside: Beside) -> CheckedNode:
        one = self._ones.get(beside.me)
        if one is None:
            system = self._system
            index = system.index[beside.me]
            stand = Standpoint(system, index, beside.node, self._reads)
            counts = self.counts.setdefault(beside.me, CheckCounts())
            judge = NodeJudge(stand, self._properties, counts, self.errors, self.stuck)
            one = self._ones[beside.me] = CheckedNode(index, judge, len(system.ids))
            one.set_timers(frozenset(beside.timers))
        return one

    def _judged(
        self, counts: CheckCounts, judge: NodeJudge, series: Series | None = None
    ) -> list[JudgedProperty]:
        """Judge an event, and return the properties that are against it."""
        asked = judge.settle(series)
        counts.checked += 1
        if not asked:
            return []
        return [whole for whole, before in asked if self._is_against(whole, before)]

    def _refused(
        self,
        one: CheckedNode,
        event: Event,
        against: list[JudgedProperty],
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
        false = [whole for whole in against if whole.verdict is False]
        if instead is None:
            counts.uncaught.update(whole.name for whole in false)
            return None
        counts.undone += 1
        counts.doubted += not false
        counts.refused.update(whole.name for whole in against)
        self.reasons[event.node] = _false(false) if false else _unknown(against)
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


def _false(against: list[JudgedProperty]) -> str:
    names = ", ".join(whole.name for whole in against)
    return f"{names} would be false at once"


def _unknown(against: list[JudgedProperty]) -> str:
    names = ", ".join(whole.name for whole in against)
    said = f"it would be unknown whether {names} {'are' if against[1:] else 'is'} true"
    lacking = dict.fromkeys(whole.lacks for whole in against if whole.lacks)
    return f"{said}: nothing is known of {', '.join(lacking)}" if lacking else said
