"""Filters that avoid what is predicted: made of its steps, and tried before they are used.

A filter is only worth having if what happens instead leads nowhere worse. So prediction
runs again from the same state, as far as it went before, with the filter in place: the
violation is not to be met, and nothing is to fail that did not fail without it.

References
----------
Yabandeh, Knežević, Kostić, Kuncak, "Predicting and Preventing Inconsistencies in Deployed
Distributed Systems", ACM TOCS 28(1), 2010, section 3.3: event filters, and checking the
safety of event filters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import final

from worldline.engine.bounds import Bounds
from worldline.model.data.identity import NodeId
from worldline.model.events import Event, Schedule
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.runs.start import Beginning
from worldline.search.predicting.paths import KnownPath
from worldline.search.predicting.predictor import Predictor
from worldline.search.predicting.report import Prediction, PredictReport

MOST = 3
"""Filters that are tried for one prediction."""


def candidates(
    schedule: Schedule, node: NodeId, *, exact: bool = False
) -> tuple[EventFilter, ...]:
    """Return the filters of a node that block a step of a run, the best first.

    Those of messages and timers in the order of the run, then those of calls; three at
    most. A run that starts otherwise is not met at all, so the first comes first.

    Parameters
    ----------
    exact
        Whether each blocks a message with that content alone.
    """
    events = [event for event, _ in schedule if event.node == node]
    rather = [event for event in events if _is_refused_rather(event)]
    calls = [event for event in events if event.kind is Kind.CALL]
    made = [EventFilter.of(event, exact=exact) for event in (*rather, *calls)]
    return tuple(dict.fromkeys(made))[:MOST]


def first_who_can_act(schedule: Schedule, nodes: Collection[NodeId]) -> NodeId | None:
    """Return the node, of some, that can refuse a step of a run soonest; None if none can.

    One that can refuse a message or a timer comes before one that can refuse a call.
    """
    events = [event for event, _ in schedule if event.node in nodes]
    for is_fit in (_is_refused_rather, lambda event: event.kind is Kind.CALL):
        for event in filter(is_fit, events):
            return event.node
    return None


@final
@dataclass(frozen=True, slots=True)
class FilterTrial:
    """What came of the trial of a filter.

    Attributes
    ----------
    helps
        Whether it is worth having.
    why
        Why not: ``path`` if the path leads there all the same, ``met`` if another one
        does, ``new`` if something else fails; empty if it helps.
    fails
        The properties that fail with it, as far as that was found out.
    states
        How many states were visited for it.
    """

    filter: EventFilter
    helps: bool
    why: str = ""
    fails: tuple[str, ...] = ()
    states: int = 0


def tried(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    one: EventFilter,
    path: KnownPath | None = None,
) -> FilterTrial:
    """Try a filter against a prediction, from the same state and as far as it went.

    Parameters
    ----------
    report
        What was predicted from there without filters.
    prediction
        The one of it that is to be avoided.
    path
        The same as a known path, if there is one: a filter that lets it fail again is
        not tried any further.
    """
    wanted = prediction.property
    if (
        path is not None
        and predictor.trials.fails_again(begin, path, [one]) is not None
    ):
        return FilterTrial(one, False, "path", (wanted,))
    before = {other.property for other in report.predictions}
    fails: tuple[str, ...] = ()
    states = 0
    # What leads there all the same mostly does so at the same cost.
    for cost in sorted({prediction.cost, max(prediction.cost, report.cost)}):
        bounds = Bounds(cost=cost, states=report.states)
        again = predictor.predict(begin, [one], bounds=bounds)
        fails = tuple(other.property for other in again.predictions)
        states = again.states
        if wanted in fails:
            return FilterTrial(one, False, "met", fails, states)
        if not before.issuperset(fails):
            return FilterTrial(one, False, "new", fails, states)
    return FilterTrial(one, True, "", fails, states)


def avoids(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    one: EventFilter,
) -> bool:
    """Say whether a filter avoids a prediction, and nothing fails for it; see `tried`."""
    return tried(predictor, begin, report, prediction, one).helps


def trials(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    node: NodeId,
    *,
    exact: bool = False,
    path: KnownPath | None = None,
) -> Iterator[FilterTrial]:
    """Try the filters of a node against a prediction, up to the first that helps.

    Parameters
    ----------
    path
        The prediction as a known path, if there is one already.
    """
    possible = candidates(prediction.schedule, node, exact=exact)
    if not possible:
        return
    path = path or KnownPath.of(
        predictor.onward, begin, prediction.property, prediction.schedule
    )
    for one in possible:
        trial = tried(predictor, begin, report, prediction, one, path)
        yield trial
        if trial.helps:
            return


def _is_refused_rather(event: Event) -> bool:
    """Say whether a node can refuse a message or timer; it refuses none of its own."""
    is_own = event.kind is Kind.DELIVER and event.peer == event.node
    return event.kind in (Kind.DELIVER, Kind.TIMER) and not is_own
