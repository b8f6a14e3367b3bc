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
from worldline.model.events import Schedule
from worldline.model.filters import EventFilter
from worldline.model.system import System
from worldline.runs.start import Beginning
from worldline.search.predicting.avoiding import candidates, trials
from worldline.search.predicting.options import PredictOptions
from worldline.search.predicting.paths import KnownPath, fails_again
from worldline.search.predicting.predictor import Predictor
from worldline.search.predicting.report import Prediction, PredictReport
from worldline.steer.snapshots.assembling import begun_from
from worldline.steer.snapshots.records import NeighbourhoodSnapshot
from worldline.steer.steering.findings import Action, Finding
from worldline.steer.steering.modes import SteeringOptions

_KEPT = 32
"""Paths that each node knows of, on which something failed."""


@final
@dataclass(frozen=True, slots=True)
class Forecast:
    """What was found from one snapshot.

    Attributes
    ----------
    snapshot
        The snapshot.
    begin
        The same as a state.
    findings
        What may fail.
    states
        That were visited.
    is_known
        Whether known paths alone were tried; what was predicted follows.
    """

    snapshot: NeighbourhoodSnapshot
    begin: Beginning
    findings: tuple[Finding, ...]
    states: int
    is_known: bool

    @property
    def filters(self) -> tuple[EventFilter, ...]:
        """What its node should refuse."""
        chosen = [one.filter for one in self.findings if one.filter is not None]
        return tuple(dict.fromkeys(chosen))


@final
class Forecaster:
    """Makes forecasts from the snapshots of one system's nodes.

    Parameters
    ----------
    system
        The system, with the faults that it declares.
    """

    def __init__(self, system: System, options: SteeringOptions) -> None:
        self._system, self._options = system, options
        self._predictor = Predictor(
            system,
            PredictOptions(
                max_states=options.max_states,
                repeat_cost=options.repeat_cost,
                faults=options.faults,
                traces=False,
                threads=1,
            ),
        )
        self._paths: dict[int, deque[KnownPath]] = {}

    @property
    def onward(self) -> System:
        """The system with the faults that may happen in a prediction."""
        return self._predictor.onward

    def forecasts(self, snapshot: NeighbourhoodSnapshot) -> Iterator[Forecast]:
        """Yield what known paths lead to from a snapshot, and then what is predicted."""
        begin = begun_from(self._system, snapshot)
        me = self._system.ids[snapshot.node]
        known = self._known(me, begin, snapshot)
        if known.findings:
            yield known
        yield self._predicted(me, begin, snapshot)

    # ------------------------------------------------------------------------ inside

    def _known(
        self, me: NodeId, begin: Beginning, snapshot: NeighbourhoodSnapshot
    ) -> Forecast:
        """Try again the paths on which something failed before.

        What helped before is used at once; whether it helps here, the prediction that
        follows finds out.
        """
        findings = []
        for path in self._paths.get(snapshot.node, ()):
            schedule = fails_again(self.onward, begin, path)
            offered = candidates(schedule or (), me, exact=self._options.exact)
            if schedule and offered:
                chosen = offered[0] if self._options.installs else None
                action: Action = "reported" if chosen is None else "filter"
                findings.append(
                    Finding(me, path.property, schedule, len(schedule), action, chosen)
                )
        return Forecast(snapshot, begin, tuple(findings), 0, is_known=True)

    def _predicted(
        self, me: NodeId, begin: Beginning, snapshot: NeighbourhoodSnapshot
    ) -> Forecast:
        report = self._predictor.predict(begin)
        findings = []
        for prediction in report.predictions:
            if not prediction.schedule:
                continue  # it is false already
            action, chosen = self._acted(me, begin, report, prediction)
            name, schedule = prediction.property, prediction.schedule
            findings.append(
                Finding(me, name, schedule, prediction.cost, action, chosen)
            )
            self._keep(snapshot.node, begin, name, schedule)
        self._predictor.forget()
        return Forecast(snapshot, begin, tuple(findings), report.states, is_known=False)

    def _acted(
        self,
        me: NodeId,
        begin: Beginning,
        report: PredictReport,
        prediction: Prediction,
    ) -> tuple[Action, EventFilter | None]:
        """Return what is done about a failure that may come."""
        if not self._options.installs:
            return "reported", None
        action: Action = "elsewhere"
        for trial in trials(
            self._predictor, begin, report, prediction, me, exact=self._options.exact
        ):
            if trial.helps:
                return "filter", trial.filter
            action = "unhelpful"
        return action, None

    def _keep(self, node: int, begin: Beginning, name: str, schedule: Schedule) -> None:
        """Keep a path on which something fails, the latest last."""
        path = KnownPath.of(self.onward, begin, name, schedule)
        kept = self._paths.setdefault(node, deque(maxlen=_KEPT))
        if path in kept:
            kept.remove(path)
        kept.append(path)
