"""The rows of the tables about steering: what stands beside the nodes in each.

``off`` is the system alone, ``check`` the immediate check alone, ``filters`` what
predictions install without that check, ``steer`` both. The third is no mode of Worldline:
it shows what predictions do by themselves.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, final

from worldline.model.system import System
from worldline.worlds.companions import Companion

ROWS = ("off", "check", "filters", "steer")
PREDICTING = ("filters", "steer")

COUNTS = (
    *("predicted", "unhelpful", "elsewhere", "filters", "known", "blocked"),
    *("refused", "uncaught", "unseen"),
)
"""What is told of what stands beside the nodes: violations that were predicted; those of
them that no filter avoids, and those that this node has no part in; filters that were
installed, and that known paths put back; events that these blocked; events that the
immediate check undid, saw and could not undo, and could not judge. All as the nodes count
them: what was violated is up to the judge."""

OUTCOMES = ("steered", "check", "uncaught", "untouched")
"""What came of a run that violates something if nothing stands beside its nodes: filters
alone changed it, the immediate check had to refuse something, a property became false all
the same, or nothing was blocked and still nothing is violated."""

NEVER = 1e-12
"""Calls a second where each call is made at a time of its own."""

_REMEMBERED, _TABLES_MB = 20_000, 1_536
"""States of which is remembered what may follow, and memory for tables: both for all runs."""

_WHERE = "worldline.steer.steering"
"""Where steering is: loaded if it is asked for, so that there are rows without it."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What stands beside the nodes.

    Attributes
    ----------
    row
        One of `ROWS`.
    states
        How many states a prediction visits.
    gather
        Seconds between two snapshots.
    on_unseen
        What the immediate check does with what it cannot judge: ``allow`` or ``refuse``.
    """

    row: str
    states: int = 1_000
    gather: float = 10.0
    on_unseen: str = "allow"

    def companion(self, system: System, seed: int) -> Companion | None:
        """Return what stands beside the nodes of a system; None if nothing does."""
        if self.row == "off":
            return None
        inline: Any = importlib.import_module(f"{_WHERE}.inline")
        modes: Any = importlib.import_module(f"{_WHERE}.modes")
        options = modes.SteeringOptions(
            mode=modes.SteeringMode.CHECK
            if self.row == "check"
            else modes.SteeringMode.STEER,
            every=self.gather,
            max_states=self.states,
            immediate=self.row != "filters",
            on_unseen=self.on_unseen,
        )
        shared = _predictions(system, self.states) if options.mode.predicts else None
        made: Companion = inline.inline_steering(system, options, seed, shared)
        return made


@lru_cache(maxsize=4)
def _predictions(system: System, states: int) -> Any:
    """Return the predictions of all runs of a system; what follows a state is one."""
    modes: Any = importlib.import_module(f"{_WHERE}.modes")
    predictions: Any = importlib.import_module(f"{_WHERE}.predictions")
    options = modes.SteeringOptions(max_states=states)
    return predictions.SnapshotPredictions(
        system, options, most=_REMEMBERED, memory=_TABLES_MB
    )


def outcome_of(violations: int, counts: Counter[str]) -> str:
    """Return which of `OUTCOMES` a run has, by what was violated and what was done."""
    if violations:
        return "uncaught"
    if counts["refused"]:
        return "check"
    return "steered" if counts["blocked"] else "untouched"


def total(counts: Iterable[Counter[str]]) -> Counter[str]:
    """Return the sum of what several companions have done."""
    return sum(counts, Counter())


def is_there(row: str) -> bool:
    """Say whether there is what a row needs."""
    if row == "off":
        return True
    try:
        importlib.import_module(f"{_WHERE}.inline")
    except ModuleNotFoundError:
        return False
    return True


def counts_of(companion: Companion | None) -> Counter[str]:
    """Return what a companion has done at all nodes by now; nothing without one."""
    total: Any = getattr(companion, "total", None)
    told = None if total is None else total()
    return Counter({name: getattr(told, name, 0) for name in COUNTS})


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a record by name, for programs."""
    return {field.name: getattr(record, field.name) for field in fields(record)}
