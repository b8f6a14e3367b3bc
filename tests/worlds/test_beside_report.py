"""Reports of what was done beside nodes: what they count, list, and warn of."""

from __future__ import annotations

from worldline.worlds.beside_report import (
    RefusedEvent,
    UnseenProperty,
    notes_on,
    said_of,
    unseen_properties,
    unseen_together,
)

UNSEEN = unseen_properties(
    {("p", "a", True): 2, ("q", "", False): 9, ("p", "b", False): 5}
)


def refused(number: int) -> list[RefusedEvent]:
    return [RefusedEvent(float(time), "a", "an event", "so") for time in range(number)]


def test_what_is_unseen_is_told_by_property_and_by_what_is_not_known():
    assert (
        UnseenProperty("q", 9, 0, {"": 9}),
        UnseenProperty("p", 7, 2, {"b": 5, "a": 2}),
    ) == UNSEEN
    assert [str(one) for one in UNSEEN] == [
        "q 9 times",
        "p 7 times, 2 of them in part: nothing was known of b (5), a (2)",
    ]
    twice = unseen_together(one.to_json() for one in (*UNSEEN, *UNSEEN))
    assert [one.count for one in twice] == [18, 14]


def test_the_refusals_that_are_not_listed_are_counted_with_the_others():
    few = [*said_of({"refused": 2}, refused(2), ())]
    assert len(few) == 2
    all_kept = [*said_of({"refused": 20, "blocked": 5}, refused(25), ())]
    assert all_kept[10:] == ["... and 15 more; see --json"]
    cut = [*said_of({"refused": 3_660, "blocked": 6}, refused(100), UNSEEN)]
    assert cut[10:] == [
        "... and 3,656 more; --json has the first 100",
        "unseen q 9 times",
    ]


def test_it_is_noted_where_nearly_everything_is_refused_for_want_of_knowledge():
    (note,) = notes_on({"checked": 60, "doubted": 50}, (), 1)
    assert "50 of 60 events" in note
    assert "--on-unseen refuse" in note
    assert not [*notes_on({"checked": 600, "doubted": 50}, (), 1)]


def test_it_is_noted_which_property_is_hardly_ever_judged():
    counts = {"checked": 100, "unseen": 95 + 80}
    some = unseen_properties({("p", "c", False): 95, ("q", "c", False): 80})
    (note,) = notes_on(counts, some, 2)
    assert "p could not be judged at once after 95 of 100 events" in note
    assert "nothing was known of c" in note
    assert not [*notes_on({"checked": 8}, unseen_properties({("p", "c", False): 8}), 2)]
    (note,) = notes_on({"checked": 8}, unseen_properties({("p", "c", False): 8}), 1)
    assert "no event could be judged at once" in note


def test_a_form_that_holds_for_all_that_are_known_is_not_blind():
    held = unseen_properties({("p", "c", True): 100})
    assert held[0].blind() == 0
    assert not [*notes_on({"checked": 100}, held, 1)]
    assert not [*said_of({"checked": 100}, (), held)]
