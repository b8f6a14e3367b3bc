"""The one node of a process that another one has started, and watches over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, final

from worldline.deploy.asked import ToldBeside
from worldline.deploy.counts import NodeCounts
from worldline.deploy.driving import Driver, ScriptKey
from worldline.deploy.running.channel import ChannelLine, ParentChannel, conditions_of
from worldline.deploy.running.ending import RunEnding, until_over
from worldline.deploy.running.here import LocalNodes, hosting
from worldline.deploy.running.plan import RunPlan
from worldline.deploy.running.report import TICK_S


@final
class WatchedNode:
    """The node of this process: it begins, and goes on, as another process has it."""

    def __init__(
        self, plan: RunPlan, ending: RunEnding, channel: ParentChannel
    ) -> None:
        self._plan, self._ending, self._channel = plan, ending, channel
        self._begin: asyncio.Future[ChannelLine | None] = (
            asyncio.get_running_loop().create_future()
        )
        self._nodes: LocalNodes | None = None
        self._told: ToldBeside = {}
        self._over = asyncio.Event()

    async def run(self) -> list[NodeCounts]:
        """Run the node until it stops, or nobody watches any more."""
        plan, channel = self._plan, self._channel
        channel.listen(self._take)
        async with hosting(plan, self._ending, self._say) as nodes:
            self._nodes = nodes
            channel.send(bound=True)
            begin = await self._told_to_begin()
            if begin is not None:
                nodes.conditions = conditions_of(begin["links"], plan.system.ids)
                driver = None
                if plan.options.rate:
                    driver = self._driver(nodes, begin["positions"])
                await nodes.start()
                beside: list[Awaitable[Any]] = [self._counting(nodes)]
                if driver is not None:
                    beside.append(driver.run())
                ends: list[Awaitable[Any]] = [nodes.over(), self._over.wait()]
                await until_over(self._ending, ends, beside)
                if self._over.is_set() and not self._ending.reason:
                    # Peers that go on for a moment would be missed, and those miss it.
                    nodes.hush()
                    channel.send(quiet=True)
                    await self._ending.asked()
        self._send_counts(nodes)
        return nodes.counts()

    async def _told_to_begin(self) -> ChannelLine | None:
        """Wait for the word; None if the node is not to begin any more."""
        asked = asyncio.ensure_future(self._ending.asked())
        asked.add_done_callback(lambda _: self._begin_with(None))
        try:
            return await self._begin
        finally:
            asked.cancel()

    def _take(self, line: ChannelLine | None) -> None:
        match line:
            case None:
                self._ending.ask("nobody watches")
            case {"over": _}:
                self._over.set()
            case {"begin": begin}:
                self._begin_with(begin)
            case {"links": links} if self._nodes is not None:
                self._nodes.conditions = conditions_of(links, self._plan.system.ids)

    def _begin_with(self, begin: ChannelLine | None) -> None:
        if not self._begin.done():
            self._begin.set_result(begin)

    def _say(self, line: str) -> None:
        self._channel.send(said=line)

    def _send_counts(self, nodes: LocalNodes) -> None:
        self._channel.send(counts=[each.to_json() for each in nodes.counts()])
        told = nodes.told()
        if told != self._told:
            self._told = told
            self._channel.send(told=told)

    async def _counting(self, nodes: LocalNodes) -> None:
        while True:
            self._send_counts(nodes)
            await asyncio.sleep(TICK_S)

    def _driver(self, nodes: LocalNodes, positions: Sequence[int]) -> Driver:
        (node,) = self._plan.nodes
        stand: dict[ScriptKey, int] = {
            (node, number): position for number, position in enumerate(positions)
        }

        def moved(script: ScriptKey, position: int) -> None:
            self._channel.send(position=[script[1], position])

        return nodes.driver(stand, moved)
