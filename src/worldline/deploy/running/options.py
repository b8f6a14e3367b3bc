"""Options of `run`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, final

from worldline.model.data.identity import NodeId
from worldline.options.declaring import Group, option
from worldline.options.steering import HostModeOptions
from worldline.options.values import (
    Amount,
    Assignments,
    Choice,
    File,
    NameList,
    Seconds,
    Seed,
    Switch,
    Text,
    Whole,
)


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunOptions(HostModeOptions):
    """Options of `run`."""

    GROUPS: ClassVar[tuple[Group, ...]] = (
        Group("the run", "", ("parameters", "seconds", "rate", "seed")),
        Group(
            "conditions",
            "What is injected, on top of what the real network does, by the process of "
            "the node that sends. A DURATION is written as in 20ms, 1.5s or 10m.",
            ("weather", "loss", "duplicate", "latency"),
        ),
        HostModeOptions.STEERING,
        Group(
            "recording",
            "",
            (
                *("record", "no_record", "contents", "every", "keep", "sync"),
                "on_log_failure",
            ),
        ),
        Group(
            "processes",
            "",
            (
                "together",
                "node",
                "cluster",
                "insecure",
                "on_failure",
                "control",
                "loop",
            ),
        ),
    )

    parameters: Mapping[str, str] | None = option(
        None,
        "a parameter of the system's function, as text",
        Assignments("KEY=VALUE"),
        flag="-p",
    )
    seconds: float | None = option(
        None,
        "seconds after which the run ends (default: with Ctrl-C, or when every node has "
        "stopped)",
        Seconds(),
    )
    rate: float = option(
        0.0,
        "calls of the workload a second, on average: of each script, and at each node of "
        "each call that can be made at any time; 0 for none (default: 0)",
        Amount(1e9, "R"),
    )
    seed: int = option(
        0, "draws calls, weather and what handlers choose; not what machines do", Seed()
    )
    weather: Path | str | None = option(
        None,
        "crashes, cuts and the like, written out or as a TOML file; see below",
        Text("WEATHER"),
    )
    loss: float = option(
        0.0,
        "the share of datagrams that is lost, from 0 to 1 (default: 0)",
        Amount(1.0, "P"),
    )
    duplicate: float = option(
        0.0,
        "the share of datagrams that is sent twice, from 0 to 1 (default: 0)",
        Amount(1.0, "P"),
    )
    latency: str | Callable[[NodeId, NodeId, float], float] | None = option(
        None,
        "how long messages are held back: 'constant D', 'uniform D D' or 'lognormal D "
        "SPREAD', where D is a DURATION and SPREAD the standard deviation of the "
        "logarithm; or FILE.py:function, which is given sender, receiver and a number "
        "drawn from [0, 1), and returns seconds (default: not at all)",
        Text("MODEL"),
    )
    record: Path | str | None = option(
        None,
        "where the recording goes, a folder that is new; with --node one that may hold "
        "the node's former lives (default: worldline-out/SYSTEM-run, or -run-2 and so "
        "on where that is taken)",
        File(folder=True, metavar="DIR"),
    )
    no_record: bool = option(
        False, "keep no recording, so that nothing can be replayed", Switch()
    )
    contents: Literal["all", "ids"] = option(
        "all",
        "of messages above 4 KiB what they say, or their names and digests, with ids: a "
        "replay then has it from their senders",
        Choice("all", "ids"),
    )
    every: float | None = option(
        None,
        "write a checkpoint of each node every S seconds in which something happens, from "
        "which a replay can begin (default: at the beginning of each file alone)",
        Seconds(),
    )
    keep: int | None = option(
        None,
        "of each journal the last so many MiB, in pieces of 16 (default: all)",
        Whole(metavar="MB"),
    )
    sync: str = option(
        "durable",
        "what is synced to the disk before its effects leave: turns in which a durable "
        "field changed, all, or none, which outlives the end of a process and not a "
        "loss of power",
        Choice("durable", "always", "never"),
    )
    on_log_failure: Literal["go-on", "stop"] = option(
        "go-on",
        "what a node does whose journal cannot be written; a durable change stops it in "
        "any case",
        Choice("go-on", "stop"),
    )
    together: bool = option(
        False, "run all nodes in this process, instead of one for each", Switch()
    )
    node: Collection[str] = option(
        (),
        "run this node alone, in this process; the others run elsewhere, at their "
        "addresses in --cluster; several with commas between",
        NameList(together=True, distinct=True),
    )
    cluster: Path | str | None = option(
        None,
        "the addresses of all nodes, as TOML; see below (default: free ports on this "
        "machine)",
        Text("FILE"),
    )
    insecure: bool = option(
        False,
        "let nodes listen where others can reach them without a secret or TLS",
        Switch(),
    )
    on_failure: Literal["stop", "restart"] = option(
        "stop",
        "what becomes of a node whose handler fails: it stops, or starts again after a "
        "second, then two, up to a minute",
        Choice("stop", "restart"),
    )
    control: int | None = option(
        None,
        "answer HTTP on this port, 0 for any, to any user of this machine who can read the "
        "file that says where: call, state, snapshot, metrics, crash, stop; with a process "
        "for each node on this port and those after it, in order; needs the extra serve",
        Whole(least=0, metavar="PORT"),
    )
    loop: str = option(
        "asyncio",
        "the event loop; uvloop needs the extra deploy",
        Choice("asyncio", "uvloop"),
    )
