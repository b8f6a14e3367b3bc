"""The walkers of a search with random walks, one for each bound on steps."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from worldline.engine.bounds import Meter
from worldline.engine.schedulers.protocol import Scheduler
from worldline.engine.schedulers.weighted import Weighted
from worldline.engine.walks import Walks as ReferenceWalks
from worldline.engine.walks import WalkSettings
from worldline.model.events import Event
from worldline.model.properties import Property, PropertyKind
from worldline.search.walks.handover import Counted, Moving, Pace
from worldline.search.walks.plan import LivePlan
from worldline.search.walks.probe import Walker
from worldline.search.walks.weights import describer
from worldline.worlds.remembered_walks import Ran, RememberedWalks
from worldline.worlds.tabulated import TabulatedWorld
from worldline.worlds.walks import DirectWalks

if TYPE_CHECKING:
    from worldline.engine.native.walks import NativeWalks


def all_of(wanted: list[Property]) -> Property:
    """Return the property that all of some properties hold."""
    name = " and ".join(prop.name for prop in wanted)
    return Property(
        name,
        PropertyKind.LIVENESS,
        lambda view: all(prop.judge(view).holds for prop in wanted),
    )


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
    live, goal
        What ends it well, that all liveness properties hold: as a property, and as a
        decision on rows.
    pace
        Decides where they walk.
    """

    def __init__(
        self,
        world: TabulatedWorld,
        plan: LivePlan,
        engine: str,
        *,
        meter: Meter,
    ) -> None:
        self._world = world
        self._plan = plan
        self._engine = engine
        self.safety = [p for p in plan.wanted if p.kind is PropertyKind.SAFETY]
        live = [p for p in plan.wanted if p.kind is PropertyKind.LIVENESS]
        self.live = all_of(live)
        self.checks = [world.decision(p) for p in self.safety]
        self.goal = world.decision(self.live)
        self._counted = Counted(world)
        self.pace = Pace(self._counted)
        self._meter = meter
        self._known: dict[int, Walker] = {}

    def of(self, most_steps: int) -> Walker:
        """Return who walks with a bound."""
        cached = self._known.get(most_steps)
        if cached is None:
            cached = self._known[most_steps] = self._new(most_steps)
        return cached

    def close(self) -> None:
        """Free what they hold."""
        for walker in self._known.values():
            walker.close()

    def _new(self, most_steps: int) -> Walker:
        plan = self._plan
        return walker(
            self._world,
            engine=self._engine,
            scheduler=Weighted(),
            weigh=plan.weigh,
            seed=plan.options.seed,
            most_steps=most_steps,
            threads=plan.threads,
            checks=self.safety,
            goal=self.live,
            counted=self._counted,
            pace=self.pace,
            meter=self._meter,
        )


def walker(
    world: TabulatedWorld,
    *,
    engine: str,
    scheduler: Scheduler,
    weigh: Callable[[Event], int],
    seed: int,
    most_steps: int,
    threads: int,
    checks: list[Property],
    counted: Counted,
    pace: Pace,
    meter: Meter,
    goal: Property | None = None,
    watches: list[Property] | None = None,
    tables_meter: Meter | None = None,
    ran: Ran | None = None,
) -> Moving:
    """Return who walks over tables, and elsewhere where that is better.

    Parameters
    ----------
    engine
        ``native`` or ``python``, which all schedulers know.
    checks, goal, watches
        As in `DirectWalks`.
    counted
        Who fills the tables.
    tables_meter
        Watches over what is done over tables, if not `meter` does.
    ran
        As in `RememberedWalks`.
    """
    describe = describer(world.system, weigh)
    options = WalkSettings(
        meter=tables_meter or meter,
        seed=seed,
        most_steps=most_steps,
        scheduler=scheduler,
        traits=lambda entry: describe(entry.event),
        checks=tuple((world.decision(prop), False) for prop in checks),
        goal=None if goal is None else world.decision(goal),
        watches=tuple(world.decision(prop) for prop in watches or ()),
        threads=threads,
        gives_up=pace.gives_up,
    )
    elsewhere: dict[str, Any] = {
        "seed": seed,
        "most_steps": most_steps,
        "scheduler": scheduler,
        "traits": describe,
        "checks": checks,
        "goal": goal,
        "watches": watches,
        "look": meter.check,
    }
    unbounded = dataclasses.replace(options, meter=None, gives_up=None, watches=())
    return Moving(
        _over_tables(world, engine, counted, options),
        ReferenceWalks(world.tables, counted, unbounded),
        RememberedWalks(world, **elsewhere, ran=ran),
        DirectWalks(world, **elsewhere),
        pace,
    )


def _over_tables(
    world: TabulatedWorld, engine: str, counted: Counted, options: WalkSettings
) -> NativeWalks | ReferenceWalks:
    if engine == "python":
        return ReferenceWalks(world.tables, counted, options)
    from worldline.engine.native.walks import NativeWalks

    return NativeWalks(world.tables, counted, options)
