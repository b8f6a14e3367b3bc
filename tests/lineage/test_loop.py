from __future__ import annotations

from dataclasses import replace

import pytest
from tests.lineage.broadcast import Broadcast, Kind

from worldline.injection.formula import Formula
from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.injection.subject import Goal, Pulse, Run, never_interrupt
from worldline.lineage.engines.exhaustive import exhaustive
from worldline.lineage.engines.loop import loop
from worldline.lineage.engines.trials import FaultsProgress, SearchBudget
from worldline.model.verdicts import Verdict

ABC = ("a", "b", "c")


def test_one_loss_breaks_a_message_that_is_sent_once():
    found = loop(Broadcast(Scope(ABC, eot=4, eff=2), "simple"))
    assert found.verdict is Verdict.VIOLATED
    (faults,) = found.falsifiers
    assert faults in [{Loss(1, "a", "b")}, {Loss(1, "a", "c")}]
    assert found.executions == 2


def test_sending_again_needs_a_crash_to_break():
    subject = Broadcast(Scope(ABC, eot=4, eff=2, crashes=1), "retry")
    found = loop(subject, every=True)
    assert set(found.falsifiers) == {
        frozenset({Loss(1, "a", "b"), Crash(2, "a")}),
        frozenset({Loss(1, "a", "c"), Crash(2, "a")}),
    }


def test_relaying_holds_and_shows_it_in_one_run():
    subject = Broadcast(Scope(ABC, eot=6, eff=5, crashes=1), "redundant")
    found = loop(subject)
    assert found.verdict is Verdict.HOLDS
    assert found.bound is None


def test_an_incomplete_subject_never_holds():
    subject = Broadcast(Scope(ABC, eot=6, eff=5, crashes=1), "redundant")
    subject.complete = False
    assert loop(subject).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("crashes", [0, 1])
@pytest.mark.parametrize("kind", ["simple", "retry", "redundant"])
def test_it_agrees_with_trying_every_fault_set(
    kind: Kind, crashes: int, symmetry: bool
):
    scope = Scope(ABC, eot=4, eff=2, crashes=crashes)
    guided = loop(Broadcast(scope, kind), every=True, symmetry=symmetry)
    tried = exhaustive(Broadcast(scope, kind), every=True)
    assert set(guided.falsifiers) == set(tried.falsifiers)
    assert guided.verdict is tried.verdict
    assert guided.executions < tried.executions


def test_no_fault_set_is_run_twice():
    subject = Broadcast(Scope(ABC, eot=5, eff=3, crashes=1), "retry")
    found = loop(subject, every=True)
    assert len(subject.runs) == len(set(subject.runs)) == found.executions


def test_interchangeable_nodes_save_runs():
    scope = Scope(("a", "b", "c", "d"), eot=5, eff=3, crashes=1)
    plain = loop(Broadcast(scope, "retry"), every=True, symmetry=False)
    folded = loop(Broadcast(scope, "retry"), every=True)
    assert set(plain.falsifiers) == set(folded.falsifiers)
    assert folded.executions < plain.executions


@pytest.mark.parametrize(
    ("budget", "bound"),
    [
        (SearchBudget(executions=3), "executions"),
        (SearchBudget(seconds=1e-9), "seconds"),
    ],
)
def test_a_budget_that_is_used_up_leaves_it_unknown(budget: SearchBudget, bound: str):
    subject = Broadcast(Scope(ABC, eot=5, eff=3, crashes=1), "retry")
    found = exhaustive(subject, every=True, budget=budget)
    assert found.bound == bound
    assert found.verdict is Verdict.UNKNOWN


def test_an_interrupted_loop_says_so():
    def interrupt(progress: FaultsProgress) -> None:
        if progress.executions == 2:
            raise KeyboardInterrupt

    subject = Broadcast(Scope(ABC, eot=5, eff=3, crashes=1), "retry")
    found = loop(subject, every=True, progress=interrupt)
    assert (found.bound, found.verdict) == ("interrupted", Verdict.UNKNOWN)


def test_a_budget_ends_the_work_on_one_formula():
    class Endless(Broadcast):
        def run(self, faults: FaultSet) -> Run:
            def support(goal: Goal, check: Pulse = never_interrupt) -> Formula:
                while True:
                    check()

            return replace(super().run(faults), support=support)

    subject = Endless(Scope(ABC, eot=5, eff=3, crashes=1), "retry")
    found = loop(subject, budget=SearchBudget(seconds=0.02))
    assert (found.bound, found.executions) == ("seconds", 1)
    assert found.seconds < 1


def test_runs_that_do_not_wait_whole_are_made_again(monkeypatch: pytest.MonkeyPatch):
    scope = Scope(ABC, eot=5, eff=3, crashes=1)
    expected = loop(Broadcast(scope, "retry"), every=True)
    monkeypatch.setattr("worldline.lineage.engines.loop._WHOLE", 0)
    subject = Broadcast(scope, "retry")
    found = loop(subject, every=True)
    assert replace(found, seconds=0) == replace(expected, seconds=0)
    assert len(subject.runs) > found.executions
