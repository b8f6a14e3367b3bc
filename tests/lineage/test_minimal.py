from __future__ import annotations

from random import Random

from tests.lineage.broadcast import Broadcast

from worldline.injection.scope import Crash, FaultSet, Loss, Scope
from worldline.lineage.engines.minimal import earlier, minimal
from worldline.lineage.engines.randomly import draw, randomly
from worldline.lineage.engines.trials import SearchBudget
from worldline.model.verdicts import Verdict

ABC = ("a", "b", "c")
ONE, TWO, THREE = (Loss(time, "a", "b") for time in (1, 2, 3))


def test_what_does_not_matter_is_left_out():
    faults = frozenset({ONE, TWO, THREE})
    assert minimal(lambda some: ONE in some, faults) == {ONE}


def test_a_smaller_falsifier_behind_a_good_run_is_found():
    """Leaving out any one fault of three repairs it, and leaving out two does not."""
    falling: list[FaultSet] = [frozenset({ONE, TWO, THREE}), frozenset({TWO})]
    assert minimal(falling.__contains__, frozenset({ONE, TWO, THREE})) == {TWO}


def test_nothing_can_be_left_out_of_no_faults():
    assert minimal(lambda some: True, frozenset({ONE})) == frozenset()


def test_random_faults_find_a_shallow_falsifier():
    subject = Broadcast(Scope(ABC, eot=4, eff=2), "simple")
    found = randomly(subject, Random(1))
    assert found.verdict is Verdict.VIOLATED
    assert found.executions == len(subject.runs)


def test_random_faults_prove_nothing():
    subject = Broadcast(Scope(ABC, eot=4, eff=2), "redundant")
    found = randomly(subject, Random(1), budget=SearchBudget(executions=50))
    assert (found.verdict, found.bound) == (Verdict.UNKNOWN, "executions")


def test_equal_seeds_draw_equal_faults():
    scope = Scope(ABC, eot=6, eff=5, crashes=1, delay=2)
    drawn = [draw(scope, Random(seed)) for seed in range(50)]
    assert drawn == [draw(scope, Random(seed)) for seed in range(50)]
    assert len(set(drawn)) > 25


def test_drawn_faults_are_in_scope():
    scope = Scope(ABC, eot=6, eff=4, crashes=1)
    drawn = [fault for seed in range(200) for fault in draw(scope, Random(seed))]
    lost = [fault for fault in drawn if isinstance(fault, Loss)]
    assert {fault.time for fault in lost} == {1, 2, 3}
    crashed = [fault for fault in drawn if isinstance(fault, Crash)]
    assert {fault.time for fault in crashed} == {1, 2, 3, 4, 5, 6}
    # 18 losses can happen, each with a probability of 1/8.
    assert 350 <= len(lost) <= 550
    assert 70 <= len(crashed) <= 130


def test_a_crash_moves_from_the_last_round_to_the_latest_in_which_it_breaks_the_same():
    late, moved = Crash(5, "a", reaches=("b",)), Crash(2, "a", reaches=("b",))
    falling: list[FaultSet] = [frozenset({late, ONE}), frozenset({moved, ONE})]
    assert earlier(falling.__contains__, frozenset({late, ONE}), 5) == {moved, ONE}
    assert earlier(falling.__contains__, frozenset({late, ONE}), 6) == {late, ONE}
    assert earlier(falling[:1].__contains__, frozenset({late, ONE}), 5) == {late, ONE}


def test_nothing_can_be_left_out_of_faults_that_were_moved():
    late, moved = Crash(5, "a"), Crash(4, "a")
    both: FaultSet = frozenset({late, ONE})
    falling: list[FaultSet] = [both, frozenset({moved, ONE}), frozenset({moved})]
    assert earlier(falling.__contains__, both, 5) == {moved}
