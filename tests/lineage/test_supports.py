from __future__ import annotations

import pytest
from tests.lineage.broadcast import Broadcast

from worldline.engine.bounds import BoundHit
from worldline.injection.formula import Every, Injected, Some, Spared
from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.lineage.engines.supports import supports
from worldline.lineage.explaining import explained
from worldline.lineage.explaining.explained import lineage_lines

ABC = ("a", "b", "c")
AB, BC, AC = Loss(1, "a", "b"), Loss(2, "b", "c"), Loss(1, "a", "c")


def test_a_support_is_one_way_and_all_that_it_needs():
    by_b = Some((Injected(AB), Injected(BC)))
    falls = Every((by_b, Injected(AC)))
    assert supports(falls, Scope(ABC, 4), 5) == [{AC}, {AB, BC}]
    assert supports(falls, Scope(ABC, 4), 1) == [{AC}]


def test_what_never_falls_needs_nothing():
    assert supports(Some(()), Scope(ABC, 4), 5) == [frozenset()]


def test_what_always_falls_has_no_support():
    assert supports(Every(()), Scope(ABC, 4), 5) == []


def test_nobody_crashes_in_a_support():
    falls = Some((Injected(AB), Injected(Crash(1, "a"))))
    assert supports(falls, Scope(ABC, 4, crashes=1), 5) == [{AB}]


def test_what_falls_without_a_fault_is_no_support():
    falls = Every((Injected(AB), Some((Spared(BC), Injected(AC)))))
    assert supports(falls, Scope(ABC, 4), 5) == [{AB}]


def test_an_explanation_says_what_became_of_each_message():
    subject = Broadcast(Scope(ABC, eot=3, eff=3, crashes=1), "retry")
    faults: FaultSet = frozenset({AC, Crash(2, "a")})
    bad = subject.run(faults)
    good = subject.run(frozenset())
    assert list(lineage_lines(good, bad, subject.scope, "c")) == [
        "without faults, each of these is enough for c:",
        "  in 1 a→c (lost)",
        "  in 2 a→c (not sent: a has crashed)",
    ]


def test_of_many_supports_three_are_named_and_the_others_counted():
    subject = Broadcast(Scope(ABC, eot=6, eff=6), "retry")
    good, bad = subject.run(frozenset()), subject.run(frozenset({AC}))
    assert list(lineage_lines(good, bad, subject.scope, "c"))[1:] == [
        "  in 1 a→c (lost)",
        "  in 2 a→c",
        "  in 3 a→c",
        "  and 2 more",
    ]


def test_supports_without_end_are_not_counted(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(explained, "_MOST_COUNTED", 4)
    subject = Broadcast(Scope(ABC, eot=6, eff=6), "retry")
    good, bad = subject.run(frozenset()), subject.run(frozenset({AC}))
    *_, last = lineage_lines(good, bad, subject.scope, "c")
    assert last == "  and more"


def test_a_goal_that_is_never_kept_is_said_to_be_so():
    short = Broadcast(Scope(ABC, eot=1), "retry").run(frozenset())
    assert list(lineage_lines(short, short, Scope(ABC, eot=1), "b")) == [
        "without faults, b is not kept either"
    ]


def test_an_explanation_that_takes_too_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
):
    def hurry() -> None:
        raise BoundHit("seconds")

    with pytest.raises(BoundHit):
        supports(Injected(AB), Scope(ABC, 4), 5, hurry)
    subject = Broadcast(Scope(ABC, eot=3, eff=3, crashes=1), "retry")
    bad = subject.run(frozenset({AC, Crash(2, "a")}))
    monkeypatch.setattr(explained, "_PATIENCE_S", -1.0)
    good = subject.run(frozenset())
    assert list(lineage_lines(good, bad, subject.scope, "c")) == [
        "what keeps c without faults is too much to work out"
    ]
