"""The forecast of a run: what befalls its nodes and links, and when.

The same texts and files as those of a simulation, by the real clock. A host that runs all
nodes is struck itself; who watches over a process for each node ends and starts those.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from typing import Protocol, final

from worldline.deploy.weather import LinkConditions
from worldline.model.data.identity import NodeId
from worldline.model.system import System
from worldline.worlds.chance import Chance
from worldline.worlds.weather import WeatherEvent

_OF_LINKS = frozenset({"loss", "delay", "cut", "heal"})


class Struck(Protocol):
    """Nodes that weather befalls.

    Attributes
    ----------
    conditions
        Of the links between them.
    """

    conditions: LinkConditions

    def is_up(self, node: NodeId) -> bool: ...

    def crash(self, node: NodeId) -> None:
        """End a node that is up, as ``kill -9`` would."""

    async def restart(self, node: NodeId) -> None:
        """Begin the next life of a node that is down."""


@final
class Forecast:
    """What befalls a run.

    Parameters
    ----------
    events
        In any order.
    seed
        Draws nodes where the weather says ``any``.
    struck
        Whom it befalls.

    Attributes
    ----------
    befell
        Of each event that was due, whether anything came of it so far.
    awaited
        The nodes, by name, that were on their way back when the run ended.
    """

    def __init__(
        self,
        events: Sequence[WeatherEvent],
        system: System,
        seed: int,
        struck: Struck,
    ) -> None:
        self._system, self._struck = system, struck
        self._chance = Chance(seed, system.ids)
        self._due = [(one.time, number, one) for number, one in enumerate(events)]
        heapify(self._due)
        self._returning: set[asyncio.Task[None]] = set()
        self.befell: dict[WeatherEvent, bool] = {}
        self.awaited: tuple[str, ...] = ()

    @property
    def may_restart(self) -> bool:
        """Whether a node that is down may come back."""
        return bool(self._returning) or any(
            one.what == "restart" for _, _, one in self._due
        )

    def begin(self) -> None:
        """Let befall the links what is due at once, before any node begins."""
        first = [due for due in self._due if not due[0] and due[2].what in _OF_LINKS]
        for due in sorted(first):
            self._due.remove(due)
            self._happen(due, 0.0)
        heapify(self._due)

    async def run(self) -> None:
        """Let everything befall the run at its time, counted from now."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            while self._due:
                await asyncio.sleep(began + self._due[0][0] - loop.time())
                self._happen(heappop(self._due), loop.time() - began)
            while self._returning:
                # To gather them would end them with this one, before they are named.
                done, _ = await asyncio.wait(
                    self._returning, return_when=asyncio.FIRST_EXCEPTION
                )
                for task in done:
                    task.result()
        finally:
            returning = [*self._returning]
            self.awaited = tuple(sorted(task.get_name() for task in returning))
            for task in returning:
                task.cancel()
            # Who ends all nodes then has to know that none is on its way back.
            await asyncio.gather(*returning, return_exceptions=True)

    def befall(self, one: WeatherEvent) -> bool:
        """Let something happen now; say whether anything came of it."""
        struck, now = self._struck, self._struck.conditions
        match one.what:
            case "loss":
                struck.conditions = replace(now, loss=one.amount)
            case "delay":
                struck.conditions = replace(now, delay=one.amount)
            case "cut" if now.side is None:
                struck.conditions = replace(now, side=one.side)
            case "heal" if now.side is not None:
                struck.conditions = replace(now, side=None)
            case "crash" | "restart" | "reset":
                return self._strike(one)
            case _:
                return False
        return True

    # ------------------------------------------------------------------------ inside

    def _happen(self, due: tuple[float, int, WeatherEvent], now: float) -> None:
        time, number, one = due
        if one.every is not None:
            again = self._next(time, one.every, now)
            heappush(self._due, (again, number, one))
        is_so = self.befall(one)
        self.befell[one] = is_so or self.befell.get(one, False)

    @staticmethod
    def _next(time: float, every: float, now: float) -> float:
        """Return when something is due again; a time that is over already is left out."""
        late = max(0.0, now - time)
        return time + every * max(1, math.ceil(late / every))

    def _strike(self, one: WeatherEvent) -> bool:
        wanted_up = one.what != "restart"
        node = one.node
        if node is None:
            node = self._drawn(wanted_up)
        elif self._struck.is_up(node) is not wanted_up:
            node = None
        if node is None:
            return False
        if wanted_up:
            self._struck.crash(node)
        if one.what != "crash":
            task = asyncio.ensure_future(self._struck.restart(node))
            task.set_name(node.name)
            self._returning.add(task)
            task.add_done_callback(self._returning.discard)
        return True

    def _drawn(self, wanted_up: bool) -> NodeId | None:
        system = self._system
        index = self._chance.strike(
            number
            for number, node in enumerate(system.ids)
            if self._struck.is_up(node) is wanted_up and system.faults.strikes(node)
        )
        return None if index is None else system.ids[index]
