"""Options of `simulate`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from worldline.options.common import SystemOptions
from worldline.options.declaring import Group, option
from worldline.options.values import (
    Amount,
    File,
    Function,
    InPython,
    NameList,
    Seconds,
    Text,
    Whole,
)

if TYPE_CHECKING:
    from worldline.model.data.identity import NodeId
    from worldline.search.report import Progress


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SimulateOptions(SystemOptions):
    """Options of `simulate`."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        Group(
            "runs",
            "A run ends at its first violation.",
            ("seconds", "events", "seed", "seeds"),
        ),
        Group(
            "conditions",
            "A DURATION is written as in 20ms, 1.5s or 10m; what a link carries in a "
            "second as in 1Mbit or 500kB.",
            ("latency", "uplink", "downlink", "loss", "duplicate", "rate", "weather"),
        ),
        Group(
            "metrics",
            "Gauges, events, messages and the nodes that are up, at every so many "
            "virtual seconds.",
            ("metrics", "sample", "plot", "gauges"),
        ),
    )

    seconds: float = option(
        60.0, "virtual seconds of each run (default: 60)", Seconds()
    )
    events: int | None = option(None, "events of each run, at most", Whole())
    seeds: int = option(1, "runs to make: with --seed, and those after it", Whole())
    latency: str | Callable[[NodeId, NodeId, float], float] = option(
        "uniform 10ms 50ms",
        "how long messages take: 'constant D', 'uniform D D' or 'lognormal D SPREAD', "
        "where D is a DURATION and SPREAD the standard deviation of the logarithm; or "
        "FILE.py:function, which is given sender, receiver and a number drawn from "
        "[0, 1), and returns seconds",
        Text("MODEL"),
    )
    uplink: str | None = option(
        None,
        "what the link of each node carries out in a second: a message occupies it for "
        "as long as its bytes take, and others wait (default: any amount)",
        Text("CAPACITY"),
    )
    downlink: str | None = option(
        None, "the same of what it carries in (default: any amount)", Text("CAPACITY")
    )
    loss: float = option(
        0.0,
        "the share of datagrams that is lost, from 0 to 1 (default: 0)",
        Amount(1.0, "P"),
    )
    duplicate: float = option(
        0.0,
        "the share of datagrams that arrives twice, from 0 to 1 (default: 0)",
        Amount(1.0, "P"),
    )
    rate: float = option(
        1.0,
        "calls a second, on average: of each script, and at each node of each call that "
        "can be made at any time; 0 for none (default: 1)",
        Amount(1e9, "R"),
    )
    weather: Path | str | None = option(
        None,
        "crashes, cuts and the like, written out or as a TOML file; see below",
        Text("WEATHER"),
    )
    predicates: Path | str | None = option(
        None,
        "judge the properties of this Python file, too, with its gauges; one that has a "
        "name of the system's goes over that",
        Text("FILE.py"),
    )
    interval: float | None = option(
        None,
        "judge every S virtual seconds what is about several nodes at once; for_each_node "
        "is judged after each event in any case (default: all after each event)",
        Seconds(least=1e-6),
    )
    metrics: Path | str | None = option(
        None,
        "where to write samples of all runs, as .csv, or as .parquet with the extra query",
        File(folder=True, metavar="FILE"),
    )
    sample: float = option(
        1.0, "virtual seconds between two samples (default: 1)", Seconds()
    )
    plot: Path | str | None = option(
        None,
        "where to draw the gauges of the run that is reported, as .svg or .png, with the "
        "stretches in which properties are false; needs the extra plot",
        File(folder=True, metavar="FILE"),
    )
    gauges: Collection[str] = option(
        (),
        "gauges to draw, with commas between (default: all that are numbers)",
        NameList(together=True),
    )
    threads: int | None = option(
        None,
        "processes that run seeds; no result depends on it (default: one for each "
        "processor)",
        Whole(),
    )
    progress: Callable[[Progress], None] | None = option(
        None,
        "is called now and then with how far the runs have come",
        InPython(Function()),
    )
