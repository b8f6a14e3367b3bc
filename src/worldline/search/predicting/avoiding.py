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
from itertools import islice
from operator import itemgetter
from typing import final

from worldline.engine.bounds import Bounds
from worldline.model.data.identity import NodeId
from worldline.model.events import Event, Schedule
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind, Origin
from worldline.runs.start import Beginning
from worldline.search.predicting.paths import KnownPath
from worldline.search.predicting.predictor import Predictor
from worldline.search.predicting.report import Prediction, PredictReport

MOST = 3
"""Steps of a run of which filters are tried, and filters that stand together against it."""


def candidates(schedule: Schedule, node: NodeId) -> tuple[EventFilter, ...]:
    """Return the filters of a node that block a step of a run, the best first.

    Those of messages and timers in the order of the run, then those of calls; of three
    steps at most. A run that starts otherwise is not met at all, so the first comes first.
    If a fault has to happen before a step, the filter that blocks its content alone comes
    before the one that blocks any: the fault may never come, and what is like that step
    may be what a node does all day.
    """
    before, refusable = False, list[tuple[bool, bool, Event]]()
    for event, _ in schedule:
        before |= needs_fault(event)
        if event.node == node and event.kind is Kind.CALL:
            refusable.append((True, before, event))
        elif event.node == node and _is_refused_rather(event):
            refusable.append((False, before, event))
    refusable.sort(key=itemgetter(0))
    steps = dict[EventFilter, tuple[EventFilter, ...]]()
    for _, is_precaution, event in refusable:
        any_content = EventFilter.of(event)
        exact = (EventFilter.of(event, exact=True),) if is_precaution else ()
        steps.setdefault(any_content, exact)
    chosen = islice(steps.items(), MOST)
    return tuple(dict.fromkeys(one for any_, exact in chosen for one in (*exact, any_)))


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
    """What came of the trial of a filter, or of several that stand together.

    Attributes
    ----------
    helps
        Whether they are worth having.
    why
        Why not: ``path`` if the path leads there all the same, ``met`` if another one
        does, ``new`` if something else fails; empty if they help.
    fails
        The properties that fail with them, as far as that was found out.
    states
        How many states were visited for it.
    past
        The run that comes past them, if another one does.
    """

    filters: tuple[EventFilter, ...]
    helps: bool
    why: str = ""
    fails: tuple[str, ...] = ()
    states: int = 0
    past: Schedule = ()


def tried(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    filters: tuple[EventFilter, ...],
    path: KnownPath | None = None,
) -> FilterTrial:
    """Try filters against a prediction, from the same state and as far as it went.

    Parameters
    ----------
    report
        What was predicted from there without filters.
    prediction
        The one of it that is to be avoided.
    path
        The same as a known path, if there is one: filters that let it fail again are
        not tried any further.
    """
    wanted = prediction.property
    if (
        path is not None
        and predictor.trials.fails_again(begin, path, filters) is not None
    ):
        return FilterTrial(filters, False, "path", (wanted,))
    before = {other.property for other in report.predictions}
    fails: tuple[str, ...] = ()
    states = 0
    # What leads there all the same mostly does so at the same cost.
    for cost in sorted({prediction.cost, max(prediction.cost, report.cost)}):
        bounds = Bounds(cost=cost, states=report.states)
        again = predictor.predict(begin, filters, bounds=bounds)
        fails = tuple(other.property for other in again.predictions)
        states = again.states
        for other in again.predictions:
            if other.property == wanted or other.property not in before:
                why = "met" if wanted in fails else "new"
                past = other.schedule
                return FilterTrial(filters, False, why, fails, states, past)
    return FilterTrial(filters, True, "", fails, states)


def avoids(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    one: EventFilter,
) -> bool:
    """Say whether a filter avoids a prediction, and nothing fails for it; see `tried`."""
    return tried(predictor, begin, report, prediction, (one,)).helps


def trials(
    predictor: Predictor,
    begin: Beginning,
    report: PredictReport,
    prediction: Prediction,
    node: NodeId,
    *,
    path: KnownPath | None = None,
) -> Iterator[FilterTrial]:
    """Try the filters of a node against a prediction, up to what helps.

    Each by itself at first. What avoids the run that was predicted, and is passed by
    another one, is then tried together with a filter against that: in a ring there are
    two ways to ask for a place.

    Parameters
    ----------
    path
        The prediction as a known path, if there is one already.
    """
    possible = candidates(prediction.schedule, node)
    if not possible:
        return
    path = path or KnownPath.of(
        predictor.onward, begin, prediction.property, prediction.schedule
    )
    passed: FilterTrial | None = None
    for one in possible:
        trial = tried(predictor, begin, report, prediction, (one,), path)
        yield trial
        if trial.helps:
            return
        if trial.past and passed is None and one.content is None:
            passed = trial
    while passed is not None and len(passed.filters) < MOST:
        more = [one for one in candidates(passed.past, node) if one.content is None]
        others = [one for one in more if one not in passed.filters]
        if not others:
            return
        filters = (*passed.filters, others[0])
        trial = tried(predictor, begin, report, prediction, filters, path)
        yield trial
        passed = trial if trial.past and not trial.helps else None


def needs_fault(event: Event) -> bool:
    """Say whether an event is a fault that need not come."""
    return event.kind.origin is Origin.FAULT and bool(event.kind.budgets)


def _is_refused_rather(event: Event) -> bool:
    """Say whether a node can refuse a message or timer; it refuses none of its own."""
    is_own = event.kind is Kind.DELIVER and event.peer == event.node
    return event.kind in (Kind.DELIVER, Kind.TIMER) and not is_own
