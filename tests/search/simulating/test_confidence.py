"""Liveness with a confidence, judged by the clock: deadlines, spans, and their number."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.runs.lamp import LAMP, is_off, lamp, off, since_five, since_twenty

import worldline as wl


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def times(row: wl.PropertyReport) -> list[tuple[float | None, ...]]:
    return [(span.time, span.until, span.due) for span in row.spans]


def test_a_deadline_is_met_at_its_time_though_nothing_happens_then():
    found = wl.simulate(lamp(), seconds=60)
    assert found.verdict is wl.Verdict.VIOLATED
    (row,) = found.properties
    assert (row.name, row.kind, row.steps) == ("is_off", "liveness", 3)
    # On at 1 and off at 3: sure by two fifths. On at 10, and off at 20 at the earliest.
    assert (found.at, found.events, found.virtual_seconds) == (15.0, 3, 15.0)
    assert times(row) == [(1.0, 3.0, None), (10.0, 15.0, 15.0)]
    below, due = row.spans
    assert below.confidence == pytest.approx(0.4)
    assert (due.confidence, due.first, due.last) == (1.0, 3, 3)
    assert due.gauges == {"switched_at": 10.0}
    assert due.explanation.startswith("not is_on is false")
    assert row.deadline == due
    assert "deadline: false since step 3 (10 s), and sure at 15 s that" in str(found)
    assert row.alarms is not None
    assert row.alarms.to_json() == {
        "spans": 2,
        "reached": 1,
        "highest": pytest.approx(0.4),
        "in_run": 2,
    }


def test_below_its_deadline_a_span_is_listed_and_violates_nothing():
    found = wl.simulate(lamp(off(since_twenty)), seconds=60)
    assert (found.verdict, found.events) == (wl.Verdict.UNKNOWN, 4)
    (row,) = found.properties
    assert times(row) == [(1.0, 3.0, None), (10.0, 20.0, None)]
    assert [s.confidence for s in row.spans] == [pytest.approx(0.1), pytest.approx(0.5)]
    assert row.deadline is None
    assert "false 2 times; due never, else confidence 0.5 at most" in str(found)


@pytest.mark.parametrize(("seconds", "at"), [(14.5, None), (15.0, 15.0), (19.0, 15.0)])
def test_the_end_of_a_run_is_a_time_like_any_other(seconds: float, at: float | None):
    found = wl.simulate(lamp(), seconds=seconds)
    assert (found.at, found.events) == (at, 3)
    assert found.properties[0].spans[-1].until == (at or seconds)


def test_what_ends_at_the_very_deadline_has_not_met_it():
    late = lamp(times=(1.0, 6.0))
    assert wl.simulate(late, seconds=60).verdict is wl.Verdict.UNKNOWN
    later = lamp(times=(1.0, 6.000001))
    assert wl.simulate(later, seconds=60).at == 6.0


def test_a_confidence_that_events_raise_is_due_when_they_happen():
    @wl.gauge(initial=0)
    def heard(value: int, step: wl.TimedStep, view: wl.View) -> int:
        return value + 1

    def after_three(view: wl.View) -> float:
        return 1.0 if view.gauge("heard") >= 4 else 0.0

    system = lamp(off(after_three)).replace(gauges=[heard])
    # The boot is the first event, so the fourth is the third switch.
    assert wl.simulate(system, seconds=60).at == 10.0


def test_of_two_deadlines_the_earlier_counts():
    def slow(view: wl.View) -> bool:
        return is_off(view)

    def fast(view: wl.View) -> bool:
        return is_off(view)

    slow_one = wl.liveness(confidence=since_twenty)(slow)
    fast_one = wl.liveness(confidence=since_five)(fast)
    found = wl.simulate(lamp(slow_one, fast_one, times=(1.0,)), seconds=60)
    assert (found.expect_violated("fast").name, found.at) == ("fast", 6.0)
    left = found.properties[0]
    assert left.verdict is wl.Verdict.UNKNOWN
    assert left.spans[0].confidence == pytest.approx(0.25)


def test_a_confidence_that_is_never_above_nothing_is_told():
    said = "the confidence of is_off was never above 0"
    assert wl.simulate(lamp(off(lambda view: 0.0)), seconds=60).notes == (said,)
    assert wl.simulate(lamp(off(lambda view: 0.0), times=()), seconds=60).notes == ()


def test_with_an_interval_it_is_looked_at_then_and_no_more_often():
    found = wl.simulate(lamp(), seconds=60, interval=4.0)
    # False at 12 and at 16, when its confidence is 1, and not seen at 1.
    assert (found.at, found.events) == (16.0, 3)
    assert times(found.properties[0]) == [(12.0, 16.0, 16.0)]


def test_with_an_interval_a_span_ends_where_it_is_seen_to_be_over():
    system, said = (
        lamp(off(since_twenty)),
        "judged every 4 s, and not in between: is_off",
    )
    found = wl.simulate(system, seconds=60, interval=4.0)
    assert found.notes == (said,)
    assert f"note: {said}" in str(found)
    (span,) = found.properties[0].spans
    # At 20 it is seen to be off, and by that its confidence is lower than at 16.
    assert (span.time, span.until, span.gauges) == (12.0, 20.0, {"switched_at": 10.0})
    assert span.confidence == pytest.approx(0.3)
    assert wl.simulate(system, seconds=60).notes == ()


def test_what_is_sure_when_it_is_true_again_is_not_due():
    made = lamp(off(lambda view: view.time / 100))
    (row,) = wl.simulate(made, seconds=60, interval=4.0).properties
    assert (row.spans[0].until, row.spans[0].confidence) == (20.0, 0.2)
    made = lamp(off(lambda view: 1.0 if view.time >= 20 else 0.5))
    (row,) = wl.simulate(made, seconds=60, interval=4.0).properties
    assert [(s.until, s.confidence, s.due) for s in row.spans] == [(20.0, 0.5, None)]


def test_where_events_end_a_run_an_interval_has_known_it_until_its_last_look():
    (row,) = wl.simulate(lamp(times=(1.0, 7.0)), events=2, interval=4.0).properties
    assert [(s.time, s.until) for s in row.spans] == [(4.0, 4.0)]


def test_where_the_number_of_events_ends_a_run_it_may_be_due_or_not():
    assert wl.simulate(lamp(), events=3).verdict is wl.Verdict.UNKNOWN
    at_once = lamp(off(lambda view: 1))
    assert wl.simulate(at_once, events=1).at == 1.0


@pytest.mark.parametrize("events", [1, 2, 3, None])
def test_no_number_of_events_ends_a_run_in_the_midst_of_a_moment(events: int | None):
    at_once = lamp(off(lambda view: 1), times=(1.0, 1.0))
    report = wl.simulate(at_once, events=events, seconds=5)
    assert report.verdict is wl.Verdict.UNKNOWN
    assert report.bound == ("events" if events in (1, 2) else "virtual seconds")


def burns_or_it_is_late(view: wl.View) -> bool:
    is_on: bool = view[LAMP].is_on
    return is_on or view.time > 4


@pytest.mark.parametrize(("times", "at"), [((1.0, 10.0), None), ((1.0, 2.0, 3.5), 3.0)])
def test_what_comes_true_with_the_time_is_not_due(
    times: tuple[float, ...], at: float | None
):
    """Off at first and sure at 5, when it is late; or off from 2 on, and sure at 3."""

    def sure(view: wl.View) -> float:
        return 1.0 if view.time >= (3.0 if at else 5.0) else 0.0

    declared = wl.liveness(confidence=sure)(burns_or_it_is_late)
    system = lamp(declared, times=times if at else (20.0,))
    found = wl.simulate(system, seconds=30)
    assert found.at == at
    if at:
        assert found.violated is not None
        assert found.violated.trace is not None
        assert wl.replay(found.violated.trace, system).reproduced
    else:
        assert found.verdict is wl.Verdict.UNKNOWN


def test_a_liveness_property_without_a_confidence_is_not_judged():
    plain = wl.liveness(is_off)
    (row,) = wl.simulate(lamp(plain), seconds=60).properties
    assert row.alarms is None
    assert row.explanation.startswith(
        "not judged here: no @wl.liveness(confidence=...)"
    )
    with pytest.raises(wl.UsageError, match="liveness properties without a confidence"):
        wl.simulate(lamp(plain), properties=["is_off"])


def test_of_many_spans_the_surest_are_kept_and_few_are_printed():
    # On for a millisecond, 150 times; the 70th time for two.
    starts = [float(second) for second in range(1, 151)]
    ends = [second + (0.002 if second == 70 else 0.001) for second in starts]
    flickers = tuple(sorted([*starts, *ends]))
    found = wl.simulate(lamp(off(since_twenty), times=flickers), seconds=200)
    (row,) = found.properties
    assert row.alarms is not None
    assert (row.alarms.spans, len(row.spans)) == (150, 100)
    assert 70.0 in [span.time for span in row.spans]
    assert "and 142 more, none above 5e-05" in str(found)


@pytest.mark.slow
def test_spans_are_counted_over_all_seeds_on_any_number_of_processes():
    system = lamp(off(since_twenty))
    report = wl.simulate(system, seconds=60, seeds=6, threads=1)
    other = wl.simulate(system, seconds=60, seeds=6, threads=2)
    assert report.properties == other.properties
    assert report.properties[0].alarms is not None
    assert report.properties[0].alarms.to_json() == {
        "spans": 12,
        "reached": 0,
        "highest": pytest.approx(0.5),
        "in_run": 2,
    }


def test_a_safety_property_may_ask_for_the_time_and_offers_no_shorter_run():
    @wl.safety
    def early(view: wl.View) -> bool:
        return is_off(view) or view.time < 10

    found = wl.simulate(lamp(early), seconds=60)
    assert found.at == 10.0
    row = found.expect_violated("early")
    assert (row.steps, row.minimize) == (3, None)
    assert "time was 10.0" in row.explanation
