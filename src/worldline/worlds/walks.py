"""Random walks in the direct world: like those over tables in every result.

Where most steps are new, tables are only filled and never read. A walk can then go on
with the real nodes, drawing the same random numbers: each depends only on the seed, the
walk and the step (`engine/walks.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, final

from worldline.engine.schedulers.protocol import Scheduler, Traits, below
from worldline.engine.schedulers.turns import WORDS, SchedulerSession, random_at
from worldline.engine.tables import Row
from worldline.engine.walks import Ended, Reached, WalkEnd
from worldline.model.drawn import is_drawn
from worldline.model.events import Choices, Event
from worldline.model.kinds import Kind
from worldline.model.node_template import NodeTemplate
from worldline.model.properties import Property
from worldline.model.usercode.divergence import Suspected
from worldline.worlds.direct import DirectWorld
from worldline.worlds.dry_run import DryRun, DryRuns, weight_of
from worldline.worlds.present import PresentAnswers
from worldline.worlds.standing import Offers, Standing, touched_by
from worldline.worlds.tabulated import TabulatedWorld


class CannotTell(Exception):
    """A signal that the end of a walk has to be found out with tables."""


class _Chooses(Exception):
    """A handler makes choices of which that was not known."""


@final
class DirectWalks:
    """Walks on with real nodes.

    Parameters
    ----------
    world
        What rows mean.
    seed, most_steps, scheduler
        As in `WalkOptions`.
    traits
        What the scheduler knows of an event.
    checks, goal
        What ends a walk: a property that is false, or a predicate that is true.
    watches
        Properties of which it is noted where they are true first.
    look
        Called at every step; raises if a bound is hit.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        *,
        seed: int,
        most_steps: int,
        scheduler: Scheduler,
        traits: Callable[[Event], Traits],
        checks: list[Property],
        goal: Property | None = None,
        watches: list[Property] | None = None,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._tabulated = world
        self._system = world.system
        self._seed = seed
        self._traits = traits
        self._look = look
        self.use(scheduler, most_steps)
        self._direct = direct = DirectWorld(world.system)
        direct.door.repeatable = True  # on the tables
        self._standing = standing = Standing(direct)
        self._checks = [standing.of_property(prop) for prop in checks]
        self._goal = None if goal is None else standing.of_property(goal)
        self._watches = [standing.of_property(prop) for prop in watches or ()]
        self.reached: dict[int, Reached] = {}
        self._offers = Offers(direct)
        self._dry_runs = DryRuns(world.system)
        self._choosers: set[tuple[Any, ...]] = set()

    def use(self, scheduler: Scheduler, most_steps: int) -> None:
        """Walk with another scheduler and another bound from now on."""
        self._most_steps = most_steps
        self._turns: SchedulerSession[Event] = SchedulerSession(
            scheduler, self._traits, seed=self._seed, most_steps=most_steps
        )

    def go_on(self, start: Row, row: Row, number: int, steps: int) -> Ended:
        """Return how a walk ends that has come to a row in so many steps.

        Parameters
        ----------
        start
            Where it began: there it begins again if its scheduler remembers more than
            the row.

        Raises
        ------
        CannotTell
            If a handler fails, whose outcome has a number in the tables only, or runs
            for so long that it may never return.
        """
        if self._turns.needs_the_beginning:
            row, steps = start, 0
        snapshot = self._tabulated.decode(row)
        while True:
            self._turns.begin(number)
            self._direct.restore(snapshot)
            everything = set(range(len(snapshot)))
            self._look_again(everything)
            try:
                return self._walk(number, steps)
            except _Chooses:
                continue  # knowing one handler more that chooses
            except Suspected:
                raise CannotTell from None

    def _walk(self, number: int, steps: int) -> Ended:
        while True:
            if self._look is not None:
                self._look()
            for at, watched in enumerate(self._watches):
                if at not in self.reached and watched.value():
                    self.reached[at] = Reached(number, steps)
            for at, check in enumerate(self._checks):
                if not check.value():
                    return Ended(number, WalkEnd.HIT, at, steps)
            if self._goal is not None and self._goal.value():
                return Ended(number, WalkEnd.GOAL, 0, steps)
            if steps == self._most_steps:
                return Ended(number, WalkEnd.LIMIT, 0, steps)
            weight = self._turns.weight
            offered = [event for event in self._offers.all() if weight(event)]
            event = self._turns.choose(offered, steps)
            if event is None:
                return Ended(number, WalkEnd.STUCK, 0, steps)
            word = random_at(self._seed, number, steps * WORDS + 1)
            self._happen(event, word)
            if self._direct.failure is not None:
                raise CannotTell
            steps += 1

    def _happen(self, event: Event, random: int) -> None:
        """Let an event happen, with one of the outcomes that it has."""
        handler = event.node, event.kind, event.part, event.name
        choices: Choices = ()
        if handler in self._choosers:
            choices = self._drawn(event, random)
        elif event.kind is Kind.CALL and is_drawn(event.payload):
            choices = arguments_drawn(event.payload, random)
        outcome = self._direct.step(event, choices)
        if event.node is not None:
            index = self._system.index[event.node]
            # Over tables no handler sees what another left in an ignored field.
            prototype = self._system.prototypes[index]
            self._system.types[index].forget(self._direct.nodes[index], prototype)
        self._look_again(touched_by(self._direct, event))
        if len(outcome.choices) > len(choices):
            self._choosers.add(handler)
            raise _Chooses

    def _look_again(self, touched: set[int]) -> None:
        """Forget what depends on columns that may have changed."""
        self._standing.look_again(touched)
        self._offers.look_again(touched)

    def _drawn(self, event: Event, random: int) -> Choices:
        """Draw one of all combinations of choices that a handler may make."""
        assert event.node is not None
        index = self._system.index[event.node]
        kind = self._system.types[index]
        template = NodeTemplate(kind, kind.freeze(self._direct.nodes[index]))
        environment = PresentAnswers(self._system, self._direct.cells, index, event)
        dry_runs = self._dry_runs.all_choices(index, template, event, environment)
        return _one(dry_runs, random).outcome.choices


def arguments_drawn(arguments: tuple[Any, ...], random: int) -> Choices:
    """Draw arguments as `_one` does where nothing else is chosen.

    There all combinations are as likely, and need not be run to be counted.
    """
    counts = [len(argument.options) for argument in arguments if is_drawn((argument,))]
    share = 1.0
    for count in counts:
        share *= 1 / count
    weight, combinations = weight_of(share), math.prod(counts)
    place = below(weight * combinations, random) // weight
    picks: list[int] = []
    for count in reversed([count for count in counts if count > 1]):
        place, pick = divmod(place, count)
        picks.append(pick)
    return tuple(reversed(picks))


def _one(dry_runs: list[DryRun], random: int) -> DryRun:
    if len(dry_runs) == 1:
        return dry_runs[0]
    place = below(sum(dry_run.weight() for dry_run in dry_runs), random)
    for dry_run in dry_runs:
        if place < dry_run.weight():
            return dry_run
        place -= dry_run.weight()
    raise AssertionError("a place beyond all weights")
