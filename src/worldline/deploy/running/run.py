"""`run`: a system on real sockets, from what a command line says to its report."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from worldline.deploy.counts import NodeCounts
from worldline.deploy.running.beside import StandsBeside
from worldline.deploy.running.channel import ParentChannel
from worldline.deploy.running.ending import RunEnding
from worldline.deploy.running.here import run_here
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.pid_file import forget_pid, pid_file
from worldline.deploy.running.plan import RunPlan, plan_of
from worldline.deploy.running.report import RunOutcome, RunReport, TellProgress, summed
from worldline.deploy.running.supervisor import Supervisor
from worldline.deploy.running.watched import WatchedNode
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.model.properties import PropertyKind
from worldline.model.system import System
from worldline.runs.evidence import replay_of
from worldline.trace.journal.reading import is_recording
from worldline.trace.journal.segments import nodes_in
from worldline.worlds.beside_report import (
    RefusedEvent,
    UnseenProperty,
    notes_on,
    unseen_together,
)

T = TypeVar("T")


def run_system(
    system: System,
    target: str | None,
    options: RunOptions,
    *,
    say: Callable[[str], None],
    tell: TellProgress | None = None,
    beside: StandsBeside | None = None,
) -> RunReport:
    """Run a system on real sockets until its time is over, or somebody ends it.

    Parameters
    ----------
    target
        What loads the system in other processes; not needed where none are.
    say
        Takes a line for whoever watches.
    tell
        Is told each second how far the run is.
    beside
        Makes what stands beside nodes of this process, where the mode wants something.

    Raises
    ------
    UsageError
        If it cannot be run so, or a node cannot start.
    """
    plan = plan_of(system, target, options, beside=beside)
    try:
        if options.together or options.node:
            if plan.record is not None:
                plan.write_cluster(plan.record)
            outcome = in_loop(
                options.loop, lambda ending: run_here(plan, ending, say=say, tell=tell)
            )
        else:
            outcome = in_loop("asyncio", lambda ending: _apart(plan, ending, say, tell))
        return _report(plan, outcome)
    finally:
        plan.clear()


def run_watched(
    system: System,
    node: NodeId,
    options: RunOptions,
    run_id: str,
    channel: ParentChannel,
    beside: StandsBeside | None = None,
) -> RunReport:
    """Run one node for the process that has started this one, in the loop it asks for."""
    plan = plan_of(system, None, options, watched=(node, run_id), beside=beside)

    async def run(ending: RunEnding) -> RunOutcome:
        counts = await WatchedNode(plan, ending, channel).run()
        return RunOutcome(0.0, counts, {}, None, {})

    try:
        return _report(plan, in_loop(options.loop, run, to_keys=False))
    finally:
        # Whoever has started it removes the file, too, unless that was killed.
        if options.record is not None:
            forget_pid(pid_file(Path(options.record), node), os.getpid())


def in_loop(
    loop: str,
    run: Callable[[RunEnding], Coroutine[Any, Any, T]],
    *,
    to_keys: bool = True,
) -> T:
    """Run something in a loop of its own, which Ctrl-C and its like ask to end.

    Raises
    ------
    UsageError
        If there is no such loop here.
    """

    async def listening() -> T:
        ending = RunEnding()
        with ending.listening(to_keys=to_keys):
            return await run(ending)

    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if loop == "uvloop":
        try:
            import uvloop
        except ImportError:
            raise UsageError(
                "uvloop is not installed",
                remedy="pip install 'worldline[deploy]', or leave --loop out",
            ) from None
        factory = uvloop.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(listening())


async def _apart(
    plan: RunPlan,
    ending: RunEnding,
    say: Callable[[str], None],
    tell: TellProgress | None,
) -> RunOutcome:
    """Run each node in a process of its own."""
    if plan.record is not None:
        return await Supervisor(plan, plan.record, ending, say).run(tell)
    # What a life needs of those before it stands in journals in any case.
    with tempfile.TemporaryDirectory(prefix="worldline-") as folder:
        return await Supervisor(plan, Path(folder), ending, say).run(tell)


def _of_steering(
    plan: RunPlan, counts: Mapping[str, int], unseen: Sequence[UnseenProperty]
) -> Iterator[str]:
    """Yield what must not be taken for good news: that nothing was looked at."""
    if plan.options.mode in ("predict", "steer") and counts.get("predictions") == 0:
        yield (
            "nothing was predicted: no prediction was made in time, unless it was told "
            "that they failed. What predicts has the lowest priority, and where each node "
            "has a process, one for each; let it run for longer, on a machine with less to "
            "do, or --together"
        )
    asked = plan.options.properties
    judged = sum(
        prop.kind is PropertyKind.SAFETY and (asked is None or prop.name in asked)
        for prop in plan.system.properties
    )
    yield from notes_on(counts, unseen, judged)


def _lost(record: Path, counts: Sequence[NodeCounts]) -> UsageError | None:
    """Return that journals are no more which were written, if so."""
    written = [node.node for node in counts if node.journal_bytes]
    kept = nodes_in(record) if is_recording(record) else []
    if written and not kept:
        return UsageError(f"the recording {record} is no more", remedy="run again")
    if lost := [name for name in written if name not in kept]:
        return UsageError(
            f"the recording {record} has no journal of {', '.join(lost[:10])} any more",
            remedy="replay what is left, or run again",
        )
    return None


def _report(plan: RunPlan, outcome: RunOutcome) -> RunReport:
    system, record, error = plan.system, plan.record, outcome.error
    if record is not None:
        error = error or _lost(record, outcome.counts)
        if not is_recording(record):
            record = None  # or it ended before anything happened
    target = plan.target or (None if system.origin is None else system.origin.target)
    notes = [
        f"nothing came of the weather: {one}"
        for one, is_so in outcome.befell.items()
        if not is_so
    ]
    notes += [
        f"{name} was not up again when the run ended: its process was still starting"
        for name in outcome.awaited
    ]
    has_calls = any(system.scripts) or any(map(len, system.whenevers))
    if has_calls and not plan.options.rate:
        notes.append(
            "the command itself made no call of the workload; --rate R makes them"
        )
    counts, told = summed(*(node.steering for node in outcome.counts)), outcome.told
    unseen = unseen_together(told.get("unseen", ()))
    refusals = [RefusedEvent(**one) for one in told.get("refusals", ())]
    notes += _of_steering(plan, counts, unseen)
    is_whole = record is not None and not plan.options.node
    given = {} if system.origin is None else dict(system.origin.parameters)
    return RunReport(
        system=system.name,
        target=target,
        recording=record,
        seconds=outcome.seconds,
        nodes=tuple(outcome.counts),
        replay=replay_of(record, target, given)
        if is_whole and record is not None
        else None,
        error=None if error is None else str(error),
        mode=plan.options.mode,
        foreseen=tuple(told.get("predictions", ())),
        refusals=tuple(
            one.since(outcome.began)
            for one in sorted(refusals, key=lambda one: one.time)
        ),
        unseen=unseen,
        notes=tuple(notes),
    )
