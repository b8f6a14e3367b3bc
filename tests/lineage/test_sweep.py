from __future__ import annotations

import pytest
from tests.lineage.broadcast import Broadcast, Kind

from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import Crash, Loss, Scope
from worldline.lineage.engines.frontier import frontier
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.sweep import Swept, Tried, sweep
from worldline.lineage.engines.trials import SearchBudget, SearchResult
from worldline.lineage.targets.program_subject import OWED
from worldline.model.verdicts import Verdict

ABC = ("a", "b", "c")


def swept(kind: Kind, rounds: int, *, crashes: int = 0) -> Swept:
    def decide(eot: int, eff: int, seconds: float) -> SearchResult:
        scope = Scope(ABC, eot=eot, eff=eff, crashes=crashes)
        return loop(Broadcast(scope, kind), budget=SearchBudget(seconds=seconds))

    return sweep(decide, 20.0, most_rounds=rounds)


def parameters(tried: Tried | None) -> tuple[int, int] | None:
    return None if tried is None else (tried.eot, tried.eff)


def test_a_message_sent_once_fails_as_soon_as_one_may_be_lost():
    found = swept("simple", 5)
    assert parameters(found.failing) == (3, 2)
    assert found.failing is not None
    assert found.failing.falsifier is not None
    assert found.failing.falsifier < {Loss(1, "a", "b"), Loss(1, "a", "c")}
    assert found.verdict is Verdict.VIOLATED


def test_runs_that_are_too_short_are_no_failure():
    """In one round, nobody has heard of the message; in two, all have."""
    found = swept("redundant", 6)
    first, second, *_ = found.tried
    assert (first.verdict, first.falsifier) == (Verdict.VIOLATED, frozenset())
    assert second.verdict is Verdict.HOLDS
    assert found.failing is None
    assert parameters(found.passing) == (6, 5)
    assert (found.bound, found.verdict) == ("rounds", Verdict.UNKNOWN)


def test_after_a_failure_runs_become_longer():
    found = swept("simple", 6)
    assert [parameters(one) for one in found.tried] == [
        (1, 0),
        (2, 0),
        (2, 1),
        (3, 2),
        (4, 2),
        (5, 2),
        (6, 2),
    ]


def test_what_never_becomes_right_fails():
    def decide(eot: int, eff: int, seconds: float) -> SearchResult:
        return SearchResult(verdict=Verdict.VIOLATED, falsifiers=(frozenset(),))

    found = sweep(decide, 20.0, most_rounds=3)
    assert parameters(found.failing) == (3, 0)


@pytest.mark.parametrize("bound", ["seconds", "interrupted"])
def test_a_sweep_ends_where_a_decision_does(bound: str):
    def decide(eot: int, eff: int, seconds: float) -> SearchResult:
        return SearchResult(verdict=Verdict.UNKNOWN, bound=bound if eot == 2 else None)

    found = sweep(decide, 20.0)
    assert found.bound == bound
    assert len(found.tried) == 2


def test_an_interrupt_between_decisions_keeps_what_was_tried():
    def decide(eot: int, eff: int, seconds: float) -> SearchResult:
        if eot == 3:
            raise KeyboardInterrupt
        return SearchResult(verdict=Verdict.UNKNOWN, unmet=(OWED,))

    found = sweep(decide, 20.0)
    assert (found.bound, len(found.tried)) == ("interrupted", 2)


def test_no_time_is_no_scope():
    found = sweep(lambda *_: pytest.fail("there is no time"), 0.0)
    assert (found.bound, found.tried) == ("seconds", ())


# --------------------------------------------------------------------------- frontier


def edges(
    kind: Kind, eot: int, crashes: int, cap: int | None = None
) -> list[FrontierPoint]:
    def decide(eff: int, most: int) -> SearchResult:
        scope = Scope(ABC, eot=eot, eff=eff, crashes=most)
        found = loop(Broadcast(scope, kind), every=True)
        if cap is None or len(found.falsifiers) <= cap:
            return found
        return SearchResult(
            verdict=found.verdict,
            falsifiers=found.falsifiers[:cap],
            bound="falsifiers",
        )

    return frontier(decide, eot=eot, crashes=crashes)


@pytest.mark.parametrize("cap", [None, 1, 2])
def test_one_loss_is_enough_where_nothing_is_sent_again(cap: int | None):
    none, one = edges("simple", 4, 1, cap)
    assert (none.losses, none.eff, none.exact) == (1, 2, cap is None or cap == 2)
    assert (one.losses, one.eff) == (1, 2)


def test_a_crash_saves_losses():
    none, one = edges("retry", 4, 1)
    assert none == FrontierPoint(0, None, None, None, exact=True)
    assert (one.losses, one.eff) == (1, 2)
    assert one.falsifier is not None
    assert Crash(2, "a") in one.falsifier
    assert str(none) == "0 crashes: nothing breaks it"
    assert str(one) == "1 crash: 1 loss breaks it, from EFF 2 on"


def test_what_is_redundant_breaks_by_nothing():
    for edge in edges("redundant", 5, 1):
        assert (edge.losses, edge.exact) == (None, True)
