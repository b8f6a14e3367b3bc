"""Runs of the built-in systems on real sockets, several at once; and all that can be run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvloop

import worldline as wl
from worldline.deploy.deployable import is_deployable
from worldline.deploy.running.ending import RunEnding
from worldline.deploy.running.here import run_here
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.plan import plan_of
from worldline.deploy.running.supervisor import Supervisor
from worldline.loading.builtin import names
from worldline.loading.loader import load
from worldline.runs.recording.recorded import ReplayedRecording
from worldline.runs.recording.replay import replay_recording
from worldline.trace.journal.codec import Codec
from worldline.trace.journal.reading import nodes_of, read_node
from worldline.trace.journal.records import CalledRecord

LOOPS = {"asyncio": None, "uvloop": uvloop.new_event_loop}
NETWORKS = ("datagrams", "streams")

REAL = (
    "broke before a message",
    "after their connection has broken",
    "lost with their connection",
    "under way and room for",
)
"""Why connections may do what `wl.streams` does not allow, as docs/deploying.md says.

When a run ends, nodes leave one after the other. Who hears of it has seen nothing of the last
events of its peer, which may then be later in the order of the replay, or arrive all the same;
and on a busy machine the kernel holds what a process has not read.
"""

OTHERWISE = f"{__name__}:otherwise"
"""The target of a built-in system on another network than its own."""


@dataclass(frozen=True)
class Deployed:
    """A system, and what loads it in another process."""

    system: wl.System
    target: str
    parameters: Mapping[str, str] | None = None


def otherwise(name: str, network: str) -> wl.System:
    system = load(f"zoo:{name}", {})
    return system.replace(network=getattr(wl, network)(), ignore_noops=False)


def deployable() -> dict[str, Deployed]:
    """Return the built-in systems that can be deployed as they are, by name."""
    targets = {name: f"zoo:{name}" for name in names()}
    systems = {name: load(target, {}) for name, target in targets.items()}
    return {
        name: Deployed(system, targets[name])
        for name, system in systems.items()
        if is_deployable(system)
    }


def on(network: str, name: str) -> Deployed:
    """Return one of them on a network."""
    own = deployable()[name]
    if own.system.network.name == network:
        return own
    given = {"name": name, "network": network}
    return Deployed(load(OTHERWISE, given), OTHERWISE, given)


def run_together(systems: Mapping[str, Deployed], folder: Path, loop: str) -> None:
    """Run systems in this process for a moment, as ``--together`` does."""
    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(runs(systems, folder, loop=loop, together=True))


async def runs(
    systems: Mapping[str, Deployed],
    folder: Path,
    *,
    loop: str,
    together: bool,
    seconds: float = 0.25,
    rate: float = 60,
) -> None:
    """Run systems at the same time, each as `worldline run` does; record them by name."""
    said: list[str] = []

    async def run(name: str, one: Deployed) -> None:
        options = RunOptions.of(
            parameters=one.parameters,
            record=folder / name,
            together=together,
            loop=loop,
            seconds=seconds,
            rate=rate,
        )
        plan, ending = plan_of(one.system, one.target, options), RunEnding()
        if together:
            outcome = await run_here(plan, ending, say=said.append)
        else:
            supervisor = Supervisor(plan, folder / name, ending, said.append)
            outcome = await supervisor.run(None)
        assert outcome.error is None, (name, outcome.error)
        for counts in outcome.counts:
            assert counts.malformed == 0, counts

    await asyncio.gather(*(run(name, one) for name, one in systems.items()))
    # What a busy machine makes of a handler is no fault.
    assert [line for line in said if "all else of its host waited" not in line] == []


def replay_all(
    systems: Mapping[str, Deployed], folder: Path
) -> dict[str, ReplayedRecording]:
    """Replay recordings: as they went, and as their networks allow."""
    return {name: replayed(one, folder / name) for name, one in systems.items()}


def replayed(one: Deployed, recording: Path) -> ReplayedRecording:
    report = replay_recording(recording, one.system, traces=False)
    assert report.divergence is None, str(report)
    is_so = report.network.as_declared or any(
        reason in report.network.reason for reason in REAL
    )
    assert is_so, str(report)
    report.expect_no_violation()
    for node in report.nodes:
        assert (node.incarnations, node.torn, node.gaps) == (1, 0, ())
    if has_workload(one.system):
        assert calls_in(recording, one.system) > 0, recording
    return report


def has_workload(system: wl.System) -> bool:
    return any(system.scripts) or any(system.whenevers)


def calls_in(recording: Path, system: wl.System) -> int:
    """Return how many calls the journals of a recording have."""
    codec = Codec(system.under_recording())
    return sum(
        type(record) is CalledRecord
        for folder in nodes_of(recording)
        for life in read_node(folder).incarnations
        for turn in life.turns(codec)
        for record in turn.records
    )


def smallest(systems: Mapping[str, Deployed], network: str) -> list[str]:
    """Return the names of those on a network of their own, those with few nodes first."""
    own: Iterable[str] = (
        name for name, one in systems.items() if one.system.network.name == network
    )
    return sorted(own, key=lambda name: len(systems[name].system.ids))
