"""Predictions from the snapshots of a system's nodes, each state only once.

A live system returns to states that it was in: a probe is answered, and all is as before.
What may follow such a state is known then. What a handler does depends on no node's
history either, so one predictor with its tables serves all nodes, and all runs of a system.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from typing import TypeAlias, final

from worldline.model.data.identity import NodeId
from worldline.model.filters import EventFilter
from worldline.model.foreseen import Action
from worldline.model.system import System
from worldline.runs.start import Beginning
from worldline.search.predicting.avoiding import candidates, first_who_can_act, trials
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.paths import KnownPath
from worldline.search.predicting.predictor import MEMORY_MB, Predictor
from worldline.search.predicting.report import Prediction, PredictReport
from worldline.steer.steering.findings import ForeseenFailure, Handed
from worldline.steer.steering.modes import SteeringOptions
from worldline.worlds.world import Snapshot

MOST_REMEMBERED = 500
"""States of which is remembered what may follow them."""

_State: TypeAlias = tuple[NodeId, tuple[Snapshot | None, ...]]


@final
class FollowedState:
    """What may follow a state, for a node that gathered it.

    Attributes
    ----------
    failures
        What may fail, and what is done about it; None until that is predicted.
    paths
        The same as known paths.
    states
        That were visited for it.
    again
        Of known paths that were tried from there, what is done about them; None of those
        on which nothing fails.
    """

    __slots__ = ("again", "failures", "paths", "states")

    def __init__(self) -> None:
        self.failures: tuple[ForeseenFailure, ...] | None = None
        self.paths: tuple[KnownPath, ...] = ()
        self.states = 0
        self.again: dict[KnownPath, ForeseenFailure | None] = {}


@final
class SnapshotPredictions:
    """Predictions from snapshots, made with one set of tables and remembered.

    Parameters
    ----------
    system
        The system, with the faults that it declares.
    options
        Of all who ask.
    most
        How many states are remembered, the latest.
    memory
        MiB that the tables may take before they are given up.
    """

    def __init__(
        self,
        system: System,
        options: SteeringOptions,
        *,
        most: int = MOST_REMEMBERED,
        memory: int = MEMORY_MB,
    ) -> None:
        self.system, self._options, self._most = system, options, most
        self._predictor = Predictor(
            system,
            PredictOptions(
                max_states=options.max_states,
                repeat_cost=options.repeat_cost,
                faults=options.faults,
                traces=False,
                threads=1,
            ),
            memory=memory,
        )
        self._known: OrderedDict[_State, FollowedState] = OrderedDict()

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""
        return self._predictor.onward

    def again(
        self, me: NodeId, begin: Beginning, path: KnownPath
    ) -> ForeseenFailure | None:
        """Try a known path; return what can be done about it, if it still fails.

        The filter keeps that path from failing; whether others fail for it, the
        prediction that follows finds out.
        """
        known = self._of(me, begin)
        if path not in known.again:
            known.again[path] = self._tried(me, begin, path)
        return known.again[path]

    def of(
        self, me: NodeId, begin: Beginning, members: Collection[NodeId]
    ) -> FollowedState:
        """Return what may follow a state, predicted if it is a new one.

        Parameters
        ----------
        members
            The nodes that are not absent there.
        """
        known = self._of(me, begin)
        if known.failures is None:
            report = self._predictor.predict(begin)
            # What is false already is not to come.
            coming = [one for one in report.predictions if one.schedule]
            known.paths = tuple(self._path(begin, one) for one in coming)
            known.failures = tuple(
                self._failure(me, begin, members, report, one, path)
                for one, path in zip(coming, known.paths, strict=True)
            )
            known.states = report.states
            self._predictor.forget()
        return known

    # ------------------------------------------------------------------------ inside

    def _of(self, me: NodeId, begin: Beginning) -> FollowedState:
        state = me, tuple(start.snapshot for start in begin.starts)
        known = self._known.pop(state, None) or FollowedState()
        self._known[state] = known
        if len(self._known) > self._most:
            self._known.popitem(last=False)
        return known

    def _tried(
        self, me: NodeId, begin: Beginning, path: KnownPath
    ) -> ForeseenFailure | None:
        fails_again = self._predictor.trials.fails_again
        schedule = fails_again(begin, path)
        if not schedule:
            return None
        name, cost = path.property, len(schedule)
        if not self._options.installs:
            return ForeseenFailure(me, name, schedule, cost, "reported")
        for one in candidates(schedule, me):
            if fails_again(begin, path, [one]) is None:
                return ForeseenFailure(me, name, schedule, cost, "filter", (one,))
        return None

    def _path(self, begin: Beginning, one: Prediction) -> KnownPath:
        return KnownPath.of(self.onward, begin, one.property, one.schedule)

    def _failure(
        self,
        me: NodeId,
        begin: Beginning,
        members: Collection[NodeId],
        report: PredictReport,
        prediction: Prediction,
        path: KnownPath,
    ) -> ForeseenFailure:
        action, chosen = self._acted(me, begin, report, prediction, path)
        name, schedule = prediction.property, prediction.schedule
        handed: Handed | None = None
        if action == "elsewhere":
            to = first_who_can_act(schedule, [one for one in members if one != me])
            handed = None if to is None else Handed(to, path)
        return ForeseenFailure(
            me, name, schedule, prediction.cost, action, chosen, handed
        )

    def _acted(
        self,
        me: NodeId,
        begin: Beginning,
        report: PredictReport,
        prediction: Prediction,
        path: KnownPath,
    ) -> tuple[Action, tuple[EventFilter, ...]]:
        """Return what is done about a failure that may come."""
        if not self._options.installs:
            return "reported", ()
        action: Action = "elsewhere"
        for trial in trials(self._predictor, begin, report, prediction, me, path=path):
            if trial.helps:
                return "filter", trial.filters
            action = "unhelpful"
        return action, ()
