"""Every run of some length: a shorter end for a run, and a bound on how short it can be.

What `worldline.shrink` may not know: the engine of `check`.
"""

from __future__ import annotations

from typing import TypeAlias, final

from worldline.engine.bounds import BoundHit, Bounds
from worldline.engine.decisions import Decision
from worldline.engine.exploration import Exploration, Options, StateCheck
from worldline.model.events import Choices, Event
from worldline.model.properties import Property
from worldline.model.system import System
from worldline.search.engines import choose
from worldline.shrink.campaign import Campaign
from worldline.shrink.matching import EXACT
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot

WayOut: TypeAlias = list[tuple[Event, Choices]]

_LENGTHS = (4, 7, 10, 14, 20)
"""Steps from the end of a run, for which another way is looked for."""

_STATES = 2_000
"""States that are visited for each of them."""


@final
class ShortRuns:
    """Looks for violations that are a few steps away, all of them.

    Parameters
    ----------
    prop
        What is to be violated.
    """

    def __init__(self, prop: Property) -> None:
        self._property = prop
        self._world: TabulatedWorld | None = None

    def _asked(self, system: System) -> tuple[TabulatedWorld, Decision]:
        """Return a world of the system that a campaign has now, and the question to it."""
        if self._world is None or self._world.system is not system:
            self._world = TabulatedWorld(system)
            self._decision = self._world.decision(self._property)
        return self._world, self._decision

    def shortest(
        self, campaign: Campaign, snapshot: Snapshot, steps: int, states: int
    ) -> tuple[WayOut | None, int]:
        """Look for a shortest run to a violation.

        Parameters
        ----------
        steps, states
            How long it may be, and how many states are visited at most.

        Returns
        -------
        tuple
            The run, if there is one, and how many steps every such run has at least.

        Raises
        ------
        BoundHit
            If a limit of the campaign is reached.
        """
        world, decision = self._asked(campaign.runner.world.system)
        search = Exploration(
            world.tables,
            world,
            [world.encode(snapshot)],
            [StateCheck(decision, target=False, fatal=True)],
            bounds=Bounds(depth=steps + 1, states=states),
            options=Options(),
            meter=campaign.meter,
        )
        search.run(choose("auto").run)
        campaign.runner.executed += search.statistics.generated
        if search.bound in ("seconds", "memory", "interrupted"):
            raise BoundHit(search.bound)
        if 0 in search.hits:
            path = search.hits[0].path
            end = [(entry.event, leaf.detail.choices) for entry, leaf in path]
            return end, len(end)
        if search.bound in (None, "depth") and not search.failures:
            return None, steps + 1
        # The last level was perhaps not finished.
        return None, max(0, search.statistics.depth - 1)


@final
class ShorterEnd:
    """Replaces the last steps of a run by fewer, if there are such."""

    name = "shorter end"

    def __init__(self, runs: ShortRuns) -> None:
        self._runs = runs

    def apply(self, campaign: Campaign) -> None:
        for most in _LENGTHS:
            steps = campaign.best.steps
            length = min(most, len(steps))
            place = len(steps) - length
            snapshot = campaign.runner.states(campaign.best)[place]
            end, least = self._runs.shortest(campaign, snapshot, length - 1, _STATES)
            if end is not None:
                new = [campaign.runner.step(*one) for one in end]
                campaign.attempt((*steps[:place], *new), EXACT)
            elif least < length or not place:
                return


def lower_bound(
    campaign: Campaign, runs: ShortRuns, snapshot: Snapshot, states: int
) -> int | None:
    """Return how many deliveries every violating run has at least; None if unknown.

    One level of states after the other is visited, as far as `states` go. A violation
    that is met there is a shortest run, and takes the place of the best so far.

    Raises
    ------
    BoundHit
        If a limit of the campaign is reached.
    """
    most = campaign.best.size.steps - 1
    run, least = runs.shortest(campaign, snapshot, most, states)
    if run is not None:
        campaign.attempt([campaign.runner.step(*one) for one in run], EXACT)
    others = _others(campaign.runner.world.system)
    return None if others is None else max(0, least - others)


def _others(system: System) -> int | None:
    """Return how many steps of a run are no deliveries at most; None if nobody knows.

    Without faults these are starts: nothing is refused, and no connection breaks.
    """
    if system.faults.possible() or system.prologue:
        return None
    return len(system.ids) if system.boot == "events" else 0
