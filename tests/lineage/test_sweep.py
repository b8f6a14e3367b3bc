from __future__ import annotations

import pytest
from tests.lineage.broadcast import Broadcast, Kind

from worldline.injection.edge import FrontierPoint
from worldline.injection.scope import Crash, Loss, Scope
from worldline.lineage.engines.frontier import frontier
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.sweep import ScopeAnswer, Swept, Tried, sweep
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


HOLDING = SearchResult(verdict=Verdict.HOLDS)
EMPTY = SearchResult(verdict=Verdict.UNKNOWN, unmet=(OWED,))
UNDECIDED = SearchResult(verdict=Verdict.UNKNOWN, bound="executions")
WRONG = SearchResult(verdict=Verdict.VIOLATED, falsifiers=(frozenset(),))
BROKEN = SearchResult(
    verdict=Verdict.VIOLATED, falsifiers=(frozenset({Loss(1, "a", "b")}),)
)


class Answers:
    """Decides scopes as it is told to; others hold."""

    def __init__(self, answers: dict[tuple[int, int], SearchResult]) -> None:
        self.answers = answers

    def sweep(self, rounds: int, *, lasts: bool = False) -> Swept:
        def decide(eot: int, eff: int, seconds: float) -> SearchResult:
            return self.answers.get((eot, eff), HOLDING)

        return sweep(decide, 20.0, most_rounds=rounds, lasts=lambda _: lasts)


def test_a_message_sent_once_fails_as_soon_as_one_may_be_lost():
    found = swept("simple", 5)
    assert parameters(found.failing) == (3, 2)
    assert found.failing is not None
    assert found.failing.falsifier is not None
    assert found.failing.falsifier < {Loss(1, "a", "b"), Loss(1, "a", "c")}
    assert (found.verdict, found.certain) == (Verdict.VIOLATED, True)


def test_runs_that_are_too_short_are_no_failure():
    """In one round, nobody has heard of the message; in two, all have."""
    found = swept("redundant", 6)
    first, second, *_ = found.tried
    assert (first.verdict, first.falsifier) == (Verdict.VIOLATED, frozenset())
    assert first.answer is ScopeAnswer.SHORT
    assert second.verdict is Verdict.HOLDS
    assert found.failing is None
    assert parameters(found.passing) == (6, 5)
    assert (found.bound, found.verdict) == ("rounds", Verdict.UNKNOWN)


def test_a_sweep_ends_with_the_smallest_scope_that_fails():
    found = swept("simple", 6)
    assert [parameters(one) for one in found.tried] == [(1, 0), (2, 0), (3, 2), (3, 0)]
    assert found.bound is None


def test_the_smallest_eff_of_the_eot_that_fails_is_looked_for():
    broken = dict.fromkeys([(6, 5), (6, 4), (6, 3), (7, 6), (7, 2)], BROKEN)
    found = Answers(broken).sweep(9)
    assert [parameters(one) for one in found.tried[-4:]] == [
        (6, 5),
        (6, 0),
        (6, 2),
        (6, 3),
    ]
    assert parameters(found.failing) == (6, 3)
    assert parameters(found.passing) == (5, 4)
    assert found.certain


@pytest.mark.parametrize("crashes", [0, 1])
@pytest.mark.parametrize("kind", ["simple", "retry", "redundant"])
def test_the_order_of_scopes_is_that_of_deciding_them_all(kind: Kind, crashes: int):
    def fails(eot: int, eff: int) -> bool:
        subject = Broadcast(Scope(ABC, eot=eot, eff=eff, crashes=crashes), kind)
        return all(loop(subject).falsifiers) and bool(loop(subject).falsifiers)

    scopes = ((eot, eff) for eot in range(1, 6) for eff in range(eot) if eff != 1)
    first = next((one for one in scopes if fails(*one)), None)
    assert parameters(swept(kind, 5, crashes=crashes).failing) == first


def test_what_holds_is_said_of_every_shorter_run_too():
    gap = {(1, 0): WRONG, (2, 0): EMPTY, (5, 4): EMPTY, (6, 5): WRONG}
    assert parameters(Answers(gap).sweep(7).passing) == (7, 6)
    assert parameters(Answers({**gap, (4, 3): UNDECIDED}).sweep(7).passing) == (3, 2)
    assert Answers({(1, 0): UNDECIDED}).sweep(7).passing is None


def test_a_failure_after_an_undecided_scope_is_not_certain():
    found = Answers({(4, 3): UNDECIDED, (6, 5): BROKEN, (6, 0): BROKEN}).sweep(9)
    assert parameters(found.failing) == (6, 0)
    assert not found.certain
    assert parameters(found.passing) == (3, 2)


def test_what_is_undecided_beyond_the_failure_does_not_matter():
    scopes = {(6, 5): BROKEN, (6, 0): EMPTY, (6, 3): BROKEN}
    assert Answers(scopes).sweep(9).certain
    assert not Answers({**scopes, (6, 2): UNDECIDED}).sweep(9).certain


def test_what_breaks_without_faults_and_may_recover_is_no_failure():
    found = Answers({(eot, max(eot - 1, 0)): WRONG for eot in range(3, 10)}).sweep(9)
    assert (found.failing, found.verdict) == (None, Verdict.UNKNOWN)
    assert parameters(found.passing) == (2, 0)


def test_what_breaks_without_faults_for_good_is_a_failure():
    found = Answers({(5, 4): WRONG, (5, 0): WRONG}).sweep(9, lasts=True)
    assert parameters(found.failing) == (5, 0)
    assert (found.bound, found.verdict) == (None, Verdict.VIOLATED)


def test_a_sweep_of_vacuous_scopes_is_vacuous():
    nothing = {(1, 0): EMPTY, (2, 0): EMPTY, (3, 2): EMPTY}
    assert Answers(nothing).sweep(3).untested == (OWED,)
    assert Answers(nothing).sweep(4).untested == ()


def test_a_failing_scope_stands_where_time_ends_before_it_is_known_to_be_smallest():
    late = SearchResult(verdict=Verdict.UNKNOWN, bound="seconds")
    found = Answers({(4, 3): BROKEN, (4, 2): late}).sweep(9)
    assert parameters(found.failing) == (4, 3)
    assert (found.verdict, found.bound, found.certain) == (
        Verdict.VIOLATED,
        "seconds",
        False,
    )


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

    return frontier(decide, last=max(eot - 1, 0), crashes=crashes)


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
