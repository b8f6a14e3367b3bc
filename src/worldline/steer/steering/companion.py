"""The companion that steers: it gathers, has failures predicted, and refuses.

It stands beside deployed nodes and beside those of a simulation alike; what differs is who
predicts, and when the answer comes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, final

from worldline.model.data.identity import NodeId
from worldline.model.errors import InputError
from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.system import System
from worldline.search.predicting.paths import KnownPath
from worldline.steer.checking.immediate import ImmediateCheck
from worldline.steer.fitting import refuse_another
from worldline.steer.refusing import refusal_of
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.counts import SteeringCounts
from worldline.steer.steering.findings import Handed
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.steer.steering.handing import MARK, letter_of, path_of
from worldline.steer.steering.modes import SteeringOptions
from worldline.steer.steering.reacting import Reactions
from worldline.steer.steering.reporting import Findings
from worldline.steer.steering.standing import StandingFilters
from worldline.steer.unchanged import CHECKPOINT, SINCE, Unchanged
from worldline.steer.watched import watched_by
from worldline.trace.json_text import shorten
from worldline.worlds.beside_report import (
    RefusedEvent,
    UnseenProperty,
    unseen_properties,
)
from worldline.worlds.companions import Attention, Beside, Companion, Effects, Instead

_MOST_REFUSALS = 100


class Predicts(Protocol):
    """Who predicts."""

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""

    def ask(
        self,
        beside: Beside,
        snapshot: NeighbourhoodSnapshot,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Have predicted what may follow a snapshot, and answer later, if this life lasts."""

    def hand(
        self,
        beside: Beside,
        path: KnownPath,
        snapshot: NeighbourhoodSnapshot | None,
        answer: Callable[[SnapshotForecast], None],
    ) -> None:
        """Have tried a path that another node has found, and answer if there is a need."""


@final
class Steering(Companion):
    """A companion that does what a mode says.

    Parameters
    ----------
    predicts
        Who predicts; None where the mode does not.
    findings
        Takes what was found.
    taken
        Takes each snapshot, whatever becomes of it.
    goes_on
        Whether nodes go on where `@wl.neighbours` fails; see `troubles`.

    Attributes
    ----------
    findings
        What was found.
    refusals
        What was refused, the first hundred times.
    """

    name = Snapshots.name

    def __init__(
        self,
        system: System,
        options: SteeringOptions,
        predicts: Predicts | None,
        findings: Findings,
        taken: Callable[[NeighbourhoodSnapshot], None] | None = None,
        *,
        goes_on: bool = False,
    ) -> None:
        self._system, self._options = system, options
        self._watched = watched_by(system)
        self._predicts, self.findings, self._told = predicts, findings, taken
        self.vets = options.vets
        self._troubles: list[str] = []
        self.snapshots = Snapshots(
            system,
            GatherOptions(
                interval=options.every,
                bandwidth=options.bandwidth,
                fields=self._watched.fields,
            ),
            self._taken,
            troubled=self._troubles.append,
            goes_on=goes_on,
        )
        self._lasts = 2 * options.every
        self._check: ImmediateCheck | None = None
        if options.vets:
            self._check = ImmediateCheck(
                system,
                neighbours=self.snapshots.records,
                on_unseen=options.on_unseen,
                lasts=self._lasts,
            )
        self._counts = {node: SteeringCounts() for node in system.ids}
        self._reactions = Reactions(system, every=options.every, lasts=self._lasts)
        self._standing: dict[NodeId, StandingFilters] = {}
        self._beside: dict[NodeId, Beside] = {}
        self._last: dict[NodeId, Any] = {}
        self._why: dict[NodeId, str] = {}
        self.refusals: list[RefusedEvent] = []
        self._unchanged: dict[NodeId, Unchanged] = {}
        self._attention: dict[NodeId, Attention] = {}
        self._still: dict[NodeId, list[Handed]] = {}
        self._handed: dict[NodeId, dict[tuple[NodeId, KnownPath], float]] = {}

    def counts(self, me: NodeId) -> SteeringCounts:
        """Return what it did at a node."""
        counts = replace(self._counts[me])
        counts.reactions = self._reactions.count[me]
        if self._check is not None and me in self._check.counts:
            of_check = self._check.counts[me]
            counts.checked = of_check.checked
            counts.refused = of_check.undone
            counts.doubted = of_check.doubted
            counts.uncaught = of_check.uncaught.total()
            counts.unseen = of_check.lacking.total()
        return counts

    def total(self) -> SteeringCounts:
        """Return what it did at all nodes."""
        total = SteeringCounts()
        for node in self._system.ids:
            total.add(self.counts(node))
        return total

    def unseen(self) -> tuple[UnseenProperty, ...]:
        """Return which properties could not be judged at all nodes, and why."""
        lacking = Counter[tuple[str, str, bool]]()
        if self._check is not None:
            for of_check in self._check.counts.values():
                lacking.update(of_check.lacking)
        return unseen_properties(lacking)

    def stubborn(self) -> Iterator[str]:
        """Yield, in words, what nodes in their present lives have blocked for long."""
        for node, standing in self._standing.items():
            for one, seconds, count in standing.stubborn():
                yield (
                    f"{node} has blocked {described(one)} {count:,} times in "
                    f"{seconds:.0f} s: it may be kept from going on"
                )

    def troubles(self) -> Iterator[str]:
        """Yield, in words, what of the system has failed, and what becomes of that."""
        yield from dict.fromkeys(self._troubles)
        if self._check is not None:
            yield from self._check.errors.values()

    # --------------------------------------------------------------- what it is told

    def fits(self, system: System) -> None:
        refuse_another(self._system, system)

    def joined(self, beside: Beside) -> None:
        me = beside.me
        self._beside[me] = beside
        self._attention.pop(me, None)
        self._standing[me] = StandingFilters(self._lasts, self._system.properties)
        self._last.pop(me, None)
        self._reactions.joined(me)
        self.snapshots.joined(beside)
        self._unchanged[me] = Unchanged(self._watched, self.snapshots.number(me))
        if self._check is not None:
            self._check.joined(beside)

    def attention(self, beside: Beside) -> Attention | None:
        me, check = beside.me, self._check
        attention = self.snapshots.attention(beside)
        if attention is not None:
            self._attention[me] = attention
            attention.reads = self._watched.fields
            attention.looks_at_timers = self._watched.timers
            if check is not None:
                attention.ears = check.ears(beside)
                attention.unchanged = self._unchanged[me]
                attention.unchanged.told = attention.told
                undone = partial(self._undone, beside)
                asked = check.vetting(beside, attention.changed, undone)
                attention.vet, attention.again = asked
        return attention

    def gate(self, beside: Beside, event: Event) -> Instead | None:
        me = beside.me
        # What is blocked has come to the node all the same.
        self.snapshots.gate(beside, event)
        standing = self._standing[me]
        if standing:
            blocking = standing.blocking(event, beside.now)
            instead = None if blocking is None else refusal_of(self._system, event)
            if blocking is not None and instead is not None:
                self._counts[me].blocked += 1
                self._refuse(beside, event, _said(blocking))
                return instead
        attention = self._attention.get(me)
        if self._check is not None:
            number = self.snapshots.number(me)
            if self._check.before(beside, event, number) and attention is not None:
                attention.told.clear()  # as others are to be told, too
        if attention is not None:
            is_open = self._check is not None and self._check.has_news(me)
            attention.is_gated = is_open or bool(standing)
        return None

    def vet(self, beside: Beside, event: Event, effects: Effects) -> Instead | None:
        if self._check is None:
            return None
        me, timers = beside.me, self._check.timers(beside.me)
        instead = self._check.after(beside, event, effects)
        if instead is not None:
            self._undone(beside, event)
            return instead
        are_others = self._check.timers(me) is not timers
        number = self.snapshots.number(me)
        self._unchanged[me].happened(event, effects, number, timers=are_others)
        return None

    def seen(self, beside: Beside, event: Event) -> None:
        self.snapshots.seen(beside, event)

    def extensions(
        self, beside: Beside, peer: NodeId, part: str, message: Any
    ) -> dict[int, int] | None:
        numbers = self.snapshots.extensions(beside, peer, part, message)
        if self._check is not None and numbers is not None:
            since = self._unchanged[beside.me].since(numbers[CHECKPOINT])
            if since is not None:
                numbers[SINCE] = since
            numbers |= self._check.numbers(beside, self._system.index[peer])
        return numbers

    def noticed(
        self, beside: Beside, peer: NodeId, life: int, numbers: dict[int, int]
    ) -> None:
        self.snapshots.noticed(beside, peer, life, numbers)
        if self._check is not None:
            self._check.noticed(beside, peer, life, numbers)

    def heard(self, beside: Beside, peer: NodeId, body: bytes) -> None:
        if body[: len(MARK)] == MARK:
            self._take_path(beside, body)
        else:
            self.snapshots.heard(beside, peer, body)

    def _undone(self, beside: Beside, event: Event) -> None:
        """Take note that an event was refused which had happened already."""
        assert self._check is not None
        self._refuse(beside, event, self._check.reasons[beside.me])
        self._gate_again(beside.me)

    def _gate_again(self, me: NodeId) -> None:
        """See to it that the next event is seen as a whole."""
        attention = self._attention.get(me)
        if attention is not None:
            attention.is_gated = True

    def _refuse(self, beside: Beside, event: Event, why: str) -> None:
        self._why[beside.me] = why
        if len(self.refusals) < _MOST_REFUSALS:
            said = shorten(repr(event), 200)
            self.refusals.append(RefusedEvent(beside.now, beside.me.name, said, why))

    def note(self, beside: Beside) -> str:
        """Return why the last event was refused."""
        return self._why.get(beside.me, "")

    # --------------------------------------------------------------------- forecasts

    def _taken(self, snapshot: NeighbourhoodSnapshot) -> None:
        """Have predicted what may follow a snapshot, unless it is as the last one."""
        me = self._system.ids[snapshot.node]
        counts, beside = self._counts[me], self._beside[me]
        counts.snapshots += 1
        if self._told is not None:
            self._told(snapshot)
        if self._predicts is None or not self._options.predicts_for(me):
            return
        # Without numbers, which decide nothing of what may follow.
        essence = {index: one.body for index, one in snapshot.members.items()}
        standing, is_as_last = self._standing[me], self._last.get(me) == essence
        if is_as_last and standing.renew(snapshot.time, beside.now):
            counts.skipped += 1
            for handed in self._still.get(me, ()):
                self._hand(beside, handed)
            return
        self._last[me] = essence
        standing.begin(snapshot.time)
        self._predicts.ask(beside, snapshot, self._answered)

    def _take_path(self, beside: Beside, letter: bytes) -> None:
        """Try a path that another node has found, if this one can refuse something."""
        if self._predicts is None or not self._options.installs:
            return
        try:
            path = path_of(self._system, letter)
        except InputError:
            self._counts[beside.me].malformed += 1
            return
        snapshot = self.snapshots.latest(beside.me)
        self._predicts.hand(beside, path, snapshot, self._answered)

    def _hand(self, beside: Beside, handed: Handed) -> None:
        """Hand a path to a node that can refuse a step of it, the same one now and then."""
        key = handed.to, handed.path
        since = self._handed.get(beside.me, {})
        last = since.get(key)
        if last is not None and beside.now - last < self._options.every:
            return
        letter = letter_of(handed.path)
        if letter is None:
            return
        for old in [one for one, at in since.items() if beside.now - at > self._lasts]:
            del since[old]
        since[key] = beside.now
        self._handed[beside.me] = since
        self._counts[beside.me].handed += 1
        beside.tell(handed.to, self.name, letter)

    def _answered(self, forecast: SnapshotForecast) -> None:
        me = self._system.ids[forecast.snapshot.node]
        counts, beside = self._counts[me], self._beside[me]
        counts.predictions += not forecast.is_known
        counts.states += forecast.states
        if not forecast.is_known:
            counts.predicted += len(forecast.findings)
            handed = [one.handed for one in forecast.findings]
            self._still[me] = [one for one in handed if one is not None]
            for one in forecast.findings:
                counts.unhelpful += one.action == "unhelpful"
                counts.elsewhere += one.action == "elsewhere"
                if one.handed is not None:
                    self._hand(beside, one.handed)
        assert self._predicts is not None
        self.findings.take(self._predicts.onward, forecast, beside.now)
        if self._standing[me].is_stale(forecast.snapshot.time, beside.now):
            counts.stale += 1
            return
        if self._options.installs:
            self._install(forecast)
        self._reactions.take(beside, forecast)

    def _install(self, forecast: SnapshotForecast) -> None:
        """Let the filters of a forecast stand."""
        me = self._system.ids[forecast.snapshot.node]
        self._gate_again(me)
        count = self._standing[me].take(forecast)
        if forecast.is_known:
            self._counts[me].known += count
        else:
            self._counts[me].filters += count


def _said(blocking: EventFilter) -> str:
    return f"a filter blocks {described(blocking)}"


def described(blocking: EventFilter) -> str:
    """Return what a filter blocks, in words."""
    who = "" if blocking.peer is None else f" from {blocking.peer}"
    what = "" if blocking.content is None else " with this content"
    return f"{blocking.kind.value} {blocking.name}{who}{what}"
