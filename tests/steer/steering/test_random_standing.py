"""Filters that stand, after random forecasts, compared with what is said of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.shares import share
from tests.steer.steering.test_standing import forecast

import worldline as wl
from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.model.properties import Property, PropertyKind
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.standing import StandingFilters

LASTS, OFTEN = 20, 5
ME, *OTHERS = wl.ids("me", "a", "b", "c")
NAMES = ("one", "two", "three")
WHOLE = Property("three", PropertyKind.SAFETY, lambda view: True)
"""A property that is about several nodes at once."""


@wl.message
class Word:
    number: int


def word(src: wl.NodeId, number: int) -> Event:
    return Event(Kind.DELIVER, ME, name="Word", peer=src, payload=Word(number))


EVENTS = [word(src, number) for src in OTHERS for number in range(2)]
FILTERS = [
    *(EventFilter.of(one) for one in EVENTS[::2]),
    *(EventFilter.of(one, exact=True) for one in EVENTS),
]


@dataclass(eq=False)
class State:
    """A state that the node was seen in, from then until it was last."""

    place: int
    first: float
    last: float
    is_answered: bool = False


Reason = tuple[ForeseenFailure, State, bool, set[str]]
"""Why a filter stands: what was found, where, whether on a known path, who was absent."""


@dataclass
class Said:
    """What is said of filters, without a thought of time it takes."""

    states: list[State] = field(default_factory=list)
    reasons: list[Reason] = field(default_factory=list)
    spells: dict[EventFilter, tuple[float, int]] = field(default_factory=dict)

    def predicted(
        self, state: State, absent: tuple[str, ...], found: list[ForeseenFailure]
    ) -> None:
        hopeless = {one.property for one in found if one.action == "unhelpful"}
        self.reasons = [
            (one, of, is_known, without)
            for one, of, is_known, without in self.reasons
            if (
                one.property not in hopeless
                if is_known and of.place >= state.place
                else {*one.actors()} & {*absent}
                or (one.property == WHOLE.name and {*absent} - without)
            )
        ]
        self.reasons += [(one, state, False, {*absent}) for one in found]

    def blocks(self, event: Event, now: float) -> bool:
        self.reasons = [one for one in self.reasons if now <= one[1].last + LASTS]
        standing = [(each, one) for one, *_ in self.reasons for each in one.filters]
        for first, _ in standing:
            if not first.matches(event):
                continue
            whose = [one for each, one in standing if each == first]
            if not all(one.needs_fault() for one in whose):
                return True
            since, count = self.spells.pop(first, (now, 0))
            if count >= OFTEN and now - since > LASTS:
                return False
            self.spells[first] = since, count + 1
            return True
        return False


def finding(rng: random.Random) -> ForeseenFailure:
    steps = [rng.choice(EVENTS) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.5:
        steps.insert(rng.randrange(len(steps)), Event(Kind.RESET, rng.choice(OTHERS)))
    chosen = rng.sample(FILTERS, rng.choice((0, 1, 1, 2)))
    done: Any = "filter" if chosen else rng.choice(("unhelpful", "elsewhere"))
    schedule = tuple((one, ()) for one in steps)
    return ForeseenFailure(ME, rng.choice(NAMES), schedule, 1, done, tuple(chosen))


@pytest.mark.parametrize("seed", share(range(40), every=4))
def test_what_stands_is_what_is_said_of_it(seed: int) -> None:
    for sequence in range(50):
        rng = random.Random(f"{seed} {sequence}")
        standing, said, now = StandingFilters(LASTS, [WHOLE]), Said(), 0.0
        pace = rng.choice((1, 4, 12))
        for _ in range(rng.randint(10, 60)):
            now += rng.random() * rng.choice((0.1, 1, pace))
            what = rng.choice(("new", "same", "known", "answer", "event", "event"))
            newest = said.states[-1] if said.states else None
            pending = [one for one in said.states if not one.is_answered]
            if what == "new" or newest is None:
                said.states.append(State(len(said.states), now, now))
                standing.begin(now)
            elif what == "same":
                is_good = now <= newest.last + LASTS
                assert standing.renew(now, now) is is_good
                if is_good:
                    newest.last = now
                else:
                    said.states.append(State(len(said.states), now, now))
                    standing.begin(now)
            elif what == "known":
                # A path of another node is tried from the last snapshot of the state.
                found = [finding(rng) for _ in range(rng.randint(1, 2))]
                assert not standing.is_stale(newest.last, newest.last + LASTS)
                if now <= newest.last + LASTS:
                    at = rng.choice((newest.first, newest.last))
                    standing.take(forecast(at, *found, is_known=True))
                    said.reasons += [(one, newest, True, set()) for one in found]
            elif what == "answer" and pending:
                state = pending[0]
                state.is_answered = True
                found = [finding(rng) for _ in range(rng.choice((0, 0, 1, 3)))]
                absent = tuple(one.name for one in OTHERS if rng.random() < 0.2)
                is_stale = now > state.last + LASTS
                assert standing.is_stale(state.first, now) is is_stale
                if not is_stale:
                    standing.take(forecast(state.first, *found, absent=absent))
                    said.predicted(state, absent, found)
            elif what == "event":
                event = rng.choice(EVENTS)
                blocking = standing.blocking(event, now)
                assert (blocking is not None) is said.blocks(event, now)
                assert blocking is None or blocking.matches(event)
