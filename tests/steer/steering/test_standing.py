"""Filters stand as long as the snapshot that they rest on, and are replaced at once."""

from __future__ import annotations

from tests.steer.steering.holders import FIRST, SECOND, SERVER, Grab

from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.kinds import Kind
from worldline.steer.steering.standing import StandingFilters


def grab(src: object) -> Event:
    return Event(Kind.DELIVER, SERVER, name="Grab", peer=src, payload=Grab())  # type: ignore[arg-type]


ONE, OTHER = EventFilter.of(grab(FIRST)), EventFilter.of(grab(SECOND))


def test_a_filter_blocks_until_its_snapshot_is_stale() -> None:
    standing = StandingFilters(20.0)
    standing.replace([ONE], 100.0)
    assert standing.blocking(grab(FIRST), 119.0) is ONE
    assert standing.blocking(grab(SECOND), 119.0) is None
    assert standing.blocking(grab(FIRST), 121.0) is None
    assert len(standing) == 0


def test_filters_are_replaced_all_at_once_and_added_by_known_paths() -> None:
    standing = StandingFilters(20.0)
    standing.replace([ONE], 0.0)
    assert standing.put([ONE, OTHER], 1.0) == 1
    assert standing.blocking(grab(SECOND), 2.0) == OTHER
    standing.replace([OTHER], 2.0)
    assert standing.blocking(grab(FIRST), 3.0) is None


def test_an_equal_snapshot_renews_what_stands_and_nothing_else() -> None:
    standing = StandingFilters(20.0)
    standing.renew(50.0)
    assert len(standing) == 0
    standing.replace([ONE], 0.0)
    standing.renew(10.0)
    assert standing.blocking(grab(FIRST), 29.0) is ONE
    assert standing.blocking(grab(FIRST), 31.0) is None


def test_a_filter_with_content_blocks_that_alone() -> None:
    exact = EventFilter.of(grab(FIRST), exact=True)
    assert exact.matches(grab(FIRST))
    assert exact.content is not None
    assert ONE.content is None


def test_what_is_blocked_for_longer_than_a_snapshot_is_good_is_told() -> None:
    standing = StandingFilters(20.0)
    standing.replace([ONE], 0.0)
    for second in range(0, 20, 4):
        standing.blocking(grab(FIRST), float(second))
    assert not list(standing.stubborn())
    standing.renew(18.0)
    standing.blocking(grab(FIRST), 21.0)
    assert list(standing.stubborn()) == [(ONE, 21.0, 6)]
