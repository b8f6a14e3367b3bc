"""Reactions: what nodes do by themselves about the failures that they foresee.

A filter knows nothing of the service; its node may know a better way out. It is told by a
call of its `@wl.on_prediction` handler, which is an event of the run as others are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.foreseen import Foreseen
from worldline.model.system import System
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.worlds.companions import Beside


@final
class _LastTold:
    """What a node was told of a failure, and is to be told when the interval is over.

    Attributes
    ----------
    time
        When it was told.
    call_off
        Takes that back, if the call waits still.
    forget
        Lets it not be told again.
    """

    __slots__ = ("call_off", "forget", "time")

    def __init__(self, time: float, call_off: Callable[[], bool]) -> None:
        self.time, self.call_off = time, call_off
        self.forget: Callable[[], None] = _nothing


@final
class Reactions:
    """Tells nodes what they foresee, each of each property once in an interval at most.

    What is predicted sooner is told when the interval is over, the last of it, unless it
    is foreseen no more by then. So is what waits for a guard taken back.

    Parameters
    ----------
    every
        Seconds of an interval.
    lasts
        Seconds for which a snapshot is good. A known path says something new where
        nothing was told for so long.

    Attributes
    ----------
    count
        Of each node, what it was told, and what was not taken back.
    """

    def __init__(self, system: System, *, every: float, lasts: float) -> None:
        self._handlers = {
            node: kind.reaction.name
            for node, kind in zip(system.ids, system.types, strict=True)
            if kind.reaction is not None
        }
        self._every, self._lasts = every, lasts
        self._told: dict[NodeId, dict[str, _LastTold]] = {}
        self.count: Counter[NodeId] = Counter()

    def joined(self, me: NodeId) -> None:
        """Forget what a node was told in a life before."""
        self._told.pop(me, None)

    def take(self, beside: Beside, forecast: SnapshotForecast) -> None:
        """Take what a node foresees, now or once its handler may be called."""
        if beside.me not in self._handlers:
            return
        told, now = self._told.setdefault(beside.me, {}), beside.now
        if not forecast.is_known:
            still = {one.property for one in forecast.findings}
            for name in [one for one in told if one not in still]:
                self._take_back(beside.me, told, name)
        for finding in forecast.findings:
            last = told.get(finding.property)
            if last is None or now - last.time >= self._lasts:
                self._tell(beside, finding)
            elif not forecast.is_known:
                self._tell_again(beside, finding, last)

    def _tell_again(
        self, beside: Beside, finding: ForeseenFailure, last: _LastTold
    ) -> None:
        """Tell a node what it foresees still, in place of what it was not told yet."""
        last.forget()
        left = last.time + self._every - beside.now
        if left <= 0 or self._call_off(beside.me, last):
            self._tell(beside, finding)
        else:
            last.forget = beside.later(left, partial(self._tell, beside, finding))

    def _tell(self, beside: Beside, finding: ForeseenFailure) -> None:
        """Tell a node what it foresees, in place of what it was told before."""
        me = beside.me
        last = self._told[me].get(finding.property)
        if last is not None:
            last.forget()
            self._call_off(me, last)
        call_off = beside.call_soon(self._handlers[me], foreseen(finding))
        self._told[me][finding.property] = _LastTold(beside.now, call_off)
        self.count[me] += 1

    def _take_back(self, me: NodeId, told: dict[str, _LastTold], name: str) -> None:
        """Take back what is foreseen no more; what waited has not been told."""
        told[name].forget()
        if self._call_off(me, told[name]):
            del told[name]

    def _call_off(self, me: NodeId, told: _LastTold) -> bool:
        """Take back a call that waits still; say whether one does."""
        did_wait = told.call_off()
        self.count[me] -= did_wait
        return did_wait


def foreseen(finding: ForeseenFailure) -> Foreseen:
    """Return what the node of a finding is told of it."""
    events = (event for event, _ in finding.schedule)
    mine = (one for one in events if one.node == finding.node and one.kind.runs_handler)
    first = next(mine, None)
    steps = len(finding.schedule)
    if first is None:
        return Foreseen(property=finding.property, steps=steps, action=finding.action)
    return Foreseen(
        property=finding.property,
        steps=steps,
        action=finding.action,
        kind=first.kind.value,
        part=first.part,
        name=first.name,
        peer=first.peer,
    )


def _nothing() -> None:
    """Do nothing: nothing is to be told."""
