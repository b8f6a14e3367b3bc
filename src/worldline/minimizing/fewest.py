"""The fewest deliveries that a violation takes, by a search of all smaller runs.

Runs are searched by steps. A start is one, and no delivery; so they come first, where
that makes no difference, and the rest of a run is deliveries alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any, final

from worldline.engine.expand import Expander
from worldline.engine.tables import Row
from worldline.minimizing.exhaustive import ShortRuns, WayOut
from worldline.model.kinds import Kind
from worldline.model.network.datagrams import Datagrams
from worldline.model.semantics.hidden import Status
from worldline.model.system import System
from worldline.model.workload import Invocation, Script
from worldline.shrink.campaign import Campaign
from worldline.shrink.matching import EXACT
from worldline.worlds.world import Snapshot

_MOST_BEGINNINGS = 256
"""Sets of nodes that have started with which a search begins."""

_INSTANT = frozenset({"drops", "duplicates", "resets", "silent_resets"})
"""Faults that are one event each, and give rise to none that is no delivery."""


@final
class Fewest:
    """Looks for a violation with fewer deliveries than the best run has.

    Parameters
    ----------
    runs
        Searches the system, or one with fewer runs.
    snapshot
        The state in which runs begin.
    """

    def __init__(self, runs: ShortRuns, snapshot: Snapshot) -> None:
        self._runs = runs
        self._ways: list[WayOut] = [[]]
        self._begins = [snapshot]
        self._others = 0 if self._starts_first() else _others(runs, snapshot)

    def search(self, campaign: Campaign, states: int) -> int | None:
        """Return how many deliveries every violating run has; None if unknown.

        Parameters
        ----------
        states
            How many states are visited at most, one level after the other. A violation
            that is met takes the place of the best run if it is smaller.

        Raises
        ------
        BoundHit
            If a limit of the campaign is reached.
        """
        most = campaign.best.size.steps - 1
        if self._others is not None:
            most = min(most, campaign.best.size.deliveries + self._others - 1)
        run = self._runs.shortest(campaign, self._begins, most, states, folded=True)
        if run.way is not None:
            way = [*self._ways[run.begin], *run.way]
            campaign.attempt([campaign.runner.step(*one) for one in way], EXACT)
        return None if self._others is None else max(0, run.least - self._others)

    def _starts_first(self) -> bool:
        """Begin with each set of nodes that have started; False if that loses runs.

        A start commutes with what happens at other nodes before it, and nothing does at
        its own. So it may come first, unless somebody sees the order of all steps, or
        something but handlers may happen to messages.
        """
        system, world = self._runs.world.system, self._runs.world
        if (
            not isinstance(system.network, Datagrams)
            or system.faults.possible()
            or system.observers
            or system.assume is not None
            or system.prologue
            or self._runs.anywhere
        ):
            return False
        expander = Expander(world.tables, world)
        begins: list[tuple[WayOut, Row]] = [([], world.encode(self._begins[0]))]
        seen: set[tuple[int, ...]] = set()
        for way, row in begins:
            for _, new, entry, leaf in expander.successors(row, 0):
                if entry.event.kind is not Kind.START:
                    continue
                least = tuple(self._runs.canonical(new))
                if leaf.failed or len(begins) > _MOST_BEGINNINGS:
                    return False
                if least not in seen:
                    seen.add(least)
                    begins.append(([*way, (entry.event, leaf.detail.choices)], new))
        self._ways = [way for way, _ in begins]
        self._begins = [world.decode(row) for _, row in begins]
        return True


def _others(runs: ShortRuns, snapshot: Snapshot) -> int | None:
    """Return how many steps of a run are no deliveries at most; None if nobody knows.

    These are starts, and faults. On other networks than datagrams a node that is not up
    refuses messages, so that has to be out of the question there.
    """
    system = runs.world.system
    new = sum(
        _status(system, n, snapshot) is Status.NEW for n in range(len(system.ids))
    )
    if system.prologue or runs.anywhere:
        return None
    if not isinstance(system.network, Datagrams):
        return None if new or system.faults.possible() else 0
    if not set(system.faults.possible()) <= _INSTANT:
        return None
    limits = [system.faults.limit(name) for name in system.faults.possible()]
    return None if None in limits else new + sum(filter(None, limits))


def _status(system: System, index: int, snapshot: Snapshot) -> Status:
    column = system.layout.hidden(index)
    cell: Any = system.cell(column)
    cell.restore(snapshot[column])
    status: Status = cell.status
    return status


def closed(system: System, campaign: Campaign) -> System:
    """Return a system in which only the calls of the best run can be made.

    A script ends where it goes on with a call that the run does not make at the node,
    or not that often; of nodes that are alike it goes on as long as that of any. So all
    runs with the same calls are left, and some others; calls that are in no script,
    starts and faults are not looked at.
    """
    made: Counter[Any] = Counter()
    for step in campaign.best.steps:
        event = step.known.event
        if event.kind is Kind.CALL:
            made[event.node, Invocation(event.name, event.payload).key] += 1
    group = {node: number for number, g in enumerate(system.symmetry) for node in g}
    scripts = [one for one in system.workload if isinstance(one, Script)]
    earlier: Counter[Any] = Counter()
    places, most = [], Counter[Any]()
    for one in scripts:
        earlier[one.node] += 1
        place = group.get(one.node, one.node), earlier[one.node]
        most[place] = max(most[place], _within(one, made))
        places.append(place)
    lengths = map(most.__getitem__, places)
    return system.replace(
        workload=[
            replace(one, calls=one.calls[: next(lengths)])
            if isinstance(one, Script)
            else one
            for one in system.workload
        ]
    )


def _within(script: Script, made: Counter[Any]) -> int:
    """Return how many of a script's calls, from the first, are among those made."""
    left = made.copy()
    for number, call in enumerate(script.calls):
        if not left[script.node, call.key]:
            return number
        left[script.node, call.key] -= 1
    return len(script.calls)
