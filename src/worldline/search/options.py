"""Options of a search, and those of `check`; `walks.options` has those of random runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, final

from worldline.options.common import SystemOptions
from worldline.options.declaring import Group, option
from worldline.options.values import (
    Choice,
    Function,
    InPython,
    Switch,
    Text,
    ViewFunctions,
    Whole,
)
from worldline.search.cut import Predicates, StatePredicate

if TYPE_CHECKING:
    from worldline.runs.prefix import Prefix
    from worldline.search.report import Progress

Engine: TypeAlias = Literal["auto", "native", "python"]

BEGINNING = Group(
    "where to begin",
    "There, every fault may happen as often as the system says. A trace that is "
    "written has all of the run.",
    ("from_", "until"),
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SearchOptions(SystemOptions):
    """Options of every search: where it begins, and what it runs on."""

    from_: Prefix | str | os.PathLike[str] | None = option(
        None,
        "search on from the state that a trace has after a step (default: its last)",
        Text("TRACE[:STEP]"),
        flag="--from",
        written="a trace without steps is a state; TARGET must be that of the trace and "
        "is not needed for zoo:NAME; parameters come from the trace, and -p gives no others",
    )
    until: Iterable[StatePredicate] = option(
        (),
        "first search, breadth-first, for a state in which this is true, and begin "
        "there; then for the next of several",
        ViewFunctions(),
        written="the name of a property, FILE.py:function, module:function, or an "
        "expression over view, as in 'worldline debug'",
    )
    engine: Engine = option(
        "auto",
        "what runs: compiled, or the reference (default: native where it was built)",
        Choice("auto", "native", "python"),
    )
    threads: int | None = option(
        None,
        "threads of the native engine; no result depends on it (default: one for each "
        "processor)",
        Whole(),
    )
    progress: Callable[[Progress], None] | None = option(
        None,
        "is called now and then with how far the search has come",
        InPython(Function()),
    )


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CheckOptions(SearchOptions):
    """Options of `check`."""

    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {
        **SystemOptions.CALLED_BEFORE,
        "strategy": "depth_first=True for depth-first",
        "depth": "max_depth",
    }
    GROUPS: ClassVar[tuple[Group, ...]] = (
        BEGINNING,
        Group(
            "what to leave out",
            "What follows a state is not searched, beside what System(assume=, prune=) "
            "says. A PREDICATE is what --until takes.",
            ("assume", "prune"),
        ),
        Group(
            "bounds",
            "A search that hits one ends, and what it did not decide is UNKNOWN.",
            ("max_depth", "max_states", "max_seconds", "max_memory"),
        ),
        Group(
            "liveness",
            "Judged if the space is exhausted; it is then visited once more.",
            ("liveness", "max_liveness_states"),
        ),
    )

    deadlock: bool = option(
        False,
        "a state in which only faults can happen is a violation, unless all is done",
        Switch(),
    )
    assume: Predicates | None = option(
        None,
        "leave out what follows where this is false; HOLDS says that it was assumed",
        ViewFunctions(),
    )
    prune: Predicates | None = option(
        None,
        "leave out what follows where this is true; the answer is UNKNOWN instead of "
        "HOLDS",
        ViewFunctions(),
    )
    max_depth: int | None = option(
        None, "states on a path, the initial one counted", Whole()
    )
    max_states: int | None = option(None, "distinct states; on one thread", Whole())
    liveness: bool | None = option(
        None,
        "judge liveness properties (default: if the system declares any)",
        Switch(),
    )
    max_liveness_states: int = option(
        2_000_000, "of a larger space, liveness is not judged", Whole()
    )
    depth_first: bool = option(
        False,
        "search depth-first, in the Python engine; needs a bound on the depth",
        Switch(),
    )
    keep_going: bool = option(
        False, "search on after a violation, for the counts", Switch()
    )
    symmetry: bool | None = option(
        None,
        "visit one only of all states that differ in the names of nodes that the "
        "system declares symmetric (default: if it declares any)",
        Switch(),
    )
    exact: bool = option(
        False,
        "keep whole states and compare them, instead of 64 bits of each",
        Switch(),
    )
    profile: bool = option(
        False,
        "measure where the time goes, and show it after the result",
        Switch(),
    )
