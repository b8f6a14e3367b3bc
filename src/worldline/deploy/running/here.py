"""Nodes of a run in this process: all of them, or some while others run elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, final

from worldline.deploy.asked import ToldBeside, told_by
from worldline.deploy.counts import NodeCounts
from worldline.deploy.driving import Driver, ScriptKey
from worldline.deploy.forecast import Forecast
from worldline.deploy.host import Host
from worldline.deploy.keeping import NodeFailed
from worldline.deploy.running.controlled import controlled
from worldline.deploy.running.ending import RunEnding, until_over
from worldline.deploy.running.plan import RunPlan
from worldline.deploy.running.report import RunOutcome, TellProgress, telling
from worldline.deploy.weather import LinkConditions, LinkWeather
from worldline.model.data.identity import NodeId
from worldline.model.errors import WorldlineError
from worldline.worlds.companions import Companion

_LOOK_S = 0.1
"""Seconds between two looks at whether anybody is up, or will be."""


_SWITCH_S = 0.0005


@final
class LocalNodes:
    """The nodes of a host, as weather and workload find them."""

    def __init__(self, plan: RunPlan, host: Host, ending: RunEnding) -> None:
        self._plan, self._host, self._ending = plan, host, ending
        self._nodes = frozenset(plan.nodes)
        self._crashed: set[NodeId] = set()
        self.weather: LinkWeather | None = None
        self.companions: Sequence[Companion] = ()
        self.tell_control: Callable[[], None] = lambda: None

    @property
    def conditions(self) -> LinkConditions:
        """Those of the links from these nodes."""
        return LinkConditions() if self.weather is None else self.weather.conditions

    @conditions.setter
    def conditions(self, now: LinkConditions) -> None:
        if self.weather is not None:
            self.weather.conditions = now

    async def start(self) -> None:
        """Begin the lives of all, and tell where they are controlled."""
        await self._host.start()
        self.tell_control()

    def hush(self) -> None:
        """Let nothing happen to them any more, until they are stopped."""
        self._host.hush()

    def is_up(self, node: NodeId) -> bool:
        return node in self._nodes and self._host.is_up(node)

    def crash(self, node: NodeId) -> None:
        self._crashed.add(node)
        self._host.crash(node)

    async def restart(self, node: NodeId) -> None:
        try:
            await self._host.restart(node)
        except (WorldlineError, OSError) as error:
            self._ending.fail(error)
        self._crashed.discard(node)

    def incarnation(self, node: NodeId) -> int:
        return self._host.counts(node).incarnations

    def state(self, node: NodeId) -> Any:
        return self._host.state(node)

    async def call(
        self,
        node: NodeId,
        name: str,
        *arguments: Any,
        timeout: float | None = None,
        made: Callable[[], None] | None = None,
    ) -> Any:
        return await self._host.call(node, name, *arguments, timeout=timeout, made=made)

    async def until(self, node: NodeId, predicate: Callable[[Any], bool]) -> None:
        await self._host.until(node, predicate)

    def driver(
        self,
        positions: dict[ScriptKey, int] | None = None,
        moved: Callable[[ScriptKey, int], None] = lambda script, position: None,
    ) -> Driver:
        """Return what makes their calls, from the beginning of their lives on."""
        plan = self._plan
        driver = Driver(
            plan.system,
            plan.nodes,
            self,
            rate=plan.options.rate,
            seed=plan.options.seed,
            positions=positions,
            moved=moved,
        )
        self._host.driven(driver.positions)
        return driver

    async def over(self, may_restart: Callable[[], bool] = lambda: False) -> None:
        """Wait until every node has stopped, and none will come back.

        Parameters
        ----------
        may_restart
            Whether weather may bring one back.
        """
        stopped = asyncio.ensure_future(self._host.wait())
        try:
            while True:
                await asyncio.wait([stopped], timeout=_LOOK_S)
                error = stopped.exception() if stopped.done() else None
                if error is not None and not isinstance(error, NodeFailed):
                    raise error  # what is wrong with the system as a whole
                if may_restart() or any(map(self._host.is_up, self._nodes)):
                    if stopped.done():
                        await asyncio.sleep(_LOOK_S)
                    continue
                if stopped.done() or all(map(self._is_gone, self._nodes)):
                    return
        finally:
            stopped.cancel()

    def counts(self) -> list[NodeCounts]:
        """Return the counts of each."""
        return [self._host.counts(node) for node in self._plan.nodes]

    def told(self) -> ToldBeside:
        """Return what the companions tell."""
        return told_by(self.companions)

    def up(self) -> int:
        """Return how many are up."""
        return sum(map(self._host.is_up, self._nodes))

    def _is_gone(self, node: NodeId) -> bool:
        """Say whether a node that is down stays so."""
        returns = self._plan.options.on_failure == "restart"
        journal_failed = self._host.counts(node).journal_failure is not None
        return not returns or node in self._crashed or journal_failed


@contextlib.asynccontextmanager
async def hosting(
    plan: RunPlan, ending: RunEnding, say: Callable[[str], None]
) -> AsyncIterator[LocalNodes]:
    """Bind the nodes of a plan, and stop them after the block; their counts stay."""
    async with (
        _beside(plan, say) as companions,
        _hosting(plan, ending, say, companions) as nodes,
    ):
        yield nodes


@contextlib.asynccontextmanager
async def _hosting(
    plan: RunPlan,
    ending: RunEnding,
    say: Callable[[str], None],
    companions: Sequence[Companion],
) -> AsyncIterator[LocalNodes]:
    options, weather = plan.options, plan.link_weather()
    host = Host(
        plan.system,
        nodes=plan.nodes,
        cluster=plan.cluster,
        record=plan.record,
        seed=options.seed,
        sync=options.sync,
        keep=plan.keep,
        on_log_failure=options.on_log_failure,
        contents=options.contents,
        every=options.every,
        on_failure=options.on_failure,
        events=not options.no_record,
        weather=weather,
        run=plan.run,
        companions=companions,
        say=say,
    )
    await host.bind()
    nodes = LocalNodes(plan, host, ending)
    nodes.weather, nodes.companions = weather, companions
    if weather is not None:
        for node in plan.nodes:
            weather.begin_life(plan.system.index[node], nodes.incarnation(node))
    try:
        async with controlled(plan, host, say) as nodes.tell_control:
            yield nodes
    finally:
        await host.stop(ending.reason or "stopped")


@contextlib.asynccontextmanager
async def _beside(
    plan: RunPlan, say: Callable[[str], None]
) -> AsyncIterator[Sequence[Companion]]:
    """Have what stands beside the nodes while the block runs."""
    if plan.beside is None:
        yield ()
        return
    async with plan.beside(plan.system, plan.nodes, plan.options, say) as companions:
        yield companions


async def run_here(
    plan: RunPlan,
    ending: RunEnding,
    *,
    say: Callable[[str], None],
    tell: TellProgress | None = None,
) -> RunOutcome:
    """Run the nodes of a plan in this process, with their weather and workload."""
    loop = asyncio.get_running_loop()
    # A thread that has synced a journal waits for the interpreter, for 5 ms by default.
    sys.setswitchinterval(_SWITCH_S)
    async with hosting(plan, ending, say) as nodes:
        forecast = Forecast(plan.weather, plan.system, plan.options.seed, nodes)
        forecast.begin()
        driver = nodes.driver() if plan.options.rate else None
        await nodes.start()
        began = loop.time()
        ends: list[Awaitable[Any]] = [nodes.over(lambda: forecast.may_restart)]
        if plan.options.seconds is not None:
            ends.append(asyncio.sleep(plan.options.seconds))
        beside: list[Awaitable[Any]] = [forecast.run()]
        if driver is not None:
            beside.append(driver.run())
        if tell is not None:
            beside.append(telling(tell, nodes))
        with ending.failing():
            await until_over(ending, ends, beside)
        seconds = loop.time() - began
    befell, told, error = forecast.befell, nodes.told(), ending.error
    outcome = RunOutcome(seconds, nodes.counts(), befell, error, told, began)
    return outcome._replace(awaited=forecast.awaited)
