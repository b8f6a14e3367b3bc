"""Of guards, few evaluations are watched along one run, and on a host none that takes long."""

from __future__ import annotations

import pytest

from worldline.model.usercode.guard_watch import GuardWatch


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def watched(watch: GuardWatch, times: int, guard: str = "guard") -> list[int]:
    return [number for number in range(times) if watch.is_next(guard)]


def test_the_first_evaluation_of_each_guard_is_watched_and_then_one_in_64(
    clock: list[float],
):
    watch = GuardWatch()
    assert watched(watch, 130) == [0, 64, 128]
    clock[0] += 1  # of whatever length a look is
    watch.looked(since=0.0)
    assert watched(watch, 2, "another") == [0]


def test_where_time_matters_a_look_is_due_until_there_is_time_for_it(
    clock: list[float],
):
    watch = GuardWatch(share=100)
    assert watched(watch, 64) == [0]
    watch.looked(since=clock[0] - 0.001)
    assert watched(watch, 10) == []
    clock[0] += 0.2
    assert watched(watch, 10) == [0]


def test_where_a_look_takes_long_there_is_no_other(clock: list[float]):
    watch = GuardWatch(share=100)
    assert watched(watch, 1) == [0]
    watch.looked(since=clock[0] - 0.1)
    clock[0] += 1e6
    assert watched(watch, 1_000) == []
