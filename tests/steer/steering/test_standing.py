"""Filters stand as long as the snapshot that they rest on, and are replaced at once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.steer.steering.holders import FIRST, SECOND, SERVER, Grab

from worldline.model.events import Event
from worldline.model.filters import EventFilter
from worldline.model.foreseen import Action
from worldline.model.kinds import Kind
from worldline.model.properties import Property, PropertyKind
from worldline.runs.start import Beginning
from worldline.steer.steering.findings import ForeseenFailure
from worldline.steer.steering.forecasting import SnapshotForecast
from worldline.steer.steering.standing import StandingFilters


def grab(src: object) -> Event:
    return Event(Kind.DELIVER, SERVER, name="Grab", peer=src, payload=Grab())  # type: ignore[arg-type]


ONE, OTHER = EventFilter.of(grab(FIRST)), EventFilter.of(grab(SECOND))


def forecast(
    time: float,
    *findings: ForeseenFailure,
    is_known: bool = False,
    absent: tuple[str, ...] = (),
) -> SnapshotForecast:
    snapshot: Any = SimpleNamespace(time=time)
    return SnapshotForecast(snapshot, Beginning([]), absent, findings, 0, is_known)


def foreseen(
    name: str, *filters: EventFilter, after: tuple[Event, ...] = ()
) -> ForeseenFailure:
    schedule = tuple((event, ()) for event in (*after, grab(FIRST)))
    action: Action = "filter" if filters else "unhelpful"
    return ForeseenFailure(SERVER, name, schedule, 1, action, filters)


RESET = Event(Kind.RESET, FIRST)


def test_a_filter_blocks_until_its_snapshot_is_stale() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(100.0, foreseen("one", ONE)))
    assert standing.blocking(grab(FIRST), 119.0) is ONE
    assert standing.blocking(grab(SECOND), 119.0) is None
    assert standing.blocking(grab(FIRST), 121.0) is None
    assert len(standing) == 0


def test_filters_are_replaced_all_at_once_and_added_by_known_paths() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE)))
    both = forecast(1.0, foreseen("one", ONE, OTHER), is_known=True)
    assert standing.take(both) == 1
    assert standing.blocking(grab(SECOND), 2.0) == OTHER
    standing.take(forecast(2.0, foreseen("two", OTHER)))
    assert standing.blocking(grab(FIRST), 3.0) is None


def test_an_equal_snapshot_renews_what_stands_and_nothing_else() -> None:
    standing = StandingFilters(20.0)
    standing.renew(0.0, 0.0)
    assert len(standing) == 0
    standing.take(forecast(50.0, foreseen("one", ONE)))
    standing.renew(60.0, 60.0)
    assert standing.blocking(grab(FIRST), 79.0) is ONE
    assert standing.blocking(grab(FIRST), 81.0) is None


def test_what_is_predicted_is_as_old_as_the_last_snapshot_like_its_own() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("two", OTHER)))
    standing.begin(5.0)
    assert standing.renew(15.0, 15.0)
    standing.take(forecast(5.0, foreseen("one", ONE)))  # that took 11 seconds
    assert standing.renew(25.0, 25.0)
    assert standing.blocking(grab(FIRST), 45.0) is ONE
    assert standing.blocking(grab(FIRST), 45.1) is None


def test_a_snapshot_like_one_that_is_still_asked_about_renews_nothing_else() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("two", OTHER)))
    standing.begin(5.0)
    assert standing.renew(15.0, 15.0)
    assert standing.blocking(grab(SECOND), 20.0) is OTHER
    assert standing.blocking(grab(SECOND), 20.1) is None


def test_what_has_ended_is_not_renewed() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE)))
    assert standing.blocking(grab(FIRST), 20.1) is None
    assert not standing.renew(19.0, 20.1), "so it is to be found again"
    assert standing.is_stale(0.0, 20.1)


def test_a_filter_with_content_blocks_that_alone() -> None:
    exact = EventFilter.of(grab(FIRST), exact=True)
    assert exact.matches(grab(FIRST))
    assert exact.content is not None
    assert ONE.content is None


def test_a_precaution_gives_way_once_in_a_while() -> None:
    blocked: dict[bool, list[float]] = {}
    for is_one in (False, True):
        standing = StandingFilters(20.0)
        one = foreseen("one", ONE, after=(RESET,) if is_one else ())
        other = foreseen("two", OTHER, after=() if is_one else (RESET,))
        standing.take(forecast(0.0, one, other))
        blocked[is_one] = []
        for second in range(60):
            standing.renew(float(second), float(second))
            if standing.blocking(grab(FIRST), float(second)) is None:
                blocked[is_one].append(float(second))
    assert blocked == {False: [], True: [21.0, 43.0]}


def test_what_is_rarely_blocked_is_blocked_all_the_same() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE, after=(RESET,))))
    for second in (0.0, 15.0, 30.0, 45.0):
        standing.renew(second, second)
        assert standing.blocking(grab(FIRST), second) is ONE


def test_a_filter_is_no_precaution_if_something_else_needs_it() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE, after=(RESET,))))
    assert standing.take(forecast(0.0, foreseen("two", ONE), is_known=True)) == 0
    for second in range(60):
        standing.renew(float(second), float(second))
        assert standing.blocking(grab(FIRST), float(second)) is ONE


def test_a_filter_against_what_a_fault_begins_is_a_precaution() -> None:
    later = foreseen("one", ONE, after=(RESET,))
    sooner = ForeseenFailure(SERVER, "one", later.schedule[::-1], 2, "filter", (ONE,))
    assert later.needs_fault()
    assert not sooner.needs_fault()


def test_what_is_blocked_for_longer_than_a_snapshot_is_good_is_told() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE)))
    for second in range(0, 20, 4):
        standing.blocking(grab(FIRST), float(second))
    assert not list(standing.stubborn())
    standing.renew(18.0, 18.0)
    standing.blocking(grab(FIRST), 21.0)
    assert list(standing.stubborn()) == [(ONE, 21.0, 6)]


def test_a_prediction_that_comes_less_far_than_known_paths_leaves_their_filters() -> (
    None
):
    standing = StandingFilters(20.0)
    assert standing.take(forecast(5.0, foreseen("one", ONE), is_known=True)) == 1
    assert standing.take(forecast(5.0)) == 0
    assert standing.blocking(grab(FIRST), 6.0) is ONE
    assert standing.take(forecast(5.0, foreseen("two", OTHER))) == 1
    assert standing.blocking(grab(FIRST), 6.0) is ONE
    assert standing.blocking(grab(SECOND), 6.0) is OTHER


def test_filters_of_known_paths_end_with_a_prediction_from_a_later_snapshot() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(5.0, foreseen("one", ONE), is_known=True))
    standing.take(forecast(15.0))
    assert standing.blocking(grab(FIRST), 16.0) is None


def test_paths_of_others_are_tried_from_a_snapshot_beside_its_own_paths() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(5.0, foreseen("one", ONE), is_known=True))
    standing.take(forecast(5.0, foreseen("two", OTHER), is_known=True))
    standing.take(forecast(4.0, foreseen("two", OTHER), is_known=True))
    standing.take(forecast(5.0))
    assert standing.blocking(grab(FIRST), 6.0) is ONE
    assert standing.blocking(grab(SECOND), 6.0) is OTHER


def test_against_what_no_filter_helps_none_of_a_known_path_stands() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(5.0, foreseen("one", ONE), is_known=True))
    standing.take(forecast(5.0, foreseen("one")))
    assert standing.blocking(grab(FIRST), 6.0) is None


def test_a_prediction_says_nothing_of_who_is_absent() -> None:
    standing = StandingFilters(20.0)
    known = foreseen("one", ONE), foreseen("two", OTHER)
    standing.take(forecast(5.0, *known))
    standing.take(forecast(8.0, absent=(FIRST.name,)))
    assert standing.blocking(grab(FIRST), 9.0) is ONE
    standing.take(forecast(9.0, absent=("another",)))
    assert standing.blocking(grab(FIRST), 9.0) is None


def test_what_was_foreseen_of_who_is_absent_lasts_as_long_as_its_own_snapshot() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(5.0, foreseen("one", ONE)))
    poorer = forecast(15.0, foreseen("two", OTHER), absent=(FIRST.name,))
    standing.take(poorer)
    standing.renew(18.0, 18.0)
    assert standing.blocking(grab(FIRST), 25.0) is ONE
    assert standing.blocking(grab(FIRST), 25.1) is None
    assert standing.blocking(grab(SECOND), 38.0) is OTHER


def test_a_filter_is_a_precaution_once_what_needs_it_has_ended() -> None:
    standing = StandingFilters(20.0)
    standing.take(forecast(0.0, foreseen("one", ONE)))
    poorer = forecast(1.0, foreseen("two", ONE, after=(RESET,)), absent=(FIRST.name,))
    standing.take(poorer)
    passed = []
    for second in range(1, 60):
        standing.renew(float(second), float(second))
        if standing.blocking(grab(FIRST), float(second)) is None:
            passed.append(second)
    assert passed == [42]  # nothing but a precaution from 21 on


def test_a_property_of_several_nodes_may_look_at_who_is_absent() -> None:
    found = foreseen("whole", OTHER)
    absent = (FIRST.name, "another")
    for whole, stands in (((), False), (("whole",), True)):
        properties = [Property(name, PropertyKind.SAFETY, bool) for name in whole]
        standing = StandingFilters(20.0, properties)
        standing.take(forecast(5.0, found, absent=absent[1:]))
        standing.take(forecast(8.0, absent=absent[1:]))
        assert standing.blocking(grab(SECOND), 9.0) is None
        standing.take(forecast(9.0, found, absent=absent[1:]))
        standing.take(forecast(10.0, absent=("a stranger",)))
        assert (standing.blocking(grab(SECOND), 11.0) is OTHER) is stands


def test_a_path_that_is_handed_again_and_again_is_one_reason() -> None:
    standing = StandingFilters(20.0)
    for second in range(50):
        known = forecast(float(second), foreseen("one", ONE), is_known=True)
        assert standing.take(known) == (second == 0)
    assert len(standing._reasons) == 1
    assert standing.blocking(grab(FIRST), 69.0) is ONE
