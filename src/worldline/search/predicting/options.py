"""Options of `predict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, final

from worldline.model.errors import UsageError
from worldline.options.common import SystemOptions
from worldline.options.declaring import Group, option
from worldline.options.values import Text, Whole
from worldline.search.options import BEGINNING, SearchOptions

if TYPE_CHECKING:
    from worldline.model.faults import Faults

MAX_STATES = 100_000
"""The bound on states where none is given."""

NEVER = "never"
"""The price, on a command line, at which nothing is taken up again."""


@final
class Price:
    """What it costs to take a state up again: a whole number, or None for never."""

    metavar: ClassVar[str] = "N|never"
    least = 1

    def refuse(self, name: str, given: Any) -> None:
        is_word = isinstance(given, str) and given.isdecimal() and given.isascii()
        if given in (None, NEVER) or (is_word and int(given) >= 1):
            return
        try:
            Whole().refuse(name, given)
        except UsageError as error:
            remedy = f"give a whole number of at least 1, or {NEVER}"
            raise UsageError(error.what, remedy=remedy) from None

    @staticmethod
    def of(given: Any) -> int | None:
        """Return a price that was not refused as a number."""
        return None if given in (None, NEVER) else int(given)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PredictOptions(SearchOptions):
    """Options of `predict`."""

    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {
        **SystemOptions.CALLED_BEFORE,
        "max_depth": "max_cost",
        "depth": "max_cost",
    }
    _OF_CHECK: ClassVar[tuple[str, ...]] = (
        *("symmetry", "liveness", "max_liveness_states", "exact", "deadlock"),
        *("assume", "prune", "depth_first", "keep_going", "profile"),
    )
    GROUPS: ClassVar[tuple[Group, ...]] = (
        BEGINNING._replace(
            text="There, every fault may happen as often as --faults says. A trace that is "
            "written has all of the run; after one that was recorded on real sockets it "
            "begins in that state."
        ),
        Group(
            "what to try first",
            "A step costs 1. What a node does by itself (timers, calls, resets) is tried "
            "once for each of its states; where it was tried before, it is put off.",
            ("faults", "repeat_cost"),
        ),
        Group(
            "bounds",
            "A search that hits one ends, and what it did not decide is UNKNOWN. The first "
            "two give the same result on every machine.",
            ("max_states", "max_cost", "max_seconds", "max_memory"),
        ),
    )

    faults: Faults | str | None = option(
        None,
        "faults that may happen from there on (default: those of System(predict=...), "
        "else a reset, a silent one that one peer misses, a connection that breaks and a "
        "message that is lost, each once and as far as the network has it, and a restart of "
        "each node that is down there)",
        Text("declared|none|NAME=N,..."),
        written="'declared' for those of System(faults=...), as for 'check'; 'none'; or a list as "
        "in resets=1,drops=any, where what is not named does not happen, and one peer "
        "misses a silent reset unless it says deaf=N or deaf=any",
    )
    repeat_cost: int | str | None = option(
        6,
        "what it costs more to take up again what was put off; never: that is forgotten, "
        "as the paper prints it, and nothing is said to hold where something was",
        Price(),
    )
    max_states: int = option(MAX_STATES, "distinct states", Whole())
    max_cost: int | None = option(
        None, "steps on a path, and the price of what was put off on it", Whole(0)
    )

    @property
    def price(self) -> int | None:
        """What it costs to take up what was put off; None for never."""
        return Price.of(self.repeat_cost)

    @classmethod
    def remedy(cls, name: str) -> str:
        """Return what to write instead of an option that there is not."""
        if name in cls._OF_CHECK:
            return f"{name} is for check, which knows every run and not the likely ones first"
        return super().remedy(name)
