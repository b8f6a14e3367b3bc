"""Exact verdicts on liveness properties, once the space is exhausted.

The space is visited once more, in Python, and written down as a graph
(`engine/graph.py`). A property is violated by a fair run that never ends and in which
it is false again and again, or by one that stops where it is false (`engine/lasso.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

from worldline.engine.bounds import BoundHit
from worldline.engine.exploration import Exploration
from worldline.engine.garbage import few_collections
from worldline.engine.graph import Graph, GraphTooLarge, Space
from worldline.engine.lasso import Fairness
from worldline.engine.profile import REST
from worldline.engine.room import memory_mb
from worldline.engine.tables import Leaf
from worldline.model.events import Event
from worldline.model.kinds import Kind
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.outcome import Outcome
from worldline.model.usercode.interrupts import heard, pending
from worldline.model.verdicts import Verdict
from worldline.runs.report import PropertyReport
from worldline.search.absence import ABSENT
from worldline.search.counterexample import Counterexamples, Finding
from worldline.search.report import Progress
from worldline.worlds.tabulated import TabulatedWorld

_BYTES_PER_STATE = 24
"""What the components of a graph take, about."""

UNJUDGED = "liveness"
"""The bound of a search that was exhausted, but too large to judge liveness or so."""


@final
@dataclass(frozen=True, slots=True)
class LivenessAnswer:
    """The verdicts on liveness properties.

    Attributes
    ----------
    rows
        By name.
    bound
        What ended the visit before there was a verdict, if something did.
    seconds
        How long it took; None if nothing was visited.
    """

    rows: dict[str, PropertyReport]
    notes: tuple[str, ...] = ()
    bound: str | None = None
    seconds: float | None = None


@final
@dataclass(frozen=True, slots=True)
class Liveness:
    """The question about liveness properties.

    Attributes
    ----------
    wanted
        Whether they are judged at all.
    limit
        The most states of a space that is visited for them.
    progress
        Called now and then.
    """

    wanted: bool
    limit: int
    progress: Callable[[Progress], None] | None

    def judge(
        self,
        properties: list[Property],
        world: TabulatedWorld,
        search: Exploration,
        writer: Counterexamples,
        bound: str | None,
    ) -> LivenessAnswer:
        """Judge the liveness properties after a search.

        Parameters
        ----------
        bound
            What the search left out of the space; None if nothing.
        """
        wanted = [p for p in properties if p.kind is PropertyKind.LIVENESS]
        if not wanted:
            return LivenessAnswer({})
        reason = self._obstacle(search, bound)
        if reason:
            return _all(wanted, Verdict.NOT_SEARCHED, reason, self._bound(bound))
        began = time.monotonic()
        try:
            with few_collections(), heard():
                judge = search.profile.timed(REST, self._judge)
                rows, notes = judge(wanted, world, search, writer)
        except GraphTooLarge:
            reason = self._too_large(f"more than {self.limit:,}")
            return _all(wanted, Verdict.NOT_SEARCHED, reason, UNJUDGED)
        except BoundHit as hit:
            return _ended(wanted, hit.bound)
        except MemoryError:
            return _ended(wanted, "memory")
        except KeyboardInterrupt:
            pending()  # it is heeded now
            return _ended(wanted, "interrupted")
        return LivenessAnswer(rows, notes, None, time.monotonic() - began)

    def _bound(self, bound: str | None) -> str | None:
        """Return what is missing for the whole to hold, if nobody wanted it so."""
        return UNJUDGED if self.wanted and bound is None else None

    def _obstacle(self, search: Exploration, bound: str | None) -> str:
        """Return why liveness cannot be judged, or ``""``."""
        if not self.wanted:
            return "switched off"
        if search.symmetry is not None:
            return (
                "symmetry is used, and a cycle of states up to names need not be one "
                "of states; search without it (--no-symmetry, symmetry=False)"
            )
        if bound == ABSENT:
            return "all states were visited, but absent nodes leave open how runs go on"
        if bound is not None:
            return f"the space was not exhausted (bound: {bound})"
        if search.statistics.states > self.limit:
            return self._too_large(f"{search.statistics.states:,}")
        return ""

    def _too_large(self, states: str) -> str:
        return (
            f"too large: {states} states; the limit is {self.limit:,} "
            "(--max-liveness-states)"
        )

    def _judge(
        self,
        wanted: list[Property],
        world: TabulatedWorld,
        search: Exploration,
        writer: Counterexamples,
    ) -> tuple[dict[str, PropertyReport], tuple[str, ...]]:
        space = Space(search, [world.decision(p) for p in wanted], _renewed)

        def tick(graph: Graph) -> None:
            search.check()
            if self.progress is not None:
                self.progress(_progress(graph, search))

        space.graph.pulse = lambda: tick(space.graph)
        space.build(self.limit, tick)
        tick(space.graph)
        search.meter.need(_BYTES_PER_STATE * space.graph.states)
        fairness = Fairness(space.graph)
        verdicts = [
            self._verdict(p, space, fairness, bad, writer)
            for p, bad in zip(wanted, space.false, strict=True)
        ]
        rows = {row.name: row for row in verdicts}
        return rows, tuple(_vacuous(wanted, space, fairness))

    def _verdict(
        self,
        prop: Property,
        space: Space,
        fairness: Fairness,
        bad: bytearray,
        writer: Counterexamples,
    ) -> PropertyReport:
        kind = prop.kind.value
        lasso = fairness.lasso(bad)
        if lasso is None:
            return PropertyReport(name=prop.name, kind=kind, verdict=Verdict.HOLDS)
        hit = space.hit(lasso.way, lasso.cycle)
        return writer.violated(
            Finding(prop.name, kind, "", hit, prop, cycle=len(lasso.way))
        )


def _renewed(leaf: Leaf) -> Iterator[Event]:
    """Yield the timers that an outcome sets, as the events that they become.

    One that was pending waits anew; for one that was not it makes no difference.
    """
    where: Event = leaf.entry.event
    outcome: Outcome = leaf.detail
    for change in outcome.timers:
        if change.after is not None:
            timer = change.timer
            yield Event(
                Kind.TIMER,
                where.node,
                part=timer.part,
                name=timer.name,
                payload=timer.payload,
            )


def _all(
    wanted: list[Property], verdict: Verdict, reason: str, bound: str | None = None
) -> LivenessAnswer:
    return LivenessAnswer(
        bound=bound,
        rows={
            p.name: PropertyReport(
                name=p.name, kind=p.kind.value, verdict=verdict, explanation=reason
            )
            for p in wanted
        },
    )


def _ended(wanted: list[Property], bound: str) -> LivenessAnswer:
    reason = f"all states were visited, but runs for ever not looked for to the end (bound: {bound})"
    rows = _all(wanted, Verdict.UNKNOWN, reason).rows
    return LivenessAnswer(rows, bound=bound)


def _progress(graph: Graph, search: Exploration) -> Progress:
    return Progress(
        states=graph.states,
        generated=len(graph.targets),
        depth=search.statistics.depth,
        frontier=graph.states + 1 - len(graph.first),
        seconds=search.meter.seconds,
        memory_mb=memory_mb(),
        liveness=True,
    )


def _vacuous(wanted: list[Property], space: Space, fairness: Fairness) -> list[str]:
    """Return what a pass says nothing about: see Notes on vacuity in docs/design.md."""
    if not fairness.has_runs():
        names = ", ".join(p.name for p in wanted)
        return [f"no run stops or goes on for ever, so nothing was asked of {names}"]
    return [
        f"{p.name} holds vacuously: it is false in no reachable state"
        for p, bad in zip(wanted, space.false, strict=True)
        if 1 not in bad
    ]
