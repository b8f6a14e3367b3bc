"""The nearness of random runs to what they did not reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import final

from worldline.engine.expand import Expander, Path
from worldline.engine.tables import Row
from worldline.model.properties import Property
from worldline.runs.condition import PartialTruth, parts_of
from worldline.worlds.direct import DirectWorld
from worldline.worlds.tabulated import TabulatedWorld

RUNS, STEPS = 16, 4_000
"""Runs that are looked at, and steps on all of them."""

_STRIDE = 5
"""Of so many states on a run one is looked at, beside the last: each takes long."""


@final
@dataclass(frozen=True, slots=True)
class Nearest:
    """The state in which most parts of a predicate held.

    Attributes
    ----------
    parts
        How many.
    run, step
        The number of the run, and the step after which they did.
    """

    parts: PartialTruth
    run: int
    step: int

    def __str__(self) -> str:
        held = f"at best {self.parts.holding} of {self.parts.total} parts held"
        return f"{held} (run {self.run}, step {self.step}), not {self.parts.missing}"


def nearest(
    world: TabulatedWorld,
    wanted: Iterable[Property],
    runs: Mapping[int, tuple[Row, Path]],
) -> dict[str, Nearest]:
    """Return how near some runs came to each property, by its name.

    Parameters
    ----------
    runs
        By their numbers: where each began, and its path.
    """
    nearest_of: dict[str, Nearest] = {}
    direct, expander = DirectWorld(world.system), Expander(world.tables, world)
    for number, (row, path) in runs.items():
        steps = sum(not leaf.failed for _, leaf in path)
        for step in range(steps + 1):
            if step % _STRIDE == 0 or step == steps:
                direct.restore(world.decode(row))
                for prop in wanted:
                    parts = parts_of(prop.predicate, (direct.view,))
                    before = nearest_of.get(prop.name)
                    if parts is None or (
                        before is not None and parts.holding <= before.parts.holding
                    ):
                        continue
                    nearest_of[prop.name] = Nearest(parts, number, step)
            if step < steps:
                row = expander.after(row, *path[step])
    return nearest_of
