"""Every run of some length, from a state or several: the shortest that violates.

What `worldline.shrink` may not know: the engine of `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from worldline.engine.bounds import BoundHit, Bounds
from worldline.engine.decisions import Decision
from worldline.engine.exploration import Exploration, Hit, Options, StateCheck
from worldline.engine.tables import Row
from worldline.engine.unfold import unfold
from worldline.model.data.identity import without_order
from worldline.model.events import Choices, Event
from worldline.model.properties import Property, PropertyKind
from worldline.model.semantics.execute import Failure
from worldline.model.system import System
from worldline.model.view import View
from worldline.search.engines import choose
from worldline.shrink.campaign import Campaign
from worldline.shrink.candidate import assumption
from worldline.shrink.matching import EXACT
from worldline.shrink.target import is_same
from worldline.worlds.symmetry_check import SymmetryCheck
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.world import Snapshot

WayOut: TypeAlias = list[tuple[Event, Choices]]

_LENGTHS = (4, 7, 10, 14, 20)
"""Steps from the end of a run, for which another way is looked for."""

_STATES = 2_000
"""States that are visited for each of them."""


@final
@dataclass(frozen=True, slots=True)
class ShortestRun:
    """What a search for a shortest run came to.

    Attributes
    ----------
    events
        Steps that were worked out.
    least
        How many steps every violating run has at least.
    begin
        The number of the state in which the run begins that was met.
    way
        That run; None if there was none.
    """

    events: int
    least: int
    begin: int = 0
    way: WayOut | None = None


@final
class ShortRuns:
    """Looks for violations that are a few steps away, all of them.

    Parameters
    ----------
    what
        What is to be violated: a property, or how a handler is to fail.
    anywhere
        Whether runs may begin in a state to which perhaps no run leads.
    partial
        Whether nodes or observers are absent.
    """

    def __init__(
        self,
        system: System,
        what: Property | Failure,
        *,
        anywhere: bool,
        partial: bool,
    ) -> None:
        self.what = what
        self.anywhere = anywhere
        self.world = TabulatedWorld(system, anywhere=anywhere, partial=partial)
        self._decisions: dict[str, Decision] = {}
        if isinstance(what, Property):
            self._decisions[what.name] = self.world.decision(what)
        self._leaving = None
        assumed = assumption(system)
        if assumed is not None:
            self._leaving = self.world.decision(_no_longer(assumed))
        self._alike = SymmetryCheck(self.world) if system.symmetry else None

    def canonical(self, row: Row) -> Row:
        """Return the row that stands for all that differ in names only."""
        return row if self._alike is None else self._alike.symmetry.canonical(row)

    def shortest(
        self,
        campaign: Campaign,
        begins: Sequence[Snapshot],
        steps: int,
        states: int,
        *,
        folded: bool = False,
    ) -> ShortestRun:
        """Look for a shortest run to a violation.

        Parameters
        ----------
        begins
            The states in which it may begin.
        steps, states
            How long it may be, and how many states are visited at most.
        folded
            Whether of states that differ only in names one is visited, as far as the
            system declares that.

        Raises
        ------
        BoundHit
            If a limit of the campaign is reached.
        """
        if not folded or self._alike is None:
            return self._searched(campaign, begins, steps, states, None)
        with without_order(self.world.system.symmetry):
            return self._searched(campaign, begins, steps, states, self._alike)

    def _searched(
        self,
        campaign: Campaign,
        begins: Sequence[Snapshot],
        steps: int,
        states: int,
        alike: SymmetryCheck | None,
    ) -> ShortestRun:
        world = self.world
        search = Exploration(
            world.tables,
            world,
            [world.encode(snapshot) for snapshot in begins],
            [
                StateCheck(decision, target=False, fatal=True)
                for decision in self._decisions.values()
            ],
            bounds=Bounds(depth=steps + 1, states=states),
            options=Options(prune=self._leaving),
            meter=campaign.meter,
            symmetry=None if alike is None else alike.symmetry,
        )
        members = 0 if alike is None else alike.symmetry.count
        search.run(choose("auto", symmetric=members).run)
        events = search.statistics.generated
        # Without memory it ends as without states: its own is free again.
        if search.bound in ("seconds", "interrupted"):
            raise BoundHit(search.bound)
        if alike is not None:
            alike.check_steps(search.expanded.rows())
            alike.check_verdicts(search.examined.rows(), self._decisions)
            unfold(search)
        hit = self._hit(search)
        if hit is not None:
            way = [(entry.event, leaf.detail.choices) for entry, leaf in hit.path]
            return ShortestRun(events, len(way), hit.root, way)
        if search.bound in (None, "depth") and not search.failures:
            return ShortestRun(events, steps + 1)
        # The last level was perhaps not finished.
        return ShortestRun(events, max(0, search.statistics.depth - 1))

    def _hit(self, search: Exploration) -> Hit | None:
        if isinstance(self.what, Property):
            return search.hits.get(0)
        hit = search.failures.get(self.what.kind)
        if hit is None:
            return None
        return hit if is_same(hit.path[-1][1].detail.failure, self.what) else None


def _no_longer(assumed: Property) -> Property:
    """Return what is true where something that is assumed is false."""

    def is_false(view: View) -> bool:
        return not assumed.judge(view if view._ways is None else view._apart()).holds

    return Property("no longer assumed", PropertyKind.SAFETY, is_false, "predicate")


@final
class ShorterEnd:
    """Replaces the last steps of a run by fewer, if there are such.

    Parameters
    ----------
    runs_of
        Returns who searches the runs of the system that a campaign has now.
    """

    name = "shorter end"

    def __init__(self, runs_of: Callable[[Campaign], ShortRuns]) -> None:
        self._runs_of = runs_of

    def apply(self, campaign: Campaign) -> None:
        runs = self._runs_of(campaign)
        for most in _LENGTHS:
            steps = campaign.best.steps
            length = min(most, len(steps))
            place = len(steps) - length
            before = [campaign.runner.states(campaign.best)[place]]
            run = runs.shortest(campaign, before, length - 1, _STATES)
            campaign.runner.executed += run.events
            if run.way is not None:
                new = [campaign.runner.step(*one) for one in run.way]
                campaign.attempt((*steps[:place], *new), EXACT)
            elif run.least < length or not place:
                return
