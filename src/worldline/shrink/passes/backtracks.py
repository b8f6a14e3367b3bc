"""Other orders of the messages of a node, those nearest to the run first.

A run that lacks one of its events may violate the same after all, if elsewhere another
message comes first: that is how a race goes the other way. So of each run that was tried
the races are turned round one by one, and what comes of it has its own races.

References
----------
Scott et al. (DEMi), NSDI 2016, sections 3.3 and 3.4 and algorithm 1: dynamic partial
order reduction whose backtracks wait in a queue by their distance from the original run.
What differs: what is not delivered in the original takes the place of a message only if
it is of the same class, as there; messages that are delivered later are tried whatever
they are.
Flanagan, Godefroid, "Dynamic Partial-Order Reduction", POPL 2005: which events race.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias, final

from worldline.model.events import Event
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import ShrunkRun
from worldline.shrink.chunks import without
from worldline.shrink.matching import LAST
from worldline.shrink.steps import ShrunkStep, size_of

WantedSteps: TypeAlias = tuple[ShrunkStep, ...]

NodeOrders: TypeAlias = tuple[tuple[int, ...], ...]
"""What happens at each node, in order: the same for runs that are the same but for the
order of independent steps."""


@final
class Backtracks:
    """Turns races round in runs that lack an event.

    Parameters
    ----------
    most_events
        Events to execute without a smaller run among what they make, after which it
        ends.
    most_steps
        Runs that are longer are left as they are.
    """

    name = "backtracks"

    def __init__(self, most_events: int, most_steps: int = 100) -> None:
        self._most_events = most_events
        self._most_steps = most_steps

    def apply(self, campaign: Campaign) -> None:
        while len(campaign.best.steps) <= self._most_steps:
            if not self._is_smaller_now(campaign):
                return

    def _is_smaller_now(self, campaign: Campaign) -> bool:
        run, runner = campaign.best, campaign.runner
        queue = _Queue(run)
        for step in reversed(run.steps):
            queue.put(without(run.steps, [(step,)]))
        ends = runner.executed + self._most_events
        for wanted in queue:
            if runner.executed >= ends:
                return False
            steps, is_met = campaign.executed_of(wanted, LAST, run)
            if is_met and size_of(steps) < run.size:
                return campaign.attempt(wanted, LAST)
            if queue.is_new(steps):
                for turned in _turned(campaign, run, steps):
                    queue.put(turned)
        return False


@final
class _Queue:
    """Runs to try, those nearest to the original first."""

    def __init__(self, run: ShrunkRun) -> None:
        self._places = {label: place for place, label in enumerate(_labels(run.steps))}
        self._heap: list[tuple[int, int, WantedSteps]] = []
        self._numbers = itertools.count()
        self._tried: set[NodeOrders] = set()
        self._nodes = sorted({step.known.index for step in run.steps})

    def put(self, steps: WantedSteps) -> None:
        number = next(self._numbers)
        heapq.heappush(self._heap, (self._distance(steps), number, steps))

    def __iter__(self) -> Iterator[WantedSteps]:
        while self._heap:
            yield heapq.heappop(self._heap)[2]

    def is_new(self, steps: Sequence[ShrunkStep]) -> bool:
        """Say whether no run was the same but for the order of independent steps."""
        order = _node_orders(steps)
        is_new = order not in self._tried
        self._tried.add(order)
        return is_new

    def _distance(self, steps: WantedSteps) -> int:
        """Return how many steps are not of the original, or in another order there."""
        places = [self._places.get(label, -1) for label in _labels(steps)]
        others, seen = 0, 0
        for place in places:
            if place < 0:
                others += 1
                continue
            # A bit for each place: those beyond this one came too early.
            others += (seen >> place).bit_count()
            seen |= 1 << place
        return others


def _labels(steps: Sequence[ShrunkStep]) -> Iterator[tuple[int, int]]:
    """Yield what tells steps apart: the event, and how often it was there before."""
    count: Counter[int] = Counter()
    for step in steps:
        key = id(step.known)
        yield key, count[key]
        count[key] += 1


def _node_orders(steps: Sequence[ShrunkStep]) -> NodeOrders:
    order: dict[int, list[int]] = {}
    for step in steps:
        order.setdefault(step.known.index, []).append(id(step.known))
    return tuple((index, *order[index]) for index in sorted(order))


def _turned(
    campaign: Campaign, run: ShrunkRun, steps: Sequence[ShrunkStep]
) -> Iterator[WantedSteps]:
    """Yield a run with each race turned round: what comes second, first."""
    runner = campaign.runner
    world = runner.world
    world.go_back(run.marks[0].moment)
    for place, step in enumerate(steps):
        index = step.known.index
        if index >= 0 and step.known.event.kind.is_delivery:
            for event in world.enabled_at(index):
                turned = _with_first(campaign, steps, place, event)
                if turned is not None:
                    yield turned
        if world.happen(step.known, step.choices) is None:
            return
    runner.executed += len(steps)


def _with_first(
    campaign: Campaign, steps: Sequence[ShrunkStep], place: int, event: Event
) -> WantedSteps | None:
    """Return a run in which an event comes before the one at a place of its node."""
    own = steps[place].known.event
    if event == own or not event.kind.is_delivery:
        return None
    known = campaign.runner.world.known(event)
    for later in range(place + 1, len(steps)):
        if steps[later].known is known:
            between = steps[place:later]
            return (*steps[:place], steps[later], *between, *steps[later + 1 :])
    if (event.kind, event.name) != (own.kind, own.name):
        return None
    return (*steps[:place], campaign.runner.step(event), *steps[place + 1 :])
