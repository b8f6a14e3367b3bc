"""What stands beside deployed nodes: companions, and their predictor's process."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

from worldline.deploy.running.beside import BesideOptions
from worldline.model.system import System
from worldline.steer.requests import SnapshotRequests
from worldline.steer.snapshots.keeper import Snapshots
from worldline.steer.snapshots.options import GatherOptions
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.worlds.companions import Companion


@contextlib.asynccontextmanager
async def companions_for(
    system: System, options: BesideOptions, say: Callable[[str], None]
) -> AsyncIterator[Sequence[Companion]]:
    """Have the companions of a host that do what a mode says, while the block runs."""

    def taken(snapshot: NeighbourhoodSnapshot) -> None:
        requests.taken(snapshot)

    gathering = GatherOptions(interval=options.every, bandwidth=options.bandwidth)
    snapshots = Snapshots(system, gathering, taken)
    requests = SnapshotRequests(system, snapshots.gather, lambda: snapshots.counts)
    yield snapshots, requests
