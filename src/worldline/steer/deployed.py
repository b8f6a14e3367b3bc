"""What stands beside deployed nodes: companions, and their predictor's process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, final

from worldline.deploy.running.beside import BesideOptions
from worldline.model.data.identity import NodeId
from worldline.model.system import System
from worldline.steer.process.forecasts import WORK, ProcessForecasts, spelt_options
from worldline.steer.process.predictor import PredictorProcess
from worldline.steer.requests import SnapshotRequests
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.companion import Predicts, Steering
from worldline.steer.steering.modes import SteeringMode, SteeringOptions
from worldline.steer.steering.reporting import Findings, written
from worldline.worlds.companions import Companion

_LOOK_S = 1.0
"""Seconds between two looks at what was found."""


@contextlib.asynccontextmanager
async def companions_for(
    system: System, options: BesideOptions, say: Callable[[str], None]
) -> AsyncIterator[Sequence[Companion]]:
    """Have the companions of a host that do what a mode says, while the block runs.

    Raises
    ------
    UsageError
        If the mode predicts, and the system has no target.
    """
    chosen = SteeringOptions(
        mode=SteeringMode(options.mode),
        every=options.every,
        bandwidth=options.bandwidth,
    )
    findings = Findings(seed=0)
    async with contextlib.AsyncExitStack() as stack:
        predicts: Predicts | None = None
        if chosen.mode.predicts:
            predictor = PredictorProcess(system, WORK, spelt_options(chosen), say=say)
            await stack.enter_async_context(predictor)
            predicts = ProcessForecasts(system, chosen, predictor)

        def taken(snapshot: NeighbourhoodSnapshot) -> None:
            requests.taken(snapshot)

        steering = Steering(system, chosen, predicts, findings, taken)

        def counts(me: NodeId) -> Mapping[str, int]:
            of_snapshots = steering.snapshots.counts.get(me)
            sent = 0 if of_snapshots is None else of_snapshots.sent
            return {**steering.counts(me).to_json(), "snapshot_bytes": sent}

        def foreseen() -> Sequence[Mapping[str, Any]]:
            return [one.to_json() for one in findings.all()]

        gather = steering.snapshots.gather
        requests = SnapshotRequests(system, gather, counts, foreseen)
        teller = _Teller(system.name, options.who, findings, say)
        telling = asyncio.ensure_future(teller.run())
        try:
            yield steering, requests
        finally:
            telling.cancel()
            teller.tell()


@final
class _Teller:
    """Tells of each failure that is seen coming, once, and where its run is."""

    def __init__(
        self, system: str, who: str, findings: Findings, say: Callable[[str], None]
    ) -> None:
        self._name = f"{system}-{who}" if who else system
        self._findings, self._say = findings, say
        self._told: set[str] = set()
        self._written: set[tuple[str, int]] = set()

    async def run(self) -> None:
        """Tell, until this is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.tell()

    def tell(self) -> None:
        """Write what is new, a shorter run too, and tell of what was not told yet."""
        found = self._findings.all()
        new = [one for one in found if (one.property, one.steps) not in self._written]
        for note in written(new, self._name):
            self._say(note)
        for one in new:
            self._written.add((one.property, one.steps))
            if one.property not in self._told:
                self._told.add(one.property)
                self._say(f"predicted: {one}")
