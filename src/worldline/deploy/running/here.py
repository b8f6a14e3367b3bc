"""Nodes of a run in this process: all of them, or some for whoever watches over them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from worldline.deploy.counts import NodeCounts
from worldline.deploy.driving import Driver, ScriptKey
from worldline.deploy.forecast import Forecast
from worldline.deploy.running.channel import (
    Line,
    ParentChannel,
    conditions_of,
)
from worldline.deploy.running.ending import Ending
from worldline.deploy.running.plan import RunPlan
from worldline.deploy.running.report import RunProgress
from worldline.deploy.weather import LinkConditions, LinkWeather
from worldline.model.data.identity import NodeId
from worldline.model.errors import WorldlineError

if TYPE_CHECKING:
    from worldline.deploy.host import Host

TICK_S = 1.0
"""Seconds between two times that it is told how far a run is."""

Tell = Callable[[RunProgress], None]


@final
class LocalNodes:
    """The nodes of a host, as weather and workload find them."""

    def __init__(
        self,
        host: Host,
        nodes: Sequence[NodeId],
        weather: LinkWeather | None,
        ending: Ending,
    ) -> None:
        self._host, self._weather, self._ending = host, weather, ending
        self._nodes = frozenset(nodes)
        self._crashed: set[NodeId] = set()

    @property
    def conditions(self) -> LinkConditions:
        """Those of the links from these nodes."""
        return LinkConditions() if self._weather is None else self._weather.conditions

    @conditions.setter
    def conditions(self, now: LinkConditions) -> None:
        if self._weather is not None:
            self._weather.conditions = now

    def is_up(self, node: NodeId) -> bool:
        return node in self._nodes and self._host.is_up(node)

    def crash(self, node: NodeId) -> None:
        self._host.crash(node)

    async def restart(self, node: NodeId) -> None:
        try:
            await self._host.restart(node)
        except (WorldlineError, OSError) as error:
            self._ending.fail(error)

    def incarnation(self, node: NodeId) -> int:
        return self._host.counts(node).incarnations

    def state(self, node: NodeId) -> Any:
        return self._host.state(node)

    async def call(
        self, node: NodeId, name: str, *arguments: Any, timeout: float | None = None
    ) -> Any:
        return await self._host.call(node, name, *arguments, timeout=timeout)

    async def until(self, node: NodeId, predicate: Callable[[Any], bool]) -> None:
        await self._host.until(node, predicate)


async def run_here(
    plan: RunPlan,
    ending: Ending,
    *,
    say: Callable[[str], None],
    tell: Tell | None = None,
) -> tuple[float, list[NodeCounts], dict[Any, bool]]:
    """Run the nodes of a plan in this process, with their weather.

    Returns
    -------
    seconds, counts and what befell
        How long they ran, the counts of each, and what came of the weather.
    """
    weather = plan.link_weather()
    loop = asyncio.get_running_loop()
    async with hosting(plan, weather, say) as host:
        began = loop.time()
        nodes = LocalNodes(host, plan.nodes, weather, ending)
        forecast = Forecast(plan.weather, plan.system, plan.options.seed, nodes)
        with contextlib.ExitStack() as beside:
            works: list[Awaitable[Any]] = [_stopped(host, forecast)]
            if plan.options.seconds is not None:
                works.append(asyncio.sleep(plan.options.seconds))
            lasting: list[Awaitable[Any]] = [forecast.run()]
            if plan.options.rate:
                lasting.append(_driver(plan, nodes).run())
            if tell is not None:
                lasting.append(_telling(plan, host, tell))
            beside.callback(lambda: None)
            await until_over(ending, works, lasting)
    counts = [host.counts(node) for node in plan.nodes]
    return loop.time() - began, counts, forecast.befell


@contextlib.asynccontextmanager
async def hosting(
    plan: RunPlan, weather: LinkWeather | None, say: Callable[[str], None]
) -> AsyncIterator[Host]:
    """Run the host of a plan's nodes while the block runs; its counts stay."""
    from worldline.deploy.host import Host

    options = plan.options
    host = Host(
        plan.system,
        nodes=plan.nodes,
        cluster=plan.cluster,
        record=plan.record,
        seed=options.seed,
        sync=options.sync,
        keep=plan.keep,
        on_log_failure=options.on_log_failure,
        on_failure=options.on_failure,
        weather=weather,
        run=plan.run,
        say=say,
    )
    await host.start()
    try:
        yield host
    finally:
        await host.stop()


async def until_over(
    ending: Ending, works: Sequence[Awaitable[Any]], lasting: Sequence[Awaitable[Any]]
) -> None:
    """Wait until somebody asks for the end, or one of some works is done.

    Parameters
    ----------
    lasting
        What goes on meanwhile: that it is done ends nothing.

    Raises
    ------
    Exception
        What one of them raises.
    """
    ends = {*map(asyncio.ensure_future, (ending.asked(), *works))}
    others = {*map(asyncio.ensure_future, lasting)}
    waiting = ends | others
    try:
        while not any(end.done() for end in ends):
            done, waiting = await asyncio.wait(
                waiting, return_when=asyncio.FIRST_COMPLETED
            )
            for one in done:
                one.result()
    finally:
        for one in ends | others:
            one.cancel()
        await asyncio.gather(*ends, *others, return_exceptions=True)


async def _stopped(host: Host, forecast: Forecast) -> None:
    """Wait until every node has stopped, and none will come back."""
    await host.wait()
    while forecast.may_restart or any(map(host.is_up, host.nodes)):
        await asyncio.sleep(0.1)
        await host.wait()


def _driver(
    plan: RunPlan,
    nodes: LocalNodes,
    positions: dict[ScriptKey, int] | None = None,
    moved: Callable[[ScriptKey, int], None] = lambda script, position: None,
) -> Driver:
    return Driver(
        plan.system,
        plan.nodes,
        nodes,
        rate=plan.options.rate,
        seed=plan.options.seed,
        positions=positions,
        moved=moved,
    )


async def _telling(plan: RunPlan, host: Host, tell: Tell) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    while True:
        await asyncio.sleep(TICK_S)
        events = sum(host.counts(node).events for node in plan.nodes)
        up = sum(map(host.is_up, plan.nodes))
        tell(RunProgress(
            seconds=loop.time() - began, events=events, up=up, nodes=len(plan.nodes)
        ))


@final
class WatchedNode:
    """The node of this process, as another process has it begin and go on."""

    def __init__(self, plan: RunPlan, ending: Ending, channel: ParentChannel) -> None:
        self._plan, self._ending, self._channel = plan, ending, channel
        self._begin: asyncio.Future[Line] = asyncio.get_running_loop().create_future()
        self._drive = asyncio.Event()
        self._weather: LinkWeather | None = None

    async def run(self) -> list[NodeCounts]:
        """Run the node until it stops, or is not watched any more."""
        plan, channel = self._plan, self._channel
        channel.listen(self._take)
        channel.send(loaded=True)
        begin = await self._begin
        if not begin:
            return []
        links = begin["links"]
        conditions = None if links is None else conditions_of(links, plan.system.ids)
        self._weather = plan.link_weather(begin["life"], conditions)
        async with hosting(plan, self._weather, self._say) as host:
            channel.send(ready=True)
            nodes = LocalNodes(host, plan.nodes, self._weather, self._ending)
            lasting: list[Awaitable[Any]] = [self._counting(host)]
            if plan.options.rate:
                lasting.append(self._driving(nodes, begin["positions"]))
            await until_over(self._ending, [host.wait()], lasting)
        counts = [host.counts(node) for node in plan.nodes]
        channel.send(counts=[each.to_json() for each in counts])
        return counts

    def _take(self, line: Line | None) -> None:
        match line:
            case None:
                if not self._begin.done():
                    self._begin.set_result({})
                self._ending.ask("nobody watches")
            case {"begin": begin}:
                self._begin.set_result(begin)
            case {"drive": _}:
                self._drive.set()
            case {"links": links} if self._weather is not None:
                now = conditions_of(links, self._plan.system.ids)
                self._weather.conditions = now

    def _say(self, line: str) -> None:
        self._channel.send(said=line)

    async def _counting(self, host: Host) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            counts = [host.counts(node).to_json() for node in self._plan.nodes]
            self._channel.send(counts=counts)

    async def _driving(self, nodes: LocalNodes, positions: Sequence[int]) -> None:
        await self._drive.wait()
        (node,) = self._plan.nodes
        stand: dict[ScriptKey, int] = {
            (node, number): position for number, position in enumerate(positions)
        }

        def moved(script: ScriptKey, position: int) -> None:
            self._channel.send(position=[script[1], position])

        await _driver(self._plan, nodes, stand, moved).run()
