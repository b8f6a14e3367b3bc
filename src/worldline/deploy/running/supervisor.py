"""The supervisor: a process for each node, watched over, struck by weather, and ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, final

from worldline.deploy.asked import told_together
from worldline.deploy.counts import NodeCounts
from worldline.deploy.forecast import Forecast
from worldline.deploy.running.channel import conditions_to_json
from worldline.deploy.running.controlled import control_file
from worldline.deploy.running.ending import RunEnding, until_over
from worldline.deploy.running.node_process import NodeProcess
from worldline.deploy.running.options import RunOptions
from worldline.deploy.running.pid_file import pid_file
from worldline.deploy.running.plan import CLUSTER, RunPlan
from worldline.deploy.running.report import RunOutcome, TellProgress, telling
from worldline.deploy.weather import LinkConditions
from worldline.model.data.identity import NodeId
from worldline.model.errors import UsageError
from worldline.options.steering import ModeOptions

_START_S = 60.0
"""For how long no node may have come so far as to begin, while some have not."""

_LOOK_S = 0.1


@final
class Supervisor:
    """What watches over a process for each node of a plan.

    Parameters
    ----------
    folder
        For the cluster's addresses; and for journals, if the plan records none.
    """

    def __init__(
        self,
        plan: RunPlan,
        folder: Path,
        ending: RunEnding,
        say: Callable[[str], None],
    ) -> None:
        self._plan, self._folder, self._ending = plan, folder, ending
        self._conditions = LinkConditions(loss=plan.options.loss)
        self._processes = {
            node: NodeProcess(
                node,
                len(plan.system.scripts[plan.system.index[node]]),
                [*_words(plan, node, folder)],
                f"{plan.system.index[node]}:{plan.run}",
                say=say,
                failed=ending.fail,
                pid=pid_file(folder, node),
                left=control_file(plan, (node,)),
            )
            for node in plan.nodes
        }

    async def run(self, tell: TellProgress | None) -> RunOutcome:
        """Run all nodes; return when their processes have ended.

        Raises
        ------
        UsageError
            If one cannot start.
        """
        plan, loop = self._plan, asyncio.get_running_loop()
        self._ending.at_once = self._kill_all
        plan.write_cluster(self._folder)
        forecast = Forecast(plan.weather, plan.system, plan.options.seed, self)
        began = loop.time()
        forecast.begin()
        try:
            await until_over(self._ending, [self._start()], [])
            if self._ending.error is not None:
                raise self._ending.error
            began = loop.time()
            if not self._ending.reason:
                ends: list[Awaitable[Any]] = [self._over(forecast)]
                if plan.options.seconds is not None:
                    ends.append(asyncio.sleep(plan.options.seconds))
                beside: list[Awaitable[Any]] = [forecast.run()]
                if tell is not None:
                    beside.append(telling(tell, self))
                with self._ending.failing():
                    await until_over(self._ending, ends, beside)
            seconds = loop.time() - began
        finally:
            every = self._processes.values()
            await asyncio.gather(*(each.hush() for each in every))
            await asyncio.gather(*(each.end() for each in every))
        told = told_together(each.told for each in every)
        befell, error = forecast.befell, self._ending.error
        outcome = RunOutcome(seconds, self.counts(), befell, error, told, began)
        return outcome._replace(awaited=forecast.awaited)

    # -------------------------------------------------------------- what weather sees

    @property
    def conditions(self) -> LinkConditions:
        """Those of all links."""
        return self._conditions

    @conditions.setter
    def conditions(self, now: LinkConditions) -> None:
        self._conditions = now
        for process in self._processes.values():
            process.send(links=conditions_to_json(now))

    def is_up(self, node: NodeId) -> bool:
        return self._processes[node].is_up

    def crash(self, node: NodeId) -> None:
        self._processes[node].kill()

    async def restart(self, node: NodeId) -> None:
        process = self._processes[node]
        try:
            await asyncio.wait_for(process.bind(), _START_S)
        except TimeoutError:
            self._ending.fail(_slow(node))
        except (UsageError, OSError) as error:
            self._ending.fail(error)
        else:
            process.begin(conditions_to_json(self._conditions))

    def counts(self) -> list[NodeCounts]:
        """Return the counts of each node."""
        return [process.counts for process in self._processes.values()]

    def up(self) -> int:
        """Return how many nodes are up."""
        return sum(process.is_up for process in self._processes.values())

    # ------------------------------------------------------------------------ inside

    async def _start(self) -> None:
        """Start all processes, and let all lives begin at once."""
        able = asyncio.Semaphore(2 * (os.cpu_count() or 1))

        async def bind(process: NodeProcess) -> None:
            async with able:
                try:
                    await asyncio.wait_for(process.bind(), _START_S)
                except TimeoutError:
                    raise _slow(process.node) from None

        binding = [asyncio.ensure_future(bind(p)) for p in self._processes.values()]
        try:
            await asyncio.gather(*binding)
        finally:
            for one in binding:
                one.cancel()
            await asyncio.gather(*binding, return_exceptions=True)
        for process in self._processes.values():
            process.begin(conditions_to_json(self._conditions))

    def _kill_all(self) -> None:
        for process in self._processes.values():
            process.kill()
            process.tidy()

    async def _over(self, forecast: Forecast) -> None:
        """Wait until every process has ended, and weather will bring none back."""
        while self.up() or forecast.may_restart:
            await asyncio.sleep(_LOOK_S)


def _slow(node: NodeId) -> UsageError:
    return UsageError(
        f"{node} was not up after {_START_S:g} s",
        remedy="look at what this machine is doing, or run fewer nodes",
    )


def _words_of_mode(options: RunOptions) -> Iterator[str]:
    """Yield what says what stands beside a node."""
    for name in ModeOptions.STEERING.names:
        given = getattr(options, name)
        if name in options.given and given is not None:
            text = ",".join(given) if name == "predicting" else given
            yield f"--{name.replace('_', '-')}={text}"
    for name in options.properties or ():
        yield f"--property={name}"


def _words(plan: RunPlan, node: NodeId, folder: Path) -> Iterator[str]:
    """Yield what runs one node of a plan, after ``worldline``."""
    options, index = plan.options, plan.system.index[node]
    assert plan.target is not None
    yield from ("run", plan.target)
    for name, text in (options.parameters or {}).items():
        yield from ("-p", f"{name}={text}")
    cluster = options.cluster or folder / CLUSTER
    yield from ("--cluster", str(cluster))
    yield from ("--record", str(plan.record or folder))
    for name in (
        "rate",
        "seed",
        "loss",
        "duplicate",
        "latency",
        "weather",
        "keep",
        "every",
    ):
        given = getattr(options, name)
        if given is not None:
            yield f"--{name}={given}"
    yield from _words_of_mode(options)
    for name in ("contents", "sync", "on_log_failure", "on_failure", "loop"):
        yield f"--{name.replace('_', '-')}={getattr(options, name)}"
    if options.no_record:
        yield "--no-record"
    if options.insecure:
        yield "--insecure"
    if options.control is not None:
        yield f"--control={options.control and options.control + index}"
