"""What tests of strategies share: a search of a system, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import worldline as wl
from worldline.engine.bounds import Bounds
from worldline.engine.exploration import Exploration, Hit, Options, StateCheck
from worldline.model.properties import Property, PropertyKind
from worldline.runs.record import all_done
from worldline.runs.start import starts
from worldline.worlds.tabulated import TabulatedWorld

Strategy = Callable[[Exploration], None]


def exploration(
    system: wl.System | TabulatedWorld,
    *,
    bounds: Bounds | None = None,
    deadlock: bool = False,
    prune: Callable[[wl.View], Any] | None = None,
    **options: Any,
) -> Exploration:
    """Return a search of all that follows the initial states; options of `Options`."""
    world = system if isinstance(system, TabulatedWorld) else TabulatedWorld(system)
    roots = [s.snapshot for s in starts(world.system) if s.snapshot is not None]
    checks = [
        StateCheck(
            world.decision(p),
            target=p.kind is PropertyKind.SOMETIMES,
            fatal=p.kind is PropertyKind.SAFETY,
        )
        for p in world.system.properties
        if p.kind is not PropertyKind.LIVENESS
    ]
    if deadlock:
        over = world.system.done or all_done
        name = Property("done", PropertyKind.SAFETY, over, "predicate")
        options["done"] = world.decision(name)
    if prune is not None:
        options["prune"] = world.decision(prune)
    return Exploration(
        world.tables,
        world,
        [world.encode(root) for root in roots],
        checks,
        bounds=bounds or Bounds(),
        options=Options(**options),
    )


def explored(
    system: wl.System | TabulatedWorld, run: Strategy, **options: Any
) -> Exploration:
    """Return a search after it ran."""
    search = exploration(system, **options)
    search.run(run)
    return search


def counts(search: Exploration) -> dict[str, int]:
    """All that a search counted, but for what depends on the engine."""
    found = dict(vars(search.statistics))
    for name in ("bytes", "left_out"):
        del found[name]
    return found


def outcome(search: Exploration) -> Any:
    """All that a search counted, found and says of its end."""
    deadlock = None if search.deadlock is None else path_of(search.deadlock)
    return (
        counts(search),
        search.bound,
        paths_of(search.hits.items()),
        paths_of(search.failures.items()),
        deadlock,
    )


def paths_of(hits: Iterable[tuple[Any, Hit]]) -> dict[Any, Any]:
    """The paths to what was found, by value."""
    return {name: path_of(hit) for name, hit in hits}


def path_of(hit: Hit) -> Any:
    """A path by value: the number of its root, then events with their choices."""
    return hit.root, [(e.event, leaf.detail.choices) for e, leaf in hit.path]
