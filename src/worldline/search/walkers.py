"""Who walks: what a search with walks is told, and the walkers that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from worldline.engine.bounds import Bounds, Meter
from worldline.engine.walks import WalkOptions
from worldline.engine.walks import Walks as ReferenceWalks
from worldline.model.events import Event
from worldline.model.properties import Property, PropertyKind
from worldline.search.engines import Engine
from worldline.search.moving import Counted, Moving, Pace
from worldline.search.prefix import Prefix
from worldline.search.probe import Walker
from worldline.search.report import Progress
from worldline.trace.format import Place
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import DirectWalks


def all_of(wanted: list[Property]) -> Property:
    """Return the property that all of some properties hold."""
    name = " and ".join(known.name for known in wanted)
    return Property(
        name,
        PropertyKind.LIVENESS,
        lambda view: all(known.judge(view).holds for known in wanted),
    )


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be searched, and how; see `walks.walk`.

    Attributes
    ----------
    wanted
        The properties that matter.
    seed, most_steps, weigh, threads
        How to walk; see `WalkOptions`.
    faults
        Whether faults happen in walks.
    from_, goals
        Where to begin.
    walks, most_states
        How many walks decide about a state, and the most states of a proof.
    emit_live
        How many live runs are wanted; with any, the search ends when it has them.
    """

    wanted: list[Property]
    seed: int
    most_steps: int
    weigh: Callable[[Event], int]
    threads: int
    bounds: Bounds
    engine: Engine
    progress: Callable[[Progress], None] | None
    faults: bool
    from_: Prefix | Place | None
    goals: list[Property]
    walks: int
    most_states: int
    emit_live: int


@final
class Walkers:
    """The walkers of one search, one for each bound on their steps.

    Parameters
    ----------
    engine
        ``native`` or ``python``.
    meter
        Watches time and memory.

    Attributes
    ----------
    safety, checks
        What ends a walk badly: the properties, and the same as decisions on rows.
    goal
        What ends it well: that all liveness properties hold.
    pace
        Decides where they walk.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        plan: Plan,
        engine: str,
        *,
        meter: Meter,
    ) -> None:
        self._world = world
        self._plan = plan
        self._engine = engine
        self.safety = [p for p in plan.wanted if p.kind is PropertyKind.SAFETY]
        live = [p for p in plan.wanted if p.kind is PropertyKind.LIVENESS]
        self._all_live = all_of(live)
        self.checks = [world.decision(p) for p in self.safety]
        self.goal = world.decision(self._all_live)
        self._counted = Counted(world)
        self.pace = Pace(self._counted)
        self._meter = meter
        self._known: dict[int, Walker] = {}

    def of(self, most_steps: int) -> Walker:
        """Return who walks with a bound."""
        known = self._known.get(most_steps)
        if known is None:
            known = self._known[most_steps] = self._new(most_steps)
        return known

    def close(self) -> None:
        """Free what they hold."""
        for walker in self._known.values():
            walker.close()

    def _new(self, most_steps: int) -> Walker:
        plan = self._plan
        options = WalkOptions(
            meter=self._meter,
            seed=plan.seed,
            most_steps=most_steps,
            weight=lambda entry: plan.weigh(entry.event),
            checks=tuple((one, False) for one in self.checks),
            goal=self.goal,
            threads=plan.threads,
            gives_up=self.pace.gives_up,
        )
        direct = DirectWalks(
            self._world,
            seed=plan.seed,
            most_steps=most_steps,
            weigh=plan.weigh,
            checks=self.safety,
            goal=self._all_live,
            look=self._meter.check,
        )
        return Moving(self._over_tables(options), direct, self.pace)

    def _over_tables(self, options: WalkOptions) -> Walker:
        if self._engine == "python":
            return ReferenceWalks(self._world.tables, self._counted, options)
        from worldline.engine.native.walks import Walks

        return Walks(self._world.tables, self._counted, options)
