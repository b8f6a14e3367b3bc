"""Requests for snapshots: who wants one waits until it is gathered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from worldline.model.data.identity import NodeId
from worldline.model.system import System
from worldline.steer.snapshots.assembling import snapshot_trace
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.trace.records import Trace
from worldline.worlds.companions import Companion


@final
class SnapshotRequests(Companion):
    """Requests for snapshots of the nodes of one host, which stand beside it.

    Parameters
    ----------
    gather
        Lets a node gather one as soon as that is possible.
    so_far
        Returns what there is by now.
    counts
        Returns what was counted beside a node.
    told
        Returns what was told by name, as JSON data: see `worldline.deploy.asked.ToldBeside`.
    """

    def __init__(
        self,
        system: System,
        gather: Callable[[NodeId], None],
        so_far: Callable[[NodeId], NeighbourhoodSnapshot],
        counts: Callable[[NodeId], Mapping[str, int]],
        told: Callable[[str], Sequence[Mapping[str, Any]]] = lambda name: (),
    ) -> None:
        self._system, self._gather, self._so_far = system, gather, so_far
        self._counts, self._told = counts, told
        self._waiting: dict[NodeId, list[asyncio.Future[NeighbourhoodSnapshot]]] = {}

    async def snapshot(self, me: NodeId, seconds: float | None = None) -> Trace:
        """Return the next snapshot of a node, as a trace without steps.

        Parameters
        ----------
        seconds
            How long to wait; then it has who has answered until then, and the others are
            absent. None to wait for as long as it takes.

        Raises
        ------
        InputError
            If what neighbours said is no state of the system.
        """
        wanted = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(me, []).append(wanted)
        self._gather(me)
        await asyncio.wait([wanted], timeout=seconds)
        snapshot = wanted.result() if wanted.done() else self._so_far(me)
        return snapshot_trace(self._system, snapshot)

    def taken(self, snapshot: NeighbourhoodSnapshot) -> None:
        """Give a snapshot to who waits for it."""
        for wanted in self._waiting.pop(self._system.ids[snapshot.node], ()):
            if not wanted.done():
                wanted.set_result(snapshot)

    def counts_of(self, me: NodeId) -> Mapping[str, int]:
        """Return what was counted beside a node."""
        return self._counts(me)

    def foreseen(self) -> Sequence[Mapping[str, Any]]:
        """Return the failures that were seen coming, as JSON data."""
        return self._told("predictions")

    def refused_events(self) -> Sequence[Mapping[str, Any]]:
        """Return the events that were refused, the first of them, as JSON data."""
        return self._told("refusals")

    def unseen_properties(self) -> Sequence[Mapping[str, Any]]:
        """Return what could not be judged, as JSON data."""
        return self._told("unseen")
