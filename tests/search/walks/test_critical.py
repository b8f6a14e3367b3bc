"""MaceMC's algorithm 2 on paths whose critical transition is known."""

from __future__ import annotations

import math

import pytest

from worldline.search.walks.critical import Case, find_critical, find_earlier


class Path:
    """A path that is dead from a position on; counts what is asked."""

    def __init__(self, critical: int) -> None:
        self.critical = critical
        self.asked: list[int] = []

    def recovers(self, position: int) -> bool:
        self.asked.append(position)
        return position < self.critical


@pytest.mark.parametrize("last", [1, 2, 3, 7, 64, 100])
def test_a_transition_on_the_walk_is_found_exactly(last: int):
    for first in range(last + 1):
        for critical in range(first + 1, last + 1):
            path = Path(critical)
            found = find_critical(path.recovers, first, last, end_is_dead=lambda: True)
            assert found == (critical, Case.DEAD)


def test_without_a_proof_it_is_found_in_the_first_half_only():
    for critical in range(6, 1001):
        path = Path(critical)
        found = find_critical(path.recovers, 5, 1000, end_is_dead=lambda: False)
        # Positions asked are 5, 10, 20, ..., 320, and 640 is beyond the half.
        expected = (critical, Case.DEAD) if critical <= 320 else (640, Case.TOO_SHORT)
        assert found == expected


def test_few_positions_are_asked():
    for critical in range(6, 100_001, 97):
        path = Path(critical)
        find_critical(path.recovers, 5, 100_000, end_is_dead=lambda: True)
        assert len(path.asked) <= 2 * math.log2(100_000)


def test_a_walk_that_begins_dead_may_have_been_too_short():
    path = Path(3)
    found = find_critical(path.recovers, 5, 1000, end_is_dead=lambda: False)
    assert found == (5, Case.TOO_SHORT)
    assert path.asked == [5]


@pytest.mark.parametrize("critical", range(6))
def test_before_the_walk_it_is_found_step_by_step(critical: int):
    assert find_earlier(Path(critical).recovers, 5) == critical


def test_of_two_transitions_before_the_walk_the_last_counts():
    recovers = [True, False, False, True, False, False]
    assert find_earlier(recovers.__getitem__, 5) == 4


def test_a_path_without_events_ends_the_search():
    path = Path(1)
    found = find_critical(path.recovers, 0, 0, end_is_dead=lambda: False)
    assert found == (0, Case.TOO_SHORT)
