"""Forecasts: what may follow a snapshot, and what its node can refuse of it.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, sections 3.3 and 4: execution steering.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from worldline.model.data.identity import NodeId
from worldline.model.filters import EventFilter
from worldline.model.system import System
from worldline.runs.start import Beginning
from worldline.search.predicting.paths import KnownPath
from worldline.steer.snapshots.assembling import BegunStates, absent_from
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.modes import SteeringOptions
from worldline.steer.steering.predictions import SnapshotPredictions

_KEPT = 32
"""Paths that each node knows of, on which something failed."""


@final
@dataclass(frozen=True, slots=True)
class SnapshotForecast:
    """What was found from one snapshot.

    Attributes
    ----------
    snapshot
        The snapshot.
    begin
        The same as a state, where something was found.
    absent
        The names of the nodes of which nothing is known there.
    findings
        What may fail.
    states
        That were visited.
    is_known
        Whether known paths alone were tried; what was predicted follows.
    """

    snapshot: NeighbourhoodSnapshot
    begin: Beginning
    absent: tuple[str, ...]
    findings: tuple[ForeseenFailure, ...]
    states: int
    is_known: bool

    @property
    def filters(self) -> tuple[EventFilter, ...]:
        """What its node should refuse."""
        chosen = [filter_ for one in self.findings for filter_ in one.filters]
        return tuple(dict.fromkeys(chosen))


@final
class Forecaster:
    """Makes forecasts from the snapshots of one system's nodes.

    Parameters
    ----------
    system
        The system, with the faults that it declares.
    predictions
        Made with the same options, where others have asked for some already.
    """

    def __init__(
        self,
        system: System,
        options: SteeringOptions,
        predictions: SnapshotPredictions | None = None,
    ) -> None:
        self._system = system
        self._predictions = predictions or SnapshotPredictions(system, options)
        self._begun = BegunStates(system)
        self._paths: dict[int, deque[KnownPath]] = {}

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""
        return self._predictions.onward

    def forecasts(self, snapshot: NeighbourhoodSnapshot) -> Iterator[SnapshotForecast]:
        """Yield what known paths lead to from a snapshot, and then what is predicted."""
        begin = self._begun.of(snapshot)
        me = self._system.ids[snapshot.node]
        known = self._known(me, begin, snapshot)
        if known.findings:
            yield known
        yield self._predicted(me, begin, snapshot)

    def tried(
        self, node: int, path: KnownPath, snapshot: NeighbourhoodSnapshot | None
    ) -> SnapshotForecast | None:
        """Take a path that another node has found; try it, if there is a snapshot.

        Returns
        -------
        SnapshotForecast or None
            What to do about it; None if nothing fails, or nothing is to be done.
        """
        self._keep(node, path)
        if snapshot is None:
            return None
        begin = self._begun.of(snapshot)
        finding = self._predictions.again(self._system.ids[node], begin, path)
        if finding is None:
            return None
        return self._forecast(snapshot, begin, (finding,))

    # ------------------------------------------------------------------------ inside

    def _known(
        self, me: NodeId, begin: Beginning, snapshot: NeighbourhoodSnapshot
    ) -> SnapshotForecast:
        """Try again the paths on which something failed before."""
        tried = [
            self._predictions.again(me, begin, path) for path in self._of(snapshot.node)
        ]
        found = tuple(one for one in tried if one is not None)
        return self._forecast(snapshot, begin, found)

    def _predicted(
        self, me: NodeId, begin: Beginning, snapshot: NeighbourhoodSnapshot
    ) -> SnapshotForecast:
        members = [self._system.ids[index] for index in snapshot.members]
        known = self._predictions.of(me, begin, members)
        for path in known.paths:
            self._keep(snapshot.node, path)
        assert known.failures is not None, "it was predicted"
        absent = absent_from(self._system, snapshot)
        return SnapshotForecast(
            snapshot, begin, absent, known.failures, known.states, is_known=False
        )

    def _forecast(
        self,
        snapshot: NeighbourhoodSnapshot,
        begin: Beginning,
        found: tuple[ForeseenFailure, ...],
    ) -> SnapshotForecast:
        """Return what known paths lead to."""
        absent = absent_from(self._system, snapshot)
        return SnapshotForecast(snapshot, begin, absent, found, 0, is_known=True)

    def _of(self, node: int) -> deque[KnownPath]:
        return self._paths.setdefault(node, deque(maxlen=_KEPT))

    def _keep(self, node: int, path: KnownPath) -> None:
        """Keep a path on which something fails, the latest last."""
        kept = self._of(node)
        if path in kept:
            kept.remove(path)
        kept.append(path)
