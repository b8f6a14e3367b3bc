"""Liveness in the oracle's words: what can come round for ever, and what must not.

The whole space is unfolded by copying states. Going round for ever means to stay within
one strongly connected component, which is found by two sweeps, along the arcs and
against them. A run that goes through all of it again and again starves an event if the
event is possible in every state there and, on every arc there, neither happens nor is a
timer that begins anew. A component in which nothing is starved, or a state where a run
may stop, must not have a bad state.

References
----------
M. Sharir, "A strong-connectivity algorithm and its applications in data flow analysis",
Computers & Mathematics with Applications 7(1), 1981 (the two sweeps).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any

from tests.oracle.door import next_choices
from tests.oracle.explorer import Oracle
from tests.oracle.state import State

import worldline as wl
from worldline.model.events import Schedule
from worldline.model.properties import Property
from worldline.model.semantics.outcome import Outcome

FAULTS = frozenset(
    {
        wl.Kind.DROP,
        wl.Kind.DUPLICATE,
        wl.Kind.DISCONNECT,
        wl.Kind.RESET,
        wl.Kind.CRASH,
        wl.Kind.RESTART,
        wl.Kind.PARTITION,
        wl.Kind.HEAL,
    }
)
Place = Hashable
"""What tells states apart."""


@dataclass(frozen=True)
class Arc:
    """One outcome of one event; `end` is None if it fails.

    `event` is None for a fault. `anew` are the timers that it sets.
    """

    start: Place
    event: Any
    anew: frozenset[Any]
    end: Place | None


@dataclass
class Unfolded:
    """All states that can be reached, and all arcs between them."""

    states: dict[Place, State] = field(default_factory=dict)
    arcs: list[Arc] = field(default_factory=list)


def unfold(oracle: Oracle, limit: int) -> Unfolded | None:
    """Visit everything; None if there are more states than `limit`."""
    found = Unfolded({oracle.identity(state): state for state in oracle.initial()})
    pending = list(found.states)
    while pending:
        start = pending.pop()
        for event, outcome, after in outcomes(oracle, found.states[start]):
            end = None if outcome.failure else oracle.identity(after)
            about = None if event.kind in FAULTS else event
            found.arcs.append(Arc(start, about, anew(event, outcome), end))
            if end is not None and end not in found.states:
                found.states[end] = after
                pending.append(end)
        if len(found.states) > limit:
            return None
    return found


def boot_fails(oracle: Oracle) -> bool:
    """Say whether a handler may fail before state 0: then nothing is searched."""
    states = [State.first(oracle.system)]
    for node in oracle.system.ids if oracle.system.boot == "before" else ():
        start = wl.Event(wl.Kind.START, node)
        runs = [run for state in states for run in oracle.runs(state, start)]
        if any(failure is not None for _, _, failure in runs):
            return True
        states = [after for after, _, _ in runs]
    return False


def outcomes(oracle: Oracle, state: State) -> Iterator[tuple[wl.Event, Outcome, State]]:
    """Yield every event with what it does, for every combination of choices."""
    for event in oracle.enabled(state):
        choices: tuple[int, ...] | None = ()
        while choices is not None:
            after, outcome = oracle.step(state, event, choices)
            yield event, outcome, after
            choices = next_choices(outcome)


def anew(event: wl.Event, outcome: Outcome) -> frozenset[wl.Event]:
    """The timers that a handler sets, as what happens when they fire."""
    return frozenset(
        wl.Event(
            wl.Kind.TIMER,
            event.node,
            part=change.timer.part,
            name=change.timer.name,
            payload=change.timer.payload,
        )
        for change in outcome.timers
        if change.after is not None
    )


def bad_states(oracle: Oracle, space: Unfolded, known: Property) -> set[Place]:
    """The states in which a property is false."""
    return {
        place
        for place, state in space.states.items()
        if not known.judge(oracle.view(state)).holds
    }


def is_violated(places: Set[Place], arcs: list[Arc], bad: Set[Place]) -> bool:
    """Say whether some fair run is bad again and again, or stops where it is bad."""
    leaving = {arc.start for arc in arcs if arc.event is not None}
    if bad - leaving:
        return True
    possible: dict[Place, set[Any]] = defaultdict(set)
    for arc in arcs:
        possible[arc.start].add(arc.event)
    home = components(places, arcs)
    inner: dict[Place, list[Arc]] = defaultdict(list)
    for arc in arcs:
        if arc.end is not None and home[arc.start] == home[arc.end]:
            inner[home[arc.start]].append(arc)
    members: dict[Place, list[Place]] = defaultdict(list)
    for place in places:
        members[home[place]].append(place)
    return any(
        not bad.isdisjoint(members[one]) and not starved(members[one], round_, possible)
        for one, round_ in inner.items()
    )


def starved(
    places: list[Place], arcs: Iterable[Arc], possible: dict[Place, set[Any]]
) -> set[Any]:
    """The events that can happen all the time, never do, and never begin anew."""
    waiting = set.intersection(*(possible[place] for place in places)) - {None}
    for arc in arcs:
        waiting -= {arc.event, *arc.anew}
    return waiting


def components(places: Iterable[Place], arcs: list[Arc]) -> dict[Place, Place]:
    """For each place, one that stands for all that reach it and are reached by it."""
    onwards: dict[Place, list[Place]] = defaultdict(list)
    backwards: dict[Place, list[Place]] = defaultdict(list)
    for arc in arcs:
        if arc.end is not None:
            onwards[arc.start].append(arc.end)
            backwards[arc.end].append(arc.start)
    done: dict[Place, None] = {}
    for root in places:
        path = [(root, iter(onwards[root]))] if root not in done else []
        seen = {root, *done}
        while path:
            place, rest = path[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                done[place] = None
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(onwards[following])))
    home: dict[Place, Place] = {}
    for root in reversed(done):
        pending = [root] if root not in home else []
        while pending:
            place = pending.pop()
            home[place] = root
            pending += [one for one in backwards[place] if one not in home]
    return home


def objection(
    oracle: Oracle, boot: Schedule, run: Schedule, cycle: int, known: Property
) -> str:
    """Why a run does not violate a liveness property; empty if it does.

    The run goes round for ever from step `cycle` on, counted from 1; or it stops, if
    that is one more than it has steps.
    """
    state = State.first(oracle.system)
    for event, choices in boot:
        state, _ = oracle.step(state, event, choices)
    where, spared, was_bad = None, set[Any](), False
    waiting: set[Any] | None = None
    for number, (event, choices) in enumerate(run, 1):
        offered = oracle.enabled(state)
        if event not in offered:
            return f"step {number}, {event!r}, cannot happen"
        if number == cycle:
            where = oracle.identity(state)
        if number >= cycle:
            able = {one for one in offered if one.kind not in FAULTS}
            waiting = able if waiting is None else waiting & able
            was_bad = was_bad or not known.judge(oracle.view(state)).holds
        state, outcome = oracle.step(state, event, choices)
        if number >= cycle:
            spared |= {event, *anew(event, outcome)}
    if cycle > len(run):
        going = [one for one in oracle.enabled(state) if one.kind not in FAULTS]
        if going or known.judge(oracle.view(state)).holds:
            return f"it need not stop, or may: {going}"
        return ""
    if where != oracle.identity(state):
        return "it does not come round"
    if not was_bad:
        return "it is never bad"
    left = (waiting or set()) - spared
    return f"it starves {left}" if left else ""
