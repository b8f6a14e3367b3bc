"""Options of random runs: `walk` and `fuzz`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from worldline.options.common import SystemOptions
from worldline.options.declaring import Group, option
from worldline.options.values import Assignments, File, NameList, Switch, Text, Whole
from worldline.search.options import BEGINNING, SearchOptions

if TYPE_CHECKING:
    from worldline.engine.schedulers.protocol import Scheduler
    from worldline.trace.json_text import Json


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunsOptions(SearchOptions):
    """Options of random runs."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        BEGINNING,
        Group(
            "budgets",
            "Runs end when one is used up; for safety without any after 20,000,000 "
            "steps.",
            ("walks", "events", "max_seconds", "max_memory"),
        ),
        Group("runs", "", ("max_steps", "scheduler", "unbiased", "weights")),
    )

    walks: int | None = option(None, "runs to make", Whole())
    events: int | None = option(None, "steps on all runs together", Whole())
    max_steps: int | None = option(
        None, "steps on a run (default: 100, with turns of 1,000)", Whole()
    )
    scheduler: Scheduler | str | None = option(
        None,
        "what decides which event happens next (default: several in turn)",
        Text("NAME"),
        written="see below",
    )
    unbiased: bool = option(False, "give every event the same weight", Switch())
    weights: Mapping[str, int] | None = option(
        None,
        "the weight of a message class, timer, call or kind of event (default: timer "
        "5, heal 10, a fault 1, others 100)",
        Assignments("NAME=N", numbers=True),
        flag="--weight",
    )

    VERB: ClassVar[str] = ""

    def drawn(self) -> dict[str, Json] | None:
        """Return how runs are drawn, as a trace says it; None if it cannot be said.

        It cannot where they begin elsewhere than at the start, or are scheduled by what
        has no name.
        """
        is_named = self.scheduler is None or isinstance(self.scheduler, str)
        if self.from_ is not None or self.until or not is_named:
            return None
        return {
            "verb": self.VERB,
            "max_steps": self.max_steps,
            "scheduler": self.scheduler if isinstance(self.scheduler, str) else None,
            "unbiased": self.unbiased,
            "weights": {**(self.weights or {})},
        }


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WalkOptions(RunsOptions):
    """Options of `walk`."""

    VERB: ClassVar[str] = "walk"
    GROUPS: ClassVar[tuple[Group, ...]] = (
        *RunsOptions.GROUPS,
        Group(
            "walks for liveness",
            "Refused where there is no liveness property to judge.",
            ("from_live", "depth", "probes", "certify", "emit_live", "walk_faults"),
        ),
    )
    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {
        **SystemOptions.CALLED_BEFORE,
        "max_depth": "depth",
    }

    max_steps: int | None = option(
        None,
        "steps on a run (default: 100, with turns of 1,000; for liveness 10,000, "
        "doubled where that was not enough)",
        Whole(),
    )
    weights: Mapping[str, int] | None = option(
        None,
        "the weight of a message class, timer, call or kind of event (default: timer "
        "5, heal 10, a fault 1, others 100; for liveness start and call 200, timer 10)",
        Assignments("NAME=N", numbers=True),
        flag="--weight",
    )
    out: Path | str | None = option(
        None,
        "where the run of the first violation goes, and the closest live run beside it; the folder "
        "of live runs that are wanted (default: "
        "worldline-out/SYSTEM-PROPERTY.wl)",
        File(folder=True),
    )
    from_live: bool = option(
        False,
        "begin where a random run without faults has become live; then come --until "
        "and the faults",
        Switch(),
    )
    depth: int = option(
        6,
        "how deep every run is searched before walks, in states; it grows while a "
        "budget that is given lasts",
        Whole(),
    )
    probes: int = option(
        60,
        "walks that decide whether a state is dead, where there is no proof",
        Whole(metavar="K"),
    )
    certify: int = option(
        20_000, "states to visit at most for a proof; 0 for none", Whole(0)
    )
    emit_live: int = option(
        0,
        "write the traces of so many runs that become live, to search on from, and stop",
        Whole(0),
    )
    walk_faults: bool = option(
        False,
        "let the faults that are left happen in walks, too; else the system has a "
        "chance to recover",
        Switch(),
    )


FOR_LIVENESS = next(g for g in WalkOptions.GROUPS if "probes" in g.names).names
"""What only walks for liveness can be told."""


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FuzzOptions(RunsOptions):
    """Options of `fuzz`."""

    VERB: ClassVar[str] = "fuzz"
    inject: Collection[str] = option(
        (),
        "faults that may happen without limit: crashes, restarts, drops, duplicates, "
        "partitions, resets, silent_resets or connection_errors, as far as the network "
        "has them, or all; crashes and resets of the nodes that Faults(nodes=...) "
        "names (default: the system's faults, as often as it says)",
        NameList("A,B,...", together=True),
    )
