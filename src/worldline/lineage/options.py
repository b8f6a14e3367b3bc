"""Options of `find_faults`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from worldline.options.common import SystemOptions
from worldline.options.declaring import Group, option
from worldline.options.values import (
    Choice,
    File,
    Function,
    InPython,
    NameList,
    Seconds,
    Switch,
    Whole,
)

if TYPE_CHECKING:
    from worldline.lineage.engines.trials import FaultsProgress

CONSERVATIVE, IGNORE = "conservative", "ignore"

_NODES = NameList("A,B,...", together=True, repeated=False, distinct=True)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FaultOptions(SystemOptions):
    """Options of `find_faults`; None stands for the target's own default."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        Group(
            "scope",
            "",
            (
                "nodes",
                "eot",
                "eff",
                "crashes",
                "crash_nodes",
                "crash_semantics",
                "recovery",
                "delay",
            ),
        ),
        Group(
            "search",
            "",
            (
                "engine",
                "negation",
                "goals",
                "all",
                "max_executions",
                "max_seconds",
                "max_memory",
                "seed",
            ),
        ),
        Group(
            "more questions, and answers",
            "",
            ("sweep", "frontier", "harden", "out", "report"),
        ),
    )
    CALLED_BEFORE: ClassVar[Mapping[str, str]] = {
        **SystemOptions.CALLED_BEFORE,
        "every": "all",
    }

    nodes: Sequence[str] | None = option(
        None,
        "the nodes of a program, in order (default: those that it names)",
        _NODES,
    )
    eot: int | None = option(None, "the last round (default: 6)", Whole())
    eff: int | None = option(
        None,
        "messages may be lost in the rounds before this one (default: 4)",
        Whole(0),
    )
    crashes: int | None = option(
        None,
        "how many nodes may crash (default: 1, whatever Faults(crashes=...) of the system "
        "says); the programs of the zoo have defaults of their own",
        Whole(0),
    )
    crash_nodes: Sequence[str] | None = option(
        None,
        "the nodes that may crash (default: those that Faults(nodes=...) of the system "
        "names, or all)",
        _NODES,
    )
    crash_semantics: str | None = option(
        None,
        "a crashed node sends nothing any more but goes on by itself; or its state is "
        "gone; or the last round is sent in part (default: mute for programs, halt for "
        "Python nodes)",
        Choice("mute", "halt", "partial"),
    )
    recovery: bool = option(
        False,
        "crashed Python nodes may start again, with their durable fields",
        Switch(),
    )
    delay: int = option(
        0, "messages of programs may be up to so many rounds late", Whole(0, "D")
    )
    engine: str | None = option(
        None,
        "how faults are searched for (default: symbolic for programs, states for "
        "Python nodes)",
        Choice("symbolic", "states", "ldfi", "random", "exhaustive"),
        written="see below",
    )
    negation: str = option(
        CONSERVATIVE,
        "what ldfi takes for the lineage of what did not happen: all that may bring it "
        "about, or nothing",
        Choice(CONSERVATIVE, IGNORE),
    )
    goals: str = option(
        "all",
        "what must not break: all that is owed in any run, or only what the run "
        "without faults keeps",
        Choice("all", "failure-free"),
    )
    all: bool = option(
        False, "find all falsifiers that have no other one in them", Switch()
    )
    max_executions: int | None = option(None, "runs to make at most", Whole())
    sweep: float | None = option(
        None,
        "instead of one scope try one after the other, by EOT and then by EFF, until the "
        "smallest is known that fails, at most for so long",
        Seconds("SECONDS"),
    )
    frontier: bool = option(
        False,
        "for each number of crashes, find the fewest losses that break it, with an EFF up "
        "to EOT - 1, or up to --eff if that is more",
        Switch(),
    )
    harden: bool = option(
        False,
        "suggest rules that make a broken program hold; each was certified",
        Switch(),
    )
    out: Path | str | None = option(
        None,
        "where the trace goes (default: worldline-out/NAME-faults.wl)",
        File(),
    )
    report: Path | str | None = option(
        None,
        "write a page with drawings, and the runs as JSON, into a folder",
        File(folder=True, metavar="DIR"),
    )
    progress: Callable[[FaultsProgress], None] | None = option(
        None,
        "is called now and then with how far the search has come",
        InPython(Function()),
    )
