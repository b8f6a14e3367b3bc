"""The plan of a run, complete before anything starts."""

from __future__ import annotations

import dataclasses
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from worldline.deploy.cluster import Cluster
from worldline.deploy.cluster_file import cluster_of, write_cluster
from worldline.deploy.deployable import refuse_undeployable
from worldline.deploy.running.beside import StandsBeside
from worldline.deploy.running.options import RunOptions
from worldline.deploy.weather import LinkConditions, LinkWeather
from worldline.loading.loader import function_for, is_function
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.network import permits
from worldline.model.system import System
from worldline.runs.evidence import file_of
from worldline.search.predicting.faults import predicted_system
from worldline.search.question import safety_alone
from worldline.trace.journal.reading import is_recording
from worldline.worlds.latency import Latency, LatencyBetween, between, latency_of
from worldline.worlds.weather import WeatherEvent
from worldline.worlds.weather_file import read_weather, weather_of

_MOST_NAMES = 10_000

_MIB = 1 << 20

_LAST_PORT = 65_535

CLUSTER = "cluster.toml"
"""In the folder of a recording: where the nodes were."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """What is to be run, and how.

    Attributes
    ----------
    target
        What loads the system in another process; None if nothing does.
    nodes
        Those that this command runs.
    weather
        What befalls them, and when.
    record
        The folder of the recording; None for none.
    is_new
        Whether that folder was made for this run alone.
    run
        What all its journals say.
    beside
        Makes what stands beside the nodes; None for nothing.
    """

    system: System
    target: str | None
    options: RunOptions
    nodes: tuple[NodeId, ...]
    cluster: Cluster
    weather: tuple[WeatherEvent, ...]
    latency: Latency | None
    between: LatencyBetween | None
    record: Path | None
    is_new: bool
    run: str | None
    beside: StandsBeside | None = None

    @property
    def keep(self) -> int | None:
        """Bytes of each journal that are kept."""
        keep = self.options.keep
        return None if keep is None else keep * _MIB

    def write_cluster(self, folder: Path) -> None:
        """Write where the nodes are, if nobody has said it in a file already."""
        if self.options.cluster is None:
            cluster = dataclasses.replace(self.cluster, run=self.run)
            write_cluster(cluster, folder / CLUSTER)

    def clear(self) -> None:
        """Remove the folder of the recording, if it was made for it, and holds none."""
        folder = self.record
        if folder is not None and self.is_new and not is_recording(folder):
            shutil.rmtree(folder, ignore_errors=True)

    def link_weather(self) -> LinkWeather | None:
        """Return the weather of links at this host; None if there is never any."""
        options = self.options
        is_calm = not (options.loss or options.duplicate or self.weather)
        if is_calm and self.latency is None and self.between is None:
            return None
        return LinkWeather(
            self.system.ids,
            options.seed,
            conditions=LinkConditions(loss=options.loss),
            duplicate=options.duplicate,
            latency=self.latency,
            between=self.between,
        )


def plan_of(
    system: System,
    target: str | None,
    options: RunOptions,
    *,
    watched: tuple[NodeId, str] | None = None,
    beside: StandsBeside | None = None,
) -> RunPlan:
    """Return what is to be run.

    The folder of the recording is made.

    Parameters
    ----------
    watched
        The one node, and what journals say of the run, where another process has decided
        all of it.
    beside
        Makes what stands beside the nodes, where the mode wants something.

    Raises
    ------
    UsageError
        If options contradict each other, or say nothing of this system.
    """
    refuse_undeployable(system)
    if watched is None:
        _refuse_contradictions(options)
    nodes = _nodes(system, options) if watched is None else watched[:1]
    _refuse_ports(options, nodes)
    options.who_predicts(system)
    safety_alone(system, options.properties, "what stands beside nodes")
    if options.prediction_faults is not None:
        predicted_system(system, options.prediction_faults)
    weather = _weather(system, options)
    latency, function = _latency(system, options)
    _refuse_impossible(system, options, weather)
    cluster = cluster_of(options.cluster, system, insecure=options.insecure)
    run = cluster.run if watched is None else watched[1]
    if run is None and not options.node:
        run = secrets.token_hex(8)
    record = options.record if watched is not None else _folder(system, options)
    return RunPlan(
        system=system,
        target=target,
        options=options,
        nodes=nodes,
        cluster=cluster,
        weather=weather,
        latency=latency,
        between=function,
        record=None if record is None else Path(record),
        is_new=watched is None and not options.node,
        run=run,
        beside=None if options.mode == "off" else beside,
    )


def _refuse_contradictions(options: RunOptions) -> None:
    if options.no_record:
        # What a node needs of its journal is not a choice.
        options.refuse_given(
            ("record", "contents", "every", "keep", "on_log_failure"),
            "has no meaning with --no-record",
        )
    options.refuse_idle()
    if options.node and options.cluster is None:
        raise UsageError(
            "--node runs some of the nodes, and nothing says where the others are",
            remedy="give --cluster FILE; see --help",
        )
    if options.node and options.together:
        raise UsageError(
            "--together runs all nodes, and --node only some", remedy="give one of them"
        )
    if options.insecure and options.cluster is None:
        raise UsageError(
            "--insecure has no meaning without --cluster: nobody else reaches the nodes",
            remedy="leave it out",
        )


def _refuse_ports(options: RunOptions, nodes: Sequence[NodeId]) -> None:
    """Refuse a port of control that is none, before anything is begun."""
    one_for_all = options.together or options.node
    count = 1 if one_for_all else len(nodes)
    if options.control and options.control + count - 1 > _LAST_PORT:
        each = "" if count == 1 else f", and {count} are needed, one for each node"
        raise UsageError(
            f"--control {options.control}: the last port is {_LAST_PORT}{each}",
            remedy=f"give one up to {_LAST_PORT + 1 - count}, or 0 for any",
        )


def _nodes(system: System, options: RunOptions) -> tuple[NodeId, ...]:
    named = {node.name: node for node in system.ids}
    for name in options.node:
        if name not in named:
            raise UsageError(
                f"{system.name} has no node {name!r}",
                remedy=f"it has {', '.join([*named][:10])}",
            )
    if not options.node:
        return system.ids
    return tuple(named[name] for name in named if name in options.node)


def _weather(system: System, options: RunOptions) -> tuple[WeatherEvent, ...]:
    given = options.weather
    if given is None:
        return ()
    events = weather_of(read_weather(given), system, given, deployed=True)
    if options.latency is None and any(one.what == "delay" for one in events):
        raise UsageError(
            "the weather multiplies latencies, and none are injected",
            remedy="give --latency, or leave delay out",
        )
    return tuple(events)


def _latency(
    system: System, options: RunOptions
) -> tuple[Latency | None, LatencyBetween | None]:
    """Return a model of latencies, or a user's function that takes its place."""
    given: Any = options.latency
    if given is None:
        return None, None
    if isinstance(given, str) and not is_function(given):
        return latency_of(given), None
    function = function_for(system, given) if isinstance(given, str) else given
    return None, between(function)


def _refuse_impossible(
    system: System, options: RunOptions, weather: Sequence[WeatherEvent]
) -> None:
    """Refuse faults of messages that a network cannot have: TCP loses and doubles none."""
    loses = options.loss or any(one.what == "loss" and one.amount for one in weather)
    for fault, asked in (("drops", loses), ("duplicates", options.duplicate)):
        if asked and not permits(system.network, fault):
            raise UsageError(
                f"the network of {system.name}, {system.network.name}, has no {fault}",
                remedy="leave out what asks for them",
            )


def _folder(system: System, options: RunOptions) -> Path | None:
    """Make the folder of the recording; of the usual names take one that is free."""
    if options.no_record:
        return None
    usual = file_of(system.name, "run").with_suffix("")
    if options.record is not None or options.node:
        folder = usual if options.record is None else Path(options.record)
        _refuse_taken(folder, may_go_on=bool(options.node))
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return folder
    usual.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, _MOST_NAMES):
        folder = usual if number == 1 else usual.with_name(f"{usual.name}-{number}")
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return folder
    raise UsageError(
        f"{usual} and {_MOST_NAMES:,} more are taken", remedy="give --record DIR"
    )


def _refuse_taken(folder: Path, *, may_go_on: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy="name another")
    if folder.is_dir() and not may_go_on and any(folder.iterdir()):
        what = "a recording already" if is_recording(folder) else "something else"
        raise UsageError(
            f"{folder} holds {what}, and a run is not mixed with another",
            remedy="name a folder that is new",
        )
