"""Profiles: work inside other work is counted once, and nothing is lost."""

from __future__ import annotations

import pytest

from worldline.engine.profile import (
    HANDLERS,
    KERNEL,
    OBSERVERS,
    PROPERTIES,
    REST,
    UNTIMED,
    Profile,
)


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_without_a_profile_a_function_stays_the_very_same() -> None:
    clock = Clock()
    assert UNTIMED.timed(HANDLERS, clock.sleep) == clock.sleep
    assert UNTIMED.timed(HANDLERS, len) is len
    assert UNTIMED.all_timed(KERNEL, clock) is clock


def test_work_inside_other_work_is_counted_for_the_inner_sort_alone() -> None:
    clock = Clock()
    profile = Profile(clock)
    inner = profile.timed(OBSERVERS, clock.sleep)

    def work(seconds: float) -> str:
        clock.sleep(seconds)
        inner(2.0)
        inner(3.0)
        clock.sleep(seconds)
        return "done"

    clock.sleep(50.0)  # before anything is timed: counted for nothing
    assert profile.timed(REST, work)(7.0) == "done"
    found = profile.to_json()
    assert found[OBSERVERS] == {"seconds": 5.0, "share": round(5 / 19, 3), "count": 2}
    assert found[REST] == {"seconds": 14.0, "share": round(14 / 19, 3), "count": 1}
    assert sum(of["seconds"] for of in found.values()) == 19.0


def test_work_inside_work_of_its_own_sort_is_counted_once() -> None:
    clock = Clock()
    profile = Profile(clock)
    inner = profile.timed(PROPERTIES, clock.sleep)
    profile.timed(PROPERTIES, inner)(4.0)
    assert profile.to_json()[PROPERTIES]["seconds"] == 4.0
    assert profile.to_json()[PROPERTIES]["count"] == 2


def test_an_exception_stops_the_watch_and_the_outer_one_runs_on() -> None:
    clock = Clock()
    profile = Profile(clock)

    def fail() -> None:
        clock.sleep(2.0)
        raise ValueError("on purpose")

    def survive() -> None:
        with pytest.raises(ValueError, match="on purpose"):
            profile.timed(HANDLERS, fail)()
        clock.sleep(5.0)

    profile.timed(REST, survive)()
    assert profile.watches[HANDLERS].seconds == 2.0
    assert profile.watches[REST].seconds == 5.0


def test_all_functions_of_an_object_can_be_timed_at_once() -> None:
    clock = Clock()
    profile = Profile(clock)
    kernel = profile.all_timed(KERNEL, clock)
    kernel.sleep(1.5)
    kernel.sleep(1.5)
    assert profile.to_json()[KERNEL] == {"seconds": 3.0, "share": 1.0, "count": 2}


def test_a_profile_of_nothing_is_all_zeros() -> None:
    profile = Profile()
    assert {of["seconds"] for of in profile.to_json().values()} == {0.0}
    assert len(profile.lines()) == 1 + len(profile.watches)
