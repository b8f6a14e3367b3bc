"""Options of `minimize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, final

from worldline.options.declaring import Group, VerbOptions, option
from worldline.options.values import (
    Assignments,
    Choice,
    File,
    Function,
    InPython,
    Seconds,
    Switch,
    Text,
    Whole,
)

if TYPE_CHECKING:
    from worldline.shrink.progress import ShrinkProgress

Effort: TypeAlias = Literal["normal", "high"]


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinimizeOptions(VerbOptions):
    """Options of `minimize`."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        Group(
            "budgets",
            "What was found until one is used up is the result.",
            ("max_events", "max_seconds", "max_memory"),
        ),
    )

    system: Any = option(
        None,
        "the system, or the target that loads it; not needed for one of the zoo",
        InPython(Text("TARGET")),
    )
    parameters: Mapping[str, str | int | float] | None = option(
        None,
        "for the function that makes the system; those of the trace, where not given",
        InPython(Assignments("KEY=VALUE")),
    )
    predicates: Path | str | None = option(
        None,
        "know the properties and gauges of this Python file, too, as the run that is "
        "minimised did",
        Text("FILE.py"),
    )
    reorder: bool = option(
        False,
        "let messages overtake each other, though the network keeps their order; the "
        "result is then a run of another network, and says so",
        Switch(),
    )
    same: str = option(
        "property",
        "what makes a violation the same: strict, an explanation that is alike up to "
        "numbers and names of nodes; property, the property, or the class of an "
        "exception and who raised it; any, whatever it is",
        Choice("strict", "property", "any"),
    )
    contents: bool = option(
        False,
        "leave members out of the arguments of calls, and make their numbers smaller; "
        "the result is then a run of another workload, and says so",
        Switch(),
    )
    seeds: int = option(
        1,
        "failing runs to start from: that of the trace, and what its random runs meet "
        "with the seeds that follow; each has its share of the events",
        Whole(),
    )
    max_events: int = option(
        5_000_000, "events to execute for candidates, about", Whole()
    )
    max_seconds: float | None = option(
        None, "seconds of minimising; the result then depends on the machine", Seconds()
    )
    max_memory: int | None = option(
        None,
        "memory of the process, in MiB (default: three quarters of what is free when "
        "it begins)",
        Whole(metavar="MB"),
    )
    certify: int = option(
        100_000,
        "states to visit at most to find out how few deliveries a violation needs, with "
        "high effort 20 times as many; 0 for none",
        Whole(0),
    )
    effort: Effort = option(
        "normal",
        "how hard to try; with high, searches that take minutes come last",
        Choice("normal", "high"),
    )
    out: Path | str | None = option(
        None,
        "where the smaller trace goes (default: beside TRACE, as NAME-min.wl)",
        File(),
    )
    pytest: Path | str | None = option(
        None,
        "a test of the smaller run, for pytest: it fails while the bug is there; a file "
        "that is there already is refused",
        File(folder=True, metavar="FILE"),
    )
    traces: bool = option(True, "whether a trace is written", InPython(Switch()))
    threads: int | None = option(
        None,
        "processes that run candidates, once there is enough to do; no result depends on "
        "it (default: one for each processor)",
        Whole(),
    )
    progress: Callable[[ShrinkProgress], None] | None = option(
        None, "is called now and then with how far it has come", InPython(Function())
    )
