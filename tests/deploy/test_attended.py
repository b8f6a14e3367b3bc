"""A companion is asked about every event that leaves other timers set than before."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worldline.deploy.attended import AttendedEvents
from worldline.model.semantics.hidden import PendingTimer
from worldline.worlds.companions import Attention

TIMERS = [PendingTimer("", "tick", number) for number in range(4)]


def attended(pending: set[PendingTimer], changes: list[Any]) -> AttendedEvents:
    """Return what attends to an event that has set and cancelled timers, and no more."""
    attention = Attention()
    attention.reads = attention.news = frozenset({"read"})
    door: Any = SimpleNamespace(pending=dict.fromkeys(pending), timers=changes)
    return AttendedEvents(attention, door)


@given(st.integers(0, 10**6))
def test_it_is_asked_where_other_timers_are_set(seed: int):
    rng = random.Random(seed)
    before = set(rng.sample(TIMERS, rng.randint(0, 4)))
    fired = rng.choice([None, *sorted(before, key=TIMERS.index)])
    changes = [
        (PendingTimer("", "tick", rng.randrange(4)), rng.choice([None, 1.0]))
        for _ in range(rng.randint(0, 3))
    ]
    pending = before - {fired}
    after = set(pending)
    for timer, delay in changes:
        (after.discard if delay is None else after.add)(timer)
    one = attended(pending, changes)
    is_asked = one.is_about((), fired)
    assert is_asked or after == before
    one.attention.looks_at_timers = False
    assert not one.is_about((), fired)


def test_it_is_not_asked_about_a_timer_that_sets_itself_again():
    again = PendingTimer("", "tick", 0)
    one = attended(set(TIMERS[1:3]), [(again, 2.0)])
    assert not one.is_about((), TIMERS[0])
    assert not one.is_about(("other",), TIMERS[0])
    assert one.is_about(("other", "read"), TIMERS[0])
    assert attended(set(), []).is_about((), TIMERS[0])
